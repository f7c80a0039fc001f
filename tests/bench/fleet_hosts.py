# SPDX-License-Identifier: GPL-2.0
"""Hosts of a fleet that answer from a recorded result, many in a process; see fleet_scale.py.

    python -m bench.fleet_hosts ADDRESS KEYS SECONDS NAME...

Each is a worker of the engine with keys and connections of its own, as `spekctl fleet join` is. It
agrees to all that it is asked for, tells of an interval in each of SECONDS seconds, and then gives
the result of a run, under its own name. A line of standard input is answered by the CPU time of
this process, in ns; the process ends with its input.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import logging
import sys
import tempfile
import threading
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import dask
import msgspec
from lib.ctl import fleets
from lib.fakes.fleet import FakeHost, device

from spekctl.fleet import engine, keys, wire
from spekctl.fleet.clock import Distance
from spekctl.fleet.plan import CONTROLLER
from spekctl.fleet.wire import Verb

PATIENCE_S = 600.0
# Together they would only wait for each other's handshakes, and for those of the controller.
AT_ONCE = 32
SECOND = 10**9
ROWS = 100
# Whose question a thread answers.
_asked: contextvars.ContextVar[str] = contextvars.ContextVar("asked")


class Worker(engine._FleetWorker):
    """A host's side of the engine; those of a process share its function that answers."""

    async def run(self, comm: Any, **message: Any) -> Any:
        _asked.set(self.name)
        return await super().run(comm, **message)


class Hosts:
    """All of this process."""

    def __init__(self, folder: Path, seconds: int, names: list[str]) -> None:
        bundles = {name: keys.load(folder / name) for name in names}
        self.fleet = next(iter(bundles.values())).own.fleet
        self.bundles = bundles
        self.seconds = seconds
        self.hosts = {name: FakeHost(name) for name in names}
        self.workers: dict[str, Worker] = {}
        self.loop = asyncio.get_running_loop()
        spec = fleets.large(ROWS)
        self._result = msgspec.json.encode(fleets.result_of(spec))
        self._row = fleets.row_of(spec, 0, 0)

    async def join(self, address: str, folder: str) -> None:
        turns = asyncio.Semaphore(AT_ONCE)

        async def one_by_one(name: str) -> None:
            async with turns:
                self.workers[name] = await Worker(
                    address,
                    name=name,
                    nthreads=1,
                    security=engine.FleetSecurity(self.bundles[name], (CONTROLLER,), (CONTROLLER,)),
                    protocol="tls",
                    host="127.0.0.1",
                    dashboard=False,
                    memory_limit=0,
                    death_timeout=PATIENCE_S,
                    local_directory=folder,
                )

        await asyncio.gather(*map(one_by_one, self.hosts))

    def answer(self, verb: str, payload: bytes) -> bytes:
        """In a thread: a host's answer."""
        host = self.hosts[_asked.get()]
        return wire.encode({"answer": self._value(host, verb, payload)})

    def _value(self, host: FakeHost, verb: str, payload: bytes) -> Any:
        match verb:
            case Verb.DESCRIBE:
                return host.described(fleet=self.fleet, devices=[device(serial=host.name)])
            case Verb.ARM:
                host.armed = wire.decode(payload, wire.Arm)
                offset_ns = time.time_ns() - time.monotonic_ns()
                start_ns = host.armed.start_real_ns - offset_ns
                return wire.Armed(start_ns, Distance(offset_ns, 100))
            case Verb.CONFIRM:
                self.loop.call_soon_threadsafe(self.loop.create_task, self._run(host))
                return None
            case Verb.RESULT:
                document = self._result.replace(b"HOST", host.name.encode())
                return msgspec.structs.replace(host.collected(), document=msgspec.Raw(document))
        return host.answer(verb, payload, time.time_ns())

    def _run(self, host: FakeHost) -> Coroutine[Any, Any, None]:
        async def told() -> None:
            assert host.armed is not None
            await asyncio.sleep((host.armed.start_real_ns - time.time_ns()) / SECOND)
            for second in range(self.seconds):
                await asyncio.sleep(1)
                row = msgspec.structs.replace(self._row, seq=second)
                self._say(host.name, wire.Intervals([row]))
            self._say(host.name, wire.Done(0, "the run completed"))

        return told()

    def _say(self, name: str, event: wire.AnyEvent) -> None:
        message = {"worker": self.workers[name].address, "data": wire.encode(event)}
        self.workers[name].log_event(engine.TOPIC, message)


async def serve(address: str, folder: Path, seconds: int, names: list[str]) -> None:
    hosts = Hosts(folder, seconds, names)
    engine._answer = hosts.answer
    over = asyncio.Event()

    def listen() -> None:
        for _ in sys.stdin:
            print(time.process_time_ns(), flush=True)
        hosts.loop.call_soon_threadsafe(over.set)

    threading.Thread(target=listen, daemon=True).start()
    with tempfile.TemporaryDirectory(prefix="spek-fleet-") as scratch:
        await hosts.join(address, scratch)
        await over.wait()
        for worker in hosts.workers.values():
            with contextlib.suppress(Exception):
                await worker.close(nanny=False)


def main() -> int:
    address, folder, seconds, *names = sys.argv[1:]
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    engine._make_room(len(names))
    with dask.config.set(engine.SETTINGS):
        asyncio.run(serve(address, Path(folder), int(seconds), names))
    return 0


if __name__ == "__main__":
    sys.exit(main())

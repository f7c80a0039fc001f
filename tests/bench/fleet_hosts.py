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
import logging
import sys
import threading
import time
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import Any

import dask
import msgspec
from lib.ctl import fleets
from lib.fakes.fleet import FakeHost, device

from spekctl.fleet import engine, keys, wire
from spekctl.fleet.clock import Distance
from spekctl.fleet.wire import Verb

PATIENCE_S = 600.0
# Together they would only wait for each other's handshakes, and for those of the controller.
AT_ONCE = 32
SECOND = 10**9
ROWS = 100


class Hosts:
    """All of this process."""

    def __init__(self, folder: Path, seconds: int, names: list[str]) -> None:
        bundles = {name: keys.load(folder / name) for name in names}
        self.fleet = next(iter(bundles.values())).own.fleet
        self.bundles = bundles
        self.seconds = seconds
        self.hosts = {name: FakeHost(name) for name in names}
        self.joined: dict[str, engine.DaskHost] = {}
        self.loop = asyncio.get_running_loop()
        spec = fleets.large(ROWS)
        self._result = msgspec.json.encode(fleets.result_of(spec))
        self._row = fleets.row_of(spec, 0, 0)

    async def serve(self, address: str, is_over: Callable[[], bool]) -> None:
        """Join, and answer until the controller is gone or @is_over."""
        turns = asyncio.Semaphore(AT_ONCE)

        async def each(name: str) -> None:
            own = engine.DaskHost(
                address, self.bundles[name], partial(self.answer, name), PATIENCE_S
            )
            async with turns:
                await own.join()
            self.joined[name] = own
            await own.stay(is_over)

        await asyncio.gather(*map(each, self.hosts))

    def answer(self, name: str, verb: str, payload: bytes) -> bytes:
        """In a thread: a host's answer."""
        host = self.hosts[name]
        return wire.encode({"answer": self._value(host, verb, payload)})

    def _value(self, host: FakeHost, verb: str, payload: bytes) -> Any:
        match verb:
            case Verb.DESCRIBE:
                return host.described(fleet=self.fleet, devices=[device(serial=host.name)])
            case Verb.ARM:
                host.armed = wire.decode(payload, wire.Arm)
                offset_ns = time.time_ns() - time.monotonic_ns()
                start_ns = host.armed.start_real_ns - offset_ns
                return wire.Armed(start_ns, Distance(offset_ns, 100), time.time_ns())
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
        self.joined[name].say(wire.encode(event))


async def serve(address: str, folder: Path, seconds: int, names: list[str]) -> None:
    hosts = Hosts(folder, seconds, names)
    over = threading.Event()

    def listen() -> None:
        for _ in sys.stdin:
            print(time.process_time_ns(), flush=True)
        over.set()

    threading.Thread(target=listen, daemon=True).start()
    await hosts.serve(address, over.is_set)


def main() -> int:
    address, folder, seconds, *names = sys.argv[1:]
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    engine._make_room(len(names))
    with dask.config.set(engine.SETTINGS):
        asyncio.run(serve(address, Path(folder), int(seconds), names))
    return 0


if __name__ == "__main__":
    sys.exit(main())

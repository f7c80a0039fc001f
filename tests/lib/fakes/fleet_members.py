# SPDX-License-Identifier: GPL-2.0
"""A fleet in this process: real hosts on fake kernels, and an engine of threads between them and
the controller."""

from __future__ import annotations

import contextlib
import queue
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from lib.fakes.fleet_host import PacedKernel
from lib.fakes.fleet_member import LentRights
from lib.fakes.machine import disk
from lib.fakes.queue_kernel import QueueKernel

from spekctl.block import device
from spekctl.errors import HostLostError
from spekctl.fleet import selector, wire
from spekctl.fleet.carrier import Happened
from spekctl.fleet.coordinator import Coordinator
from spekctl.fleet.member import Member
from spekctl.fleet.patience import Patience
from spekctl.fleet.plan import Plan
from spekctl.power import span
from spekctl.run import observe
from spekctl.run.beside import View
from spekctl.run.job import Interrupts
from spekctl.run.rights import Looked, Rights

FLEET = "f-1"
PATIENCE = Patience(status_s=0.2, lead_s=0.7, round_trips=0.0, margin_s=0.1, look_s=0.02)


@dataclass
class FleetKernel(PacedKernel, QueueKernel):
    """A device that is one queue, in real time."""


class WritableRights(LentRights):
    """Disks that hold nothing."""

    def look(self, claim: Any, wish: Any) -> Looked:
        return Looked({}, [])

    def check_write(self, get: Any, wish: Any, looked: Any) -> list[str]:
        return []


class Members:
    """A carrier.Engine."""

    def __init__(self, names: Sequence[str], **kernel: Any) -> None:
        self.kernels = {
            name: FleetKernel(pace_s=0.002, number=100 + place, **kernel)
            for place, name in enumerate(names)
        }
        self.asked: list[tuple[str, str]] = []
        self.gave_up: list[str] = []
        self._happened: queue.SimpleQueue[Happened] = queue.SimpleQueue()
        self._pool = ThreadPoolExecutor(8 * len(names))
        self._gone: set[str] = set()
        self.members = {name: self._member(name) for name in names}

    def _member(self, name: str) -> Member:
        rights = WritableRights()

        def lend(on_end: object) -> Rights:
            return rights

        def emit(event: wire.AnyEvent) -> None:
            # As it travels.
            self._happened.put(Happened(name, wire.decode(wire.encode(event), wire.AnyEvent)))

        return Member(
            *(name, FLEET, lend, emit, self.gave_up.append, lambda: self.kernels[name]),
        )

    def refused(self) -> Mapping[str, int]:
        return {}

    def hosts(self) -> Mapping[str, str]:
        return {name: "10.0.0.9" for name in self.members if name not in self._gone}

    def call(self, host: str, verb: str, payload: bytes) -> Future[bytes]:
        self.asked.append((host, verb))
        if host in self._gone:
            future: Future[bytes] = Future()
            future.set_exception(HostLostError("it is lost"))
            return future
        return self._pool.submit(self.members[host].answer, verb, payload)

    def next(self, timeout_s: float) -> Happened | None:
        with contextlib.suppress(queue.Empty):
            return self._happened.get(timeout=timeout_s) if timeout_s else self._happened.get(False)
        return None

    def lose(self, host: str) -> None:
        """Its connection ends, and so does it."""
        self._gone.add(host)
        self._happened.put(Happened(host, lost="its connection has ended"))
        self.members[host].close()

    def close(self) -> None:
        for member in self.members.values():
            member.close()
        self._pool.shutdown()

    def claims(self) -> list[list[str]]:
        """How each host has claimed its devices and given them back; runs in turn are one."""
        return [kernel.claim_calls() for kernel in self.kernels.values()]


def use(monkeypatch: pytest.MonkeyPatch) -> None:
    """/dev/fakeN are disks of each host, and there is no prober."""
    monkeypatch.setattr(device, "find", lambda path, *roots: disk(path))
    monkeypatch.setattr(selector, "find", lambda text, *roots: disk(text))
    monkeypatch.setattr(observe, "connect", lambda *wishes: ((), ""))
    monkeypatch.setattr(span, "connect", lambda *wishes: (None, "no prober"))


def coordinator(plan: Plan, engine: Members, view: View, interrupts: Interrupts) -> Coordinator:
    return Coordinator(plan, engine, view, interrupts, FLEET, ["sweep"], patience=PATIENCE)


def plan_text(names: Sequence[str], extra: str = "") -> str:
    text = f'[fleet]\nlisten = "tls://127.0.0.1:0"\nworkload = "random-read-4k"\n{extra}\n'
    return text + "".join(
        f'[[host]]\nname = "{name}"\ndevices = ["/dev/fake0"]\n' for name in names
    )


@contextlib.contextmanager
def commands_on(
    monkeypatch: pytest.MonkeyPatch, folder: Path, engine: Members, extra: str = ""
) -> Iterator[None]:
    """plan.toml in @folder, whose hosts are those of @engine for the commands with --fleet."""
    from spekctl.commands import on_hosts
    from spekctl.render.fleet import FleetProgress

    use(monkeypatch)
    (folder / "plan.toml").write_text(plan_text(list(engine.members), extra))

    @contextlib.contextmanager
    def started(
        plan: Plan,
        keys: object,
        wait_ns: int,
        interrupts: Interrupts,
        progress: str,
        folder: Path | None,
    ) -> Iterator[Coordinator]:
        view = FleetProgress([host.name for host in plan.clients], quiet=progress == "none")
        yield coordinator(plan, engine, view, interrupts)

    monkeypatch.setattr(on_hosts, "started", started)
    try:
        yield
    finally:
        engine.close()

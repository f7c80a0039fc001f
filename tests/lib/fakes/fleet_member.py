# SPDX-License-Identifier: GPL-2.0
"""A host of a fleet in this process, on a fake kernel."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
from lib.fakes.fleet_host import PacedKernel
from lib.fakes.kernel import FakeKernel
from lib.fakes.machine import disk
from lib.waiting import LONG_S, eventually

from spekctl.errors import SpekError
from spekctl.fleet import member, selector, wire
from spekctl.fleet.member import Member, facts_of
from spekctl.run.candidates import Candidate
from spekctl.run.rights import Rights
from spekctl.workload import file, override

RUN = "r-1"


class LentRights(Rights):
    """A helper that has no process."""

    def __init__(self, in_use: str = "") -> None:
        self.in_use = in_use
        self.closed = False
        self.path = "/dev/fake0"
        self.data: list[str] | None = []
        self.writers: list[str] = []

    def candidates(self) -> list[Candidate]:
        known = 1 << 30, 512, "", "S", "S", "", "", None, False, self.in_use
        return [Candidate(self.path, *known, self.writers, self.data, "")]

    def close(self) -> None:
        self.closed = True


class Rig:
    """A member, and what it has said."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, leash_s: float = 60.0) -> None:
        monkeypatch.setattr(selector, "find", lambda text: disk(wwn="naa.1", serial="S1"))
        self.kernel = PacedKernel(pace_s=0.001)
        self.rights = LentRights()
        self.said: list[Any] = []
        self.gave_up: list[str] = []
        self.lose_helper: Callable[[str], None] = lambda reason: None
        self.member = Member(
            "a", "f-1", self.lend, self.said.append, self.gave_up.append, self.connect, leash_s
        )

    def connect(self) -> PacedKernel:
        return self.kernel

    def lend(self, on_end: Callable[[str], None]) -> Rights:
        self.lose_helper = on_end
        return self.rights

    def ask(self, verb: str, message: object, kind: Any) -> Any:
        return wire.answer_of(self.member.answer(verb, wire.encode(message)), kind)

    def of_run(self, verb: str, kind: Any = None, run: str = RUN) -> Any:
        return self.ask(verb, wire.OfRun(run), kind)

    def claim(self, **changes: Any) -> wire.Claimed:
        answer: wire.Claimed = self.ask("claim", asked(**changes), wire.Claimed)
        return answer

    def arm(self, in_s: float = 1.0, run: str = RUN) -> wire.Armed:
        start_ns = time.time_ns() + round(in_s * 1e9)
        answer: wire.Armed = self.ask("arm", wire.Arm(run, start_ns), wire.Armed)
        return answer

    def done(self) -> list[wire.Done]:
        return [event for event in self.said if isinstance(event, wire.Done)]


def device_asked(**changes: Any) -> wire.DeviceAsked:
    """A disk, as its host has described it."""
    device = disk(**changes)
    return wire.DeviceAsked(device.path, facts_of(device))


def asked(**changes: Any) -> wire.Claim:
    """A load of two seconds."""
    values: dict[str, Any] = {
        "run": RUN,
        "role": "client",
        "toml": override.to_toml(file.load("random-read-4k")),
        "devices": [device_asked()],
        "slices": [],
        "options": {"time": "2s"},
        "destroy": [],
        "seed": 77,
        "power_feeds": [],
        "command": ["fleet", "run", "plan.toml"],
    }
    return wire.Claim(**{**values, **changes})


@contextmanager
def patient(monkeypatch: pytest.MonkeyPatch) -> Iterator[Rig]:
    """A host to which a start may be confirmed late: a test that is held up confirms it all the
    same."""
    monkeypatch.setattr(member, "UNCONFIRMED_S", -LONG_S)
    host = Rig(monkeypatch)
    yield host
    host.member.close()


class Gate:
    """A call of the kernel that waits until it may go on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, kernel: FakeKernel, name: str) -> None:
        self._entered, self._open = threading.Event(), threading.Event()
        self._call = getattr(kernel, name)
        monkeypatch.setattr(kernel, name, self)

    def __call__(self, *arguments: Any, **more: Any) -> Any:
        self._entered.set()
        assert self._open.wait(LONG_S)
        return self._call(*arguments, **more)

    def open(self) -> None:
        """Let calls go on."""
        self._open.set()

    def during(
        self,
        rig: Rig,
        asked: Callable[[], object],
        release: Callable[[], object],
        before: Callable[[], object] = lambda: None,
    ) -> SpekError:
        """The refusal of a verb while which @release is called, and answered after it; @before:
        what is done first, during the verb."""
        with ThreadPoolExecutor(2) as pool:
            verb = pool.submit(asked)
            assert self._entered.wait(LONG_S)
            before()
            released = pool.submit(release)
            settled: Any = rig.member._settled
            eventually(lambda: settled._waiters, "the release does not wait for the verb")
            assert not released.done()
            self.open()
            released.result(LONG_S)
            error = verb.exception(LONG_S)
        assert isinstance(error, SpekError)
        return error

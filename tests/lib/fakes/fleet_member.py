# SPDX-License-Identifier: GPL-2.0
"""A host of a fleet in this process, on a fake kernel."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from lib.fakes.fleet_host import PacedKernel
from lib.fakes.machine import disk

from spekctl.fleet import selector, wire
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

    def candidates(self) -> list[Candidate]:
        candidate = Candidate(
            "/dev/fake0", 1 << 30, 512, "", "S", "S", "", "", None, False, self.in_use, [], [], ""
        )
        return [candidate]

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

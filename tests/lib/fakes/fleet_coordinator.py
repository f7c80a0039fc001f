# SPDX-License-Identifier: GPL-2.0
"""A coordinator whose hosts answer as a test says."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from lib.fakes.fleet import FLEET, FakeEngine, FakeHost, FakeView

from spekctl.errors import SpekError
from spekctl.fleet import plan
from spekctl.fleet.clock import Bound
from spekctl.fleet.coordinator import Coordinator
from spekctl.fleet.outcome import Outcome
from spekctl.fleet.patience import Patience
from spekctl.fleet.wire import Verb
from spekctl.run.job import Interrupts

PLAN = """
[fleet]
listen = "tls://10.0.0.1:8786"
workload = "random-read-4k"
"""
# Nothing is waited for: an answer that a fake has not given by now will never come.
HURRY = Patience(
    join_s=0, check_s=0, claim_s=0, collect_s=0, release_s=0, silent_s=0.01, status_s=0, look_s=1
)
# The same, but for a host whose answers a busy machine delays.
CALM = dataclasses.replace(HURRY, silent_s=60)


@dataclasses.dataclass
class Clock:
    """CLOCK_MONOTONIC of the controller, in place of its `time`."""

    now_s: float = 1000.0

    def monotonic(self) -> float:
        return self.now_s


class Rig:
    """A coordinator of three hosts."""

    def __init__(self, *extra: str, hosts: str = "abc", **more: Any) -> None:
        self.hosts = {name: FakeHost(name) for name in hosts}
        self.engine = FakeEngine(self.hosts)
        self.view = FakeView()
        self.interrupts = Interrupts()
        self.extra = extra
        self.more = more

    def __getitem__(self, name: str) -> FakeHost:
        return self.hosts[name]

    def coordinator(self) -> Coordinator:
        head = PLAN.replace("random-read-4k", self.more.get("workload", "random-read-4k"))
        text = head + "\n".join(line for line in self.extra if "[[" not in line)
        for name in self.hosts:
            text += f'\n[[host]]\nname = "{name}"\ndevices = ["/dev/fake0"]'
            text += "\n" + self.more.get("tail", "")
        text += "".join(f"\n{line}" for line in self.extra if "[[" in line)
        return Coordinator(
            plan.parse(text),
            self.engine,
            self.view,
            self.interrupts,
            FLEET,
            ["fleet", "run"],
            patience=self.more.get("patience", HURRY),
            real_ns=lambda: self.engine.now_ns,
            bound=lambda: Bound(1_000, "chrony"),
        )

    def run(self) -> Outcome:
        return self.coordinator().carry_out()

    def refused(self) -> SpekError:
        with pytest.raises(SpekError) as refusal:
            self.run()
        return refusal.value

    def asked(self, verb: Verb) -> list[str]:
        return [name for name, host in self.hosts.items() if verb in host.asked]

# SPDX-License-Identifier: GPL-2.0
"""Samples of targets, which a campaign on hosts keeps beside the result of each step."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lib.ctl.command_line import Spekctl
from lib.fakes.fleet_members import Members, commands_on
from lib.fakes.prober import FakeProber

from spekctl.documents import document
from spekctl.documents.prober import ProberReport
from spekctl.errors import ExitCode
from spekctl.fleet import duty, member
from spekctl.fleet.wire import Claim, Phase

FLEET = ("--fleet", "plan.toml", "--progress", "none")
SWEEP = ("sweep", "random-read-4k", *FLEET, "--time", "10s", "--folder", "f")
SPC1E = (
    *("energy", "spc1e", *FLEET, "--write", "--quick", "--folder", "t"),
    *("--ramp", "1s", "--search-time", "1s", "--max-bsu", "30"),
)


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Members]:
    """Two clients, and the target t with a prober."""

    class Prober(FakeProber):
        def start(self, interval_ns: int, **more: Any) -> int:
            return super().start(interval_ns)

        def samples(self, probe: int, after: Any = None, *, hold: bool = True) -> Any:
            return super().samples(probe, after, hold=True)

    def watch(asked: Claim) -> duty.Watch:
        prober: Any = Prober()
        return duty.Watch(asked, lambda: prober)

    monkeypatch.setattr(member, "_check_prober", lambda: None)
    monkeypatch.setattr(member, "Watch", watch)
    engine = Members(["b", "a", "t"])
    with commands_on(monkeypatch, tmp_path, engine):
        path = tmp_path / "plan.toml"
        head, target, _ = path.read_text().partition('name = "t"\n')
        path.write_text(f'{head}{target}role = "target"\n')
        yield engine


def test_samples_of_a_target_lie_beside_the_result_of_each_step(
    spekctl: Spekctl, watched: Members, tmp_path: Path
) -> None:
    outcome = spekctl(*SWEEP, "--rate", "100,400")
    assert outcome.code == ExitCode.OK, outcome.err
    for step in ("1-rate-100", "2-rate-400"):
        assert (tmp_path / f"f/{step}.json").exists()
        samples = document.read(tmp_path / f"f/{step}.t.json", ProberReport)
        assert len(samples.start_ns) > 0


def test_samples_of_a_target_that_cannot_be_written_end_the_sweep(
    spekctl: Spekctl, watched: Members, tmp_path: Path
) -> None:
    (tmp_path / "f/1-rate-100.t.json").mkdir(parents=True)
    outcome = spekctl(*SWEEP, "--rate", "100,400")
    assert outcome.code != ExitCode.OK and "1-rate-100.t.json" in outcome.err
    assert not (tmp_path / "f/2-rate-400.json").exists()
    assert {each.phase for each in watched.members.values()} == {Phase.RELEASED}


def test_samples_of_a_target_lie_beside_a_rest(
    spekctl: Spekctl, watched: Members, tmp_path: Path
) -> None:
    watched.kernels["b"].on_wait = lambda second: os.kill(os.getpid(), signal.SIGINT)
    assert spekctl(*SPC1E).code == ExitCode.INTERRUPTED
    assert (tmp_path / "t/idle.json").exists()
    assert document.read(tmp_path / "t/idle.t.json", ProberReport).start_ns

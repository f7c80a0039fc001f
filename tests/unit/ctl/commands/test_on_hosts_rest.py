# SPDX-License-Identifier: GPL-2.0
"""Energy tests on all hosts of a plan, which rest together before the test under load."""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from lib.ctl.command_line import Spekctl
from lib.fakes.fleet_members import Members, commands_on

from spekctl.campaigns import energy
from spekctl.documents import power as powers
from spekctl.documents.power import PowerFigures
from spekctl.documents.result_parts import RailPower
from spekctl.errors import ExitCode
from spekctl.fleet.wire import Phase
from spekctl.power import span

FLEET = ("--fleet", "plan.toml", "--progress", "none")


@pytest.fixture
def members(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Members]:
    engine = Members(["b", "a"])
    with commands_on(monkeypatch, tmp_path, engine):
        yield engine


def read(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(path.read_text())
    return document


class Meter:
    """A meter of a host that measures @watts."""

    def __init__(self, watts: float) -> None:
        self.watts = watts
        self.spans: list[tuple[int, int]] = []
        self.is_closed = False

    def follow(self, start_ns: int, end_ns: int) -> None:
        pass

    def between(self, start_ns: int, end_ns: int) -> PowerFigures:
        self.spans.append((start_ns, end_ns))
        seconds = (end_ns - start_ns) / 1e9
        energy_fj = round(self.watts * seconds * 10**15)
        joules = self.watts * seconds
        rail = RailPower(
            *("12v", joules, self.watts, None, None, seconds, 0.0, 9, "psu"), energy_fj=energy_fj
        )
        return PowerFigures([rail], powers.total_of([rail]), 0.0)

    def close(self) -> None:
        self.is_closed = True


@pytest.fixture
def meters(members: Members, monkeypatch: pytest.MonkeyPatch) -> list[Meter]:
    """Those of two hosts; power of runs is 9 W."""
    both = [Meter(3.0), Meter(4.5)]
    left = iter(both)
    monkeypatch.setattr(span, "connect", lambda *wishes: (next(left), ""))
    measured = energy.watts_of
    monkeypatch.setattr(
        energy, "watts_of", lambda power: Fraction(9) if power is None else measured(power)
    )
    return both


ENERGY_TIMES = ("--ramp", "1s", "--search-time", "1s", "--idle-time", "2s")
SPC1E = (
    *("energy", "spc1e", *FLEET, "--write", "--quick", *ENERGY_TIMES),
    *("--sustain", "1s", "--iops-time", "1s", "--phase-time", "1s", "--max-bsu", "20"),
    *("--keep-going", "--folder", "t"),
)


def test_hosts_rest_together_before_the_test_under_load(
    spekctl: Spekctl, members: Members, meters: list[Meter], tmp_path: Path
) -> None:
    outcome = spekctl(*SPC1E)
    assert outcome.code in (ExitCode.OK, ExitCode.LIMIT_MISSED), outcome.err
    report = read(tmp_path / "t/energy.json")
    assert report["complete"]
    levels = {level["name"]: level for level in report["levels"]}
    assert [float(levels[name]["watts"]) for name in ("heavy", "moderate", "idle")] == [9, 9, 7.5]
    assert [rail["name"] for rail in levels["idle"]["power"]["rails"]] == ["a", "b"]
    assert {rail["mean_w"] for rail in levels["idle"]["power"]["rails"]} == {3.0, 4.5}
    for meter in meters:
        ((start_ns, end_ns),) = meter.spans
        assert end_ns - start_ns == 2 * 10**9 and meter.is_closed
    kept = read(tmp_path / "t/idle.json")
    assert kept["length_ns"] == kept["end_ns"] - kept["start_ns"] == 2 * 10**9
    assert len(kept["targets"]) == 2
    # One claim for the rest and all runs.
    for kernel in members.kernels.values():
        assert kernel.claim_calls() == ["claim-new", "run-new", "claim-del"]
    assert members.asked.index(("a", "claim")) < members.asked.index(("a", "step"))


def test_a_rest_is_not_repeated_by_a_resumption(
    spekctl: Spekctl,
    members: Members,
    meters: list[Meter],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    members.kernels["b"].on_wait = lambda second: os.kill(os.getpid(), signal.SIGINT)
    outcome = spekctl(*SPC1E)
    assert outcome.code == ExitCode.INTERRUPTED, outcome.err
    assert "--resume continues after" in outcome.err
    assert not read(tmp_path / "t/energy.json")["complete"]
    kept = (tmp_path / "t/idle.json").read_text()
    with commands_on(monkeypatch, tmp_path, Members(["b", "a"])):
        again = spekctl(*SPC1E, "--resume")
    assert again.code in (ExitCode.OK, ExitCode.LIMIT_MISSED), again.err
    assert (tmp_path / "t/idle.json").read_text() == kept
    assert len(meters[0].spans) == len(meters[1].spans) == 1
    assert read(tmp_path / "t/energy.json")["complete"]


def test_a_test_that_has_lost_its_rest_does_not_rest_after_its_end(
    spekctl: Spekctl,
    members: Members,
    meters: list[Meter],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    assert spekctl(*SPC1E).code in (ExitCode.OK, ExitCode.LIMIT_MISSED)
    (tmp_path / "t/idle.json").unlink()
    again = Members(["b", "a"])
    with commands_on(monkeypatch, tmp_path, again):
        outcome = spekctl(*SPC1E, "--resume")
    assert outcome.code == ExitCode.USAGE
    assert "t has no idle test, and no run is left before which hosts could rest" in outcome.err
    assert "claim" not in {verb for _, verb in again.asked}


def test_power_is_unknown_if_a_host_measures_none(
    spekctl: Spekctl, members: Members, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    told = iter([(Meter(3.0), ""), (None, "power not measured: no feed is open")])
    monkeypatch.setattr(span, "connect", lambda *wishes: next(told))
    outcome = spekctl(*SPC1E)
    assert outcome.code in (ExitCode.OK, ExitCode.LIMIT_MISSED), outcome.err
    report = read(tmp_path / "t/energy.json")
    assert not report["complete"]
    assert report["verdict"].startswith("performance only: no power measured in ")
    (remark,) = [text for text in report["remarks"] if text.startswith("idle: ")]
    assert re.fullmatch("idle: power is not known: no samples of [ab]", remark)


def test_a_host_that_is_lost_while_it_rests_ends_the_test(
    spekctl: Spekctl, members: Members, meters: list[Meter], tmp_path: Path
) -> None:
    meters[0].follow = meters[1].follow = lambda *when: members.lose("b")  # type: ignore[method-assign]
    outcome = spekctl(*SPC1E)
    assert outcome.code == ExitCode.HOST_LOST, outcome.err
    assert "b lost at " in outcome.err
    assert not (tmp_path / "t/idle.json").exists()


def test_an_interrupt_ends_a_rest(
    spekctl: Spekctl, members: Members, meters: list[Meter], tmp_path: Path
) -> None:
    meters[0].follow = lambda *when: os.kill(os.getpid(), signal.SIGINT)  # type: ignore[method-assign]
    outcome = spekctl(*SPC1E)
    assert outcome.code == ExitCode.INTERRUPTED, outcome.err
    assert not (tmp_path / "t/idle.json").exists()
    assert {member.phase for member in members.members.values()} == {Phase.RELEASED}
    assert all(meter.is_closed for meter in meters)


def test_streams_of_spc2e_are_of_all_hosts(
    spekctl: Spekctl, members: Members, meters: list[Meter], tmp_path: Path
) -> None:
    times = ("--time", "1s", "--vod-time", "2s", *ENERGY_TIMES)
    words = ("--streams", "4", "--vod-streams", "8", "--write", "--folder", "t")
    outcome = spekctl("energy", "spc2e", *FLEET, *times, *words)
    assert outcome.code in (ExitCode.OK, ExitCode.LIMIT_MISSED), outcome.err
    report = read(tmp_path / "t/energy.json")
    levels = {level["name"]: level for level in report["levels"]}
    assert levels["idle"]["watts"] == "7.5"
    assert float(levels["heavy"]["mb_s"]) > 0 and len(report["targets"]) == 2


@pytest.mark.parametrize("command", ["spc1e", "spc2e"])
def test_numbers_of_a_file_are_of_no_fleet(
    spekctl: Spekctl, members: Members, tmp_path: Path, command: str
) -> None:
    (tmp_path / "n.toml").write_text("price = 1")
    outcome = spekctl("energy", command, *FLEET, "--from", "n.toml")
    assert outcome.code == ExitCode.USAGE and "--fleet" in outcome.err and members.asked == []

# SPDX-License-Identifier: GPL-2.0
"""The SPC-1/E-like report: of whole levels, without power, and of levels that are missing."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from lib.ctl.command_line import Spekctl
from lib.ctl.energy_command import MISSING, of_file
from lib.ctl.spc1e_command import RUN, queue_kernel, queue_power
from lib.fakes.power import FakePower
from lib.fakes.queue_kernel import QueueKernel
from msgspec.structs import replace

from spekctl.campaigns import usage
from spekctl.campaigns.energy import Facts
from spekctl.campaigns.spc1e.report import Measured, build, measured, typed_in
from spekctl.documents.energy import Spc1eReport
from spekctl.documents.power import PowerFigures
from spekctl.documents.result_parts import RailPower
from spekctl.errors import ExitCode

kernel = pytest.fixture(queue_kernel)
power = pytest.fixture(queue_power)


def test_without_power_there_is_performance(spekctl: Spekctl, kernel: QueueKernel) -> None:
    outcome = spekctl(*RUN, "--folder", "t")
    assert outcome.code == ExitCode.OK, outcome.err
    written = of_file(Path("t/energy.json"))
    assert (written["complete"], written["passed"]) == (False, True)
    assert written["verdict"] == "performance only: no power measured in heavy, moderate, idle"
    assert MISSING in written["remarks"]
    low = written["profiles"][0]
    assert (low["watts"], low["iops_per_watt"], written["annual_kwh"]) == (None, None, None)
    moderate = float(written["levels"][1]["iops"])
    assert float(low["iops"]["text"]) == pytest.approx(moderate / 3, abs=0.005)
    assert float(written["composite"]["iops"]["text"]) > float(low["iops"]["text"])
    assert "performance only" in outcome.out


def test_gaps_in_the_power_are_told(
    spekctl: Spekctl, kernel: QueueKernel, power: FakePower
) -> None:
    power.gap_s = 0.05
    spekctl(*RUN, "--folder", "t")
    written = of_file(Path("t/energy.json"))
    assert written["complete"]
    assert "heavy: power is unknown for 0.05 s of 2 s" in written["remarks"]
    power.gap_s = 0.5
    spekctl(*RUN, "--folder", "v")
    hardly = of_file(Path("v/energy.json"))
    assert not hardly["complete"] and "no power measured in heavy" in hardly["verdict"]
    assert "heavy: power is unknown for 0.5 s of 2 s" in hardly["remarks"]
    power.gap_s = 1e9
    spekctl(*RUN, "--folder", "u")
    nothing = of_file(Path("u/energy.json"))
    assert not nothing["complete"]
    assert "heavy: power is not known: 2 s without samples" in nothing["remarks"]


def test_a_baseline_is_taken_off_every_level(
    spekctl: Spekctl, kernel: QueueKernel, power: FakePower
) -> None:
    power.baseline_w = 2.0
    spekctl(*RUN, "--folder", "t")
    written = of_file(Path("t/energy.json"))
    assert [level["watts"] for level in written["levels"]][2] == "4"
    heavy = written["levels"][0]
    assert float(heavy["watts"]) == pytest.approx(4 + 0.004 * float(heavy["iops"]))
    assert "a baseline of 2 W was subtracted from the power" in written["remarks"]
    power.baseline_w = 100.0
    spekctl(*RUN, "--folder", "u")
    nothing = of_file(Path("u/energy.json"))
    assert not nothing["complete"] and nothing["verdict"].startswith("performance only: the power")


def test_a_system_that_rests_at_more_than_it_works_is_noticed(
    spekctl: Spekctl, kernel: QueueKernel, power: FakePower
) -> None:
    power.watts_per_iops = -0.001
    outcome = spekctl(*RUN, "--folder", "t")
    assert outcome.code == ExitCode.OK
    written = of_file(Path("t/energy.json"))
    assert written["complete"]
    assert any("idle power, 6 W, is above that of" in remark for remark in written["remarks"])


# --- from levels ---------------------------------------------------------------------------------

# Measured levels from which all figures of a published table follow.
LEVELS = typed_in(
    usage.Levels(
        heavy=usage.Level(Fraction("236.965"), Fraction("15999.51")),
        moderate=usage.Level(Fraction("232.480"), Fraction("9999.42")),
        idle=usage.Level(Fraction("225.530")),
    )
)


def report(measured: dict[str, Measured], **facts: object) -> Spc1eReport:
    return build(measured, Facts(**facts), usage.DEFAULT_PRICE, usage.PROFILES)  # type: ignore[arg-type]


def test_a_published_table_comes_out() -> None:
    built = report(LEVELS, source="l.toml")
    assert (built.complete, built.passed, built.verdict) == (True, True, "complete")
    assert [profile.name for profile in built.profiles] == ["low", "medium", "high"]
    assert built.composite is not None and built.composite.watts is not None
    assert built.composite.watts.text == "231.73" and built.composite.hours == []
    assert built.annual_kwh is not None and built.annual_kwh.text == "2029.93"
    assert built.annual_cost is not None and built.annual_cost.text == "243.59"
    assert [(level.name, level.percent, level.iops) for level in built.levels] == [
        *(("heavy", 80, "15999.51"), ("moderate", 50, "9999.42"), ("idle", 0, "0")),
    ]


@pytest.mark.parametrize(
    ("without", "verdict", "rows"),
    [
        (["idle"], "not complete: idle were not measured", 3),
        (["heavy"], "not complete: heavy were not measured", 0),
        (["heavy", "moderate", "idle"], "not complete: heavy and moderate and idle were not", 0),
    ],
)
def test_a_level_that_is_missing_is_named(without: list[str], verdict: str, rows: int) -> None:
    built = report({name: level for name, level in LEVELS.items() if name not in without})
    assert built.verdict.startswith(verdict)
    assert (built.complete, built.passed) == (False, False)
    assert (len(built.profiles), built.composite is None) == (rows, not rows)
    assert built.annual_cost is None
    assert all(profile.watts is None and profile.iops.text for profile in built.profiles)


def test_levels_are_in_the_order_of_the_table() -> None:
    built = report(dict(reversed(LEVELS.items())))
    assert [level.name for level in built.levels] == ["heavy", "moderate", "idle"]


def test_trouble_comes_before_all_else() -> None:
    built = report(LEVELS, trouble="the device is gone")
    assert (built.verdict, built.passed, built.complete) == ("the device is gone", False, True)
    assert report(LEVELS, passed=False).passed is False


def test_levels_that_cannot_be_leave_the_performance() -> None:
    dead = {**LEVELS, "idle": Measured(Fraction(0), Fraction(-1))}
    built = report(dead)
    assert built.verdict.startswith("performance only: the power of the idle level is -1 W")
    assert built.verdict.removeprefix("performance only: ") in built.remarks
    assert built.passed and not built.complete and built.annual_kwh is None
    assert [profile.watts for profile in built.profiles] == [None] * 3


RAIL = RailPower(
    name="all", joules=10.0, known_s=2.0, gap_s=0.0, mean_w=5.0, min_w=4.0, max_w=6.0, samples=20
)


def figures(baseline_w: float = 0.0, known_s: float = 2.0, gap_s: float = 0.0) -> PowerFigures:
    return PowerFigures([], replace(RAIL, known_s=known_s, gap_s=gap_s), baseline_w)


def test_the_watts_of_a_level_are_net_and_its_power_is_kept_whole() -> None:
    level = measured(100.5, figures(baseline_w=2.0), bsu=3, result_file="x.json")
    assert (level.iops, level.watts) == (Fraction("100.5"), Fraction(3))
    assert level.power is not None and level.power.total.mean_w == 5.0
    assert measured(100.5, figures(known_s=0.0)).watts is None
    assert measured(100.5, None).watts is None


def test_different_baselines_are_remarked_upon() -> None:
    levels = {
        "heavy": measured(200.0, figures(1.0)),
        "moderate": measured(100.0, figures(2.0)),
        "idle": measured(0.0, figures(2.0, gap_s=0.5)),
    }
    remarks = report(levels, remarks=["the first"]).remarks
    assert remarks[0] == "the first"
    assert "idle: power is unknown for 0.5 s of 2.5 s" in remarks
    assert any("different baselines were subtracted" in remark for remark in remarks)

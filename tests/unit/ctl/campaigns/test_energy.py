# SPDX-License-Identifier: GPL-2.0
"""What the energy reports share: verdicts, and facts of a test that has not begun."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
from lib.fakes.machine import disk
from lib.fakes.power import figures

from spekctl.campaigns import usage
from spekctl.campaigns.emerald.report import watts_of as emerald_watts
from spekctl.campaigns.energy import (
    Facts,
    annual,
    disorder_remark,
    facts_of,
    no_idle_test,
    profile_of,
    verdict,
    watts_of,
)
from spekctl.campaigns.idle import Idle
from spekctl.documents.energy import ProfileReport
from spekctl.documents.power import PowerFigures
from spekctl.documents.spc2 import RateProfile


@pytest.mark.parametrize(
    ("missing", "without", "text"),
    [
        ([], [], "complete"),
        ([], ["heavy", "idle"], "performance only: no power measured in heavy, idle"),
        (["heavy"], ["idle"], "not complete: heavy were not measured"),
        (["heavy", "moderate"], [], "not complete: heavy and moderate were not measured"),
    ],
)
def test_what_is_missing_comes_before_power(
    missing: list[str], without: list[str], text: str
) -> None:
    assert verdict(missing, without) == text


def test_power_that_was_measured_is_not_denied() -> None:
    useless = {"idle": Fraction(-1, 4), "heavy": Fraction(0), "of another": Fraction(-1)}
    assert verdict([], ["heavy", "moderate", "idle"], useless=useless) == (
        "performance only: no power measured in moderate; the power must be more than 0 W, and is"
        " -0.25 W in idle, 0 W in heavy"
    )
    assert verdict([], ["idle"], useless=useless) == (
        "performance only: the power must be more than 0 W, and is -0.25 W in idle"
    )
    assert verdict(["moderate"], ["idle"], useless=useless).startswith("not complete: moderate")


def test_a_test_without_load_so_far_is_told_of_its_idle_test() -> None:
    rest = Idle(
        length_ns=5, start_ns=0, end_ns=5, targets=[disk().facts()], power=None, foreign_ios=7
    )
    facts = facts_of(None, rest, remarks=["power is missing"])
    assert not facts.passed and facts.trouble.startswith("incomplete: the test under load has not")
    assert list(facts.remarks) == ["power is missing", *rest.remarks] and rest.remarks
    assert [target.path for target in facts.targets] == ["/dev/fake0"]
    assert facts_of(None, None).targets == ()


def test_facts_of_typed_numbers_are_those_of_a_passed_test() -> None:
    assert Facts(source="x.toml").passed and Facts().trouble == ""


def test_a_missing_idle_test_has_a_remedy() -> None:
    assert "give its power with --idle-watts" in no_idle_test(Path("t/report.json")).message


def test_a_mean_day_has_figures_and_no_hours() -> None:
    day = usage.Nominal(Fraction(20), Fraction(500))
    hours = usage.Hours(Fraction(18), Fraction(6), Fraction(0))
    of_rates = profile_of(RateProfile, "high", hours, day)
    of_ios = profile_of(ProfileReport, "composite", None, day)
    assert of_rates.hours == ["18", "6", "0"] and of_ios.hours == []
    assert (of_rates.watts.text, of_rates.mb_s.text) == ("20.00", "500.00")
    assert of_ios.iops_per_watt is not None and of_ios.iops_per_watt.text == "25.00"
    assert of_rates.btu_per_hour.text == "68.24"


def test_a_year_without_power_has_no_figures() -> None:
    assert annual(None) == (None, None)
    assert watts_of(None) is None


@pytest.mark.parametrize("of", [watts_of, emerald_watts])
def test_power_that_is_hardly_known_gives_no_watts(
    of: Callable[[PowerFigures | None], Fraction | None],
) -> None:
    assert of(figures(5.0, 100.0, gap_s=5.0)) == 5
    assert of(figures(5.0, 7200.0, gap_s=7130.0)) is None


def test_an_idle_level_with_the_most_power_is_remarked_on() -> None:
    load, rest = usage.Level(Fraction(5), Fraction(9)), usage.Level(Fraction(7))
    (text,) = disorder_remark(usage.Levels(load, load, rest))
    assert text.endswith(": check that the system was idle, and what the meter measures")
    assert disorder_remark(usage.Levels(load, load, usage.Level(Fraction(1)))) == []

# SPDX-License-Identifier: GPL-2.0-or-later
"""Shared by the energy reports: facts beside the levels, verdicts, and a report computed again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TypeVar

from spekctl.campaigns import usage
from spekctl.campaigns.idle import Idle
from spekctl.campaigns.inputs import fraction_of, hours_again
from spekctl.documents.benchmark import AnnualReport, Profile, Report
from spekctl.documents.device import TargetFacts
from spekctl.documents.exact import Figure, decimal_text, figure, measured_number
from spekctl.documents.power import PowerFigures
from spekctl.documents.result_parts import Environment
from spekctl.errors import UsageError

ReportT = TypeVar("ReportT", bound=AnnualReport)
ProfileT = TypeVar("ProfileT", bound=Profile)


@dataclass(frozen=True, slots=True)
class Facts:
    """Contents of a report beside its levels. @trouble: why the test is incomplete, or which limit
    it missed; else empty."""

    source: str = "measured"
    passed: bool = True
    trouble: str = ""
    targets: Sequence[TargetFacts] = ()
    environment: Environment | None = None
    remarks: Sequence[str] = ()


def facts_of(
    load: Report | None,
    rest: Idle | None,
    remarks: Sequence[str] = (),
    source: str = "measured",
) -> Facts:
    """The facts of a test so far, of its report under load and its idle test.

    A test under load that is incomplete or missed a limit gives the energy report its verdict.
    """
    said = [*remarks, *(rest.remarks if rest is not None else [])]
    if load is None:
        return Facts(
            source=source,
            passed=False,
            trouble="incomplete: the test under load has not started",
            targets=rest.targets if rest is not None else (),
            remarks=said,
        )
    return Facts(
        source=source,
        passed=load.passed,
        trouble="" if load.passed else load.verdict,
        targets=load.targets,
        environment=load.environment,
        remarks=said,
    )


def no_idle_test(path: Path) -> UsageError:
    """The refusal of a report under load without idle power."""
    return UsageError(
        f"{path} has no idle test beside it; give its power with --idle-watts, for example"
        " --idle-watts 225.53"
    )


def verdict(
    missing: Sequence[str],
    without: Sequence[str],
    between: str = " and ",
    useless: Mapping[str, Fraction] | None = None,
) -> str:
    """The verdict on a test with these levels or phases @missing, or @without power to compute
    with; @useless: W that were measured in some of those, at most 0."""
    if missing:
        return f"not complete: {between.join(missing)} were not measured"
    measured = {name: watts for name, watts in (useless or {}).items() if name in without}
    unknown = [name for name in without if name not in measured]
    reasons = [f"no power measured in {', '.join(unknown)}"] if unknown else []
    if measured:
        named = [f"{float(watts):g} W in {name}" for name, watts in measured.items()]
        reasons.append(f"the power must be more than 0 W, and is {', '.join(named)}")
    return f"performance only: {'; '.join(reasons)}" if reasons else "complete"


def watts_of(power: PowerFigures | None) -> Fraction | None:
    """Measured power, less the baseline; None if it is missing, or unknown for too much of the
    span."""
    net_w = power.net_w if power is not None and power.is_known else None
    return measured_number(net_w) if net_w is not None else None


def disorder_remark(levels: usage.Levels) -> list[str]:
    """What to check if a level with less load has more power."""
    disorder = usage.disorder(levels)
    if not disorder:
        return []
    return [f"{disorder}: check that the system was idle, and what the meter measures"]


def annual(whole: usage.Metrics | None) -> tuple[Figure | None, Figure | None]:
    """Energy and cost of a year."""
    if whole is None:
        return None, None
    return figure(whole.annual_kwh, usage.DECIMALS), figure(whole.annual_cost, usage.DECIMALS)


def hours_text(hours: usage.Hours | None) -> list[str]:
    """Hours of a usage profile, which the mean of all profiles has none of."""
    return [decimal_text(hour) for hour in hours.all] if hours is not None else []


def profile_of(
    make: Callable[[str, list[str], Figure, Figure, Figure, Figure], ProfileT],
    name: str,
    hours: usage.Hours | None,
    day: usage.Nominal,
) -> ProfileT:
    """A usage profile, or the mean of all: its power, rate, rate per watt and heat."""
    values = (day.watts, day.rate, day.rate_per_watt, day.btu_per_hour)
    watts, rate, efficiency, heat = (figure(value, usage.DECIMALS) for value in values)
    return make(name, hours_text(hours), watts, rate, efficiency, heat)


def again(
    previous: ReportT,
    path: Path,
    price: Fraction | None,
    days: Mapping[str, usage.Hours],
    build: Callable[[Facts, Fraction, Mapping[str, usage.Hours]], ReportT],
) -> tuple[Facts, Fraction, dict[str, usage.Hours]]:
    """What a report is computed from again: its facts, the price, and the profiles.

    @build: builds it from the levels of @previous. @price and @days replace those of @previous.
    """
    missing = [
        name for name in ("heavy", "moderate") if name not in {x.name for x in previous.levels}
    ]
    if missing:
        raise UsageError(f"{path}: the levels {' and '.join(missing)} are missing")
    used = price if price is not None else fraction_of(previous.price, f"{path}: the price")
    profiles = {**hours_again(previous.profiles, path), **days}
    facts = Facts(
        source=str(path),
        passed=previous.passed,
        targets=previous.targets,
        environment=previous.environment,
    )
    # What does not follow from the levels was said of the test that they come from.
    follows = build(facts, used, profiles)
    facts = replace(
        facts,
        trouble=previous.verdict if previous.verdict != follows.verdict else "",
        remarks=[remark for remark in previous.remarks if remark not in follows.remarks],
    )
    return facts, used, profiles

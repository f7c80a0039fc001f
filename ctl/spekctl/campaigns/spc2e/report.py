# SPDX-License-Identifier: GPL-2.0-or-later
"""The SPC-2/E-like report: what data rates cost in power, by part and in use.

Heavy is the mean of the three parts at the most streams, moderate the same at half of them, idle
the idle test. The usage profiles are those of SPC-1/E: no table of an SPC-2/E result was at hand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Literal

from spekctl.campaigns import usage
from spekctl.campaigns.idle import Idle
from spekctl.campaigns.points import baseline_remarks
from spekctl.campaigns.spc2 import plan
from spekctl.campaigns.spc2.figures import mean
from spekctl.campaigns.spc2.report import composites_of, mean_rate, mean_watts, runs_of
from spekctl.documents import spc2
from spekctl.documents.exact import decimal_text, figure, measured_number
from spekctl.documents.power import PowerFigures
from spekctl.documents.spc2 import RateLevel, RateProfile, Run, Spc2eReport

LevelName = Literal["heavy", "moderate", "idle"]
DIVISORS: dict[LevelName, int] = {"heavy": 1, "moderate": 2}


def levels_of(
    parameters: spc2.Parameters, done: Sequence[Run], rest: Idle | None
) -> list[RateLevel]:
    """The levels that were measured."""
    found = []
    for name, divisor in DIVISORS.items():
        parts = [runs_of(parameters, done, part, divisor) for part in plan.PARTS]
        if not all(parts):
            continue
        watts = [one for one in map(mean_watts, parts) if one is not None]
        found.append(
            RateLevel(
                name=name,
                mb_s=decimal_text(mean([mean_rate(runs) for runs in parts])),
                watts=decimal_text(mean(watts)) if len(watts) == len(parts) else None,
                composites=composites_of(parameters, done, divisor),
                power=None,
            )
        )
    return found + idle_level(rest)


def idle_level(rest: Idle | None) -> list[RateLevel]:
    """That of the idle test, if it was done."""
    if rest is None:
        return []
    net_w = rest.power.net_w if rest.power is not None else None
    watts = decimal_text(measured_number(net_w)) if net_w is not None else None
    return [RateLevel("idle", "0", watts, [], rest.power)]


def _missing_power(levels: Sequence[RateLevel]) -> list[str]:
    return [one.name for one in levels if one.watts is None or Fraction(one.watts) <= 0]


def build(
    load: spc2.Report | None,
    rest: Idle | None,
    price: Fraction,
    profiles: Mapping[str, usage.Hours],
    remarks: Sequence[str] = (),
) -> Spc2eReport:
    """The report of what was done so far."""
    levels = levels_of(load.parameters, load.runs, rest) if load is not None else idle_level(rest)
    missing = [name for name in (*DIVISORS, "idle") if name not in {one.name for one in levels}]
    without = _missing_power(levels)
    # A rate of 0 leaves nothing to compute with.
    known: dict[str, usage.Level] = {
        one.name: usage.Level(Fraction(one.watts), Fraction(one.mb_s))
        for one in levels
        if one.watts is not None
    }
    still = any(name in known and not known[name].rate for name in DIVISORS)
    whole = None
    if not missing and not without and not still:
        whole = usage.metrics(usage.Levels(**known), price, profiles)
    days = whole.profiles if whole is not None else {}
    passed = load is not None and load.passed and not missing
    return Spc2eReport(
        notice=spc2.ENERGY_NOTICE,
        complete=whole is not None,
        passed=passed,
        verdict=_verdict(load, missing, without),
        levels=levels,
        profiles=[_row(name, profiles[name], day) for name, day in days.items()],
        composite=_row("composite", None, whole.composite) if whole is not None else None,
        annual_kwh=figure(whole.annual_kwh, usage.DECIMALS) if whole is not None else None,
        price=decimal_text(price),
        annual_cost=figure(whole.annual_cost, usage.DECIMALS) if whole is not None else None,
        targets=load.targets if load is not None else rest.targets if rest is not None else [],
        environment=load.environment if load is not None else None,
        remarks=_remarks(load, rest, known, remarks),
    )


def _verdict(load: spc2.Report | None, missing: Sequence[str], without: Sequence[str]) -> str:
    if load is None:
        return "incomplete: the test under load has not started"
    if not load.passed:
        return load.verdict
    if missing:
        return f"not complete: {' and '.join(missing)} were not measured"
    if without:
        return f"performance only: no power measured in {', '.join(without)}"
    return "complete"


def _remarks(
    load: spc2.Report | None,
    rest: Idle | None,
    known: Mapping[str, usage.Level],
    more: Sequence[str],
) -> list[str]:
    remarks = [
        f"{spc2.ENERGY_NOTICE}: usage profiles are those of SPC-1/E, of data rates at all and at"
        " half of the streams",
        *more,
    ]
    if load is not None:
        remarks += [text for text in load.remarks if text not in remarks]
    if rest is not None:
        remarks += rest.remarks
    if len(known) == len(DIVISORS) + 1:
        levels = usage.Levels(**known)
        if disorder := usage.disorder(levels):
            remarks.append(
                f"{disorder}: check that the system was idle, and what the meter measures"
            )
        if levels.heavy.rate < levels.moderate.rate:
            remarks.append("half of the streams move more data than all of them")
    powers: list[PowerFigures | None] = [one.power for one in load.runs] if load else []
    return remarks + baseline_remarks([*powers, rest.power if rest is not None else None])


def _row(name: str, hours: usage.Hours | None, day: usage.Nominal) -> RateProfile:
    return RateProfile(
        name=name,
        hours=[decimal_text(one) for one in hours.all] if hours is not None else [],
        watts=figure(day.watts, usage.DECIMALS),
        mb_s=figure(day.rate, usage.DECIMALS),
        mb_s_per_watt=figure(day.rate_per_watt, usage.DECIMALS),
        btu_per_hour=figure(day.btu_per_hour, usage.DECIMALS),
    )

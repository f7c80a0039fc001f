# SPDX-License-Identifier: GPL-2.0-or-later
"""The SPC-1/E-like report: the table from the levels; without power, performance only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from spekctl import recorded
from spekctl.campaigns import energy, usage
from spekctl.campaigns.energy import Facts
from spekctl.campaigns.points import baseline_remarks
from spekctl.documents.benchmark import Site
from spekctl.documents.energy import (
    SPC1E_NOTICE,
    LevelReport,
    ProfileReport,
    Spc1eReport,
)
from spekctl.documents.exact import decimal_text, figure, measured_number
from spekctl.documents.power import PowerFigures

PERCENTS = {"heavy": usage.HEAVY_PERCENT, "moderate": usage.MODERATE_PERCENT, "idle": 0}


@dataclass(frozen=True, slots=True)
class Measured:
    """A measured level; no watts if power is missing."""

    iops: Fraction
    watts: Fraction | None
    power: PowerFigures | None = None
    bsu: int | None = None
    result_file: str | None = None


def measured(
    iops: float, power: PowerFigures | None, bsu: int | None = None, result_file: str | None = None
) -> Measured:
    """A level that was measured by a run, or without one."""
    watts = energy.watts_of(power)
    return Measured(measured_number(iops), watts, power, bsu, result_file)


def typed_in(levels: usage.Levels) -> dict[str, Measured]:
    """Levels measured elsewhere."""
    named = {"heavy": levels.heavy, "moderate": levels.moderate, "idle": levels.idle}
    return {name: Measured(level.rate, level.watts) for name, level in named.items()}


def build(
    measured: Mapping[str, Measured],
    facts: Facts,
    price: Fraction,
    profiles: Mapping[str, usage.Hours],
    site: Site | None = None,
) -> Spc1eReport:
    """The report from the levels: heavy, moderate, idle, or some of them."""
    missing = [name for name in PERCENTS if name not in measured]
    without = [name for name, level in measured.items() if level.watts is None]
    levels = _levels(measured) if not missing and not without else None
    disorder = usage.disorder(levels) if levels is not None else ""
    fault = usage.fault(levels) if levels is not None else ""
    remarks = list(facts.remarks)
    remarks += energy.disorder_remark(levels) if levels is not None else []
    for name, level in measured.items():
        if level.power is not None and level.power.remark:
            remarks.append(f"{name}: {level.power.remark}")
    remarks += baseline_remarks([level.power for level in measured.values()])
    # Disorder is a finding about the system; any other fault leaves nothing to compute with.
    whole = (
        usage.metrics(levels, price, profiles)
        if levels is not None and fault in ("", disorder)
        else None
    )
    if fault and whole is None:
        remarks.append(fault)
    rows = _rows(measured, whole, profiles)
    kwh, cost = energy.annual(whole)
    return Spc1eReport(
        notice=SPC1E_NOTICE,
        complete=whole is not None,
        passed=facts.passed and not facts.trouble and not missing,
        verdict=_verdict(facts, missing, without, fault if whole is None else ""),
        source=recorded.text(facts.source),
        levels=[_level_report(name, measured[name]) for name in PERCENTS if name in measured],
        profiles=rows[:-1],
        composite=rows[-1] if rows else None,
        annual_kwh=kwh,
        price=decimal_text(price),
        annual_cost=cost,
        site=site,
        targets=list(facts.targets),
        environment=facts.environment,
        remarks=remarks,
    )


def _levels(measured: Mapping[str, Measured]) -> usage.Levels:
    named = {
        name: usage.Level(level.watts or Fraction(0), level.iops)
        for name, level in measured.items()
    }
    return usage.Levels(**named)


def _verdict(facts: Facts, missing: list[str], without: list[str], fault: str) -> str:
    if facts.trouble:
        return facts.trouble
    if fault and not missing and not without:
        return f"performance only: {fault}"
    return energy.verdict(missing, without)


def _level_report(name: str, level: Measured) -> LevelReport:
    return LevelReport(
        name=name,
        percent=PERCENTS[name],
        bsu=level.bsu,
        iops=decimal_text(level.iops),
        watts=decimal_text(level.watts) if level.watts is not None else None,
        power=level.power,
        result_file=level.result_file,
    )


def _rows(
    measured: Mapping[str, Measured],
    whole: usage.Metrics | None,
    profiles: Mapping[str, usage.Hours],
) -> list[ProfileReport]:
    """Profiles and their mean; traffic alone where power is missing, nothing without load."""
    if "heavy" not in measured or "moderate" not in measured:
        return []
    if whole is not None:
        rows = [_row(name, profiles[name], day) for name, day in whole.profiles.items()]
        return [*rows, _row("composite", None, whole.composite)]
    rates = {
        name: usage.traffic(hours, measured["heavy"].iops, measured["moderate"].iops)
        for name, hours in profiles.items()
    }
    rows = [_row(name, profiles[name], rate) for name, rate in rates.items()]
    return [*rows, _row("composite", None, sum(rates.values(), Fraction(0)) / len(rates))]


def _row(name: str, hours: usage.Hours | None, day: usage.Nominal | Fraction) -> ProfileReport:
    if isinstance(day, usage.Nominal):
        return energy.profile_of(ProfileReport, name, hours, day)
    iops = figure(day, usage.DECIMALS)
    return ProfileReport(name, energy.hours_text(hours), None, iops, None, None)

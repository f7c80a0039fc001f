# SPDX-License-Identifier: GPL-2.0-or-later
"""The SPC-2/E-like report: what data rates cost in power, by part and in use.

Heavy is the mean of the three parts at the most streams, moderate the same at half of them, idle
the idle test. The usage profiles are those of SPC-1/E: no published SPC-2/E result was available.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Literal

from spekctl import recorded
from spekctl.campaigns import energy, idle, usage
from spekctl.campaigns.energy import Facts
from spekctl.campaigns.idle import Idle
from spekctl.campaigns.inputs import fraction_of
from spekctl.campaigns.points import baseline_remarks
from spekctl.campaigns.spc2 import plan
from spekctl.campaigns.spc2.figures import mean
from spekctl.campaigns.spc2.report import composites_of, mean_rate, mean_watts, runs_of
from spekctl.documents import spc2
from spekctl.documents.benchmark import Site
from spekctl.documents.exact import decimal_text
from spekctl.documents.power import PowerFigures
from spekctl.documents.spc2 import RateLevel, RateProfile, Run, Spc2eReport
from spekctl.errors import UsageError

LevelName = Literal["heavy", "moderate", "idle"]
DIVISORS: dict[LevelName, int] = {"heavy": 1, "moderate": 2}


def levels_of(
    parameters: spc2.Parameters, done: Sequence[Run], rest: Idle | None
) -> list[RateLevel]:
    """The levels that were measured."""
    levels = []
    for name, divisor in DIVISORS.items():
        parts = [runs_of(parameters, done, part, divisor) for part in plan.PARTS]
        if not all(parts):
            continue
        watts = [mean for mean in map(mean_watts, parts) if mean is not None]
        levels.append(
            RateLevel(
                name=name,
                mb_s=decimal_text(mean([mean_rate(runs) for runs in parts])),
                watts=decimal_text(mean(watts)) if len(watts) == len(parts) else None,
                composites=composites_of(parameters, done, divisor),
                power=None,
            )
        )
    return levels + idle_level(rest)


def idle_level(rest: Idle | None) -> list[RateLevel]:
    """Level of the idle test, if it was done."""
    if rest is None:
        return []
    watts = energy.watts_of(rest.power)
    text = decimal_text(watts) if watts is not None else None
    return [RateLevel("idle", "0", text, [], rest.power)]


def of_test(
    load: spc2.Report | None,
    rest: Idle | None,
    price: Fraction,
    profiles: Mapping[str, usage.Hours],
    remarks: Sequence[str] = (),
    site: Site | None = None,
) -> Spc2eReport:
    """The report on the steps so far."""
    levels = levels_of(load.parameters, load.runs, rest) if load is not None else idle_level(rest)
    return build(levels, _facts_of(load, rest, remarks), price, profiles, site)


def _facts_of(load: spc2.Report | None, rest: Idle | None, remarks: Sequence[str]) -> Facts:
    powers: list[PowerFigures | None] = [run.power for run in load.runs] if load else []
    said = [*remarks, *(load.remarks if load is not None else [])]
    said += [
        f"{run.step.name}: {run.power.remark}"
        for run in (load.runs if load is not None else [])
        if run.power is not None and run.power.remark
    ]
    if rest is not None and rest.power is not None and rest.power.remark:
        said.append(f"idle: {rest.power.remark}")
    facts = energy.facts_of(load, rest, said)
    baselines = baseline_remarks([*powers, rest.power if rest is not None else None])
    return replace(facts, remarks=[*facts.remarks, *baselines])


def from_spc2(
    path: Path, idle_watts: Fraction | None, price: Fraction, profiles: Mapping[str, usage.Hours]
) -> Spc2eReport:
    """From the report of a test under load, and the idle test that is kept beside it."""
    load = spc2.load_report(path)
    rest = idle.load(path.parent) if idle_watts is None else None
    levels = levels_of(load.parameters, load.runs, rest)
    if missing := [name for name in DIVISORS if name not in {level.name for level in levels}]:
        raise UsageError(
            f"{path}: the runs of the {' and '.join(missing)} load are missing; `spekctl energy"
            " spc2e` measures them with power"
        )
    if idle_watts is not None:
        levels.append(_rest_of(idle_watts))
    elif rest is None:
        raise energy.no_idle_test(path)
    facts = replace(_facts_of(load, rest, ()), source=str(path))
    return build(levels, facts, price, profiles)


def from_energy(
    previous: Spc2eReport,
    path: Path,
    idle_watts: Fraction | None,
    price: Fraction | None,
    days: Mapping[str, usage.Hours],
) -> Spc2eReport:
    """The same levels again; what is not given stays as it was."""
    levels = previous.levels
    for level in levels:
        for text in (level.mb_s, level.watts):
            if text is not None:
                fraction_of(text, f"{path}: the {level.name} level")
    computed = partial(build, levels, site=previous.site)
    told = energy.again(previous, path, price, days, computed)
    if idle_watts is not None:
        levels = [level for level in levels if level.name != "idle"] + [_rest_of(idle_watts)]
    return build(levels, *told, site=previous.site)


def _rest_of(watts: Fraction) -> RateLevel:
    """An idle level that was measured elsewhere."""
    return RateLevel("idle", "0", decimal_text(watts), [], None)


def build(
    levels: Sequence[RateLevel],
    facts: Facts,
    price: Fraction,
    profiles: Mapping[str, usage.Hours],
    site: Site | None = None,
) -> Spc2eReport:
    """The report of these levels."""
    missing = [name for name in (*DIVISORS, "idle") if name not in {level.name for level in levels}]
    measured = {level.name: Fraction(level.watts) for level in levels if level.watts is not None}
    useless = {str(name): watts for name, watts in measured.items() if watts <= 0}
    without = [level.name for level in levels if level.name in useless or level.watts is None]
    # A rate of 0 leaves nothing to compute with.
    known: dict[str, usage.Level] = {
        level.name: usage.Level(Fraction(level.watts), Fraction(level.mb_s))
        for level in levels
        if level.watts is not None
    }
    still = any(name in known and not known[name].rate for name in DIVISORS)
    whole = None
    if not missing and not without and not still:
        whole = usage.metrics(usage.Levels(**known), price, profiles)
    days = whole.profiles if whole is not None else {}
    row = partial(energy.profile_of, RateProfile)
    kwh, cost = energy.annual(whole)
    return Spc2eReport(
        notice=spc2.ENERGY_NOTICE,
        source=recorded.text(facts.source),
        complete=whole is not None,
        passed=facts.passed and not missing,
        verdict=facts.trouble or energy.verdict(missing, without, useless=useless),
        levels=list(levels),
        profiles=[row(name, profiles[name], day) for name, day in days.items()],
        composite=row("composite", None, whole.composite) if whole is not None else None,
        annual_kwh=kwh,
        price=decimal_text(price),
        annual_cost=cost,
        targets=list(facts.targets),
        environment=facts.environment,
        remarks=_remarks(known, facts.remarks),
        site=site,
    )


def _remarks(known: Mapping[str, usage.Level], more: Sequence[str]) -> list[str]:
    remarks = [
        f"{spc2.ENERGY_NOTICE}: usage profiles are those of SPC-1/E, applied to data rates at all"
        " and at half of the streams",
        *more,
    ]
    if len(known) == len(DIVISORS) + 1:
        levels = usage.Levels(**known)
        remarks += energy.disorder_remark(levels)
        if levels.heavy.rate < levels.moderate.rate:
            remarks.append("half of the streams transfer more data than all of them")
    return list(dict.fromkeys(remarks))

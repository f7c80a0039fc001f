# SPDX-License-Identifier: GPL-2.0-or-later
"""Energy figures of an SPC-1-like test with an idle test, or of a report of one.

The ramp of the test has runs at 80 % and 50 % of the level. Those are the heavy and the moderate
load, and their power is in their results, which the campaign keeps in its folder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path

from spekctl.campaigns import energy, idle, usage
from spekctl.campaigns.inputs import fraction_of
from spekctl.campaigns.spc1.plan import final_by_name, position_of
from spekctl.campaigns.spc1e.report import Measured, build, measured
from spekctl.documents import spc1
from spekctl.documents.benchmark import Site
from spekctl.documents.energy import LevelReport, Spc1eReport
from spekctl.documents.power import power_of
from spekctl.documents.result import load_result
from spekctl.documents.spc1 import Phase
from spekctl.errors import UsageError

LOADS = {
    "heavy": f"ramp-{usage.HEAVY_PERCENT}",
    "moderate": f"ramp-{usage.MODERATE_PERCENT}",
}


def levels_of(
    folder: Path, report: spc1.Report | None, rest: idle.Idle | None
) -> dict[str, Measured]:
    """The levels that were measured."""
    levels: dict[str, Measured] = {}
    if report is not None:
        position = position_of(report.parameters, report.phases, True)
        final = final_by_name(position)
        levels = {
            name: _load(folder, final[phase]) for name, phase in LOADS.items() if phase in final
        }
    if rest is not None:
        levels["idle"] = measured(0, rest.power)
    return levels


def _load(folder: Path, phase: Phase) -> Measured:
    file = phase.point.result_file
    assert file is not None  # every phase keeps its result
    path = folder / file
    result = load_result(path)
    return measured(phase.point.iops, power_of(result), phase.step.bsu, file)


def build_report(
    folder: Path,
    report: spc1.Report | None,
    rest: idle.Idle | None,
    price: Fraction,
    profiles: Mapping[str, usage.Hours],
    remarks: Sequence[str] = (),
    source: str = "measured",
    site: Site | None = None,
) -> Spc1eReport:
    """The report on the steps so far."""
    facts = energy.facts_of(report, rest, remarks, source)
    return build(levels_of(folder, report, rest), facts, price, profiles, site)


def from_spc1(
    path: Path, idle_watts: Fraction | None, price: Fraction, profiles: Mapping[str, usage.Hours]
) -> Spc1eReport:
    """From the report of a test of `spekctl spc1`, with the results beside it."""
    report = spc1.load_report(path)
    rest = idle.load(path.parent) if idle_watts is None else None
    levels = levels_of(path.parent, report, rest)
    missing = [f"{spc1e_percent(name)} %" for name in LOADS if name not in levels]
    if missing:
        raise UsageError(
            f"{path}: the phase{'s' if len(missing) > 1 else ''} at {' and '.join(missing)} of the"
            " level are missing"
        )
    if idle_watts is not None:
        levels["idle"] = Measured(Fraction(0), idle_watts)
    if "idle" not in levels:
        raise energy.no_idle_test(path)
    facts = energy.facts_of(report, rest, source=str(path))
    return build(levels, facts, price, profiles)


def spc1e_percent(name: str) -> int:
    """Of the level, for a load."""
    return usage.HEAVY_PERCENT if name == "heavy" else usage.MODERATE_PERCENT


def from_energy(
    previous: Spc1eReport,
    path: Path,
    idle_watts: Fraction | None,
    price: Fraction | None,
    days: Mapping[str, usage.Hours],
) -> Spc1eReport:
    """The same levels with other prices or hours; omitted values stay."""
    levels = {level.name: _level_again(level, path) for level in previous.levels}
    computed = partial(build, levels, site=previous.site)
    told = energy.again(previous, path, price, days, computed)
    if idle_watts is not None:
        levels["idle"] = Measured(Fraction(0), idle_watts)
    return build(levels, *told, site=previous.site)


def _level_again(level: LevelReport, path: Path) -> Measured:
    what = f"{path}: the {level.name} level"
    return Measured(
        fraction_of(level.iops, what),
        fraction_of(level.watts, what) if level.watts is not None else None,
        level.power,
        level.bsu,
        None,
    )

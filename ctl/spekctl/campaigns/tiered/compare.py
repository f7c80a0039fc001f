# SPDX-License-Identifier: GPL-2.0-or-later
"""One tier against two: two energy tests side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from spekctl import units
from spekctl.campaigns.folder import ENERGY_REPORT, REPORT
from spekctl.documents import dcse, energy, spc1
from spekctl.documents.curve import Point
from spekctl.documents.exact import Figure, figure, measured_number
from spekctl.documents.power import gap_text
from spekctl.errors import UsageError


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table; None: not measured."""

    what: str
    unit: str
    decimals: int
    single: Fraction | None
    tiered: Fraction | None
    has_change: bool = True

    @property
    def figures(self) -> tuple[Figure | None, Figure | None, Figure | None]:
        """Both, and the change in per cent, as they are printed."""
        change = dcse.change(self.single, self.tiered) if self.has_change else None
        percent = 100 * change if change is not None else None
        return self._rounded(self.single), self._rounded(self.tiered), _figure(percent, 1)

    def _rounded(self, value: Fraction | None) -> Figure | None:
        return _figure(value, self.decimals)


def _figure(value: Fraction | None, decimals: int) -> Figure | None:
    return figure(value, decimals) if value is not None else None


@dataclass(frozen=True, slots=True)
class Side:
    """A test of `spekctl energy spc1e` in a folder. @known: IOPS and power at full load, power when
    idle, and the capacity. @missing: why one of them is not known, as sentences."""

    known: dcse.Inputs
    parameters: spc1.Parameters
    missing: Sequence[str] = ()


def side_of(folder: Path, gigabytes: Fraction | None = None) -> Side:
    """The test in @folder; @gigabytes: raw capacity, instead of that of the tested device."""
    report = spc1.load_report(folder / REPORT)
    levels = {level.name: level for level in energy.load_spc1e(folder / ENERGY_REPORT).levels}
    full = next((phase for phase in reversed(report.phases) if phase.step.kind == "iops"), None)
    if full is None:
        raise UsageError(f"{folder}: the IOPS phase is missing ({report.verdict})")
    missing: list[str] = []

    def above_zero(watts: Fraction | None, name: str, reason: str) -> Fraction | None:
        """Power that figures can be computed of; the reason is noted if there is none."""
        if watts is None:
            missing.append(f"{folder}: no {name}: {reason}")
        elif watts <= 0:
            missing.append(
                f"{folder}: no {name}: it was measured as {float(watts):g} W, less the baseline,"
                " and must be more than 0; check what the meter measures, and --power-baseline"
            )
            watts = None
        return watts

    idle, power = levels.get("idle"), full.point.known_power
    load_watts = above_zero(
        measured_number(power.net_watts) if power is not None else None,
        "power under load",
        _why_unknown(full.point),
    )
    idle_watts = above_zero(
        Fraction(idle.watts) if idle is not None and idle.watts is not None else None,
        "power when idle",
        "the idle test is missing" if idle is None else "none was measured in the idle test",
    )
    if idle_watts is not None and load_watts is not None and idle_watts > load_watts:
        missing.append(
            f"{folder}: power when idle is above that under load: check that the system was idle,"
            " and what the meter measures"
        )
    if not report.passed:
        missing.append(f"{folder}: {report.verdict}")
    capacity = Fraction(sum(target.bytes for target in report.targets), 10**9)
    known = dcse.Inputs(
        gigabytes=gigabytes if gigabytes is not None else capacity,
        idle_watts=idle_watts,
        load_watts=load_watts,
        iops=measured_number(full.point.iops),
    )
    return Side(known, report.parameters, missing)


def _why_unknown(point: Point) -> str:
    """Why the power of the IOPS phase cannot be used, if it cannot."""
    if point.power is None:
        return "none was measured in the IOPS phase"
    measured_s = point.measured_ns / 1e9
    return f"{gap_text(point.power.gap_s, measured_s)} of the IOPS phase"


def unlike(single: Side, tiered: Side) -> str:
    """Why figures of the tests cannot be compared, as a sentence; empty if they can."""
    before, after = single.parameters, tiered.parameters
    lengths = [
        f"{name} {units.format_duration(alone)} and {units.format_duration(both)}"
        for name, alone, both in (
            ("the sustained run", before.durations.sustain_ns, after.durations.sustain_ns),
            ("the IOPS phase", before.durations.iops_ns, after.durations.iops_ns),
            ("the ramp-up", before.durations.ramp_ns, after.durations.ramp_ns),
        )
        if alone != both
    ]
    differ = [f"the lengths of their parts differ ({', '.join(lengths)})"] if lengths else []
    if before.limits != after.limits:
        differ.append("their limits differ")
    differ += [
        f"{option} differs"
        for option, alone, both in (
            ("--hrrw", before.shape.hrrw, after.shape.hrrw),
            ("--iops-per-bsu", before.shape.iops_per_bsu, after.shape.iops_per_bsu),
            ("--max-outstanding", before.shape.max_outstanding, after.shape.max_outstanding),
        )
        if alone != both
    ]
    if not differ:
        return ""
    return f"no changes are given, as the loads are not comparable: {'; '.join(differ)}"


def remarks(single: Side, tiered: Side) -> list[str]:
    """Why figures are missing, or mean less than they seem to."""
    why = unlike(single, tiered)
    return [*single.missing, *tiered.missing, *([why] if why else [])]


def rows(single: dcse.Inputs, tiered: dcse.Inputs, *, comparable: bool = True) -> list[Row]:
    """The table of the case. @comparable: the changes are those of the system, not of the test."""
    before, after = dcse.metrics(single), dcse.metrics(tiered)
    measured = [
        ("I/Os per second", "IOPS", 0, single.iops, tiered.iops),
        ("power under load", "W", 2, single.load_watts, tiered.load_watts),
        ("power when idle", "W", 2, single.idle_watts, tiered.idle_watts),
        ("DCsE workload", "IOPS/W", 2, before.iops_per_watt, after.iops_per_watt),
        ("DCsE capacity", "GB/W", 2, before.gb_per_watt, after.gb_per_watt),
    ]
    return [
        Row("capacity", "GB", 1, single.gigabytes, tiered.gigabytes),
        *(Row(*cells, has_change=comparable) for cells in measured),
    ]

# SPDX-License-Identifier: GPL-2.0-or-later
"""One tier against two: two energy tests side by side."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from spekctl.campaigns.dcse import figures as dcse
from spekctl.campaigns.folder import ENERGY_REPORT, REPORT
from spekctl.documents import energy, spc1
from spekctl.documents.exact import Figure, figure, measured_number
from spekctl.errors import UsageError


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table; None: not measured."""

    what: str
    unit: str
    decimals: int
    single: Fraction | None
    tiered: Fraction | None

    @property
    def figures(self) -> tuple[Figure | None, Figure | None, Figure | None]:
        """Both, and the change in per cent, as they are printed."""
        change = dcse.change(self.single, self.tiered)
        percent = 100 * change if change is not None else None
        return self._rounded(self.single), self._rounded(self.tiered), _figure(percent, 1)

    def _rounded(self, value: Fraction | None) -> Figure | None:
        return _figure(value, self.decimals)


def _figure(value: Fraction | None, decimals: int) -> Figure | None:
    return figure(value, decimals) if value is not None else None


def known_of(folder: Path, gigabytes: Fraction | None = None) -> dcse.Inputs:
    """Figures of a test of `spekctl energy spc1e` in a folder: IOPS and power at full load,
    power when idle, and the capacity, unless @gigabytes gives the raw capacity."""
    report = spc1.load_report(folder / REPORT)
    levels = {level.name: level for level in energy.load_spc1e(folder / ENERGY_REPORT).levels}
    full = next((phase for phase in reversed(report.phases) if phase.step.kind == "iops"), None)
    if full is None:
        raise UsageError(f"{folder}: the IOPS phase is missing ({report.verdict})")
    power = full.point.power
    idle = levels.get("idle")
    capacity = Fraction(sum(target.bytes for target in report.targets), 10**9)
    return dcse.Inputs(
        gigabytes=gigabytes if gigabytes is not None else capacity,
        idle_watts=Fraction(idle.watts) if idle is not None and idle.watts is not None else None,
        load_watts=measured_number(power.net_watts) if power is not None else None,
        iops=measured_number(full.point.iops),
    )


def rows(single: dcse.Inputs, tiered: dcse.Inputs) -> list[Row]:
    """The table of the case."""
    before, after = dcse.metrics(single), dcse.metrics(tiered)
    return [
        Row("capacity", "GB", 1, single.gigabytes, tiered.gigabytes),
        Row("I/Os per second", "IOPS", 0, single.iops, tiered.iops),
        Row("power under load", "W", 2, single.load_watts, tiered.load_watts),
        Row("power when idle", "W", 2, single.idle_watts, tiered.idle_watts),
        Row("DCsE workload", "IOPS/W", 2, before.iops_per_watt, after.iops_per_watt),
        Row("DCsE capacity", "GB/W", 2, before.gb_per_watt, after.gb_per_watt),
    ]

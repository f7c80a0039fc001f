# SPDX-License-Identifier: GPL-2.0-or-later
"""NVMe controllers in a report: temperature and power state over time."""

from __future__ import annotations

from collections.abc import Sequence

from spekctl.documents.nvme import NvmeDrive
from spekctl.report.sheet import Axis, Line, Plot, Quantity, Sheet, Strand

_TIME = Axis("time since the start", quantity=Quantity.CLOCK)
_ZERO_CELSIUS_K = 273


def add(sheet: Sheet, drives: Sequence[NvmeDrive], zero_ns: int) -> None:
    """Add the readings since @zero_ns, as far as there are several."""
    temperatures: list[Strand] = []
    states: list[Strand] = []
    powers: list[Strand] = []
    for drive in drives:
        if len(drive.samples) < 2:
            continue
        name = ", ".join(drive.disks)
        xs = [(sample.at_ns - zero_ns) / 1e9 for sample in drive.samples]
        kelvins = [sample.temperature_k for sample in drive.samples]
        celsius = [
            None if kelvin is None else float(kelvin - _ZERO_CELSIUS_K) for kelvin in kelvins
        ]
        numbers = [None if s.state is None else float(s.state) for s in drive.samples]
        watts = [None if s.interval_uw is None else s.interval_uw / 1e6 for s in drive.samples]
        for strands, values in ((temperatures, celsius), (states, numbers), (powers, watts)):
            if any(value is not None for value in values):
                strands.append(Strand(xs, [Line(name, values, main=True)]))
    for key, title, axis, strands in (
        (
            "nvme-temperature",
            "Composite temperature of the NVMe drives",
            Axis("temperature", "C"),
            temperatures,
        ),
        (
            "nvme-state",
            "Power states of the NVMe drives",
            Axis("number of the power state", quantity=Quantity.WHOLE),
            states,
        ),
        ("nvme-power", "Power by the NVMe drives' own measurement", Axis("power", "W"), powers),
    ):
        if strands:
            note = "At the readings only, which lie seconds apart."
            sheet.plots.append(Plot(key, title, _TIME, axis, strands, "time", (), note))

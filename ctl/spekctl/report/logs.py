# SPDX-License-Identifier: GPL-2.0-or-later
"""Sheets of per-I/O logs: the course, the distribution, and the heat map of times over time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from spekctl import units
from spekctl.documents import histogram
from spekctl.kernel.records import Histogram
from spekctl.log import course, file
from spekctl.log import times as log_times
from spekctl.report import runs
from spekctl.report.sheet import (
    COLOUR_OF,
    COLOURS,
    Axis,
    HeatMap,
    Line,
    Plot,
    Quantity,
    Sheet,
    Strand,
)
from spekctl.report.words import few

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from spekctl.log.file import LogFile

# Cells of a heat map: columns over the log's time, rows for every power of two.
_COLUMNS = 120
_PER_OCTAVE = 4


def sheet_of(path: Path) -> Sheet:
    """Everything about a log."""
    log = file.open_measured(path)
    header = log.header
    devices = few([target.path for target in header.targets])
    sheet = Sheet(
        str(path),
        "per-I/O log",
        f"{header.workload} on {devices}",
        verdict="every I/O has its record" if header.complete else "I/Os are missing in it",
        good=header.complete,
    )
    if header.lost:
        sheet.remarks.append(f"{header.lost:,} I/Os have no record in the log")
    if header.reason != "completed":
        sheet.remarks.append(f"the run ended early: {header.reason}")
    sheet.conditions = [
        ("devices", ", ".join(f"{target.path} ({units.format_bytes(target.bytes)})" for target in
                              header.targets)),
        ("workers", str(header.workers)),
        ("seed", str(header.seed)),
        ("spek", f"module {header.module_version}"),
    ]  # fmt: skip
    sheet.figures = [("I/Os logged", f"{header.records:,}")]
    times = runs.merged_times(log_times.counted(log, "response"))
    if times:
        _add_times(sheet, times)
    else:
        sheet.remarks.append("no I/O of the measure phase succeeded")
    sheet.plots += _course(course.of_log(log))
    heat = _heat_map(log)
    if any(map(any, heat.counts)):
        sheet.heat_maps.append(heat)
    return sheet


def _add_times(sheet: Sheet, times: dict[str, Histogram]) -> None:
    """The distribution of response times."""
    everything = times["all"]
    for name in ("p50", "p99", "p99.9", "p99.999"):
        value = histogram.percentile(everything, runs.PERCENTILES[name])
        sheet.figures.append((name, units.format_ns(value)))
    sheet.figures.append(("max", units.format_ns(everything.max_ns)))
    sheet.grids.append(runs.percentile_grid("response time, percentiles", times))
    sheet.plots.append(runs.distribution(times))


def _course(over_time: course.Course) -> list[Plot]:
    """Rates and times by interval."""
    xs = [float(middle) for middle in (over_time.start_s + over_time.end_s) / 2]
    lengths = course.rated_seconds(over_time)
    marks = [(phase.start_s, phase.name) for phase in over_time.phases if phase.start_s > 0]
    directions = over_time.directions.values()
    total = sum(direction.ios for direction in directions) / lengths
    rates = [Line("all", _known(total), main=True, colour=COLOUR_OF["all"])]
    times = []
    for name, direction in over_time.directions.items():
        if direction.ios.any():
            colour = COLOUR_OF[name]
            rates.append(Line(name, _known(direction.ios / lengths), colour=colour))
            times += [
                Line(f"{name} mean", _known(direction.mean_ns), main=True, colour=colour),
                Line(f"{name} p99", _known(direction.p99_ns), colour=colour + COLOURS),
            ]
    return [
        Plot("course-iops", "I/Os per second", runs.TIME_AXIS, Axis("I/Os per second", "1/s"),
             [Strand(xs, rates if len(rates) > 2 else rates[:1])], "time", marks),
        Plot("course-response", "Response time", runs.TIME_AXIS,
             Axis("response time", quantity=Quantity.TIME, log=None),
             [Strand(xs, times)], "time", marks),
    ]  # fmt: skip


def _known(values: NDArray[np.float64]) -> list[float | None]:
    """With None for nan."""
    return [None if value != value else float(value) for value in values]


def _heat_map(log: LogFile) -> HeatMap:
    """I/Os by time of completion and by response time, over the whole log; failed ones apart."""
    import numpy as np

    header = log.header
    start = header.started_ns
    # Of a log that was closed first, the end of the run is not known.
    end = header.ended_ns or header.drain_ns
    width = max(1, -(-(max(end, start + 1) - start) // _COLUMNS))
    counts = np.zeros((_COLUMNS, _PER_OCTAVE * 64), dtype=np.int64)
    for arrival, completion, error in log.columns("arrival_ns", "completion_ns", "error"):
        fine = error == 0
        done = completion[fine].astype(np.int64)
        ns = np.maximum(1, done - arrival[fine].astype(np.int64))
        row = np.minimum(np.log2(ns) * _PER_OCTAVE, counts.shape[1] - 1).astype(np.int64)
        column = np.clip((done - start) // width, 0, _COLUMNS - 1)
        np.add.at(counts, (column, row), 1)
    used = np.flatnonzero(counts.any(axis=0))
    low, high = (int(used[0]), int(used[-1]) + 1) if len(used) else (0, 1)
    return HeatMap(
        "Response times over time",
        [number * width / 1e9 for number in range(_COLUMNS + 1)],
        [2.0 ** (row / _PER_OCTAVE) for row in range(low, high + 1)],
        counts[:, low:high].tolist(),
    )

# SPDX-License-Identifier: GPL-2.0-or-later
"""The rates of runs that went side by side, added up: over the time in which all were measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spekctl import units
from spekctl.documents.result import Result
from spekctl.documents.result_parts import Total
from spekctl.kernel.records import IntervalCell, Phase

# Measure phases are the same if all but this share of each is common to them.
_APART = 0.01


@dataclass(slots=True)
class _Rate:
    """Rates of a direction, of all runs together."""

    ios: float = 0.0  # per second
    bytes: float = 0.0

    def add(self, cells: Sequence[Total | IntervalCell], time_ns: int) -> None:
        self.ios += sum(cell.ios for cell in cells) * 1e9 / time_ns
        self.bytes += sum(cell.bytes for cell in cells) * 1e9 / time_ns


def sum_line(results: Sequence[Result]) -> str:
    """The rates of runs of one kernel, together. A run that was measured longer than another, or at
    another time, has a part in the sum only while all of them were."""
    spans = [_measured(result) for result in results]
    start_ns, end_ns = max(start for start, _ in spans), min(end for _, end in spans)
    if end_ns <= start_ns:
        return (
            f"{len(results)} runs: at no time were all of them measured, so their rates have no sum"
        )
    longest = max(end - start for start, end in spans)
    read, write = _Rate(), _Rate()
    if end_ns - start_ns >= longest * (1 - _APART):
        for result, (start, end) in zip(results, spans, strict=True):
            read.add([result.totals.read], end - start)
            write.add([result.totals.write], end - start)
        when = ""
    else:
        for result in results:
            rows = [
                row
                for row in result.intervals
                if row.phase is Phase.MEASURE and start_ns <= row.start_ns and row.end_ns <= end_ns
            ]
            # A worker that was late has a row of its own with the times of another.
            time_ns = sum(
                end - start for start, end in {(row.start_ns, row.end_ns) for row in rows}
            )
            if not time_ns:
                return (
                    f"{len(results)} runs: no report interval of each lies in the time in which all"
                    " were measured, so their rates have no sum"
                )
            read.add([row.read for row in rows], time_ns)
            write.add([row.write for row in rows], time_ns)
        when = f", in the {units.format_ns(end_ns - start_ns)} in which all were measured"
    rates = [
        f"{name} {rate.ios:,.0f} IOPS, {rate.bytes / (1 << 20):,.1f} MiB/s"
        for name, rate in (("read", read), ("write", write))
        if rate.ios
    ]
    return f"{len(results)} runs together{when}: {'; '.join(rates) or 'no I/O'}"


def _measured(result: Result) -> tuple[int, int]:
    """Start and end of the measure phase, in ns of CLOCK_MONOTONIC; equal if there was none."""
    for phase in result.phases:
        if phase.phase is Phase.MEASURE:
            return phase.start_ns, phase.end_ns
    return 0, 0

# SPDX-License-Identifier: GPL-2.0-or-later
"""The times of the I/Os of a log, as the histograms that a run reports."""

from __future__ import annotations

from spekctl.documents import histogram
from spekctl.errors import UsageError
from spekctl.kernel.records import Histogram, Phase
from spekctl.log import buckets
from spekctl.log.file import LogFile

# A time lies between two columns.
_FROM_TO = {
    "response": ("arrival_ns", "completion_ns"),
    "service": ("issue_ns", "completion_ns"),
    "slip": ("arrival_ns", "issue_ns"),
}


def of_log(log: LogFile, metric: str) -> dict[str, list[Histogram]]:
    """As counted(); UsageError if there are none."""
    parts = counted(log, metric)
    if not any(parts.values()):
        raise UsageError(f"{log.path} has no {metric} times of a measure phase")
    return parts


def counted(log: LogFile, metric: str) -> dict[str, list[Histogram]]:
    """The measure phase by direction, in the buckets of the module; failed I/Os have no time."""
    first, then = _FROM_TO[metric]
    parts: dict[str, list[Histogram]] = {"read": [], "write": []}
    for start, end, op, phase, error in log.columns(first, then, "op", "phase", "error"):
        counted = (phase == Phase.MEASURE.code) & (error == 0)
        for write, merged in enumerate(parts.values()):
            chosen = counted & (op == write)
            batch = buckets.histogram(end[chosen] - start[chosen])
            # Merged at once, so that memory does not grow with the log.
            total = histogram.merge([*merged, *([batch] if batch else [])])
            merged[:] = [total] if total else []
    return parts

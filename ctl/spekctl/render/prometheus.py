# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs and the probe for Prometheus, in the text format of its exporters or as OpenMetrics.

A classic histogram needs few bounds, so those at powers of two are taken. The module's buckets end
there, so every cumulative count is exact. Times are whole nanoseconds: the bound of the values
below 2^k ns is 2^k - 1 ns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from spekctl.documents.histogram import HIST_MAX_BITS, bucket_index, count_of
from spekctl.kernel.records import (
    Histogram,
    Metric,
    ProbeCounters,
    RunInfo,
    RunState,
    StatsCell,
)
from spekctl.render import prometheus_probe
from spekctl.render.metric_families import Family, Labels, Sample, lines, seconds

TEXT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
OPENMETRICS_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8"
# Exponents of the bounds, from 1 µs to 9 min; beyond them the last bucket has no end.
_FIRST, _LAST = 10, HIST_MAX_BITS - 1
_ACTIVE = (RunState.ARMED, RunState.RUNNING, RunState.DRAINING)

Runs = Sequence[tuple[RunInfo, Sequence[StatsCell]]]


def text(runs: Runs, probe: ProbeCounters | None = None, *, openmetrics: bool = False) -> str:
    """All of it, ready to be served or written to a file."""
    families = [*_families(runs)]
    if probe is not None:
        families += prometheus_probe.families(probe)
    written = [line for family in families for line in lines(family, openmetrics)]
    if openmetrics:
        written.append("# EOF")
    return "".join(f"{line}\n" for line in written)


def _families(runs: Runs) -> Iterator[Family]:
    yield Family(
        "spek_run",
        "info",
        "A run in the kernel, once for each of its devices.",
        [
            (
                "_info",
                {
                    **_of(info),
                    "workload": info.name,
                    "target": str(number),
                    "device": target.name,
                    "backend": str(target.backend),
                    "state": str(info.state),
                },
                "1",
            )
            for info, _ in runs
            for number, target in enumerate(info.targets)
        ],
    )
    for name, help, value in (
        ("spek_run_active", "1 from the start of a run until its last I/O, else 0.",
         lambda info: info.state in _ACTIVE),
        ("spek_outstanding_ios", "I/Os that the devices hold.", lambda info: info.outstanding),
        ("spek_backlog_ios", "Arrivals that are due and not issued.", lambda info: info.backlog),
    ):  # fmt: skip
        samples = [("", _of(info), str(int(value(info)))) for info, _ in runs]
        yield Family(name, "gauge", help, samples)
    for name, help, field, unit in (
        ("spek_ios", "I/Os that completed.", "ios", ""),
        ("spek_transferred_bytes", "Bytes of these I/Os.", "bytes", "bytes"),
        ("spek_errors", "I/Os that failed.", "errors", ""),
    ):
        counted = [
            ("_total", _labels(info, cell), str(getattr(cell, field)))
            for info, cells in runs
            for cell in cells
        ]
        yield Family(name, "counter", help, counted, unit)
    for metric, help in (
        (Metric.RESPONSE, "Completion minus intended arrival."),
        (Metric.SERVICE, "Completion minus issue."),
        (Metric.SLIP, "Issue minus intended arrival."),
    ):
        buckets = [
            sample
            for info, cells in runs
            for cell in cells
            if metric in cell.histograms
            for sample in _buckets(_labels(info, cell), cell.histograms[metric])
        ]
        yield Family(f"spek_{metric}_seconds", "histogram", help, buckets, "seconds")


def _of(info: RunInfo) -> Labels:
    return {"run": str(info.id)}


def _labels(info: RunInfo, cell: StatsCell) -> Labels:
    return {
        **_of(info),
        "phase": str(cell.phase),
        "stream": str(cell.stream),
        "direction": str(cell.direction),
    }


def _buckets(labels: Labels, histogram: Histogram) -> Iterator[Sample]:
    order = sorted(histogram.counts.items())
    reached, at = 0, 0
    for exponent in range(_FIRST, _LAST + 1):
        end = bucket_index(1 << exponent, histogram.bits)
        while at < len(order) and order[at][0] < end:
            reached += order[at][1]
            at += 1
        yield "_bucket", {**labels, "le": seconds((1 << exponent) - 1)}, str(reached)
    total = count_of(histogram)
    yield "_bucket", {**labels, "le": "+Inf"}, str(total)
    yield "_sum", labels, seconds(histogram.sum_ns)
    yield "_count", labels, str(total)

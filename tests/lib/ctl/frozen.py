# SPDX-License-Identifier: GPL-2.0
"""Results of a device that stops answering before the measure phase ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lib.ctl import results
from lib.fakes.kernel import SECOND, histogram, interval_cell

from spekctl.documents.result import Result
from spekctl.kernel.records import (
    Direction,
    Histogram,
    IntervalRow,
    Metric,
    Phase,
    StatsCell,
)

MS = 10**6


def times(ios: int, each_ns: int) -> Histogram:
    """Equal times."""
    single = histogram([each_ns])
    return Histogram(
        single.bits, dict.fromkeys(single.counts, ios), ios * each_ns, each_ns, each_ns
    )


def result(
    ages: Sequence[int],
    *,
    ios: int,
    seconds: int,
    silent: int,
    each_ns: int = 5 * MS,
    interval: int = 10,
    outstanding: int = 8,
) -> Result:
    """@ios I/Os of @each_ns in a measure phase of @seconds in which the device answers nothing in
    the last @silent; those in flight at its end have these @ages, ns. Before, @outstanding are."""
    start = results.INFO.measure_ns
    end = start + seconds * SECOND
    info = replace(results.INFO, drain_ns=end, ended_ns=end + SECOND, now_ns=end + SECOND)
    answers = seconds - silent
    histograms = {
        Metric.RESPONSE: times(ios, each_ns),
        Metric.SERVICE: times(ios, each_ns),
        Metric.SLIP: times(ios, 1),
    }
    if ages:
        histograms |= {
            Metric.RESPONSE_AGE: histogram(list(ages)),
            Metric.SERVICE_AGE: histogram(list(ages)),
        }
    cell = StatsCell(Phase.MEASURE, 0, Direction.READ, ios, ios * 8192, ios, 0, {}, histograms)
    rows: list[IntervalRow] = []
    for at in range(0, seconds, interval):
        until = at + interval
        done = ios * min(until, answers) // answers - ios * min(at, answers) // answers
        held = len(ages) if until >= seconds else outstanding
        rows.append(
            IntervalRow(
                seq=len(rows),
                phase=Phase.MEASURE,
                start_ns=start + at * SECOND,
                end_ns=start + until * SECOND,
                outstanding=held,
                backlog=0,
                worker_cpu_ns=1,
                worker_switches=0,
                read=interval_cell(ios=done, bytes=done * 8192, response_sum_ns=done * each_ns),
                write=interval_cell(),
                streams=[(done, done * 8192, 0, 0)],
            )
        )
    return results.build(info, [cell], rows)

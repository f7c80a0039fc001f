# SPDX-License-Identifier: GPL-2.0-or-later
"""The figures of a run at its load: a point of a curve."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from spekctl.documents.curve import Load, Point, Power, TimeFigures, Unanswered
from spekctl.documents.histogram import count_of, mean, merge, percentiles
from spekctl.documents.power import PowerFigures, power_of
from spekctl.documents.result import Result
from spekctl.documents.result_parts import Cell, Interval
from spekctl.documents.unanswered import ages_of, times_of
from spekctl.kernel.records import Histogram

_FIGURES = {"p50": 500_000, "p90": 900_000, "p99": 990_000, "p999": 999_000}
_CPU_TIMES = ("user", "nice", "system", "irq", "softirq", "steal", "iowait", "idle")


def point_of(result: Result, load: Load, result_file: str | None = None) -> Point:
    """The measure phase of a run as a point of a load curve."""
    total = result.totals.all
    left_over = left_over_of(result)
    open_loop = result.outcome.offered_iops is not None
    cost = _cost(result)
    power = power_point(result)
    return Point(
        load=load,
        offered_iops=result.outcome.offered_iops,
        measured_ns=measured_ns(result),
        ios=total.ios,
        reads=result.totals.read.ios,
        writes=result.totals.write.ios,
        iops=total.iops,
        mib_s=total.bytes_per_s / (1 << 20),
        response=merged_figures(result.cells, "response"),
        service=merged_figures(result.cells, "service"),
        slip=merged_figures(result.cells, "slip"),
        backlog=result.outcome.backlog,
        left_over=left_over,
        stretch=1 + max(0, left_over) / total.ios if open_loop and total.ios else None,
        cpu=cost.cpu,
        switches_per_io=cost.switches_per_io,
        cpu_of=cost.of,
        errors=result.outcome.errors,
        ok=result.outcome.ok,
        text=result.outcome.text,
        limit_missed=result.limit_missed,
        result_file=result_file,
        power=power,
        unanswered=unanswered_of(result),
        power_text=_no_power(result) if power is None else "",
    )


def power_point(result: Result) -> Power | None:
    """Power of the measure phase in the form of a load curve."""
    power = result.power
    if power is None or power.measure.total.mean_w is None:
        return None
    rails = {rail.name: rail.mean_w for rail in power.measure.rails if rail.mean_w is not None}
    return Power(
        watts=power.measure.total.mean_w,
        rails_watts=rails,
        joules=power.measure.total.joules,
        gap_s=power.measure.total.gap_s,
        baseline_w=power.baseline_w,
    )


def _no_power(result: Result) -> str:
    """Why the power of the measure phase is not known."""
    figures = power_of(result)
    return result.power_text or (figures.remark if figures is not None else "")


def baseline_remarks(powers: Iterable[PowerFigures | None]) -> list[str]:
    """Remarks on the baselines subtracted from the power."""
    taken = sorted({power.baseline_w for power in powers if power is not None})
    if len(taken) > 1:
        texts = " and ".join(f"{baseline:g} W" for baseline in taken)
        return [
            f"different baselines were subtracted from the power, {texts}: figures are not"
            " comparable"
        ]
    return [
        f"a baseline of {baseline:g} W was subtracted from the power"
        for baseline in taken
        if baseline
    ]


def measured_ns(result: Result) -> int:
    """Length of the measure phase; 0 if the run did not reach it."""
    return next((phase.duration_ns for phase in result.phases if phase.phase == "measure"), 0)


def measured_intervals(result: Result) -> list[Interval]:
    """The intervals of the measure phase."""
    return [row for row in result.intervals if row.phase == "measure"]


def left_over_of(result: Result) -> int:
    """I/Os by which the queue grew in the measure phase: what arrived and was not completed.

    The queue is the backlog and what the devices hold; it can shrink, too, after a ramp-up with
    a hiccup.
    """
    rows = measured_intervals(result)
    before = [row for row in result.intervals if row.phase == "ramp"][-1:]
    start = sum(row.backlog + row.outstanding for row in before)
    end = rows[-1].backlog + rows[-1].outstanding if rows else result.outcome.backlog
    return end - start


def merged_figures(cells: Iterable[Cell], name: str) -> TimeFigures | None:
    """One of the three times over several cells, exactly: the buckets are added."""
    whole = times_of(cells, name)
    return _figures(whole) if whole is not None else None


def unanswered_of(result: Result) -> Unanswered | None:
    """The I/Os in flight at the end; None if there were none, or no I/O completed before."""
    times, ages = times_of(result.cells, "response"), ages_of(result.cells)
    whole = merge(part for part in (times, ages) if part is not None)
    if times is None or ages is None or whole is None:
        return None
    return Unanswered(count_of(ages), ages.max_ns, _figures(whole))


def slowest_of(result: Result) -> TimeFigures | None:
    """Response times of a run: where I/Os had been in flight at the end for longer than any that
    completed, at least what they make them."""
    completed, late = merged_figures(result.cells, "response"), unanswered_of(result)
    if completed is None or late is None or late.oldest_ns <= completed.max:
        return completed
    return TimeFigures(
        **{
            name: max(getattr(completed, name), getattr(late.at_least, name))
            for name in TimeFigures.__struct_fields__
        }
    )


def _figures(times: Histogram) -> TimeFigures:
    figures = dict(zip(_FIGURES, percentiles(times, _FIGURES.values()), strict=True))
    return TimeFigures(mean=mean(times), max=times.max_ns, **figures)


@dataclass(frozen=True, slots=True)
class _Cost:
    """CPU time and context switches of the load."""

    cpu: float | None
    switches_per_io: float | None
    of: Literal["machine", "workers"]


def _cost(result: Result) -> _Cost:
    """Of the whole machine if a prober saw it, else of the workers."""
    ios, seconds = result.totals.all.ios, measured_ns(result) / 1e9
    prober = result.prober
    machine = prober.measure.get("machine") if prober is not None else None
    if prober is not None and prober.measure_ns and machine:
        times = {name: machine.get(f"{name}_ns", 0) for name in _CPU_TIMES}
        whole = sum(times.values())
        switches = machine.get("switches")
        # The samples cover a part of the measure phase, so rates are compared, not counts.
        per_s = switches / (prober.measure_ns / 1e9) if switches is not None else None
        return _Cost(
            cpu=1 - (times["idle"] + times["iowait"]) / whole if whole else None,
            switches_per_io=per_s * seconds / ios if per_s is not None and ios else None,
            of="machine",
        )
    rows = measured_intervals(result)
    timed = [(row, row.worker_cpu_ns) for row in rows if row.worker_cpu_ns is not None]
    span_ns = sum(row.end_ns - row.start_ns for row, _ in timed) * max(1, len(result.workers))
    return _Cost(
        cpu=sum(cpu_ns for _, cpu_ns in timed) / span_ns if span_ns else None,
        switches_per_io=sum(row.worker_switches for row in rows) / ios if rows and ios else None,
        of="workers",
    )

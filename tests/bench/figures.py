# SPDX-License-Identifier: GPL-2.0
"""From what the guest wrote to figures: differences, agreement, ratios."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence

import msgspec
from bench import raw
from bench.cases import APART, Conditions, Point, points
from bench.demands import judge
from bench.result import (
    VERSION,
    Bench,
    Figure,
    Generation,
    Notifications,
    OpenLoop,
    Prober,
    Restart,
    Scaling,
)

TOLERANCE = 0.005  # two measurements of one figure may differ by so much of it
# Rows that others are compared with, under the same conditions.
REFERENCES = ("floor-mq", "floor-bio", "uring", "uring-polled", "fio-uring")


class BrokenMeasurementError(Exception):
    """The guest's lines don't add up to figures."""


def mean(values: Sequence[float]) -> float:
    """Arithmetic mean."""
    return sum(values) / len(values)


def spread(values: Sequence[float]) -> float:
    """How far measurements of one figure are apart, as a share of it."""
    return (max(values) - min(values)) / mean(values)


def slope(lengths: Mapping[int, float], what: str) -> float:
    """What one more I/O adds: from totals at two run lengths."""
    if len(lengths) != 2:
        raise BrokenMeasurementError(f"{what}: {len(lengths)} run lengths instead of 2")
    (short, low), (long, high) = sorted(lengths.items())
    return (high - low) / (long - short)


def _passes(times: Iterable[raw.Time | raw.Idle], what: str) -> list[float]:
    """Instructions per I/O of each pass."""
    by_pass: dict[int, dict[int, float]] = {}
    for line in times:
        by_pass.setdefault(line.number, {})[line.count] = line.ns
    if not by_pass:
        raise BrokenMeasurementError(f"{what}: not measured")
    slopes = [slope(lengths, f"{what}, pass {number}") for number, lengths in by_pass.items()]
    if min(slopes) <= 0:
        raise BrokenMeasurementError(f"{what}: more I/Os took less time")
    return slopes


def _response_ns(times: Sequence[raw.Time]) -> float:
    """Mean of the long runs, in which the first I/Os weigh least; 0 if one has none."""
    longest = max(line.count for line in times)
    responses = [line.response_ns for line in times if line.count == longest]
    return mean(responses) if all(responses) else 0.0


def _figure(point: Point, lines: Sequence[raw.AnyLine]) -> Figure:
    times = [line for line in lines if isinstance(line, raw.Time) and line.point == point.key]
    counts = [line for line in lines if isinstance(line, raw.Counts) and line.point == point.key]
    passes = _passes(times, point.key)
    what = f"{point.key}, counts"
    return Figure(
        row=point.row.key,
        title=point.row.title,
        disk=point.row.disk,
        depth=point.conditions.depth,
        iostats=point.conditions.iostats,
        instructions=mean(passes),
        passes=passes,
        spread=spread(passes),
        agrees=spread(passes) <= TOLERANCE,
        switches=slope({run.count: run.switches for run in counts}, what),
        syscalls=slope({run.count: run.syscalls for run in counts}, what),
        elapsed_ns=mean(
            [
                slope({run.count: run.elapsed_ns for run in times if run.number == number}, what)
                for number in sorted({run.number for run in times})
            ]
        ),
        response_ns=_response_ns(times),
    )


def with_ratios(figures: Sequence[Figure]) -> list[Figure]:
    """The figures, each with what it is of the reference rows under its own conditions."""
    known = {figure.key: figure.instructions for figure in figures}

    def ratios(figure: Figure) -> dict[str, float]:
        conditions = Conditions(figure.depth, figure.iostats).name
        return {
            name: figure.instructions / known[f"{name}/{conditions}"]
            for name in REFERENCES
            if f"{name}/{conditions}" in known and figure.disk not in APART
        }

    return [msgspec.structs.replace(figure, ratios=ratios(figure)) for figure in figures]


def figures_of(lines: Sequence[raw.AnyLine], wanted: Sequence[str]) -> list[Figure]:
    """The figures of the points with these keys, in the order of the table."""
    return with_ratios([_figure(point, lines) for point in points() if point.key in wanted])


def idle_floor_of(lines: Sequence[raw.AnyLine]) -> float | None:
    """Instructions per I/O of the floor without spek; None if that was not measured."""
    idle = [line for line in lines if isinstance(line, raw.Idle)]
    return mean(_passes(idle, "the floor without spek")) if idle else None


def prober_of(lines: Sequence[raw.AnyLine]) -> Prober | None:
    """What a sample costs; None if that was not measured."""
    samplings = [sampling for sampling in lines if isinstance(sampling, raw.Sampling)]
    if not samplings:
        return None
    # A run with the prober has one sample in each of its intervals.
    passes = [
        (sampling.sampled_ns - sampling.alone_ns) * sampling.interval_ns / sampling.sampled_ns
        for sampling in samplings
    ]
    return Prober(
        instructions=mean(passes),
        passes=passes,
        inside=mean([sampling.inside_ns for sampling in samplings]),
        share_at_10ms=mean(passes) / 10e6,
    )


def open_loops_of(lines: Sequence[raw.AnyLine]) -> list[OpenLoop]:
    """The steady state of each loop: the difference between a long and a short run."""
    loops: dict[tuple[str, int, int], list[raw.OpenLoop]] = {}
    for line in lines:
        if isinstance(line, raw.OpenLoop):
            loops.setdefault((line.law, line.iops, line.spin_ns), []).append(line)
    open_loops = []
    for (law, iops, spin_ns), runs in loops.items():
        if len(runs) != 2:
            raise BrokenMeasurementError(f"{law} {iops} IOPS: {len(runs)} runs instead of 2")
        short, long = sorted(runs, key=lambda run: run.elapsed_ns)
        elapsed_ns = long.elapsed_ns - short.elapsed_ns
        open_loops.append(
            OpenLoop(
                law=law,
                iops=iops,
                spin_ns=spin_ns,
                slip_p50_ns=long.slip_p50_ns,
                slip_p99_ns=long.slip_p99_ns,
                slip_max_ns=long.slip_max_ns,
                worker_share=(long.worker_ns - short.worker_ns) / elapsed_ns,
                busy_share=(long.busy_ns - short.busy_ns) / elapsed_ns,
                switches=(long.switches - short.switches) / (long.ios - short.ios),
            )
        )
    return open_loops


def scaling_of(lines: Sequence[raw.AnyLine]) -> Scaling | None:
    """The median of the pairs; None if that was not measured."""
    ratios = [
        scaling.two_iops / scaling.one_iops for scaling in lines if isinstance(scaling, raw.Scaling)
    ]
    return Scaling(ratio=statistics.median(ratios), ratios=ratios) if ratios else None


def notifications_of(lines: Sequence[raw.AnyLine]) -> list[Notifications]:
    """What one more I/O adds, for each disk and way to it."""
    by_row: dict[tuple[str, str], dict[int, float]] = {}
    for line in lines:
        if isinstance(line, raw.Kicks):
            by_row.setdefault((line.disk, line.row), {})[line.count] = line.kicks
    return [
        Notifications(disk=disk, row=row, per_io=slope(lengths, f"{row} on {disk}"))
        for (disk, row), lengths in by_row.items()
    ]


def restarts_of(lines: Sequence[raw.AnyLine]) -> list[Restart]:
    """As they were measured: a guest's nanosecond is an instruction."""
    return [
        Restart(
            disk=line.disk, blocks=line.blocks, instructions=line.ns, elapsed_ns=line.elapsed_ns
        )
        for line in lines
        if isinstance(line, raw.Restart)
    ]


def bench_of(
    lines: Sequence[raw.AnyLine],
    wanted: Sequence[str],
    *,
    core: dict[str, float],
    core_misses: dict[str, float] | None = None,
    generation: Sequence[Generation] = (),
    sharing: dict[str, float] | None = None,
    created: str,
    commit: str,
) -> Bench:
    """All of it; BrokenMeasurementError if something that was wanted is not there."""
    environments = [line for line in lines if isinstance(line, raw.Environment)]
    if not environments or not isinstance(lines[-1], raw.Done):
        raise BrokenMeasurementError("the guest did not come to the end of its measurements")
    bench = Bench(
        kind="spek-bench",
        version=VERSION,
        created=created,
        commit=commit,
        environment=environments[0],
        tolerance=TOLERANCE,
        figures=figures_of(lines, wanted),
        idle_floor=idle_floor_of(lines),
        prober=prober_of(lines),
        open_loops=open_loops_of(lines),
        scaling=scaling_of(lines),
        notifications=notifications_of(lines),
        restarts=restarts_of(lines),
        core=core,
        core_misses=core_misses or {},
        demands=[],
        generation=list(generation),
        sharing=sharing or {},
    )
    return msgspec.structs.replace(bench, demands=judge(bench))

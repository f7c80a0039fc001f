# SPDX-License-Identifier: GPL-2.0-or-later
"""A synthetic twin of a trace: its workload, and the requests that the workload makes.

The requests follow the laws of the kernel module (kmod/load/core): Poisson, constant and burst
arrivals; streams drawn by their shares; uniform addresses of which a share continues the request
before of the stream, and sequential ones that start again at the end. A test compares them with
the module's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from spekctl.trace.arrivals import Constant, Poisson, Process
from spekctl.trace.columns import BATCH, Array, Batch, Op


@dataclass(frozen=True, slots=True)
class TwinStream:
    """Requests of one direction to a part of a device."""

    device: int
    op: Op
    weight: int
    start: int
    length: int  # of its part
    sizes: tuple[tuple[int, int], ...]  # bytes, weight
    align: int
    sequential: float  # 1: all of them, as pattern "sequential"


@dataclass(slots=True)
class Twin:
    """Every stream takes its share of every arrival process."""

    streams: Sequence[TwinStream]
    processes: Sequence[Process]
    span_ns: int
    seed: int = 1
    _next: dict[int, int] = field(default_factory=dict)

    @property
    def rate(self) -> float:
        """Requests per second."""
        return sum(process.rate for process in self.processes)

    def batches(self) -> Iterator[Batch]:
        """Requests over the span of the trace, by time, from 0."""
        rng = np.random.default_rng(self.seed)
        step_ns = max(1, min(self.span_ns + 1, int(BATCH / max(self.rate, 1e-9) * 1e9)))
        start = 0
        while start <= self.span_ns:
            end = min(start + step_ns, self.span_ns + 1)
            parts = [_arrivals(process, start, end, rng) for process in self.processes]
            at = np.concatenate(parts)
            process = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
            order = np.argsort(at, kind="stable")
            if len(at):
                yield self._requests(at[order].astype(np.uint64), process[order], rng)
            start = end

    def _requests(self, at_ns: Array, process: Array, rng: np.random.Generator) -> Batch:
        weights = np.array([stream.weight for stream in self.streams], float)
        chosen = rng.choice(len(self.streams), len(at_ns), p=weights / weights.sum())
        offset = np.zeros(len(at_ns), np.uint64)
        size = np.zeros(len(at_ns), np.uint64)
        # In the workload each stream exists once for each process.
        own = process * len(self.streams) + chosen
        for number in np.unique(own).tolist():
            mine = np.flatnonzero(own == number)
            stream = self.streams[number % len(self.streams)]
            offset[mine], size[mine] = self._places(number, stream, len(mine), rng)
        return Batch(
            at_ns,
            np.array([stream.device for stream in self.streams], np.uint32)[chosen],
            offset,
            size,
            np.array([stream.op for stream in self.streams], np.uint8)[chosen],
            np.zeros(len(at_ns), np.uint8),
        )

    def _places(
        self, number: int, stream: TwinStream, count: int, rng: np.random.Generator
    ) -> tuple[Array, Array]:
        values = np.array([size for size, _ in stream.sizes], np.int64)
        weights = np.array([weight for _, weight in stream.sizes], float)
        size = rng.choice(values, count, p=weights / weights.sum())
        before = self._next.get(number, -1)
        # The last address at which each fits.
        last = stream.length - size
        restart = rng.integers(0, last // stream.align + 1) * stream.align
        if stream.sequential >= 1:
            # From the start of the range, and again when it is over.
            fresh = np.zeros(count, bool)
            restart = np.zeros(count, np.int64)
            before = max(before, 0)
        else:
            fresh = rng.random(count) >= stream.sequential
        offset = _chained(fresh, restart, size, last, before)
        self._next[number] = int(offset[-1] + size[-1])
        return (offset + stream.start).astype(np.uint64), size.astype(np.uint64)


def _chained(fresh: Array, restart: Array, size: Array, last: Array, before: int) -> Array:
    """Addresses: @restart where @fresh, or where continuing does not fit the range; else the end
    of the previous request. @before: end of the previous batch's last request, or -1."""
    fresh = fresh.copy()
    if before < 0:
        fresh[0] = True
    sums = np.concatenate([[0], np.cumsum(size)[:-1]])
    while True:
        # Place of the last fresh one, for each; -1 before the first.
        chain = np.maximum.accumulate(np.where(fresh, np.arange(len(fresh)), -1))
        base: Array = np.where(chain >= 0, restart[chain] - sums[chain], before)
        offset: Array = base + sums
        wrong = np.flatnonzero(offset > last)
        wrong = wrong[~fresh[wrong]]
        if not len(wrong):
            return offset
        # The first of each chain: those behind it are then other chains.
        _, first = np.unique(chain[wrong], return_index=True)
        fresh[wrong[first]] = True


def _arrivals(process: Process, start: int, end: int, rng: np.random.Generator) -> Array:
    """Arrivals of one process from @start to @end, ns."""
    if isinstance(process, Poisson):
        count = rng.poisson(process.rate * (end - start) / 1e9)
        arrivals: Array = rng.integers(start, end, count)
        return arrivals
    if isinstance(process, Constant):
        gap = 1e9 / process.rate
        numbers = np.arange(int(np.ceil(start / gap)), int(np.ceil(end / gap)))
        return np.minimum((numbers * gap).astype(np.int64), end - 1)
    interval = process.interval_ns
    first, after = -(-start // interval), -(-end // interval)
    times = np.arange(first, after, dtype=np.int64) * interval
    return np.repeat(times, process.length)

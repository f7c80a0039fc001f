# SPDX-License-Identifier: GPL-2.0
"""A kernel side whose device is one queue with a closed form, for tests of many runs.

Poisson arrivals at rate a, exponential service at rate m (M/M/1): below saturation the response
times are exponential with mean 1/(m - a) and nothing piles up. Above it m I/Os per second are
completed, the queue grows by a - m per second, and who is completed at time t has waited
t (a - m) / a. Each run of the same load answers the same.
"""

from __future__ import annotations

import errno
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from lib.fakes.kernel import HIST_BITS, SECOND, START_NS, FakeKernel, interval_cell

from spekctl.documents.histogram import bucket_index
from spekctl.kernel.client import Patience, endless
from spekctl.kernel.records import (
    Direction,
    Histogram,
    IntervalRow,
    Metric,
    Phase,
    Reason,
    RunInfo,
    RunState,
    StatsCell,
)
from spekctl.workload.config import RunConfig

QUANTILES = 60


def mean_response_s(arrivals: float, capacity: float, seconds: float) -> float:
    """Mean response time of what is completed within @seconds from an empty queue.

    Stationary well below saturation, fluid above it. Near it the queue has no time to become
    stationary: it spreads like a random walk, whose scale sqrt(t / m) bounds one and adds to the
    other, so that the whole grows with the load.
    """
    spread = math.sqrt(seconds / capacity)
    if arrivals < capacity:
        return min(1 / (capacity - arrivals), spread)
    return spread + seconds / 2 * (arrivals - capacity) / arrivals


# In units of the mean; a campaign asks for thousands of distributions.
TIMES = [-math.log(1 - (index + 0.5) / QUANTILES) for index in range(QUANTILES)]


def exponential(mean_ns: float, count: int) -> Histogram:
    """@count exponential times with exactly this mean, in buckets."""
    counts: dict[int, int] = {}
    for index, time in enumerate(TIMES):
        number = count * (index + 1) // QUANTILES - count * index // QUANTILES
        if number:
            bucket = bucket_index(round(time * mean_ns), HIST_BITS)
            counts[bucket] = counts.get(bucket, 0) + number
    longest = round(-math.log(0.5 / QUANTILES) * mean_ns)
    return Histogram(HIST_BITS, counts, round(mean_ns * count), 1, longest)


@dataclass
class QueueKernel(FakeKernel):
    """A device that completes @capacity I/Os per second; @runs are the configurations it saw."""

    capacity: float = 1000.0
    runs_seen: list[RunConfig] = field(default_factory=list)
    before_run: Callable[[RunConfig], None] = lambda config: None
    disturb: Callable[[RunConfig, float], float] = lambda config, mean_s: mean_s
    # Factor on the share of a stream; the rest of the I/Os stays as it is.
    skew: dict[int, float] = field(default_factory=dict)
    # The first stream is up by this much in every other second.
    wobble: float = 0.0

    def run_new(
        self, config: RunConfig, patience: Patience = endless, claim: int | None = None
    ) -> int:
        self.state, self.reason, self.seconds = RunState.READY, Reason.NONE, 0
        self.errors, self.end_reason = 0, Reason.COMPLETED
        self.before_run(config)
        run = super().run_new(config, patience, claim)
        self.runs_seen.append(config)
        return run

    @property
    def _arrivals(self) -> float:
        assert self.config is not None
        rate = self.config.offered_rate
        return rate if rate is not None else self.capacity / 2

    def _completed(self) -> float:
        return min(self._arrivals, self.capacity)

    def _info(self) -> RunInfo:
        info = super()._info()
        backlog = (self._arrivals - self._completed()) * self.seconds
        return replace(info, backlog=int(backlog))

    def intervals(self, run: int, since: int) -> list[IntervalRow]:
        self._called("intervals")
        info = self._info()
        assert self.config is not None
        ramp_s = info.ramp_ns // SECOND
        return [
            IntervalRow(
                seq=seq,
                phase=Phase.RAMP if seq < ramp_s else Phase.MEASURE,
                start_ns=START_NS + seq * SECOND,
                end_ns=START_NS + (seq + 1) * SECOND,
                outstanding=4,
                backlog=int((self._arrivals - self._completed()) * (seq + 1)),
                worker_cpu_ns=SECOND // 4,
                worker_switches=50,
                read=interval_cell(ios=int(self._completed())),
                write=interval_cell(),
                streams=[(ios, 4096 * ios, 0, 0) for ios in self._shares_in(seq)],
            )
            for seq in range(since, info.intervals)
        ]

    def _shares(self, seconds: int) -> list[int]:
        """I/Os of each stream in this number of seconds."""
        assert self.config is not None
        weights = [stream.weight for stream in self.config.streams]
        whole = self._completed() * seconds
        return [
            round(whole * weight / sum(weights) * self.skew.get(index, 1.0))
            for index, weight in enumerate(weights)
        ]

    def _shares_in(self, second: int) -> list[int]:
        """I/Os of each stream in that second; the first stream is the one that wobbles."""
        first, *others = self._shares(1)
        return [round(first * (1 + self.wobble * (second % 2))), *others]

    def stats(self, run: int) -> list[StatsCell]:
        self._called("stats")
        config = self.config
        assert config is not None
        seconds = self.seconds - config.ramp_ns // SECOND
        if seconds <= 0:
            return []
        mean_s = mean_response_s(self._arrivals, self.capacity, self.seconds)
        mean_s = self.disturb(config, mean_s)
        cells = []
        for index, ios in enumerate(self._shares(seconds)):
            reads = ios * config.streams[index].read_ppm // 1_000_000
            for direction, count in ((Direction.READ, reads), (Direction.WRITE, ios - reads)):
                if count:
                    cells.append(self._cell(index, direction, count, mean_s))
        if self.errors and cells:
            failed = {errno.EIO: self.errors}
            cells[0] = replace(cells[0], errors=self.errors, errors_by_errno=failed)
        return cells

    def _cell(self, stream: int, direction: Direction, ios: int, mean_s: float) -> StatsCell:
        response = exponential(mean_s * 1e9, ios)
        service = exponential(1e9 / self.capacity, ios)
        slip = exponential(1000.0, ios)
        times = {Metric.RESPONSE: response, Metric.SERVICE: service, Metric.SLIP: slip}
        return StatsCell(
            phase=Phase.MEASURE,
            stream=stream,
            direction=direction,
            ios=ios,
            bytes=4096 * ios,
            requests=ios,
            errors=0,
            histograms=times,
        )

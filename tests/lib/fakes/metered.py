# SPDX-License-Identifier: GPL-2.0
"""A run whose power is metered. The prober is played by its own integrator, so that what is known
when is as in the kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from lib.core.railcore import Rail, library
from lib.fakes.kernel import SECOND, START_NS, interval_cell

from spekctl.documents import power as documents_power
from spekctl.documents import result
from spekctl.errors import NotFoundError, SpekError
from spekctl.kernel.feeds import Feed, RailUse
from spekctl.kernel.gen.spek_prober_records import RailInfo
from spekctl.kernel.records import Direction, FeedState, IntervalRow, Phase, RunInfo, StatsCell, Use
from spekctl.power.meter import Meter, PowerOptions
from spekctl.run import build as run_build
from spekctl.run.collector import Sections
from spekctl.workload import file as workload_file
from spekctl.workload.resolve import Options, Target, resolve

MS = 1_000_000
MEASURE_NS = START_NS + SECOND
DRAIN_NS = START_NS + 5 * SECOND
INFO = RunInfo(
    1, started_ns=START_NS, measure_ns=MEASURE_NS, drain_ns=DRAIN_NS, ended_ns=DRAIN_NS + 1000,
    now_ns=DRAIN_NS + SECOND,
)  # fmt: skip


@dataclass
class FakeFeed:
    """A feed whose rails are real ones."""

    id: int
    name: str
    rails: dict[str, Rail]
    state: FeedState = FeedState.OPEN
    uncertainty_ns: int = 0
    lsb_nw: int = 0


@dataclass
class FakeLink:
    """spek_prober.ko as the meter sees it."""

    known: list[FakeFeed] = field(default_factory=list)
    broken: str = ""
    asked: int = 0
    before_feeds: Callable[[], None] = lambda: None
    after_feeds: Callable[[], None] = lambda: None

    def feeds(self) -> list[Feed]:
        self.before_feeds()
        if self.broken:
            raise SpekError(self.broken)
        listed = [
            Feed(
                id=feed.id, name=feed.name, source="sim", state=feed.state, owner_pid=1,
                owner_name="x", history=64, max_step_ns=10**10, uncertainty_ns=feed.uncertainty_ns,
                drift_ppb=5, residual_ns=6, overflows=7, lost=8, opened_ns=1, now_ns=2,
                watermark_ns=min(rail.c.horizon_ns for rail in feed.rails.values()), batches=1,
                refused=0, left_behind=0,
                rails=tuple(RailInfo(n, name, late=2) for n, name in enumerate(feed.rails)),
            )
            for feed in self.known
        ]  # fmt: skip
        self.after_feeds()
        return listed

    def energy(
        self, intervals: Sequence[tuple[int, int]], feed: int | None = None
    ) -> list[RailUse]:
        self.asked += len(intervals)
        if self.broken:
            raise SpekError(self.broken)
        if feed is not None and feed not in {each.id for each in self.known}:
            raise NotFoundError("There is no feed with this number.")
        return [
            RailUse(
                each.id, each.name, number, name, each.state, each.uncertainty_ns, each.lsb_nw,
                tuple(_use(rail, *interval, each.state) for interval in intervals),
            )
            for each in self.known
            if feed is None or each.id == feed
            for number, (name, rail) in enumerate(each.rails.items())
        ]  # fmt: skip

    def close(self) -> None:
        pass


def _use(rail: Rail, from_ns: int, to_ns: int, state: FeedState) -> Use:
    use = rail.use(from_ns, to_ns, state is not FeedState.OPEN)
    return Use(
        int(use.joules * 10**15), use.known_ns, use.gap_ns, use.lost_ns, use.pending_ns,
        use.samples, use.min_uw, use.max_uw,
    )  # fmt: skip


def rails() -> Callable[..., Rail]:
    """For a fixture: makes rails of the module's own integrator."""
    lib = library()

    def make(watts: float = 5.0, first_s: float = -1, last_s: float = 10, **options: int) -> Rail:
        rail = Rail(lib, **{"capacity": 1024, **options})
        add(rail, watts, first_s, last_s)
        return rail

    return make


def add(rail: Rail, watts: float, first_s: float, last_s: float) -> None:
    """A sample each 100 ms, seconds since the start of the run."""
    count = round((last_s - first_s) * 10) + 1
    for n in range(count):
        rail.push(START_NS + int(first_s * SECOND) + n * SECOND // 10, round(watts * 1e6))


def row(seq: int, phase: Phase = Phase.MEASURE, ios: int = 1000) -> IntervalRow:
    start = START_NS + seq * SECOND
    return IntervalRow(
        seq, phase, start, start + SECOND, 0, 0, 0, 0,
        interval_cell(ios=ios, bytes=ios * 4096), interval_cell(), [],
    )  # fmt: skip


ROWS = [row(0, Phase.RAMP), *(row(n) for n in range(1, 5))]


def meter(link: Any, wish: PowerOptions | None = None, patience_s: float = 0.0) -> Meter:
    """One that waits no longer than told; the clock jumps on each look."""
    ticks = iter(range(10**6))
    return Meter(link, wish or PowerOptions(), lambda: next(ticks) * (100 if not patience_s else 0))


def metered(link: FakeLink, wish: PowerOptions | None = None) -> documents_power.Metered:
    metering = meter(link, wish)
    metering.start()
    return metering.finish(INFO, ROWS)


def build(metered: documents_power.Metered | None = None) -> result.Result:
    """A result of ROWS: 1000 reads of 4 KiB each second."""
    file = workload_file.load("random-read-4k")
    disk = Target("/dev/x", 8, 16, 10 << 30, 512, 5)
    config = resolve(file, Options(available_cpus=(0,)), [disk])
    plan = result.Plan(
        run=1,
        started_ns=START_NS,
        workload=file,
        config=config,
        targets=[],
        remarks=[],
    )
    cell = StatsCell(Phase.MEASURE, 0, Direction.READ, 4000, 4000 * 4096, 4000, 0)
    return run_build.build(plan, INFO, [cell], ROWS, [], Sections(metered=metered))

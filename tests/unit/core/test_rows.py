"""Rows by time: the course of a worker through its rows, and the rows that spans make."""

from __future__ import annotations

import itertools
import random
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from lib.core.spekcore import NEVER, library

FFI, LIB = library()
RAMP, MEASURE, DRAIN = (
    int(getattr(LIB, f"SPEK_PHASE_{name}")) for name in ("RAMP", "MEASURE", "DRAIN")
)
AFTER = DRAIN + 1  # next phase of the last span
ALL = 1_000_000
ROW = 1000  # length of a row in most tests, ns
SETS = 8
OPEN_ROWS = 8


def course(phase: int = MEASURE, start: int = 0, end: int = NEVER, row: int = ROW) -> Any:
    """A worker at the start of a phase."""
    begun = FFI.new("struct spek_course *")
    begun.interval_ns = row
    LIB.spek_course_begin(begun, phase, start, start)
    if end != NEVER:
        LIB.spek_course_set_end(begun, end, start)
    return begun


def passed(worker: Any, now: int, may_seal: bool = True) -> Any | None:
    """The span that ends at the boundary, or None if it continues."""
    span = FFI.new("struct spek_span *")
    assert now >= worker.boundary_ns < worker.phase_end_ns
    return span if LIB.spek_course_pass(worker, now, may_seal, span) else None


def ended(worker: Any, next_phase: int = DRAIN) -> Any:
    span = FFI.new("struct spek_span *")
    LIB.spek_course_end_phase(worker, next_phase, span)
    return span


def times(span: Any) -> tuple[int, int, int]:
    return span.start_ns, span.end_ns, span.next_ns


def schedule(span: Any) -> tuple[int, int]:
    return span.row_start_ns, span.row_end_ns


# --- the course of a worker ----------------------------------------------------------------------


def test_a_span_is_a_row_while_every_set_is_sealed() -> None:
    worker = course(start=5000)
    for start in range(5000, 9000, ROW):
        span = passed(worker, start + ROW + 3)
        assert times(span) == (start, start + ROW, start + ROW)
        assert schedule(span) == (start, start + ROW)


def test_a_worker_that_was_blocked_continues_in_the_row_of_its_clock() -> None:
    worker = course()

    span = passed(worker, 4321)

    assert times(span) == (0, 1000, 4000)
    assert times(passed(worker, 5000)) == (4000, 5000, 5000)


def test_a_span_continues_with_its_own_start_while_no_set_is_free() -> None:
    worker = course()
    assert passed(worker, 1000, may_seal=False) is None
    assert passed(worker, 4500, may_seal=False) is None

    span = passed(worker, 5001)

    assert times(span) == (0, 5000, 5000)
    assert schedule(span) == (0, 5000)
    assert times(passed(worker, 6000)) == (5000, 6000, 6000)


def test_the_last_row_ends_with_its_phase() -> None:
    worker = course(end=2500)
    passed(worker, 1000)
    passed(worker, 2000)
    assert worker.boundary_ns == worker.phase_end_ns == 2500

    span = ended(worker)

    assert times(span) == (2000, 2500, 2500)
    assert schedule(span) == (2000, 2500)
    assert (span.phase, span.next_phase) == (MEASURE, DRAIN)


def test_a_blocked_worker_does_not_skip_the_end_of_the_phase() -> None:
    worker = course(end=2000)

    assert times(passed(worker, 99_000)) == (0, 1000, 1000)

    assert worker.boundary_ns == worker.phase_end_ns == 2000


@pytest.mark.parametrize(
    ("end", "counted", "last"),
    [
        (1700, 1500, 1700),
        (1700, 1800, 1800),
        (1000, 900, 1000),
        (400, 900, 1000),
        (400, 1800, 1800),
    ],
)
def test_a_phase_ends_for_a_worker_no_earlier_than_what_it_has_counted(
    end: int, counted: int, last: int
) -> None:
    worker = course()
    passed(worker, 1000)

    LIB.spek_course_set_end(worker, end, counted)
    span = ended(worker)
    LIB.spek_course_begin(worker, DRAIN, end, span.end_ns)

    assert times(span) == (1000, last, last)
    assert worker.span_start_ns == last
    assert worker.row_start_ns <= last < worker.row_end_ns
    assert (worker.row_start_ns - end) % ROW == 0


def test_a_phase_entered_late_is_entered_in_the_row_of_the_clock() -> None:
    worker = FFI.new("struct spek_course *")
    worker.interval_ns = ROW

    LIB.spek_course_begin(worker, MEASURE, 500, 4700)

    span = passed(worker, 5500)
    assert times(span) == (4700, 5500, 5500)
    assert schedule(span) == (4500, 5500)


def test_a_long_row_is_counted_in_pieces() -> None:
    piece, row = 10**10, 6 * 10**10
    worker = course(row=row)
    starts: list[int] = []
    while not starts or starts[-1] < row:
        span = passed(worker, worker.boundary_ns + 7)
        assert span is not None
        assert schedule(span) == (row * (span.start_ns // row), row * (span.start_ns // row + 1))
        starts.append(span.end_ns)
    assert starts[0] == piece
    assert starts[-1] == row
    assert all(piece <= b - a <= 2 * piece for a, b in itertools.pairwise(starts))


def test_each_phase_to_come_keeps_a_set() -> None:
    """Whatever the collector does, a worker in a phase has one set for each phase after it."""
    for phase, needed in ((RAMP, 3), (MEASURE, 2), (DRAIN, 1)):
        worker = course(phase=phase)
        allowed = [n for n in range(1, SETS + 1) if LIB.shim_course_may_seal(worker, n)]
        assert allowed == list(range(needed + 1, SETS + 1))


# --- rows ----------------------------------------------------------------------------------------


@dataclass
class Row:
    """A closed row."""

    phase: int
    start: int
    end: int
    coverage: int
    ios: list[tuple[int, int]]  # worker, time
    outstanding: int
    backlog: int


@dataclass
class Rows:
    """The rows of a run, with the counts of each: as stats.c has them."""

    workers: int
    closed: list[Row] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._passed = FFI.new("struct spek_passed[]", self.workers)
        self._rows = FFI.new("struct spek_rows *")
        self._ios: list[list[tuple[int, int]]] = [[] for _ in range(OPEN_ROWS + 1)]
        LIB.spek_rows_init(self._rows, self._passed, self.workers)

    def take(
        self,
        worker: int,
        span: Any,
        ios: list[tuple[int, int]] = [],  # noqa: B006
        outstanding: int = 0,
        backlog: int = 0,
    ) -> None:
        slot = LIB.spek_rows_place(self._rows, worker, span)
        while (joined := LIB.spek_rows_join(self._rows, slot)) >= 0:
            self._ios[slot] += self._ios[joined]
            self._ios[joined] = []
        self._ios[slot] += ios
        levels = FFI.new("struct spek_levels *", [outstanding, backlog])
        LIB.spek_rows_pass(self._rows, worker, span, levels)
        self._close(OPEN_ROWS)

    def flush(self) -> None:
        self._close(0)

    def _close(self, most: int) -> None:
        while (slot := LIB.spek_rows_close(self._rows, most)) >= 0:
            row = self._rows.slot[slot]
            self.closed.append(
                Row(
                    row.phase,
                    row.start_ns,
                    row.end_ns,
                    row.coverage_ppm,
                    self._ios[slot],
                    row.levels.outstanding,
                    row.levels.backlog,
                )
            )
            self._ios[slot] = []

    @property
    def phase(self) -> int:
        return int(LIB.spek_rows_phase(self._rows))


def span(
    start: int,
    end: int,
    until: int | None = None,
    phase: int = MEASURE,
    next_phase: int | None = None,
    bounds: tuple[int, int] | None = None,
) -> Any:
    filled_span = FFI.new("struct spek_span *")
    filled_span.phase = phase
    filled_span.next_phase = phase if next_phase is None else next_phase
    filled_span.row_start_ns, filled_span.row_end_ns = bounds or (start, end)
    filled_span.start_ns, filled_span.end_ns = start, end
    filled_span.next_ns = end if until is None else until
    return filled_span


def shapes(rows: Rows) -> list[tuple[int, int, int]]:
    return [(row.start, row.end, row.coverage) for row in rows.closed]


def test_a_row_closes_when_every_worker_has_passed_it() -> None:
    rows = Rows(2)
    rows.take(0, span(0, 10), [(0, 1)], outstanding=3)
    rows.take(0, span(10, 20), [(0, 11)], outstanding=4)
    assert rows.closed == []

    rows.take(1, span(0, 10), [(1, 2)], outstanding=5, backlog=2)

    assert rows.closed == [Row(MEASURE, 0, 10, ALL, [(0, 1), (1, 2)], 8, 2)]


def test_time_in_which_a_worker_was_blocked_is_covered() -> None:
    """Nothing completed in it: its levels are those before."""
    rows = Rows(2)
    rows.take(0, span(0, 10, until=40), [(0, 1)], outstanding=7)
    for start in range(0, 50, 10):
        rows.take(1, span(start, start + 10), [(1, start)], outstanding=1)
    rows.take(0, span(40, 50), [], outstanding=2)

    assert shapes(rows) == [(start, start + 10, ALL) for start in range(0, 50, 10)]
    assert [row.outstanding for row in rows.closed] == [8, 8, 8, 8, 3]


def test_a_worker_that_is_blocked_for_long_is_missing_and_its_row_comes_later() -> None:
    rows = Rows(2)
    for start in range(0, 100, 10):
        rows.take(0, span(start, start + 10), [(0, start)])
    assert shapes(rows) == [(0, 10, ALL // 2), (10, 20, ALL // 2)]

    rows.take(1, span(0, 10, until=90), [(1, 3)])

    assert rows.closed[2] == Row(MEASURE, 0, 10, ALL // 2, [(1, 3)], 0, 0)
    assert shapes(rows)[3:] == [(start, start + 10, ALL) for start in range(20, 90, 10)]


def test_rows_that_one_worker_could_not_tell_apart_become_one() -> None:
    rows = Rows(2)
    for start in (0, 10, 20, 30):
        rows.take(0, span(start, start + 10), [(0, start)], outstanding=start)

    rows.take(1, span(0, 10), [(1, 4)])
    rows.take(1, span(10, 30), [(1, 15), (1, 25)], outstanding=2)

    assert shapes(rows) == [(0, 10, ALL), (10, 30, ALL)]
    assert sorted(rows.closed[1].ios) == [(0, 10), (0, 20), (1, 15), (1, 25)]
    assert rows.closed[1].outstanding == 22


def test_a_long_span_of_closed_rows_says_how_much_it_covers() -> None:
    rows = Rows(2)
    for start in range(0, 100, 10):
        rows.take(0, span(start, start + 10), [(0, start)])

    rows.take(1, span(0, 40), [(1, 35)])

    # Rows 0 and 10 are closed: of 80 ns, the span has 40 and the worker's own rows 20.
    assert shapes(rows) == [(0, 10, ALL // 2), (10, 20, ALL // 2), (0, 40, ALL * 60 // 80)]


def test_pieces_of_a_row_are_one_row() -> None:
    rows = Rows(2)
    for worker in (0, 1):
        rows.take(worker, span(0, 10, bounds=(0, 60)), [(worker, 5)], outstanding=9)
        rows.take(worker, span(10, 37, next_phase=DRAIN, bounds=(0, 37)), outstanding=1)
    assert rows.closed == [Row(MEASURE, 0, 37, ALL, [(0, 5), (1, 5)], 2, 0)]


def test_levels_of_a_phase_that_workers_leave_at_different_times() -> None:
    """As after an early end: each leaves once it has counted what was reaped."""
    rows = Rows(3)
    rows.take(0, span(0, 1003, next_phase=DRAIN), outstanding=3, backlog=1)
    rows.take(0, span(1003, 1100, phase=DRAIN), outstanding=100)
    rows.take(1, span(0, 1007, next_phase=DRAIN), outstanding=5, backlog=2)
    rows.take(2, span(0, 1005, next_phase=DRAIN), outstanding=7)

    (row,) = rows.closed
    assert (row.start, row.end, row.outstanding, row.backlog) == (0, 1007, 15, 3)


def test_levels_of_a_worker_that_is_blocked_beyond_a_longer_row() -> None:
    rows = Rows(2)
    rows.take(0, span(0, 1003, until=5000), outstanding=3)
    rows.take(1, span(0, 1007, next_phase=DRAIN), outstanding=5)

    (row,) = rows.closed
    assert (row.end, row.outstanding) == (1007, 8)


def test_levels_of_a_late_row_of_a_phase_that_a_worker_has_left() -> None:
    rows = Rows(2)
    rows.take(0, span(0, 10, next_phase=DRAIN), outstanding=3)
    rows.take(0, span(10, 90, phase=DRAIN), outstanding=100)
    rows.take(1, span(0, 10), outstanding=1)
    rows.take(1, span(10, 20, next_phase=DRAIN), outstanding=5)
    rows.flush()

    assert [row.outstanding for row in rows.closed if row.phase == MEASURE] == [4, 8]


def test_rows_of_phases_stay_apart_and_in_order() -> None:
    """One worker learned of the end of the ramp-up after it had passed it."""
    rows = Rows(2)
    rows.take(0, span(0, 10, phase=RAMP))
    rows.take(0, span(10, 14, phase=RAMP, next_phase=MEASURE, bounds=(10, 14)))
    rows.take(0, span(14, 24))
    rows.take(1, span(0, 10, phase=RAMP))
    rows.take(1, span(10, 20, phase=RAMP))
    assert rows.phase == RAMP
    rows.take(1, span(20, 21, phase=RAMP, next_phase=MEASURE))
    assert rows.phase == MEASURE
    rows.take(1, span(21, 24, bounds=(14, 24)))

    assert [row.phase for row in rows.closed] == [RAMP, RAMP, RAMP, MEASURE]
    # The first worker counted what followed 14 in the measure phase, the second what followed 21.
    assert shapes(rows) == [
        (0, 10, ALL),
        (10, 20, (4 + 10) * ALL // 20),
        (20, 21, ALL // 2),
        (14, 24, (10 + 3) * ALL // 20),
    ]


def test_the_last_row_ends_with_the_last_worker() -> None:
    rows = Rows(2)
    rows.take(0, span(0, 3, phase=DRAIN, next_phase=AFTER))
    rows.take(1, span(0, 10, phase=DRAIN), [(1, 9)])
    rows.take(1, span(10, 16, phase=DRAIN, next_phase=AFTER), [(1, 15)])
    rows.flush()
    assert shapes(rows) == [(0, 10, ALL), (10, 16, ALL)]


# --- workers and a collector that are late at random ---------------------------------------------


@dataclass
class Sealed:
    span: Any
    ios: list[tuple[int, int]]


class Worker:
    """What worker_phase.c does, with completions at given times."""

    def __init__(self, number: int, ends: dict[int, int], row: int, rng: random.Random) -> None:
        self.number = number
        self.ends = ends
        self.rng = rng
        self.course = FFI.new("struct spek_course *")
        self.course.interval_ns = row
        self.active: list[tuple[int, int]] = []
        self.sealed: deque[Sealed] = deque()
        self.blocked_until = 0
        self.ios: dict[int, list[tuple[int, int]]] = {}
        self.over = False
        # Most ends are known beforehand; of one that somebody else sets, a worker may learn late.
        self.learns_after = {phase: rng.choice([None, None, 0, 2 * row]) for phase in ends}
        self.knew = all(not after for after in self.learns_after.values())
        self._begin(RAMP, 0, 0)

    def _begin(self, phase: int, start: int, now: int) -> None:
        LIB.spek_course_begin(self.course, phase, start, now)
        if phase in self.ends and self.learns_after[phase] is None:
            LIB.spek_course_set_end(self.course, self.ends[phase], now)

    def _learn(self, since: int, now: int) -> None:
        after = self.learns_after.get(self.course.phase)
        if after is not None and now >= self.ends[self.course.phase] + after:
            LIB.spek_course_set_end(self.course, self.ends[self.course.phase], since)
            self.learns_after[self.course.phase] = None

    def _free(self) -> int:
        return SETS - len(self.sealed)

    def _seal(self, span: Any) -> None:
        assert self._free() > (span.next_phase != AFTER), "a worker would have waited"
        self.sealed.append(Sealed(span, self.active))
        self.active = []

    def _pass(self, now: int) -> None:
        c = self.course
        while now >= c.boundary_ns:
            end_span = FFI.new("struct spek_span *")
            if c.boundary_ns == c.phase_end_ns:
                LIB.spek_course_end_phase(c, c.phase + 1, end_span)
                self._seal(end_span)
                self._begin(c.phase + 1, c.common_end_ns, end_span.end_ns)
            elif LIB.spek_course_pass(c, now, LIB.shim_course_may_seal(c, self._free()), end_span):
                self._seal(end_span)

    def run(self, since: int, now: int) -> None:
        """Account what completed since the last call, in order of time."""
        self._learn(since, now)
        for at in sorted(self.rng.randrange(since, now) for _ in range(self.rng.randrange(4))):
            self._pass(at)
            self.active.append((self.number, at))
            self.ios.setdefault(self.course.phase, []).append((self.number, at))
        self._pass(now)

    def finish(self, now: int) -> None:
        end_span = FFI.new("struct spek_span *")
        LIB.spek_course_set_end(self.course, now, now)
        LIB.spek_course_end_phase(self.course, AFTER, end_span)
        self._seal(end_span)
        self.over = True


def simulated(seed: int) -> Iterator[tuple[list[Worker], Rows, bool]]:
    """A run in which everybody is late at random; the flag: the collector never was."""
    rng = random.Random(seed)
    row = rng.choice([7, 100, 1000])
    ends = {RAMP: rng.randrange(1, 20 * row)}
    ends[MEASURE] = ends[RAMP] + rng.randrange(1, 60 * row)
    workers = [Worker(number, ends, row, rng) for number in range(rng.randrange(1, 5))]
    rows = Rows(len(workers))
    prompt = rng.random() < 0.3
    lateness = 0 if prompt else rng.choice([row, 10 * row, 40 * row])
    block = rng.choice([0, row // 2, 4 * row, 50 * row])
    last = {worker.number: 0 for worker in workers}
    now = collects_at = 0
    over_at = ends[MEASURE] + rng.randrange(1, 9 * row)
    while not all(worker.over for worker in workers):
        now += rng.randrange(1, max(2, row // 2))
        for worker in workers:
            if worker.over or now < worker.blocked_until:
                continue
            if now > last[worker.number]:
                worker.run(last[worker.number], now)
            last[worker.number] = now
            if block and rng.random() < 0.05:
                worker.blocked_until = now + rng.randrange(block)
            if worker.course.phase == DRAIN and now >= over_at:
                worker.finish(now)
        if now >= collects_at:
            collect(workers, rows)
            collects_at = now + (rng.randrange(lateness) if lateness else 0)
    collect(workers, rows)
    rows.flush()
    knew = all(worker.knew for worker in workers)
    yield workers, rows, prompt and block <= 4 * row and knew


def collect(workers: list[Worker], rows: Rows) -> None:
    """One set of each in turn, as run.c does."""
    while any([take(worker, rows) for worker in workers]):
        pass


def take(worker: Worker, rows: Rows) -> bool:
    if not worker.sealed:
        return False
    sealed = worker.sealed.popleft()
    rows.take(worker.number, sealed.span, sealed.ios)
    return True


@pytest.mark.parametrize("seed", range(400))
def test_every_io_is_in_one_row_of_its_time(seed: int) -> None:
    for workers, rows, in_time in simulated(seed):
        for phase in (RAMP, MEASURE, DRAIN):
            counted = [io for row in rows.closed if row.phase == phase for io in row.ios]
            done = [io for worker in workers for io in worker.ios.get(phase, [])]
            assert sorted(counted) == sorted(done)
        for row in rows.closed:
            assert all(row.start <= at < row.end for _, at in row.ios), row
            assert row.end == row.start or 0 < row.coverage <= ALL
        covered = sum((row.end - row.start) * row.coverage for row in rows.closed)
        assert covered <= max(row.end for row in rows.closed) * ALL
        if in_time or len(workers) == 1:
            assert all(row.coverage == ALL for row in rows.closed)
        whole = [row for row in rows.closed if row.coverage == ALL and row.start < row.end]
        for before, after in itertools.pairwise(whole):
            assert before.end <= after.start
            assert before.phase <= after.phase

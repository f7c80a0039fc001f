"""The prober's integrator, compiled for userspace: the real source, bound by cffi.

The C declarations are read from its own header, so that a binding cannot drift from the code.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

from lib.build.declarations import opened
from lib.core.build import PROBER

SHIM = Path(__file__).with_name("prober_shim.h")
# Halves of a femtojoule: microwatt times nanosecond is a femtojoule, a trapezoid half of that.
UNIT = 2_000_000_000


@functools.cache
def library(*flags: str) -> tuple[Any, Any]:
    """The compiled core of the prober: (ffi, lib)."""
    return opened(*PROBER.compiled(SHIM, *flags))


@dataclass(frozen=True, slots=True)
class Use:
    """struct spek_rail_use; energy in joules, exactly."""

    joules: Fraction
    known_ns: int
    gap_ns: int
    lost_ns: int
    pending_ns: int
    samples: int
    min_uw: int
    max_uw: int


class Rail:
    """struct spek_rail with memory of its own."""

    def __init__(self, lib: tuple[Any, Any], capacity: int = 64, max_step_ns: int = 10**10) -> None:
        self.ffi, self.lib = lib
        self.c = self.ffi.new("struct spek_rail *")
        self._samples = self.ffi.new("struct spek_rail_sample[]", capacity)
        self._extremes = self.ffi.new("struct spek_rail_extremes[]", capacity // 64)
        self.lib.spek_rail_init(self.c, self._samples, self._extremes, capacity, max_step_ns)

    def push(self, at_ns: int, power_uw: int, gap: bool = False) -> bool:
        return bool(self.lib.spek_rail_push(self.c, at_ns, power_uw, gap))

    def mark(self, until_ns: int) -> None:
        self.lib.spek_rail_mark(self.c, until_ns)

    def use(self, from_ns: int, to_ns: int, ended: bool = False) -> Use:
        c = self.ffi.new("struct spek_rail_use *")
        self.lib.spek_rail_use(self.c, from_ns, to_ns, ended, c)
        return Use(
            joules(c.energy.uj, c.energy.remainder), c.known_ns, c.gap_ns, c.lost_ns, c.pending_ns,
            c.samples, c.min_uw, c.max_uw,
        )  # fmt: skip

    def total(self, at_ns: int, ended: bool = False) -> tuple[int, Fraction, int, int]:
        """(error, joules, known, gap) up to a time."""
        c = self.ffi.new("struct spek_rail_total *")
        error = self.lib.spek_rail_total(self.c, at_ns, ended, c)
        return error, joules(c.energy.uj, c.energy.remainder), c.known_ns, c.gap_ns


class Tally:
    """struct spek_tally with memory of its own, for rows that start at the times in @starts."""

    def __init__(self, rail: Rail, rows: int) -> None:
        self.rail = rail
        self.starts: list[int] = []
        self.c = rail.ffi.new("struct spek_tally *")
        self._totals = rail.ffi.new("struct spek_tally_row[]", rows)
        rail.lib.spek_tally_init(self.c, self._totals, rows)

    def take(self, budget: int = 1 << 31) -> None:
        """Rows whose totals are fixed, as prober/feed_rows.c does."""
        left = self.rail.ffi.new("u32 *", budget)
        while self.c.next < len(self.starts):
            if self.rail.lib.spek_tally_take(self.c, self.rail.c, self.starts[self.c.next], left):
                break

    def push(self, at_ns: int, power_uw: int, gap: bool = False, budget: int = 1 << 31) -> bool:
        """Store a sample, as prober/feed.c does."""
        self.take(budget)
        return self.rail.push(at_ns, power_uw, gap)

    def skip(self, to: int) -> None:
        self.rail.lib.spek_tally_skip(self.c, to)

    def read(self, seq: int, ended: bool = False) -> tuple[int, int, int, int]:
        """(error, nJ, known, gap) up to the start of a row; without the latter after an error."""
        row = self.rail.ffi.new("struct spek_tally_row *")
        error = self.rail.lib.spek_tally_read(
            self.c, self.rail.c, seq, self.starts[seq], ended, row
        )
        return (error, 0, 0, 0) if error else (0, row.energy_nj, row.known_ns, row.gap_ns)


def joules(uj: int, rest: int) -> Fraction:
    assert 0 <= rest < UNIT
    return (Fraction(uj) + Fraction(rest, UNIT)) / 10**6


@dataclass(frozen=True, slots=True)
class Point:
    """A sample as the reference takes it."""

    at_ns: int
    power_uw: int
    gap: bool = False


class Reference:
    """What a rail should say, by definition: a list of segments and fractions."""

    def __init__(self, max_step_ns: int) -> None:
        self.max_step_ns = max_step_ns
        self.points: list[Point] = []
        self.horizon_ns = 0

    def push(self, at_ns: int, power_uw: int, gap: bool = False) -> bool:
        if at_ns < self.horizon_ns:
            return False
        if self.points:
            span = at_ns - self.points[-1].at_ns
            marked = self.horizon_ns > self.points[-1].at_ns
            gap = span > 0 and (gap or marked or span > self.max_step_ns)
        self.points.append(Point(at_ns, power_uw, gap))
        self.horizon_ns = at_ns
        return True

    def mark(self, until_ns: int) -> None:
        self.horizon_ns = max(self.horizon_ns, until_ns)

    def segments(self, kept: int) -> Iterator[tuple[Point, Point]]:
        points = self.points[-kept:]
        yield from pairwise(points)

    def use(self, from_ns: int, to_ns: int, kept: int, ended: bool = False) -> Use:
        energy, known, gap = Fraction(0), 0, 0
        powers: list[Fraction] = []
        for a, b in self.segments(kept):
            low, high = max(a.at_ns, from_ns), min(b.at_ns, to_ns)
            if low >= high:
                continue
            if b.gap:
                gap += high - low
                continue
            first, second = (interpolate(a, b, at_ns) for at_ns in (low, high))
            energy += (first + second) / 2 * (high - low)
            known += high - low
            powers += [first, second]
        points = self.points[-kept:]
        # a sample alone between two gaps is known, for no time
        first_ns = self.points[0].at_ns if self.points else self.horizon_ns
        last_ns = self.points[-1].at_ns if self.points else first_ns
        oldest_ns = points[0].at_ns if points else first_ns
        low, high = max(from_ns, oldest_ns), min(to_ns, last_ns)
        powers += [Fraction(p.power_uw) for p in points if low < p.at_ns < high]
        inside = min(max(self.horizon_ns, from_ns), to_ns)
        after = to_ns - inside
        gap += covered(from_ns, to_ns, 0, first_ns) + covered(
            from_ns, to_ns, last_ns, self.horizon_ns
        )
        return Use(
            joules=energy / 10**15,
            known_ns=known,
            gap_ns=gap + (after if ended else 0),
            lost_ns=covered(from_ns, to_ns, first_ns, oldest_ns),
            pending_ns=0 if ended else after,
            samples=sum(from_ns <= p.at_ns < to_ns for p in points),
            min_uw=floor_to(min(powers)) if known else 0,
            max_uw=floor_to(max(powers)) if known else 0,
        )


def interpolate(a: Point, b: Point, at_ns: int) -> Fraction:
    return a.power_uw + Fraction((b.power_uw - a.power_uw) * (at_ns - a.at_ns), b.at_ns - a.at_ns)


def floor_to(power: Fraction) -> int:
    return power.numerator // power.denominator


def covered(from_ns: int, to_ns: int, low_ns: int, high_ns: int) -> int:
    return max(0, min(to_ns, high_ns) - max(from_ns, low_ns))


def feed(rail: Rail | Reference, points: Iterable[Point]) -> list[bool]:
    return [rail.push(p.at_ns, p.power_uw, p.gap) for p in points]

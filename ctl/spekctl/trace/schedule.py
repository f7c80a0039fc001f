# SPDX-License-Identifier: GPL-2.0-or-later
"""The feed of a replay: a trace's records on targets, each with the time at which it is due.

    trace = open_trace([path])
    timing = Timing.at_speed("2.5")
    for block in Schedule(trace.batches(), mapper, timing).blocks(4096): ...

Times are absolute, from the start of the replay: nothing adds up along the way, so the last
record is due exactly where it should be.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, fields
from enum import StrEnum
from fractions import Fraction
from typing import Any

import numpy as np

from spekctl import units
from spekctl.errors import UsageError
from spekctl.trace.columns import Array, Batch, pieces
from spekctl.trace.idle import Idle
from spekctl.trace.mapping import Mapper, aligned, is_empty, scaled

# Limits of a speed, and of a rate in requests per second.
_SPEED = (Fraction(1, 10**6), Fraction(10**6))
_RATE = (Fraction(1, 1000), Fraction(10**9))
_U64_MAX = 2**64 - 1
_DECIMAL = re.compile(r"[0-9]+(\.[0-9]+)?", re.ASCII)


class Pace(StrEnum):
    """Source of the due times."""

    # The times of the trace, divided by the speed.
    ORIGINAL = "original"
    # Equal gaps.
    RATE = "rate"
    # None: a fixed number of requests is outstanding.
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class Timing:
    """When the records of a trace are due."""

    pace: Pace = Pace.ORIGINAL
    speed: Fraction = Fraction(1)
    rate: Fraction = Fraction(0)
    depth: int = 0
    # Of a closed loop: each request waits, after the completion that makes room for it, for the
    # time that passed in the trace since the request before it.
    think: bool = False
    # Longest time between successive requests, as recorded: longer ones are cut to it. 0: no limit.
    max_idle_ns: int = 0

    @staticmethod
    def at_speed(text: str) -> Timing:
        """``2.5``: two and a half times as fast as recorded."""
        return Timing(Pace.ORIGINAL, speed=_number(text, "speed", _SPEED))

    @staticmethod
    def at_rate(text: str) -> Timing:
        """``200``: so many requests per second, at equal gaps."""
        return Timing(Pace.RATE, rate=_number(text, "rate", _RATE))

    def with_bursts(self, records: int, span_ns: int) -> Timing:
        """So many requests per second on average, of @records that span @span_ns; the gaps keep
        their proportions."""
        if records < 2 or not span_ns:
            raise UsageError(
                "the requests of the trace have no times; a rate with bursts needs some"
            )
        speed = self.rate * span_ns / ((records - 1) * 10**9)
        # As exact as times of days in nanoseconds need it, and small enough to compute with.
        return Timing(
            Pace.ORIGINAL, speed=_rounded(_within(speed, "speed", _SPEED, f"{float(speed):g}"))
        )

    @staticmethod
    def closed(depth: int, think: bool = False) -> Timing:
        """So many requests outstanding, each sent when another is completed."""
        if depth < 1:
            raise UsageError(f"a closed loop needs a depth of at least 1, not {depth}")
        return Timing(Pace.CLOSED, depth=depth, think=think)

    def due_ns(self, at_ns: Array, first: int, before_ns: int = 0) -> Array:
        """Due times of records recorded at @at_ns, in a closed loop their think times; the first is
        record number @first, and the one before it was recorded at @before_ns."""
        if self.pace is Pace.CLOSED and not self.think:
            return np.zeros(len(at_ns), np.uint64)
        if self.pace is Pace.CLOSED:
            return np.diff(at_ns, prepend=np.uint64(before_ns))
        if self.pace is Pace.RATE:
            number = np.arange(first, first + len(at_ns), dtype=np.uint64)
            return _times(number, self.rate.denominator * 10**9, self.rate.numerator)
        if self.speed == 1:
            return at_ns
        return _times(at_ns, self.speed.denominator, self.speed.numerator)


def _times(values: Array, factor: int, divisor: int) -> Array:
    """floor(values * factor / divisor); UsageError beyond uint64."""
    if len(values) and int(values.max()) * factor // divisor > _U64_MAX:
        raise UsageError("the replay would take more than 584 years")
    by = np.uint64(divisor)
    whole, rest = values // by, values % by
    # Where the factor is larger, all of @whole is 0.
    return whole * np.uint64(min(factor, _U64_MAX)) + scaled(rest, factor, divisor)


def _number(text: str, what: str, limits: tuple[Fraction, Fraction]) -> Fraction:
    if not _DECIMAL.fullmatch(text) or len(text) > units.LONGEST_NUMBER:
        raise UsageError(f"'{text[:40]}' is not a {what}; write for example 2.5 or 200")
    return _rounded(_within(Fraction(text), what, limits, text))


def _rounded(value: Fraction) -> Fraction:
    """The value to 12 significant digits, as a fraction whose terms are below 2**54."""
    digits = 12 - len(str(value.numerator // value.denominator)) if value >= 1 else 12
    return Fraction(round(value * 10**digits), 10**digits)


def _within(value: Fraction, what: str, limits: tuple[Fraction, Fraction], text: str) -> Fraction:
    low, high = limits
    if not low <= value <= high:
        raise UsageError(f"a {what} must be {float(low):g} to {float(high):g}, not {text}")
    return value


@dataclass(frozen=True, slots=True)
class Block:
    """Records of a replay, a column each."""

    at_ns: Array  # uint64: due, from the start of the replay
    offset_bytes: Array  # uint64: on the target
    bytes: Array  # uint64
    op: Array  # uint8: columns.Op
    flags: Array  # uint8: columns.Flag
    target: Array  # uint32
    index: Array  # uint64: number of the record in the trace, for reports

    def __len__(self) -> int:
        return len(self.at_ns)

    def take(self, which: Any) -> Block:
        """The records that @which selects: a slice, indices or a mask."""
        return Block(*(getattr(self, name)[which] for name in _NAMES))


_NAMES = tuple(column.name for column in fields(Block))


@dataclass(slots=True)
class Adjusted:
    """How many records were changed or left out on the way; nothing of it is silent."""

    given: int = 0
    empty: int = 0  # of no bytes: left out
    beyond: int = 0  # no place on a target: left out
    shifted: int = 0  # shifted back from the end of a target
    grown: int = 0  # grown to whole blocks of the targets
    idles: int = 0  # idle times that were cut
    idle_ns: int = 0  # what was cut of them, as recorded


@dataclass(slots=True)
class Schedule:
    """The feed of one replay, read once."""

    batches: Iterable[Batch]
    mapper: Mapper
    timing: Timing = Timing()
    block_bytes: int = 512
    # Which records cannot be replayed: they have no due time, and do not count for a rate.
    left_out: Callable[[Batch], Array] | None = None
    adjusted: Adjusted = field(default_factory=Adjusted)
    # The records to yield, where the others are due elsewhere.
    own: Callable[[Block], Block] | None = None

    def blocks(self, rows: int) -> Iterator[Block]:
        """Records in order of time, at most @rows in each block."""
        adjusted, sent, before_ns = self.adjusted, 0, 0
        idle = Idle(self.timing.max_idle_ns)
        for batch in itertools.chain.from_iterable(pieces(whole, rows) for whole in self.batches):
            index = np.arange(adjusted.given, adjusted.given + len(batch), dtype=np.uint64)
            adjusted.given += len(batch)
            empty = is_empty(batch)
            if empty.any():
                adjusted.empty += int(empty.sum())
                batch, index = batch.take(~empty), index[~empty]
            placed = self.mapper.place(batch)
            whole, grown = aligned(placed.batch, self.block_bytes)
            adjusted.beyond += placed.beyond
            adjusted.shifted += placed.shifted
            adjusted.grown += grown
            index = index[placed.kept]
            if self.left_out is not None and (wrong := self.left_out(whole)).any():
                whole, index = whole.take(~wrong), index[~wrong]
            recorded_ns = idle.cut(whole.at_ns)
            adjusted.idles, adjusted.idle_ns = idle.count, idle.cut_ns
            block = Block(
                self.timing.due_ns(recorded_ns, sent, before_ns),
                whole.offset_bytes,
                whole.bytes,
                whole.op,
                whole.flags,
                whole.device,
                index,
            )
            yield block if self.own is None else self.own(block)
            sent += len(whole)
            if len(whole):
                before_ns = int(recorded_ns[-1])

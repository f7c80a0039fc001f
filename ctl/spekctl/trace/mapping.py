# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the records of a trace go on the devices of a replay: pure functions of columns.

A mapping takes records whose device is one of the trace, and gives records whose device is a
target. Sizes, operations, times and the order stay; a record that has no place is left out and
counted. Flushes, which have no address, go where their device goes.

    as it is     offsets stay; records beyond the target have no place
    wrap         offsets modulo the target's size
    scale        offsets times the ratio of the sizes: the shape stays, sequences get holes or
                 overlap
    concatenate  devices one after the other on one target
    pack         only the ranges that are touched, next to each other in the order of their
                 addresses: sequential runs stay sequential
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from spekctl import units
from spekctl.errors import UsageError
from spekctl.ranges import Ranges
from spekctl.trace.columns import END_MAX, SECTOR_BYTES, Array, Batch, Op, grouped


@dataclass(frozen=True, slots=True)
class Placed:
    """Records on targets, and counts of the changes."""

    batch: Batch
    # Index of each within the records that were given.
    kept: Array
    beyond: int = 0  # had no place
    shifted: int = 0  # crossed the end of the target, and were shifted back to end there


class Mapper(Protocol):
    """A mapping of a trace's devices onto targets."""

    def place(self, batch: Batch) -> Placed:
        """The records on their targets."""


# --- exact arithmetic ----------------------------------------------------------------------------

_DIGIT = 9  # bits


def scaled(values: Array, factor: int, divisor: int) -> Array:
    """floor(values * factor / divisor) of values below @divisor, without a wider type.

    @divisor at most 2**54, @factor below 2**64, and the result of the largest value within uint64.
    """
    assert 0 < divisor <= 1 << 54
    digits = []
    while factor:
        digits.append(factor & (1 << _DIGIT) - 1)
        factor >>= _DIGIT
    quotient: Array = np.zeros(len(values), np.uint64)
    rest: Array = np.zeros(len(values), np.uint64)
    by, base = np.uint64(divisor), np.uint64(1 << _DIGIT)
    for digit in reversed(digits):
        # Both terms are below 2**63: rest and values are below 2**54.
        whole = rest * base + values * np.uint64(digit)
        quotient = quotient * base + whole // by
        rest = whole % by
    return quotient


# --- mappings ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Target:
    """A device of a replay."""

    bytes: int
    block_bytes: int = SECTOR_BYTES


def targets_in_turn(devices: int, targets: int) -> list[int]:
    """The target of each device of a trace: in turn, so that every target gets as many."""
    return [device % targets for device in range(devices)]


def _addressed(batch: Batch) -> Array:
    addressed: Array = batch.op != Op.FLUSH
    return addressed


def _table(numbers: Sequence[int], batch: Batch, kind: type = np.uint64) -> Array:
    """The entry of each record's device."""
    values: Array = np.array(numbers, kind)[batch.device]
    return values


def _fitting(batch: Batch, target: Array, offset: Array, capacity: Array, shift: bool) -> Placed:
    """Records at new offsets: those that end beyond their target are shifted or left out."""
    addressed = _addressed(batch)
    offset = np.where(addressed, offset, 0)
    fits = (batch.bytes <= capacity) & (offset <= capacity - np.minimum(batch.bytes, capacity))
    shifted = 0
    if shift:
        back = addressed & ~fits & (batch.bytes <= capacity)
        shifted = int(back.sum())
        offset = np.where(back, capacity - np.minimum(batch.bytes, capacity), offset)
        fits |= back
    fits |= ~addressed
    kept = np.flatnonzero(fits)
    moved = batch.replace(device=target.astype(np.uint32), offset_bytes=offset.astype(np.uint64))
    if len(kept) < len(batch):
        moved = moved.take(kept)
    return Placed(moved, kept, len(batch) - len(kept), shifted)


@dataclass(frozen=True, slots=True)
class AsIs:
    """Offsets stay."""

    targets: Sequence[Target]
    target_of: Sequence[int]  # by device of the trace

    def place(self, batch: Batch) -> Placed:
        """See Mapper."""
        capacity = _table([self.targets[index].bytes for index in self.target_of], batch)
        return _fitting(
            batch, _table(self.target_of, batch), batch.offset_bytes, capacity, shift=False
        )


@dataclass(frozen=True, slots=True)
class Wrap:
    """Offsets modulo the size of the target; a record that crosses its end is shifted back."""

    targets: Sequence[Target]
    target_of: Sequence[int]

    def place(self, batch: Batch) -> Placed:
        """See Mapper."""
        capacity = _table([self.targets[index].bytes for index in self.target_of], batch)
        return _fitting(
            batch, _table(self.target_of, batch), batch.offset_bytes % capacity, capacity, True
        )


@dataclass(frozen=True, slots=True)
class Scale:
    """Offsets times the ratio of the sizes, rounded down to a block of the target."""

    targets: Sequence[Target]
    target_of: Sequence[int]
    sizes: Sequence[int]  # of the trace's devices

    def place(self, batch: Batch) -> Placed:
        """See Mapper."""
        target = _table(self.target_of, batch)
        capacity = _table([self.targets[index].bytes for index in self.target_of], batch)
        offset = np.zeros(len(batch), np.uint64)
        for device, mine in grouped(batch.device):
            at = self.targets[self.target_of[device]]
            blocks = max(1, -(-self.sizes[device] // SECTOR_BYTES))
            # Beyond the device's size there should be nothing; it stays in the last block.
            from_ = np.minimum(batch.offset_bytes[mine] // SECTOR_BYTES, np.uint64(blocks - 1))
            offset[mine] = scaled(from_, at.bytes // at.block_bytes, blocks) * at.block_bytes
        return _fitting(batch, target, offset, capacity, shift=True)


@dataclass(frozen=True, slots=True)
class Shift:
    """Every device at a place of its own: @base_of bytes into its target."""

    targets: Sequence[Target]
    target_of: Sequence[int]
    base_of: Sequence[int]
    sizes: Sequence[int]

    def place(self, batch: Batch) -> Placed:
        """See Mapper."""
        size = _table(self.sizes, batch)
        inside = _fitting(batch, batch.device, batch.offset_bytes, size, shift=False)
        capacity = _table([self.targets[index].bytes for index in self.target_of], inside.batch)
        base = _table(self.base_of, inside.batch)
        out = _fitting(
            inside.batch,
            _table(self.target_of, inside.batch),
            inside.batch.offset_bytes + base,
            capacity,
            shift=False,
        )
        return Placed(out.batch, inside.kept[out.kept], inside.beyond + out.beyond)


def concatenate(
    sizes: Sequence[int], targets: Sequence[Target], target_of: Sequence[int] | None = None
) -> Shift:
    """Devices of these sizes one after the other, on one target or each on the one of
    @target_of; UsageError if they do not fit."""
    chosen = list(target_of) if target_of is not None else [0] * len(sizes)
    used = [0] * len(targets)
    bases = []
    for size, number in zip(sizes, chosen, strict=True):
        block = targets[number].block_bytes
        bases.append(used[number])
        used[number] += -(-size // block) * block
    _check_room(used, targets, "the devices of the trace, one after the other,")
    return Shift(targets, chosen, bases, list(sizes))


def _check_room(used: Sequence[int], targets: Sequence[Target], what: str) -> None:
    for number, (need, target) in enumerate(zip(used, targets, strict=True)):
        if need > target.bytes:
            which = f" {number + 1}" if len(targets) > 1 else ""
            raise UsageError(
                f"{what} need {units.format_bytes(need)}; target{which} has"
                f" {units.format_bytes(target.bytes)}"
            )


@dataclass(frozen=True, slots=True)
class Pack:
    """The touched ranges of a device next to each other. Made by pack()."""

    targets: Sequence[Target]
    target_of: Sequence[int]
    # By device: first bytes of its ranges, ascending; the bytes after their last; first bytes on
    # the target.
    starts: Mapping[int, Array]
    ends: Mapping[int, Array]
    bases: Mapping[int, Array]

    def place(self, batch: Batch) -> Placed:
        """See Mapper. Records outside all ranges, and those of no bytes, may have no place."""
        capacity = _table(
            [target.bytes for target in self.targets],
            batch.replace(device=_table(self.target_of, batch, np.uint32)),
        )
        # Where there is no place: beyond every target.
        offset = np.full(len(batch), END_MAX, np.uint64)
        for device, mine in grouped(batch.device):
            starts = self.starts.get(device)
            if starts is None or not len(starts):
                continue
            at, end = batch.offset_bytes[mine], batch.end_bytes[mine]
            place = np.searchsorted(starts, at, side="right").astype(np.int64) - 1
            safe = np.maximum(place, 0)
            inside = (place >= 0) & (end <= self.ends[device][safe])
            packed = self.bases[device][safe] + (at - starts[safe])
            offset[mine] = np.where(inside, packed, np.uint64(END_MAX))
        return _fitting(batch, _table(self.target_of, batch), offset, capacity, shift=False)


def pack(
    touched: Mapping[int, Ranges],
    targets: Sequence[Target],
    target_of: Sequence[int] | None = None,
    align_bytes: int = 4096,
) -> Pack:
    """Lay out the ranges that a trace touches, by device; UsageError if they do not fit.

    Ranges grow to multiples of @align_bytes, so that aligned requests stay aligned.
    """
    chosen = list(target_of) if target_of is not None else [0] * (max(touched, default=0) + 1)
    used = [0] * len(targets)
    starts, ends, bases = {}, {}, {}
    align = np.uint64(align_bytes)
    for device in sorted(touched):
        first, end = touched[device].ranges()
        grown = Ranges()
        grown.add(first // align * align, (end + (align - np.uint64(1))) // align * align)
        first, end = grown.ranges()
        lengths = end - first
        number = chosen[device]
        before = np.cumsum(lengths) - lengths
        starts[device], ends[device] = first, end
        bases[device] = before.astype(np.uint64) + np.uint64(used[number])
        used[number] += int(lengths.sum())
    _check_room(used, targets, "the touched ranges of the trace")
    return Pack(targets, chosen, starts, ends, bases)


# --- records and blocks of a target --------------------------------------------------------------


def aligned(batch: Batch, block_bytes: int) -> tuple[Batch, int]:
    """Records that begin and end with blocks: the start rounded down, the end up; how many were
    changed. The end of the address space is no multiple of all blocks: records there shrink."""
    block = np.uint64(block_bytes)
    first = batch.offset_bytes // block * block
    end = (batch.end_bytes + (block - np.uint64(1))) // block * block
    # A record of no bytes stays one.
    size = np.where(batch.bytes == 0, 0, end - first).astype(np.uint64)
    changed = (first != batch.offset_bytes) | (size != batch.bytes)
    count = int((changed & _addressed(batch)).sum())
    return (batch.replace(offset_bytes=first, bytes=size), count) if count else (batch, 0)


def is_empty(batch: Batch) -> Array:
    """Which records are reads, writes and the like of no bytes, which no device accepts."""
    empty: Array = (batch.bytes == 0) & _addressed(batch)
    return empty


# --- survey of a trace -----------------------------------------------------


@dataclass(slots=True)
class Survey:
    """Sizes and touched ranges of a trace's devices."""

    records: int = 0
    span_ns: int = 0
    ends: dict[int, int] = field(default_factory=dict)
    touched: dict[int, Ranges] = field(default_factory=dict)

    def sizes(self, align_bytes: int = 1 << 20) -> list[int]:
        """The least size that each device must have had, as a multiple of @align_bytes."""
        if not self.ends:
            return []
        return [
            -(-self.ends.get(device, 0) // align_bytes) * align_bytes
            for device in range(max(self.ends) + 1)
        ]


def survey(batches: Iterable[Batch], ranges: bool = False) -> Survey:
    """Read a trace once. @ranges: the touched ranges as well, whose memory grows with their
    number."""
    surveyed = Survey()
    for batch in batches:
        if not len(batch):
            continue
        surveyed.records += len(batch)
        surveyed.span_ns = int(batch.at_ns[-1])
        for device, mine in grouped(batch.device):
            of_device = batch.take(mine)
            of_device = of_device.take(_addressed(of_device))
            last = int(of_device.end_bytes.max()) if len(of_device) else 0
            surveyed.ends[device] = max(surveyed.ends.get(device, 0), last)
            if ranges:
                touched = surveyed.touched.setdefault(device, Ranges())
                touched.add(of_device.offset_bytes, of_device.end_bytes)
    return surveyed


def check_all_fit(batches: Iterable[Batch], mapper: Mapper) -> None:
    """UsageError if the mapping has no place for some records, with how many."""
    total = beyond = 0
    for batch in batches:
        placed = mapper.place(batch)
        total += len(batch)
        beyond += placed.beyond
    if beyond:
        raise UsageError(
            f"{beyond:,} of {total:,} requests lie beyond the end of the device; choose another"
            " mapping: wrap, scale, concatenate or pack"
        )

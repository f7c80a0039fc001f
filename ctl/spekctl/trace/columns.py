# SPDX-License-Identifier: GPL-2.0-or-later
"""The records of a trace as columns: one numpy array per field, in batches of bounded size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from enum import IntEnum, IntFlag
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

# Records of a batch; readers may yield shorter ones.
BATCH = 1 << 18
SECTOR_BYTES = 512
# End of the largest address space that a record may lie in: that of loff_t.
END_MAX = 2**63 - 1


class Op(IntEnum):
    """Operations; the names in files are these in lower case, with - for _."""

    READ = 0
    WRITE = 1
    FLUSH = 2
    DISCARD = 3
    WRITE_ZEROES = 4
    SECURE_ERASE = 5
    ZONE_APPEND = 6
    ZONE_RESET = 7
    ZONE_OPEN = 8
    ZONE_CLOSE = 9
    ZONE_FINISH = 10

    @property
    def text(self) -> str:
        """The operation's name in files and tables."""
        return self.name.lower().replace("_", "-")


class Flag(IntFlag):
    """Properties of a write."""

    FUA = 1
    # The volatile cache is flushed before the write.
    PREFLUSH = 2


# Among a reader's records: an event of a known kind that is no I/O.
IGNORED = 255
OP_BY_TEXT = {op.text: op for op in Op}
# Operations that carry an address; the others are for the whole device.
ADDRESSED = tuple(op for op in Op if op is not Op.FLUSH)
MODIFYING = tuple(op for op in Op if op not in (Op.READ, Op.FLUSH))


@dataclass(frozen=True, slots=True)
class Batch:
    """Records, a column each, all of one length.

    From a reader, at_ns is int64 on the clock of the format. From Trace.batches() it is uint64,
    ascending, and counts from the first record.
    """

    at_ns: Array
    device: Array  # uint32: index into the names of the trace's devices
    offset_bytes: Array  # uint64: on the device
    bytes: Array  # uint64: 0 is legal
    op: Array  # uint8: Op
    flags: Array  # uint8: Flag

    def __len__(self) -> int:
        return len(self.at_ns)

    def take(self, which: Any) -> Batch:
        """The records that @which selects: a slice, indices or a mask."""
        return Batch(*(getattr(self, name)[which] for name in NAMES))

    def replace(self, **columns: Array) -> Batch:
        """The same records with other @columns."""
        return Batch(*(columns.get(name, getattr(self, name)) for name in NAMES))

    @property
    def end_bytes(self) -> Array:
        """The byte after each record's last."""
        return self.offset_bytes + self.bytes


NAMES = tuple(column.name for column in fields(Batch))
TYPES = ("u8", "u4", "u8", "u8", "u1", "u1")


def batch_of(
    at_ns: Any, device: Any, offset_bytes: Any, bytes_: Any, op: Any, flags: Any = 0
) -> Batch:
    """A reader's batch: scalars stand for a column of this value."""
    at = np.asarray(at_ns, np.int64)

    def column(values: Any, kind: type[Any]) -> Array:
        return np.broadcast_to(np.asarray(values).astype(kind, copy=False), at.shape)

    return Batch(
        at,
        column(device, np.uint32),
        column(offset_bytes, np.uint64),
        column(bytes_, np.uint64),
        column(op, np.uint8),
        column(flags, np.uint8),
    )


def concatenated(batches: Sequence[Batch]) -> Batch:
    """Several batches as one; at least one."""
    if len(batches) == 1:
        return batches[0]
    return Batch(*(np.concatenate([getattr(batch, name) for batch in batches]) for name in NAMES))


def pieces(batch: Batch, rows: int = BATCH) -> Iterable[Batch]:
    """The batch in pieces of at most @rows records."""
    for start in range(0, len(batch), rows):
        yield batch.take(slice(start, start + rows))


def grouped(keys: Array) -> Iterator[tuple[int, Any]]:
    """Each distinct key, ascending, with a selector of its records in their order."""
    if not len(keys):
        return
    if keys.min() == keys.max():
        yield int(keys[0]), slice(None)
        return
    order = np.argsort(keys, kind="stable")
    bounds = np.flatnonzero(np.diff(keys[order])) + 1
    for part in np.split(order, bounds):
        yield int(keys[part[0]]), part


@dataclass(slots=True)
class Devices:
    """Names of a trace's devices, numbered in the order in which they are first met."""

    names: list[str] = field(default_factory=list)
    _numbers: dict[str, int] = field(default_factory=dict)

    def number(self, name: str) -> int:
        """The device of this name, new or known."""
        number = self._numbers.get(name)
        if number is None:
            number = self._numbers[name] = len(self.names)
            self.names.append(name)
        return number

    def of_numbers(self, numbers: Array) -> Array:
        """Devices whose names are whole numbers."""
        if not len(numbers):
            return np.zeros(0, np.uint32)
        if numbers.min() == numbers.max():
            return np.full(len(numbers), self.number(str(int(numbers[0]))), np.uint32)
        values, first, inverse = np.unique(numbers, return_index=True, return_inverse=True)
        table = np.zeros(len(values), np.uint32)
        for place in np.argsort(first):
            table[place] = self.number(str(int(values[place])))
        return table[inverse.reshape(-1)]

    def of_words(self, words: Words) -> Array:
        """Devices by name."""
        table = np.zeros(len(words.values), np.uint32)
        # Numbered as they come, not as the dictionary happens to list them.
        used, first = np.unique(words.codes, return_index=True)
        for code in used[np.argsort(first)]:
            table[code] = self.number(words.values[code])
        return table[words.codes]


@dataclass(frozen=True, slots=True)
class Words:
    """A column of text: the distinct values, and for each record the index of its own."""

    codes: Array
    values: list[str]

    def mapped(self, table: dict[str, int], what: str, kind: type[Any] = np.uint8) -> Array:
        """The number of each word; Misfit if a word that occurs has none."""
        numbers = np.zeros(len(self.values), kind)
        for code in np.unique(self.codes):
            word = self.values[code].strip()
            if word not in table:
                raise Misfit(f"unknown {what} '{word[:40]}'")
            numbers[code] = table[word]
        return numbers[self.codes]


class Misfit(Exception):
    """Among the records is one that cannot be; the reason is that of one of them."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def in_bytes(numbers: Array, unit: int, what: str) -> Array:
    """Addresses or sizes in units of @unit bytes; Misfit beyond END_MAX."""
    if len(numbers) and int(numbers.max()) > END_MAX // unit:
        raise Misfit(f"{what} beyond 8 EiB")
    return numbers * np.uint64(unit)


# FILETIME begins in 1601, more than 292 years ago: times count from the middle of their range.
_MIDDLE_100NS = 2**63 // 100


def of_filetime(ticks: Array) -> Array:
    """int64 ns of times in units of 100 ns since 1601, or since anything else; Misfit where they
    end, in 2185."""
    if len(ticks) and int(ticks.max()) >= 2 * _MIDDLE_100NS:
        raise Misfit("a time beyond 584 years")
    time_ns: Array = (ticks.astype(np.int64) - _MIDDLE_100NS) * 100
    return time_ns


def check_extents(batch: Batch) -> Batch:
    """The batch, if all of its records end at or before END_MAX; else Misfit."""
    if len(batch):
        for values, what in ((batch.offset_bytes, "offset"), (batch.bytes, "size")):
            if int(values.max()) > END_MAX:
                raise Misfit(f"{what} beyond 8 EiB")
        if int(batch.end_bytes.max()) > END_MAX:
            raise Misfit("end beyond 8 EiB")
    return batch

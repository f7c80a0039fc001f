# SPDX-License-Identifier: GPL-2.0-or-later
"""The table and the status of the device mapper target spek-augment, as dmsetup has them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from uuid import UUID

from spekctl.documents.augment import Mode, Wakes
from spekctl.errors import SpekError

TARGET = "spek-augment"
MISSING = "-"
COPIES = ("never", "first", "second")


@dataclass(frozen=True, slots=True)
class Policy:
    """When blocks are copied and destaged; None: as the module has it."""

    copy: str | None = None
    wake: str | None = None
    prefetch_blocks: int | None = None
    stripe_blocks: int | None = None
    sequential_blocks: int | None = None
    high_blocks: int | None = None
    low_blocks: int | None = None
    age_ms: int | None = None
    quiet_ms: int | None = None
    retry_ms: int | None = None

    def words(self) -> list[str]:
        """Features and their values."""
        values = ((field.name, getattr(self, field.name)) for field in fields(self))
        return [word for name, value in values if value is not None for word in (name, str(value))]


@dataclass(frozen=True, slots=True)
class Table:
    """A mapping. Devices are MAJ:MIN, or MISSING."""

    sectors: int
    raid: str
    ssd: str
    spares: tuple[str, ...]
    log_blocks: int
    features: tuple[str, ...] = ()

    def line(self) -> str:
        """As the kernel gets it."""
        words = [
            *("0", str(self.sectors), TARGET, self.raid, self.ssd, str(len(self.spares))),
            *(*self.spares, str(self.log_blocks), str(len(self.features)), *self.features),
        ]
        return " ".join(words)


def features(
    policy: Policy, format_as: UUID | None = None, raid: str | None = None
) -> tuple[str, ...]:
    """@format_as: identity of a new set, whose superblocks are to be written; @raid: name of the
    RAID for superblocks, empty for none, None: they keep theirs."""
    words = ("format", str(format_as)) if format_as else ()
    named = () if raid is None else ("raid", raid or MISSING)
    return (*words, *named, *policy.words())


def parse_table(line: str) -> Table:
    """The reverse of Table.line()."""
    try:
        _, sectors, kind, raid, ssd, members, *rest = line.split()
        count = int(members)
        spares, (log_blocks, _, *features) = rest[:count], rest[count:]
        if kind != TARGET or len(spares) != count:
            raise ValueError
        return Table(int(sectors), raid, ssd, tuple(spares), int(log_blocks), tuple(features))
    except ValueError as error:
        raise _unknown("table", line) from error


@dataclass(frozen=True, slots=True)
class State:
    """The fields of the status, in its order. @live, @awake: bitmaps of devices, the SSD is bit 0;
    @mirror: number of a device, 0: none."""

    mode: Mode
    generation: int
    live: int
    awake: int
    mirror: int
    dirty_blocks: int
    log_used: int
    log_blocks: int
    oldest_dirty_ms: int
    hits: int
    misses: int
    copies: int
    prefetched: int
    prefetch_hits: int
    records: int
    destaged: int
    flushes: int
    errors: int
    write_wakes: int
    read_wakes: int
    flush_wakes: int
    destage_wakes: int
    other_wakes: int
    lost_blocks: int

    @property
    def wakes(self) -> Wakes:
        """Wake-ups of members, by cause."""
        return Wakes(
            writes=self.write_wakes,
            reads=self.read_wakes,
            flushes=self.flush_wakes,
            destages=self.destage_wakes,
            others=self.other_wakes,
        )

    @property
    def is_clean(self) -> bool:
        """Nothing is in the log: the RAID is whole without it."""
        return self.mode is not Mode.FAILED and not self.dirty_blocks and not self.log_used


def parse_status(line: str) -> State:
    """A line of the status, with or without the name before it."""
    try:
        words = line.split(f" {TARGET} ", 1)[1].split()
        mode, generation, live, awake, mirror, dirty, log, *counters = words
        used, _, blocks = log.partition("/")
        state = State(
            *(Mode(mode), int(generation), int(live, 16), int(awake, 16), int(mirror)),
            *(int(dirty), int(used), int(blocks), *map(int, counters)),
        )
    except (ValueError, IndexError, TypeError) as error:
        raise _unknown("status", line) from error
    return state


def _unknown(what: str, line: str) -> SpekError:
    return SpekError(
        f"spekctl does not understand the {what} '{line.strip()}' of {TARGET}: the module is of"
        " another version"
    )

# SPDX-License-Identifier: GPL-2.0-or-later
"""Augment caches as text: their state, and what check has read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from spekctl import units
from spekctl.documents.augment import (
    AugmentCheck,
    AugmentStatus,
    Cache,
    CacheDevice,
    CheckedLog,
    Wakes,
)

if TYPE_CHECKING:
    from rich.console import RenderableType

BLOCK_BYTES = 4096
MOST_RANGES = 10  # shown


def status_parts(report: AugmentStatus) -> Iterator[RenderableType]:
    """Each cache, one after the other."""
    if not report.caches:
        yield "no augment cache is attached"
    for index, cache in enumerate(report.caches):
        if index:
            yield ""
        yield f"{cache.name}: {cache.mode}, {cache.node} in front of {cache.raid}"
        yield f"  set {cache.uuid}, generation {cache.generation}"
        yield from (f"  {line}" for line in _figures(cache))
        yield _devices(cache)


def _figures(cache: Cache) -> Iterator[str]:
    age = f", the oldest {units.format_clock(cache.oldest_dirty_ms / 1000)} old"
    lacks = f"{_size(cache.dirty_blocks)}{age}" if cache.dirty_blocks else "nothing"
    yield (
        f"the RAID lacks {lacks}; log {cache.log_used / cache.log_blocks:.1%} of"
        f" {_size(cache.log_blocks)}"
    )
    ratio = "-" if cache.hit_ratio is None else f"{cache.hit_ratio:.1%}"
    yield (
        f"hits {ratio} ({cache.hits:,} of {cache.hits + cache.misses:,} blocks), copies"
        f" {cache.copies:,}, records {cache.records:,}, destaged {cache.destaged:,}"
    )
    if cache.prefetched:
        yield f"read ahead {cache.prefetched:,} blocks, of which {cache.prefetch_hits:,} were used"
    yield f"wake-ups {_wakes(cache.wakes)}; flushes {cache.flushes:,}, errors {cache.errors:,}"
    if cache.lost_blocks:
        yield f"LOST: {cache.lost_blocks:,} blocks have no readable copy left"
        yield from _ranges(cache.lost)


def _ranges(ranges: list[tuple[int, int]]) -> Iterator[str]:
    for first, last in ranges[:MOST_RANGES]:
        yield f"  blocks {first:,} to {last - 1:,}"
    if len(ranges) > MOST_RANGES:
        yield f"  and {len(ranges) - MOST_RANGES:,} more ranges"


def _wakes(wakes: Wakes) -> str:
    """Those that there were, by cause."""
    causes = [
        f"{count:,} by {cause}" for cause, count in msgspec.structs.asdict(wakes).items() if count
    ]
    return f"{wakes.total:,}" + (f" ({', '.join(causes)})" if causes else "")


def _devices(cache: Cache) -> RenderableType:
    from spekctl.render import tables

    table = tables.table("device", "path", "state", whole=("path",))
    for device in cache.devices:
        table.add_row(_name(device.member), device.path or "-", ", ".join(_state(device, cache)))
    return table


def _state(device: CacheDevice, cache: Cache) -> Iterator[str]:
    if not device.live:
        yield "lost" if device.path else "missing"
        return
    yield "in use"
    if device.awake is not None:
        yield "awake" if device.awake else "asleep"
    if device.member is not None and device.member == cache.mirror:
        yield "mirror"


def _name(member: int | None) -> str:
    return "ssd" if member is None else f"member:{member}"


def check_parts(report: AugmentCheck) -> Iterator[RenderableType]:
    """The devices, then the log."""
    from spekctl.render import tables

    yield (
        f"set {report.uuid}, generation {report.generation}: SSD and {report.members} members, log"
        f" of {_size(report.log_blocks)}"
    )
    if report.raid:
        yield f"for the RAID {report.raid}"
    numbers = ("generation", "version", "superblocks")
    table = tables.table("device", "path", *numbers, "", right=numbers, whole=("path",))
    for device in report.devices:
        remark = "stale: its log does not count" if device.stale else ""
        table.add_row(
            *(_name(device.member), device.path, str(device.generation), str(device.version)),
            *(f"{device.intact} of 2", remark),
        )
    yield table
    for missing in report.missing:
        yield f"{missing} is missing"
    if report.log is None:
        yield "the SSD and a member are missing, so that what the log holds is not known"
    else:
        yield from _log(report.log)


def _log(log: CheckedLog) -> Iterator[str]:
    yield (
        f"log from block {log.tail}, record {log.tail_seq}: {log.records:,} records, with"
        f" {log.dirty_blocks:,} blocks ({_size(log.dirty_blocks)}) that the RAID lacks"
    )
    yield from _ranges(log.ranges)
    if log.single:
        yield f"{log.single:,} records are intact on one device only"
    if log.scattered:
        yield f"{log.scattered:,} records are intact on no device, but on all of them together"
    if log.broken is None:
        yield "it ends cleanly"
    else:
        yield (
            f"it ends at record {log.broken.seq}, at block {log.broken.place}, which is torn,"
            f" damaged or unreadable: {'; '.join(log.broken.reasons)}"
        )


def _size(blocks: int) -> str:
    return units.format_bytes(blocks * BLOCK_BYTES)

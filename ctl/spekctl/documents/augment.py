# SPDX-License-Identifier: GPL-2.0-or-later
"""The documents of `spekctl augment status` and `spekctl augment check`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, field

from spekctl.documents import document
from spekctl.documents.document import Document, Kind, Part

SCHEMA_FILE = Path(__file__).with_name("augment.schema.json")

Count = Annotated[int, Meta(ge=0)]
Member = Annotated[
    int | None, Meta(description="Number of the member, from 0; null: this is the SSD.")
]


class Mode(StrEnum):
    """What a cache does."""

    RECOVERING = "recovering"
    NORMAL = "normal"
    DRAINING = "draining"
    PASSING = "passing"
    FAILED = "failed"


class CacheDevice(Part, frozen=True):
    """The SSD of a cache, or the spare area of a member."""

    member: Member
    path: Annotated[str, Meta(description="Device node; empty: it was missing at attach.")]
    live: Annotated[bool, Meta(description="It is in use.")]
    awake: Annotated[
        bool | None, Meta(description="The member is awake, as far as the cache was told.")
    ]


class Wakes(Part, frozen=True):
    """How often members woke up, by what the cache had sent them first since they were last seen
    asleep."""

    writes: Count
    reads: Annotated[int, Meta(ge=0, description="Of the RAID, or of a mirror.")]
    flushes: Count
    destages: Count
    others: Annotated[int, Meta(ge=0, description="Not by the cache.")]

    @property
    def total(self) -> int:
        """All of them."""
        return self.writes + self.reads + self.flushes + self.destages + self.others


class Cache(Part, frozen=True):
    """A cache in the kernel. Blocks have 4 KiB; counters begin at attach."""

    name: str
    node: Annotated[str, Meta(description="What is to be used instead of the RAID.")]
    uuid: Annotated[str, Meta(description="Identity of its set of devices.")]
    raid: str
    mode: Mode
    generation: Annotated[int, Meta(ge=0)]
    devices: list[CacheDevice]
    mirror: Annotated[
        int | None, Meta(description="Member that mirrors writes now; null: there is none.")
    ]
    dirty_blocks: Annotated[int, Meta(ge=0, description="Blocks that the RAID lacks.")]
    log_used: Annotated[int, Meta(ge=0, description="Blocks of the log in use.")]
    log_blocks: Annotated[int, Meta(ge=1)]
    oldest_dirty_ms: Annotated[
        int, Meta(ge=0, description="Age of the oldest block that the RAID lacks.")
    ]
    hits: Annotated[int, Meta(ge=0, description="Blocks read from the SSD or a mirror.")]
    misses: Annotated[int, Meta(ge=0, description="Blocks read from the RAID.")]
    copies: Annotated[int, Meta(ge=0, description="Blocks copied to the SSD.")]
    prefetched: Annotated[int, Meta(ge=0, description="Blocks among them that were read ahead.")]
    prefetch_hits: Annotated[
        int, Meta(ge=0, description="Blocks among these that were read afterwards.")
    ]
    records: Annotated[int, Meta(ge=0, description="Records written to the log.")]
    destaged: Annotated[int, Meta(ge=0, description="Blocks written to the RAID.")]
    flushes: Count
    errors: Annotated[int, Meta(ge=0, description="Failed I/O.")]
    wakes: Wakes
    lost_blocks: Annotated[int, Meta(ge=0, description="Blocks that no device has any more.")]
    lost: Annotated[
        list[tuple[int, int]],
        Meta(description="These blocks: the first of a range, and the one after its last."),
    ] = field(default_factory=list)

    @property
    def hit_ratio(self) -> float | None:
        """Share of the blocks read that did not come from the RAID; None: nothing was read."""
        read = self.hits + self.misses
        return self.hits / read if read else None


class AugmentStatus(Document, frozen=True, kw_only=True, tag=Kind.AUGMENT_STATUS.value):
    """The caches in the kernel."""

    hostname: str
    caches: list[Cache]


class CheckedDevice(Part, frozen=True):
    """What the superblocks of a device say."""

    member: Member
    path: str
    intact: Annotated[int, Meta(ge=1, le=2, description="Of its two superblocks.")]
    generation: Annotated[int, Meta(ge=1)]
    version: Annotated[int, Meta(ge=0, description="Number of its newer superblock.")]
    stale: Annotated[
        bool, Meta(description="It was lost in an earlier generation; its log does not count.")
    ]


class CheckedBreak(Part, frozen=True):
    """A record that should follow but is broken on every device."""

    seq: Annotated[int, Meta(ge=1, description="Its sequence number.")]
    place: Annotated[int, Meta(ge=0, description="Its place in the log, in blocks.")]
    reasons: Annotated[list[str], Meta(min_length=1)]


class CheckedLog(Part, frozen=True):
    """What is in the log from its tail on."""

    tail: Annotated[int, Meta(ge=0, description="Place of the first record, in blocks.")]
    tail_seq: Annotated[int, Meta(ge=1, description="Sequence number of the first record.")]
    records: Count
    used_blocks: Annotated[int, Meta(ge=0, description="Length of these records.")]
    dirty_blocks: Annotated[int, Meta(ge=0, description="Blocks of the RAID that they have.")]
    single: Annotated[
        int, Meta(ge=0, description="Records that only one of several devices has intact.")
    ]
    ranges: Annotated[
        list[tuple[int, int]],
        Meta(description="These blocks: the first of a range, and the one after its last."),
    ]
    broken: CheckedBreak | None
    scattered: Annotated[
        int,
        Meta(ge=0, description="Records that no device has intact, but all of them together."),
    ] = 0


class AugmentCheck(Document, frozen=True, kw_only=True, tag=Kind.AUGMENT_CHECK.value):
    """The superblocks and the log of a set of devices, read without the module."""

    uuid: str
    generation: Annotated[int, Meta(ge=1)]
    log_blocks: Annotated[int, Meta(ge=1)]
    ssd_blocks: Annotated[int, Meta(ge=1)]
    members: Annotated[int, Meta(ge=1, le=8)]
    devices: Annotated[list[CheckedDevice], Meta(min_length=1)]
    missing: Annotated[list[str], Meta(description="As --without of attach names them.")]
    log: Annotated[
        CheckedLog | None,
        Meta(description="null: the SSD and a member are missing, so that it is not known."),
    ]
    raid: Annotated[
        str, Meta(description="Name of the RAID that the log is for; empty: not known.")
    ] = ""


def json_schema() -> dict[str, Any]:
    """JSON Schema of both."""
    return document.schema("Augment caches: state, and check", AugmentStatus, AugmentCheck)

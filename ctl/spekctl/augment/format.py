# SPDX-License-Identifier: GPL-2.0-or-later
"""Superblocks and headers of records as bytes, as kmod/augment/core/format.h describes them."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from crc32c import crc32c

from spekctl.block.augmented import BLOCK_BYTES, SUPER_MAGIC, SUPERBLOCKS

LOG_START = SUPERBLOCKS
RECORD_BLOCKS = 32
MEMBERS = 8
SSD = 0
MAX_BLOCK = 1 << 48
MAX_NUMBER = 1 << 62
LEAST_LOG_BLOCKS = 8 * RECORD_BLOCKS
MOST_LOG_BLOCKS = 1 << 30

HEADER_MAGIC = 0x4452434552474B53.to_bytes(8, "little")
_VERSION = 3
# magic, version, CRC-32C of the used bytes after it, UUID, generation
_HEAD = struct.Struct("<8sII16sQ")
_AT_CRC_END = 16
# version, tail_seq, tail, log_blocks, ssd_blocks, device, devices, nr_members, announced, nr_spans
_SUPER = struct.Struct("<QQIIIIIIQI4x")
_SPANS = 16
# generation, first_seq
_SPAN = struct.Struct("<QQ")
_AT_SPANS = _HEAD.size + _SUPER.size
_SUPER_BYTES = _AT_SPANS + _SPANS * _SPAN.size
# CRC-32C of the name of the RAID, and the name; all 0 without one
_RAID = struct.Struct("<I252s")
# seq, block, blocks
_HEADER = struct.Struct("<QQI")
_HEADER_BYTES = 64


@dataclass(frozen=True, slots=True)
class Span:
    """struct spek_augment_span."""

    generation: int
    first_seq: int


@dataclass(frozen=True, slots=True)
class Superblock:
    """struct spek_augment_super."""

    uuid: UUID
    generation: int
    version: int
    tail_seq: int
    tail: int
    log_blocks: int
    ssd_blocks: int
    device: int
    devices: int
    nr_members: int
    announced: int
    spans: tuple[Span, ...]
    raid: str  # name of the RAID; empty: not known

    def generation_of(self, seq: int) -> int:
        """The generation that a valid record with this sequence number has."""
        begun = (span for span in reversed(self.spans) if span.first_seq <= seq)
        return next(begun, self.spans[0]).generation

    @property
    def age(self) -> tuple[int, int]:
        """What orders superblocks of a set by time."""
        return self.generation, self.version


@dataclass(frozen=True, slots=True)
class Header:
    """struct spek_augment_header."""

    uuid: UUID
    generation: int
    seq: int
    block: int
    blocks: int
    crc: tuple[int, ...]


def _intact(block: bytes, magic: bytes, used: int) -> tuple[UUID, int] | None:
    """Identity and generation, if the first @used bytes are what was written."""
    if len(block) != BLOCK_BYTES:
        return None
    magic_here, version, crc, uuid, generation = _HEAD.unpack_from(block)
    if magic_here != magic or version != _VERSION or crc != crc32c(block[_AT_CRC_END:used]):
        return None
    return UUID(bytes=uuid), generation


def superblock(block: bytes) -> Superblock | None:
    """The superblock in a block; None if there is none, or none that can be."""
    head = _intact(block, SUPER_MAGIC, _SUPER_BYTES)
    if head is None:
        return None
    *fields, nr_spans = _SUPER.unpack_from(block, _HEAD.size)
    if not 1 <= nr_spans <= _SPANS:
        return None
    spans = tuple(
        Span(*_SPAN.unpack_from(block, _AT_SPANS + _SPAN.size * index)) for index in range(nr_spans)
    )
    raid = _raid(block)
    if raid is None:
        return None
    values: tuple[Any, ...] = (*head, *fields, spans, raid)
    decoded = Superblock(*values)
    possible = (
        0 < decoded.generation <= decoded.announced < MAX_NUMBER
        and decoded.version < MAX_NUMBER
        and 0 < decoded.tail_seq < MAX_NUMBER
        and decoded.tail < decoded.log_blocks
        and 1 <= decoded.nr_members <= MEMBERS
        and decoded.device <= decoded.nr_members
        and spans[0].first_seq <= decoded.tail_seq
    )
    return decoded if possible else None


def _raid(block: bytes) -> str | None:
    """The name of the RAID in a superblock; None if it is damaged."""
    crc, text = _RAID.unpack_from(block, _SUPER_BYTES)
    if not crc and not any(text):
        return ""
    if crc != crc32c(text) or not text[0] or text[-1]:
        return None
    name = bytes(text.partition(b"\0")[0]).decode("ascii", "replace")
    return "".join(letter if letter.isprintable() else "?" for letter in name)


def is_foreign_superblock(block: bytes) -> bool:
    """Whether a block is a superblock of another version of the format, intact or not."""
    if len(block) != BLOCK_BYTES:
        return False
    magic, version, *_ = _HEAD.unpack_from(block)
    return bool(magic == SUPER_MAGIC and version != _VERSION)


def header(block: bytes) -> Header | None:
    """The header of a record in a block; None if there is none, or none that can be."""
    if len(block) != BLOCK_BYTES:
        return None
    seq, first, blocks = _HEADER.unpack_from(block, _HEAD.size)
    if blocks > RECORD_BLOCKS:
        return None
    head = _intact(block, HEADER_MAGIC, _HEADER_BYTES + 4 * blocks)
    if head is None or first >= MAX_BLOCK:
        return None
    crc = struct.unpack_from(f"<{blocks}I", block, _HEADER_BYTES)
    return Header(*head, seq, first, blocks, crc)


def is_damaged_header(block: bytes) -> bool:
    """Whether a block begins as a header but is none."""
    return block.startswith(HEADER_MAGIC) and header(block) is None


def checksum(block: bytes) -> int:
    """CRC-32C of a block of data, as headers have it."""
    return crc32c(block)


def name_of(device: int) -> str:
    """A device of a set as messages call it."""
    return "the SSD" if device == SSD else f"member {device - 1}"

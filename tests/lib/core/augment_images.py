# SPDX-License-Identifier: GPL-2.0
"""Devices of an augment cache as files, whose bytes the core in C encodes."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

from lib.build.declarations import opened
from lib.core.build import AUGMENT

BLOCK = 4096
LOG_START = 2
SET = UUID("6b1f0c52-84b1-4f6b-9d57-0a3c5f6e7d80")
FOREIGN = UUID("11111111-2222-3333-4444-555555555555")


@functools.cache
def core() -> tuple[Any, Any]:
    """The core: (ffi, lib)."""
    return opened(*AUGMENT.compiled(AUGMENT.folder / "augment.h"))


def encoded(name: str, fields: dict[str, Any]) -> bytes:
    """A superblock or header as a block."""
    ffi, lib = core()
    block = bytearray(BLOCK)
    value = ffi.new(f"struct spek_augment_{name} *", fields)
    getattr(lib, f"spek_augment_{name}_encode")(value, ffi.from_buffer("u8[]", block))
    return bytes(block)


def crc(data: bytes) -> int:
    ffi, lib = core()
    return int(lib.spek_augment_crc32c(ffi.from_buffer("u8[]", bytearray(data)), len(data)))


def data_of(block: int, seq: int) -> bytes:
    """What record @seq wrote to @block of the RAID."""
    return (f"{block}:{seq};".encode() * BLOCK)[:BLOCK]


@dataclass
class Images:
    """A set: the SSD and its members, number 0 and 1 on."""

    folder: Path
    members: int = 2
    log_blocks: int = 256
    ssd_blocks: int = 600
    uuid: UUID = SET
    generation: int = 1
    tail: int = 0
    seq: int = 1
    raid: str = ""  # its name
    head: int = field(init=False)
    spans: list[tuple[int, int]] = field(init=False)  # generations in the log, and where they begin

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.head = self.tail
        self.spans = [(self.generation, self.seq)]
        for number in self.numbers:
            blocks = self.ssd_blocks if number == 0 else self.log_blocks + LOG_START
            with open(self.path(number), "wb") as file:
                file.truncate(blocks * BLOCK)
            for place in (0, 1):
                self.superblock(number, place)

    @property
    def numbers(self) -> range:
        return range(self.members + 1)

    @property
    def paths(self) -> list[str]:
        return [self.path(number) for number in self.numbers]

    def path(self, number: int) -> str:
        return str(self.folder / ("ssd" if number == 0 else f"spare{number - 1}"))

    def superblock(self, number: int, place: int, version: int = 1, **changes: Any) -> None:
        """Write a superblock of a device."""
        fields = {
            "uuid": self.uuid.bytes, "generation": self.generation, "version": version,
            "tail_seq": self.spans[0][1], "tail": self.tail, "log_blocks": self.log_blocks,
            "ssd_blocks": self.ssd_blocks, "device": number,
            "devices": (2 << self.members) - 1, "nr_members": self.members,
            "announced": changes.get("generation", self.generation),
            "nr_spans": len(self.spans),
            "spans": [{"generation": of, "first_seq": seq} for of, seq in self.spans],
            "raid": self.raid.encode(),
        } | changes  # fmt: skip
        self.put(number, place, encoded("super", fields))

    def put(self, number: int, place: int, data: bytes) -> None:
        """Write at a block of a device."""
        with open(self.path(number), "r+b") as file:
            file.seek(place * BLOCK)
            file.write(data)

    def damage(self, number: int, place: int, at: int = 100) -> None:
        """Change a byte of a block of a device."""
        with open(self.path(number), "r+b") as file:
            file.seek(place * BLOCK + at)
            byte = file.read(1)[0]
            file.seek(place * BLOCK + at)
            file.write(bytes([byte ^ 0x40]))

    def record(
        self, block: int = 0, blocks: int = 1, on: Sequence[int] = (0, 1), **changes: Any
    ) -> int:
        """Append a record to the log; its place in the log."""
        place = self.head
        data = [data_of(block + index, self.seq) for index in range(blocks)]
        fields = {
            "uuid": self.uuid.bytes, "generation": self.generation, "seq": self.seq,
            "block": block, "blocks": blocks, "crc": [crc(each) for each in data],
        } | changes  # fmt: skip
        for number in on:
            self.put(number, LOG_START + place, encoded("header", fields) + b"".join(data))
        self.seq += 1
        self.head = (place + 1 + blocks) % self.log_blocks
        return place

    def restart(self, version: int, begun: Sequence[int] = range(9)) -> None:
        """Begin a generation that keeps the log. @begun: devices that have more of it than its
        announcement."""
        for number in set(self.numbers) - set(begun):
            self.superblock(number, 1, version, announced=self.generation + 1)
        self.generation += 1
        self.spans.append((self.generation, self.seq))
        for number in set(self.numbers) & set(begun):
            self.superblock(number, 1, version)

    def lose(self, number: int) -> None:
        """The set goes on without a device, in a new generation with an empty log."""
        self.generation += 1
        self.tail = self.head
        self.spans = [(self.generation, self.seq)]
        devices = ((2 << self.members) - 1) & ~(1 << number)
        for each in self.numbers:
            if each != number:
                self.superblock(each, 1, version=10, devices=devices)

# SPDX-License-Identifier: GPL-2.0
"""Beginnings of disks, written from here: what tools would take seconds for in a guest.

Each is what its owner's documentation says a disk begins with, checksums included, so that
libblkid and the kernel take it for real.
"""

from __future__ import annotations

import os
import struct
import zlib

SECTOR = 512
UUID = bytes(range(1, 17))
_CRC64_POLY = 0x42F0E1EBA9EA3693
_BCACHE_MAGIC = bytes.fromhex("c68573f64e1a45ca8265f57f48ba6d81")


def write_at(node: str, offset: int, data: bytes) -> None:
    """Put bytes on a device."""
    with open(node, "r+b", buffering=0) as file:
        file.seek(offset)
        file.write(data)


def mbr(node: str, start: int = 2048, sectors: int = 8192, kind: int = 0x83) -> None:
    """A partition table of one partition."""
    entry = bytes([0, 0, 0, 0, kind, 0, 0, 0]) + struct.pack("<II", start, sectors)
    write_at(node, 0, bytes(446) + entry + bytes(48) + b"\x55\xaa")


def gpt(node: str) -> None:
    """A protective MBR and a GPT of one partition, both copies."""
    with open(node, "rb") as file:
        total = file.seek(0, os.SEEK_END) // SECTOR
    mbr(node, 1, total - 1, 0xEE)
    linux = bytes.fromhex("af3dc60f838472478e793d69d8477de4")
    entry = linux + UUID + struct.pack("<QQQ", 2048, 10239, 0) + "data".encode("utf-16-le")
    entries = entry.ljust(128 * 128, b"\0")
    for mine, backup, table in ((1, total - 1, 2), (total - 1, 1, total - 33)):
        fields = (mine, backup, 34, total - 34, UUID, table, 128, 128, zlib.crc32(entries))
        body = struct.pack("<QQQQ16sQIII", *fields)
        head = struct.pack("<8sIIII", b"EFI PART", 0x10000, 92, 0, 0)
        crc = zlib.crc32(head + body)
        head = struct.pack("<8sIIII", b"EFI PART", 0x10000, 92, crc, 0)
        write_at(node, mine * SECTOR, (head + body).ljust(SECTOR, b"\0"))
        write_at(node, table * SECTOR, entries)


def luks(node: str) -> None:
    """A header of LUKS version 1."""
    header = bytearray(592)
    header[0:8] = b"LUKS\xba\xbe\x00\x01"
    header[8:11], header[40:43], header[72:76] = b"aes", b"xts", b"sha1"
    header[168:204] = b"01234567-89ab-cdef-0123-456789abcdef"
    write_at(node, 0, bytes(header))


def lvm_member(node: str) -> None:
    """The label of an LVM physical volume, in the second sector."""
    rest = struct.pack("<I8s", 32, b"LVM2 001") + b"0123456789abcdefghijklmnopqrstuv"
    rest = rest.ljust(SECTOR - 20, b"\0")
    crc = zlib.crc32(rest, 0xF597A6CF ^ 0xFFFFFFFF) ^ 0xFFFFFFFF
    write_at(node, SECTOR, b"LABELONE" + struct.pack("<QI", 1, crc) + rest)


def bcache_member(node: str) -> None:
    """The superblock of a bcache backing device, at 4 KiB."""
    body = struct.pack("<QQ16s16s16s32s", 8, 1, _BCACHE_MAGIC, UUID, UUID[::-1], b"")
    body += struct.pack("<QQQQQ40s", 0, 0, 0, 0, 0, b"")  # flags, seq, features, pad
    body += struct.pack("<QHHHHIHH", 0, 1, 0, 0, 0, 0, 0, 0)  # block size 1 sector, no keys
    write_at(node, 4096, struct.pack("<Q", _crc64(body)) + body)


def _crc64(data: bytes) -> int:
    """ECMA-182, all ones before and after, as bcache has it."""
    crc = (1 << 64) - 1
    for byte in data:
        crc ^= byte << 56
        for _ in range(8):
            crc = (crc << 1) ^ (_CRC64_POLY if crc >> 63 else 0)
            crc &= (1 << 64) - 1
    return crc ^ ((1 << 64) - 1)

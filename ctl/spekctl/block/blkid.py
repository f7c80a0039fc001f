# SPDX-License-Identifier: GPL-2.0-or-later
"""Signatures on a device, found by libblkid (of util-linux, on every Linux system).

Everything goes through a file descriptor that the caller opened and checked, never a path, so
that what is probed is what will be written.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

from spekctl import distribution
from spekctl.distribution import Missing
from spekctl.errors import RefusedError

_LIBRARY = "libblkid.so.1"
_SUBLKS_LABEL = 1 << 1
_SUBLKS_UUID = 1 << 3
_SUBLKS_TYPE = 1 << 5
_SUBLKS_USAGE = 1 << 7
_SUBLKS_MAGIC = 1 << 9
_SUBLKS_BADCSUM = 1 << 10
_PARTS_FORCE_GPT = 1 << 1
_PARTS_MAGIC = 1 << 3
_FOUND = 0
_NOTHING = 1
_LIMIT = 64

# Usage of a table that libblkid reads, and of partitions that the kernel knows without one.
TABLE = "partition-table"
PARTITIONS = "partitions"
# Usage of a partition that overlaps the device and has bytes outside of it.
OVERLAPPING = "overlapping"

# The place of a device as a whole.
WHOLE = range(0)


@dataclass(frozen=True, slots=True)
class Signature:
    """A signature found on a device, or on a partition that overlaps it. @offset: in bytes, of the
    device, or of @partition, the kernel name of that partition."""

    type: str
    usage: str
    offset: int
    label: str = ""
    partition: str = ""

    def __str__(self) -> str:
        if self.usage == OVERLAPPING:
            return f"part of partition {self.partition}"
        place = f"at byte {self.offset}" + (f" of {self.partition}" if self.partition else "")
        label = f" '{self.label}'" if self.label else ""
        what = {
            "filesystem": "file system",
            "raid": "RAID member",
            "crypto": "encrypted volume",
            "other": "signature",
            TABLE: "partition table",
        }.get(self.usage, self.usage)
        if self.type == "swap":
            return f"swap space{label} {place}"
        if self.usage == PARTITIONS:
            are = "partition" if self.label == "1" else "partitions"
            return f"{self.label} {are} that the kernel knows, without a table that libblkid reads"
        if self.usage == "cache":
            return f"{self.type} of set {self.label} {place}"
        return f"{what} {self.type}{label} {place}"


def signatures(fd: int, place: range = WHOLE) -> list[Signature]:
    """All signatures on the device open at @fd, or on those of its bytes that are a partition's;
    their offsets are those of the device. Fails closed."""
    try:
        library = ctypes.CDLL(_LIBRARY, use_errno=True)
    except OSError as error:
        raise RefusedError(
            f"cannot probe the device for data: {_LIBRARY} is missing:"
            f" {distribution.install([Missing.LIBBLKID])}"
        ) from error
    library.blkid_new_probe.restype = ctypes.c_void_p
    probe = ctypes.c_void_p(library.blkid_new_probe())
    if not probe:
        raise RefusedError("cannot probe the device for data: out of memory")
    try:
        return _probe(library, probe, fd, place)
    finally:
        library.blkid_free_probe(probe)


def _probe(library: ctypes.CDLL, probe: ctypes.c_void_p, fd: int, place: range) -> list[Signature]:
    first, length = ctypes.c_int64(place.start), ctypes.c_int64(len(place))
    if library.blkid_probe_set_device(probe, fd, first, length):
        raise RefusedError("cannot probe the device for data: libblkid can't read it")
    library.blkid_probe_enable_superblocks(probe, 1)
    library.blkid_probe_set_superblocks_flags(
        probe,
        _SUBLKS_LABEL
        | _SUBLKS_UUID
        | _SUBLKS_TYPE
        | _SUBLKS_USAGE
        | _SUBLKS_MAGIC
        | _SUBLKS_BADCSUM,
    )
    library.blkid_probe_enable_partitions(probe, 1)
    library.blkid_probe_set_partitions_flags(probe, _PARTS_MAGIC | _PARTS_FORCE_GPT)
    signatures: list[Signature] = []
    while len(signatures) < _LIMIT:
        outcome = library.blkid_do_probe(probe)
        if outcome == _NOTHING:
            return signatures
        if outcome != _FOUND:
            raise RefusedError("cannot probe the device for data: reading it failed")
        partition_table = _value(library, probe, b"PTTYPE")
        if partition_table:
            signature = Signature(
                type=partition_table,
                usage=TABLE,
                offset=place.start + _offset(_value(library, probe, b"PTMAGIC_OFFSET")),
            )
        else:
            signature = Signature(
                type=_value(library, probe, b"TYPE") or "unknown",
                usage=_value(library, probe, b"USAGE") or "other",
                offset=place.start + _offset(_value(library, probe, b"SBMAGIC_OFFSET")),
                label=_value(library, probe, b"LABEL"),
            )
        signatures.append(signature)
    return signatures


def _value(library: ctypes.CDLL, probe: ctypes.c_void_p, name: bytes) -> str:
    data = ctypes.c_char_p()
    if library.blkid_probe_lookup_value(probe, name, ctypes.byref(data), None):
        return ""
    return (data.value or b"").decode("utf-8", "replace")


def _offset(text: str) -> int:
    return int(text) if text.isdigit() else 0

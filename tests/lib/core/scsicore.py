# SPDX-License-Identifier: GPL-2.0
"""The SCSI commands of the modelled drive, compiled for userspace.

unit = Unit(sectors=1000)
unit.command(bytes([0x12, 0, 0, 0, 96, 0])).data
"""

from __future__ import annotations

import functools
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cffi
from lib.core.spekcore import ROOT, WARNINGS, without_bodies

SCSI = ROOT / "kmod" / "drive" / "scsi"
CODE = sorted(SCSI.glob("*.c"))
ANSWER_BYTES, SENSE_BYTES = 512, 24


def _declarations() -> str:
    """What scsi.h declares, as cffi takes it."""
    command = ["gcc", "-std=gnu11", "-E", str(SCSI / "scsi.h")]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    kept: list[str] = []
    wanted = False
    for line in text.splitlines():
        marker = re.match(r'# \d+ "([^"]*)"', line)
        if marker:
            wanted = Path(os.path.normpath(marker[1])).parent == SCSI
        elif wanted:
            kept.append(line)
    return "\n".join(without_bodies("\n".join(kept)))


@functools.cache
def library(scratch: Path) -> tuple[Any, Any]:
    """The compiled commands: (ffi, lib)."""
    ffi = cffi.FFI()
    ffi.cdef(
        "typedef uint8_t u8; typedef uint16_t u16; typedef uint32_t u32; typedef uint64_t u64;"
        "typedef int32_t s32; typedef int64_t s64;"
    )
    ffi.cdef(_declarations())
    path = scratch / "libscsi.so"
    command = [os.environ.get("CC", "gcc"), "-std=gnu11", "-g", *WARNINGS, "-O2", "-shared"]
    subprocess.run([*command, "-fPIC", "-o", str(path), *map(str, CODE)], check=True)
    return ffi, ffi.dlopen(str(path))


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command was decoded to: its action, its data, or its sense."""

    action: int
    data: bytes
    code: tuple[int, int]  # sense key; additional sense code and qualifier
    field: tuple[int, int] | None  # byte and bit
    request: Any


class Unit:
    """A unit as commands see it."""

    def __init__(self, core: tuple[Any, Any], sectors: int = 1_000_000, **fields: Any) -> None:
        self.ffi, self.lib = core
        self.raw = self.ffi.new("struct spek_scsi_unit *")
        self.status = self.ffi.new("struct spek_scsi_status *")
        self.raw.vendor, self.raw.product = b"SPEK    ", b"MODELLED DRIVE  "
        self.raw.revision, self.raw.serial = b"0001", b"A1"
        self.raw.naa, self.raw.rpm, self.raw.sectors = 3 << 60, 7200, sectors
        for name, value in fields.items():
            setattr(self.raw, name, value)

    def command(self, cdb: bytes, parameters: bytes = b"") -> Answer:
        """Decode and answer; MODE SELECT and UNMAP take @parameters."""
        request = self.ffi.new("struct spek_scsi_request *")
        self.lib.spek_scsi_decode(self.raw, cdb, len(cdb), request)
        data = b""
        if request.action == self.lib.SPEK_SCSI_MODE_SELECT:
            self.lib.spek_scsi_mode_select(self.raw, request, parameters, len(parameters))
        elif request.action == self.lib.SPEK_SCSI_UNMAP:
            self.lib.spek_scsi_unmap(self.raw, request, parameters, len(parameters))
        elif request.action != self.lib.SPEK_SCSI_REFUSE:
            buffer = self.ffi.new("u8[]", ANSWER_BYTES)
            count = self.lib.spek_scsi_answer(self.raw, self.status, request, buffer)
            data = bytes(self.ffi.buffer(buffer, count))
        sense = request.sense
        field = (sense.field, sense.bit) if sense.has_field else None
        return Answer(request.action, data, (sense.key, sense.code), field, request)

    def sense(self, descriptor: bool, **fields: Any) -> bytes:
        """Sense data."""
        raw = self.ffi.new("struct spek_scsi_sense *", fields)
        buffer = self.ffi.new("u8[]", SENSE_BYTES)
        count = self.lib.spek_scsi_sense(raw, descriptor, buffer)
        return bytes(self.ffi.buffer(buffer, count))

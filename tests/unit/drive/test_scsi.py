# SPDX-License-Identifier: GPL-2.0
"""SCSI commands of a modelled drive: what CDBs ask for, and the bytes of the answers."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

import pytest
from lib.build.declarations import opened
from lib.core.build import SCSI

ANSWER_BYTES, SENSE_BYTES = 512, 24

ILLEGAL, ABORTED = 5, 0xB
OPCODE, RANGE, FIELD, PARAMETER, LENGTH = 0x2000, 0x2100, 0x2400, 0x2600, 0x1A00
SECTORS = 1_000_000
Core = tuple[Any, Any]


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

    def __init__(self, core: Core, sectors: int = 1_000_000, **fields: Any) -> None:
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


@pytest.fixture(scope="module")
def core() -> Core:
    return opened(*SCSI.compiled(SCSI.folder / "scsi.h"))


@pytest.fixture
def unit(core: Core) -> Unit:
    return Unit(core, SECTORS)


def inquiry(page: int | None = None) -> bytes:
    return bytes([0x12, int(page is not None), page or 0, 2, 0, 0])


def read_six(lba: int, sectors: int) -> bytes:
    return bytes([8, lba >> 16 & 31, lba >> 8 & 255, lba & 255, sectors, 0])


def read_ten(lba: int, sectors: int, flags: int = 0) -> bytes:
    return struct.pack(">BBIBHB", 0x28, flags, lba, 0, sectors, 0)


def read_twelve(lba: int, sectors: int) -> bytes:
    return struct.pack(">BBIIBB", 0xA8, 0, lba, sectors, 0, 0)


def read_sixteen(lba: int, sectors: int) -> bytes:
    return struct.pack(">BBQIBB", 0x88, 0, lba, sectors, 0, 0)


@pytest.mark.parametrize(
    ("cdb", "lba", "sectors"),
    [
        (read_six(0x1234, 8), 0x1234, 8),
        (read_six(0, 0), 0, 256),
        (read_ten(999_992, 8), 999_992, 8),
        (read_ten(SECTORS, 0), SECTORS, 0),
        (read_twelve(4096, 65536), 4096, 65536),
        (read_sixteen(999_999, 1), 999_999, 1),
    ],
)
def test_reads_name_their_sectors(unit: Unit, cdb: bytes, lba: int, sectors: int) -> None:
    for write in (0, 2):
        answer = unit.command(bytes([cdb[0] + write]) + cdb[1:])
        assert answer.action == (unit.lib.SPEK_SCSI_WRITE if write else unit.lib.SPEK_SCSI_READ)
        assert (answer.request.lba, answer.request.sectors) == (lba, sectors)
        assert not answer.request.fua


def test_fua_is_seen(unit: Unit) -> None:
    assert unit.command(read_ten(0, 8, 0x08)).request.fua
    assert not unit.command(read_ten(0, 8, 0x08)).request.atomic


@pytest.mark.parametrize(
    ("cdb", "code", "field"),
    [
        (b"", OPCODE, None),
        (bytes([0xC0, *[0] * 9]), OPCODE, None),
        (bytes([0x9E, 0x11, *[0] * 14]), FIELD, (1, 4)),
        (read_ten(0, 8)[:9], FIELD, None),
        (read_ten(SECTORS - 7, 8), RANGE, None),
        (read_sixteen(2**64 - 1, 8), RANGE, None),
        (read_sixteen(0, 65537), FIELD, (10, 7)),
        (read_ten(0, 8, 0x20), FIELD, (1, 7)),
        (read_ten(0, 8)[:9] + b"\x04", FIELD, (9, 2)),
        (bytes([0x12, 0, 0x80, 0, 96, 0]), FIELD, (2, 7)),
        (inquiry(0xB2), FIELD, (2, 7)),
        (inquiry(0xB9), FIELD, (2, 7)),
        (bytes([0x1B, 0, 0, 0, 0x02, 0]), FIELD, (4, 1)),
        (bytes([0x1B, 0, 0, 0, 0x50, 0]), FIELD, (4, 7)),
        (bytes([0x1B, 0, 0, 1, 0x20, 0]), FIELD, (3, 3)),
        (bytes([0x1A, 0, 0x3E, 0, 255, 0]), FIELD, (2, 5)),
        (bytes([0x1A, 0, 0xC8, 0, 255, 0]), 0x3900, None),
        (bytes([0x4D, 0, 0x42, 0, 0, 0, 0, 0, 64, 0]), FIELD, (2, 5)),
        (bytes([0x15, 0x11, 0, 0, 4, 0]), FIELD, (1, 0)),
    ],
)
def test_what_is_wrong_with_a_cdb(
    unit: Unit, cdb: bytes, code: int, field: tuple[int, int] | None
) -> None:
    answer = unit.command(cdb)
    assert answer.action == unit.lib.SPEK_SCSI_REFUSE
    assert (answer.code, answer.field) == ((ILLEGAL, code), field)


def test_inquiry(unit: Unit) -> None:
    data = unit.command(inquiry()).data
    assert (len(data), data[0], data[2], data[3] & 15, data[4]) == (96, 0, 6, 2, 91)
    assert data[8:36] == b"SPEK    MODELLED DRIVE  0001"
    assert unit.command(inquiry()[:3] + bytes([0, 36, 0])).data == data[:36]


def test_vital_product_data(core: Core) -> None:
    plain, split = Unit(core, SECTORS), Unit(core, SECTORS, nr_ranges=2)
    split.raw.ranges[0].sectors = split.raw.ranges[1].first = split.raw.ranges[1].sectors = 500_000
    pages = {page: plain.command(inquiry(page)).data for page in (0, 0x80, 0x83, 0xB0, 0xB1)}

    for page, data in pages.items():
        assert (data[1], int.from_bytes(data[2:4])) == (page, len(data) - 4)
    assert list(pages[0][4:]) == [0, 0x80, 0x83, 0x8A, 0xB0, 0xB1]
    assert list(split.command(inquiry(0)).data[4:]) == [0, 0x80, 0x83, 0x8A, 0xB0, 0xB1, 0xB9]
    assert pages[0x80][4:] == b"A1"
    assert pages[0x83][4:16] == bytes([1, 3, 0, 8]) + (3 << 60).to_bytes(8)
    assert pages[0x83][16:20] + pages[0x83][20:] == bytes([2, 1, 0, 26]) + (
        b"SPEK    MODELLED DRIVE  A1"
    )
    assert int.from_bytes(pages[0xB0][8:12]) == 65536
    assert int.from_bytes(pages[0xB1][4:6]) == 7200
    ranges = split.command(inquiry(0xB9)).data
    assert len(ranges) == 64 + 2 * 32
    assert [struct.unpack(">B7xQQ", ranges[at : at + 24]) for at in (64, 96)] == [
        (0, 0, 500_000),
        (1, 500_000, 500_000),
    ]


def test_capacity(core: Core) -> None:
    small, large = Unit(core, SECTORS), Unit(core, 1 << 33)
    sixteen = bytes([0x9E, 0x10, *[0] * 11, 32, 0, 0])

    assert small.command(bytes([0x25, *[0] * 9])).data == struct.pack(">II", SECTORS - 1, 512)
    assert large.command(bytes([0x25, *[0] * 9])).data == struct.pack(">II", 2**32 - 1, 512)
    assert large.command(sixteen).data == struct.pack(">QI20x", 2**33 - 1, 512)


def test_mode_pages(core: Core) -> None:
    unit = Unit(core, SECTORS, caches_writes=True)
    six = unit.command(bytes([0x1A, 0, 0x3F, 0, 255, 0])).data
    ten = unit.command(bytes([0x5A, 0x08, 0x3F, 0xFF, 0, 0, 0, 1, 0, 0])).data

    assert (six[0], six[2], six[3]) == (len(six) - 1, 0x10, 8)
    assert six[4:12] == struct.pack(">II", SECTORS, 512)
    assert (int.from_bytes(ten[:2]), ten[7]) == (len(ten) - 2, 0)
    assert six[12:] == ten[8:]
    assert [six[12], six[32], six[44]] == [0x08, 0x0A, 0x1A]
    assert six[14] == 0x05  # WCE and RCD


def test_mode_select_changes_what_can_be_changed(unit: Unit) -> None:
    control = bytes([0x0A, 10, 4, 0x10, *[0] * 8])
    power = bytes([0x1A, 38, 0, 1, *[0] * 4, 0, 0, 1, 0, *[0] * 28])
    select = bytes([0x15, 0x10, 0, 0, 4 + 12 + 40, 0])

    assert unit.command(select, bytes(4) + control + power).code == (0, 0)
    mode = unit.raw.mode
    assert (mode.descriptor_sense, mode.standby_timer, mode.standby_ticks) == (True, True, 256)
    changed = unit.command(bytes([0x1A, 8, 0x1A, 0, 255, 0])).data
    assert (changed[7], changed[12:16]) == (1, bytes([0, 0, 1, 0]))
    default = unit.command(bytes([0x1A, 8, 0x9A, 0, 255, 0])).data
    assert (default[7], default[12:16]) == (0, bytes(4))


@pytest.mark.parametrize(
    ("parameters", "code"),
    [
        (bytes(3), LENGTH),
        (bytes(4) + bytes([0x0A, 10, 4]), LENGTH),
        (bytes(4) + bytes([0x0A, 9, 4, 0x10, *[0] * 8]), PARAMETER),
        (bytes(4) + bytes([0x0A, 10, 4, 0x30, *[0] * 8]), PARAMETER),
        (bytes(4) + bytes([0x0B, 10, *[0] * 10]), PARAMETER),
        (bytes(4) + bytes([0x08, 18, 0x04, *[0] * 17]), PARAMETER),
        (bytes([0, 0, 0, 7]) + bytes(7), PARAMETER),
        (bytes([0, 0, 0, 8]) + struct.pack(">II", 0, 4096), PARAMETER),
        (bytes(4) + bytes([0x0A, 10, 4, 0x10, *[0] * 8, 0x0B, 10]), PARAMETER),
    ],
)
def test_a_wrong_mode_list_changes_nothing(unit: Unit, parameters: bytes, code: int) -> None:
    answer = unit.command(bytes([0x15, 0x10, 0, 0, len(parameters), 0]), parameters)
    assert answer.code == (ILLEGAL, code)
    assert not unit.raw.mode.descriptor_sense


def test_sense_data_of_both_formats(unit: Unit) -> None:
    fixed = unit.sense(False, key=3, code=0x1100, info=0x123456, has_info=True)
    descriptor = unit.sense(True, key=3, code=0x1100, info=1 << 40, has_info=True)

    assert fixed == bytes.fromhex("f0 00 03 00123456 0a 00000000 1100 00000000")
    assert descriptor == bytes.fromhex("72 03 1100 000000 0c 00 0a 8000") + (1 << 40).to_bytes(8)
    # An LBA that fixed format has no room for is left out.
    assert unit.sense(False, key=3, code=0x1100, info=1 << 40, has_info=True)[0] == 0x70
    assert unit.sense(False, key=5, code=FIELD, field=3, bit=5, has_field=True, in_cdb=True)[
        15:
    ] == bytes([0xCD, 0, 3])


def test_check_power_mode_comes_in_both_formats(unit: Unit) -> None:
    """As SAT says, and as bridges do it: the count is where hosts look for it."""
    ata = {"key": 1, "code": 0x1D, "has_ata": True, "ata_status": 0x50}
    assert unit.command(bytes([0x85, 0x06, 0x20, *[0] * 11, 0xE5, 0])).request.check
    assert unit.sense(True, **ata, ata_count=0xFF) == bytes.fromhex(
        "72 01 001d 000000 0e 09 0c 00 00 00 ff 00000000000000 50"
    )
    assert unit.sense(False, **ata, ata_count=0xFF) == bytes.fromhex(
        "f0 00 01 00 50 00 ff 0a 00000000 001d 00000000"
    )
    refused = unit.command(bytes([0x85, 0x06, 0x20, *[0] * 11, 0xEC, 0]))
    assert refused.code == (ABORTED, 0)


@pytest.mark.parametrize(
    ("cdb", "power"),
    [
        (bytes([0x1B, 0, 0, 0, 1, 0]), "START"),
        (bytes([0x1B, 0, 0, 0, 0, 0]), "STOP"),
        (bytes([0x1B, 1, 0, 0, 0x10, 0]), "START"),
        (bytes([0x1B, 0, 0, 0, 0x20, 0]), "IDLE"),
        (bytes([0x1B, 0, 0, 0, 0x30, 0]), "STANDBY"),
        (bytes([0x1B, 0, 0, 0, 0x70, 0]), "NONE"),
        (bytes([0x1B, 0, 0, 0, 0xB0, 0]), "STANDBY"),
        (bytes([0x85, 0x06, 0x00, *[0] * 11, 0xE0, 0]), "STANDBY"),
        (bytes([0xA1, 0x06, 0x00, *[0] * 6, 0xE0, 0, 0]), "STANDBY"),
        (bytes([0xA1, 0x06, 0x00, *[0] * 6, 0xE1, 0, 0]), "IDLE"),
        (bytes([0x85, 0x06, 0x00, *[0] * 11, 0xE6, 0]), "SLEEP"),
        (bytes([0xA1, 0x06, 0x00, *[0] * 6, 0xE6, 0, 0]), "SLEEP"),
    ],
)
def test_power_commands(unit: Unit, cdb: bytes, power: str) -> None:
    answer = unit.command(cdb)
    assert answer.action == unit.lib.SPEK_SCSI_POWER
    assert answer.request.power == getattr(unit.lib, f"SPEK_SCSI_POWER_{power}")


@pytest.mark.parametrize(("byte4", "keeps"), [(0, False), (4, True), (0x30, False), (0x34, True)])
def test_no_flush_of_start_stop_unit(unit: Unit, byte4: int, keeps: bool) -> None:
    assert unit.command(bytes([0x1B, 0, 0, 0, byte4, 0])).request.keeps_cache is keeps


SECOND, MINUTE, HOUR = 10, 600, 36_000  # in units of 100 ms


@pytest.mark.parametrize(
    ("count", "ticks"),
    [
        (0, 0),
        (1, 5 * SECOND),
        (240, 20 * MINUTE),
        (241, 30 * MINUTE),
        (251, 11 * 30 * MINUTE),
        (252, 21 * MINUTE),
        (253, 8 * HOUR),
        (255, 21 * MINUTE + 15 * SECOND),
    ],
)
@pytest.mark.parametrize(("command", "power"), [(0xE2, "STANDBY"), (0xE3, "IDLE")])
def test_ata_commands_that_set_the_timer(
    unit: Unit, command: int, power: str, count: int, ticks: int
) -> None:
    """Counts as in ATA/ATAPI Command Set, table of the standby timer."""
    for cdb in (
        bytes([0x85, 0x06, 0, 0, 0, 0, count, *[0] * 7, command, 0]),
        bytes([0xA1, 0x06, 0, 0, count, 0, 0, 0, 0, command, 0, 0]),
    ):
        request = unit.command(cdb).request
        assert request.power == getattr(unit.lib, f"SPEK_SCSI_POWER_{power}")
        assert (request.sets_timer, request.standby_ticks) == (True, ticks)
    immediate = bytes([0x85, 0x06, 0, 0, 0, 0, count, *[0] * 7, command - 2, 0])
    assert not unit.command(immediate).request.sets_timer


def test_request_sense_tells_the_condition(unit: Unit) -> None:
    unit.status.condition.code = 0x5E04
    assert unit.command(bytes([3, 0, 0, 0, 18, 0])).data[12:14] == bytes([0x5E, 4])
    assert unit.command(bytes([3, 1, 0, 0, 18, 0])).data == bytes([0x72, 0, 0x5E, 4, 0, 0, 0, 0])


def test_logs(unit: Unit) -> None:
    unit.status.starts = 258
    pages = {
        page: unit.command(bytes([0x4D, 0, 0x40 | page, 0, 0, 0, 0, 0, 64, 0])).data
        for page in (0, 0x0D, 0x0E)
    }
    assert list(pages[0]) == [0, 0, 0, 3, 0, 0x0D, 0x0E]
    assert pages[0x0D][9] == 0xFF  # no temperature is known
    assert pages[0x0E][4:] == bytes([0, 4, 3, 4, 0, 0, 1, 2])


def test_supported_opcodes_are_those_that_are_taken(unit: Unit) -> None:
    report = bytes([0xA3, 0x0C, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0])
    listed = unit.command(report).data
    entries = [listed[at : at + 8] for at in range(4, len(listed), 8)]
    assert int.from_bytes(listed[:4]) == len(listed) - 4
    assert {entry[0] for entry in entries} >= {0, 0x12, 0x28, 0x2A, 0x35, 0x85, 0x88, 0x8A, 0xA0}
    for entry in entries:
        has_service = entry[5] & 1
        ask = bytes([0xA3, 0x0C, 2 if has_service else 1, entry[0], *entry[2:4], 0, 0, 2, 0, 0, 0])
        answer = unit.command(ask).data
        assert (answer[1], int.from_bytes(answer[2:4])) == (3, int.from_bytes(entry[6:8]))
    unknown = bytes([0xA3, 0x0C, 1, 0x41, 0, 0, 0, 0, 2, 0, 0, 0])
    assert unit.command(unknown).data == bytes([0, 1, 0, 0])


@pytest.mark.parametrize(
    ("option", "opcode", "service"),
    [(1, 0x9E, 0), (1, 0x9E, 0x10), (1, 0xA3, 0), (2, 0x28, 0), (2, 0x28, 0x10)],
)
def test_an_opcode_with_the_wrong_option_is_refused(
    unit: Unit, option: int, opcode: int, service: int
) -> None:
    """SPC-4: option 1 is for operation codes without service actions, option 2 for the others."""
    ask = bytes([0xA3, 0x0C, option, opcode, 0, service, 0, 0, 2, 0, 0, 0])
    answer = unit.command(ask)
    assert (answer.code, answer.field) == ((ILLEGAL, FIELD), (2, 2))


def test_report_luns(unit: Unit) -> None:
    report = bytes([0xA0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0])
    assert unit.command(report).data == bytes([0, 0, 0, 8, *[0] * 12])
    assert unit.command(report[:2] + b"\1" + report[3:]).data == bytes(8)


def test_only_a_unit_with_atomic_writes_has_the_command(core: Core) -> None:
    plain, atomic = Unit(core, SECTORS), Unit(core, SECTORS, atomic_sectors=32)
    limits = [unit.command(inquiry(0xB0)).data[44:64] for unit in (plain, atomic)]
    assert [struct.unpack(">5I", data) for data in limits] == [(0,) * 5, (32, 0, 0, 0, 0)]

    def write(sectors: int, boundary: int = 0) -> bytes:
        return struct.pack(">BBQHHBB", 0x9C, 0x08, 4096, boundary, sectors, 0, 0)

    assert plain.command(write(8)).code == (ILLEGAL, OPCODE)
    done = atomic.command(write(32))
    assert done.action == core[1].SPEK_SCSI_WRITE
    assert (done.request.lba, done.request.sectors, done.request.fua) == (4096, 32, True)
    assert done.request.atomic
    assert atomic.command(write(33)).field == (12, 7)
    assert atomic.command(write(8, boundary=1)).field == (11, 0)


def unmap_list(lba: int, sectors: int, *, descriptors: int = 1) -> bytes:
    descriptor = struct.pack(">QI4x", lba, sectors)
    return struct.pack(">HH4x", 6 + 16 * descriptors, 16 * descriptors) + descriptor * descriptors


UNMAP = bytes([0x42, 0, 0, 0, 0, 0, 0, 0, 24, 0])


def test_only_a_unit_that_unmaps_says_so(core: Core) -> None:
    plain, flash = Unit(core, SECTORS), Unit(core, SECTORS, unmap_sectors=8, rpm=1)
    sixteen = bytes([0x9E, 0x10, *[0] * 11, 32, 0, 0])
    report = bytes([0xA3, 0x0C, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0])

    limits = [unit.command(inquiry(0xB0)).data for unit in (plain, flash)]
    assert limits[0][20:36] == bytes(16)
    assert struct.unpack(">IIII", limits[1][20:36]) == (65536, 1, 8, 1 << 31)
    assert flash.command(inquiry(0xB2)).data == bytes([0, 0xB2, 0, 4, 0, 0x84, 2, 0])
    assert 0xB2 in flash.command(inquiry(0)).data[4:]
    assert flash.command(inquiry(0xB1)).data[4:8] == bytes([0, 1, 0, 3])
    assert [unit.command(sixteen).data[14] for unit in (plain, flash)] == [0, 0xC0]
    assert plain.command(UNMAP).code == (ILLEGAL, OPCODE)
    opcodes = [unit.command(report).data[4::8] for unit in (plain, flash)]
    assert set(opcodes[1]) - set(opcodes[0]) == {0x42}


@pytest.mark.parametrize(
    ("parameters", "lba", "sectors"),
    [
        (unmap_list(4096, 65536), 4096, 65536),
        (unmap_list(SECTORS - 1, 1), SECTORS - 1, 1),
        (unmap_list(SECTORS, 0), SECTORS, 0),
        (b"", 0, 0),
        (unmap_list(4096, 8)[:8], 0, 0),
        (unmap_list(4096, 8)[:23], 0, 0),
    ],
)
def test_unmap_names_its_sectors(core: Core, parameters: bytes, lba: int, sectors: int) -> None:
    unit = Unit(core, SECTORS, unmap_sectors=8)
    answer = unit.command(UNMAP, parameters)
    assert answer.action == unit.lib.SPEK_SCSI_UNMAP
    assert (answer.request.lba, answer.request.sectors) == (lba, sectors)


@pytest.mark.parametrize(
    ("parameters", "code"),
    [
        (bytes(7), LENGTH),
        (unmap_list(0, 8, descriptors=2), PARAMETER),
        (unmap_list(0, 65537), PARAMETER),
        (unmap_list(SECTORS - 7, 8), RANGE),
        (unmap_list(2**64 - 1, 8), RANGE),
    ],
)
def test_a_wrong_unmap_list_is_refused(core: Core, parameters: bytes, code: int) -> None:
    unit = Unit(core, SECTORS, unmap_sectors=8)
    answer = unit.command(UNMAP, parameters)
    assert (answer.action, answer.code) == (unit.lib.SPEK_SCSI_REFUSE, (ILLEGAL, code))


# ---- elements ----


def element_status(starting: int = 0, length: int = 512, byte14: int = 0) -> bytes:
    return struct.pack(">BB4xIIBB", 0x9E, 0x17, starting, length, byte14, 0)


def remove_element(element: int, capacity: int = 0) -> bytes:
    return struct.pack(">BBQIBB", 0x9E, 0x18, capacity, element, 0, 0)


RESTORE = bytes([0x9E, 0x19, *[0] * 14])


def elements(answer: Answer) -> list[tuple[int, int, int, int]]:
    """Identifier, type, health and associated capacity; each with room to be restored."""
    matching, returned = struct.unpack(">II", answer.data[:8])
    assert len(answer.data) == 32 + 32 * returned and matching >= returned
    rows = [
        struct.unpack(">4xI5xBBBQ8x", answer.data[at : at + 32])
        for at in range(32, len(answer.data), 32)
    ]
    assert all(row[1] == 1 for row in rows)
    return [(identifier, kind, health, capacity) for identifier, _, kind, health, capacity in rows]


def test_elements_are_the_arms(core: Core) -> None:
    unit = Unit(core, SECTORS, nr_elements=4)
    unit.status.removed = 0b0100
    good, gone = 1, 0xFF
    everything = unit.command(element_status())
    assert elements(everything) == [
        (1, 1, good, 0),
        (2, 1, good, 0),
        (3, 1, gone, 0),
        (4, 1, good, 0),
    ]
    assert elements(unit.command(element_status(byte14=0x41))) == [(3, 1, gone, 0)]
    assert [row[0] for row in elements(unit.command(element_status(starting=3)))] == [3, 4]
    # As many descriptors as there is room for, whole ones, and the number of all.
    cut = unit.command(element_status(length=32 + 2 * 32 + 31))
    assert struct.unpack(">II", cut.data[:8]) == (4, 2)
    assert [row[0] for row in elements(cut)] == [1, 2]
    assert len(unit.command(element_status(length=8)).data) == 8


def test_arms_with_lbas_to_themselves_say_how_many(core: Core) -> None:
    unit = Unit(core, SECTORS, nr_elements=2)
    unit.status.sole_sectors[0:2] = [600_000, 400_000]
    assert [row[3] for row in elements(unit.command(element_status()))] == [600_000, 400_000]


@pytest.mark.parametrize(
    ("cdb", "field"),
    [
        (element_status(byte14=0x80), (14, 7)),
        (element_status(byte14=0x02), (14, 3)),
        (remove_element(0), (10, 7)),
        (remove_element(5), (10, 7)),
        (remove_element(1, SECTORS - 1), (2, 7)),
        (remove_element(1, SECTORS + 1), (2, 7)),
    ],
)
def test_wrong_requests_about_elements(core: Core, cdb: bytes, field: tuple[int, int]) -> None:
    answer = Unit(core, SECTORS, nr_elements=4).command(cdb)
    assert (answer.code, answer.field) == ((ILLEGAL, FIELD), field)


def test_an_arm_is_removed_and_all_are_restored(core: Core) -> None:
    unit = Unit(core, SECTORS, nr_elements=4)
    for capacity in (0, SECTORS):
        answer = unit.command(remove_element(4, capacity))
        assert (answer.action, answer.request.element) == (unit.lib.SPEK_SCSI_REMOVE_ELEMENT, 4)
    assert unit.command(RESTORE).action == unit.lib.SPEK_SCSI_RESTORE_ELEMENTS


@pytest.mark.parametrize("cdb", [element_status(), remove_element(1), RESTORE])
def test_a_drive_with_one_arm_has_no_command_about_elements(unit: Unit, cdb: bytes) -> None:
    answer = unit.command(cdb)
    assert (answer.code, answer.field) == ((ILLEGAL, FIELD), (1, 4))

# SPDX-License-Identifier: GPL-2.0
"""Zones as a disk reports them, and what a failure has to do with them."""

from __future__ import annotations

import struct
from pathlib import Path

import msgspec
import pytest
from lib.fakes.machine import disk

from spekctl.block import opening, zones
from spekctl.block.device import Device
from spekctl.block.zones import Zone

MIB = 1 << 20
OFFLINE, READ_ONLY, EMPTY = 15, 13, 1


class FakeIoctl:
    """BLKREPORTZONE of a disk whose zones of 4 MiB have these conditions."""

    def __init__(self, conditions: list[int]) -> None:
        self.conditions = conditions
        self.calls = 0
        self.flags = 1  # it reports capacities

    def __call__(self, _fd: int, request: int, buffer: bytearray) -> None:
        assert request == 0xC0101282
        sector, wanted, _flags = struct.unpack_from("=QII", buffer)
        first = sector // 8192
        conditions = self.conditions[first : first + wanted]
        struct.pack_into("=QII", buffer, 0, sector, len(conditions), self.flags)
        for index, condition in enumerate(conditions):
            start = (first + index) * 8192
            struct.pack_into(
                "=QQQ4B4xQ", buffer, 16 + 64 * index, start, 8192, start, 2, condition, 0, 0, 6144
            )
        self.calls += 1


def disk_of(monkeypatch: pytest.MonkeyPatch, folder: Path, conditions: list[int]) -> Device:
    monkeypatch.setattr("fcntl.ioctl", FakeIoctl(conditions))
    monkeypatch.setattr(opening, "number_of", lambda fd: (250, 0))
    path = folder / "zoned0"
    path.touch()
    return disk(str(path), name="zoned0", minor=0, zoned="host-managed")


def test_all_zones_are_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    conditions = [EMPTY] * 2500
    conditions[2400] = OFFLINE
    zoned = disk_of(monkeypatch, tmp_path, conditions)
    reported = zones.report(zoned)
    assert [zone.start for zone in reported] == [4 * MIB * index for index in range(2500)]
    assert zones.offline(zoned) == [Zone(2400 * 4 * MIB, 4 * MIB, OFFLINE)]
    assert zones.report(zoned, 8 * MIB, 1) == [Zone(8 * MIB, 4 * MIB, EMPTY, 3 * MIB)]


def test_the_capacity_is_what_can_be_written_at_the_pointer(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    conventional, full = 0, 14
    conditions = [conventional, EMPTY, 2, 3, 4, full, READ_ONLY, OFFLINE]
    zoned = disk_of(monkeypatch, tmp_path, conditions)
    expected = [0, *[3 * MIB] * 5, 0, 0]
    assert [zone.capacity for zone in zones.report(zoned)] == expected
    old = FakeIoctl(conditions)
    old.flags = 0  # a kernel that knows no capacities: zones can be written to their ends
    monkeypatch.setattr("fcntl.ioctl", old)
    assert [zone.capacity for zone in zones.report(zoned)] == [0, *[4 * MIB] * 5, 0, 0]


def test_a_disk_without_zones_has_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "plain0").touch()
    monkeypatch.setattr(opening, "number_of", lambda fd: (250, 0))
    assert zones.report(disk(str(tmp_path / "plain0"), zoned="host-managed")) == []
    assert zones.report(disk(str(tmp_path / "missing0"), zoned="host-managed")) == []


def test_a_disk_without_zones_is_not_opened(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    plain = msgspec.structs.replace(disk_of(monkeypatch, tmp_path, [OFFLINE]), zoned="none")
    monkeypatch.delattr(opening, "open_block_device")
    assert zones.report(plain) == []


@pytest.mark.parametrize(
    ("failure", "addition"),
    [
        ("read of 4096 bytes at byte 4194304 of zoned0 failed: errno 5", ": its zone is offline"),
        ("read of 4096 bytes at byte 8388608 of zoned0 failed: errno 5", ""),
        (
            "write of 4096 bytes at byte 8388608 of zoned0 failed: errno 5",
            ": its zone can only be read",
        ),
        ("zone append of 4096 bytes at byte 0 of zoned0 failed: errno 5", ""),
        ("read of 4096 bytes at byte 4194304 of other0 failed: errno 5", ""),
        ("", ""),
    ],
)
def test_a_failure_says_what_its_zone_has_to_do_with_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, failure: str, addition: str
) -> None:
    zoned = disk_of(monkeypatch, tmp_path, [EMPTY, OFFLINE, READ_ONLY])
    link = tmp_path / "by-id"
    link.symlink_to(zoned.path)
    linked = msgspec.structs.replace(zoned, path=str(link))
    assert zones.explained(failure, [disk("/dev/missing1"), linked]) == failure + addition

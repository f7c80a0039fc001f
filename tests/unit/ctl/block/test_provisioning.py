# SPDX-License-Identifier: GPL-2.0
"""Which devices have blocks that nothing is stored for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from lib.ctl import results
from msgspec.structs import replace

from spekctl.block import device as block_device
from spekctl.block import provisioning
from spekctl.block.device import Device, Roots

SIZE = 1 << 20


class Disk:
    """A disk and its partition in a directory that is a machine's root."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.roots = Roots(root / "sys", root / "proc", root / "dev", root / "udev")
        self.sysfs = root / "sys/devices/sda"
        for directory, number in ((self.sysfs, "8:0"), (self.sysfs / "sda1", "8:1")):
            self.put(directory / "dev", number)
            self.put(directory / "size", "2048")
            link = root / "sys/dev/block" / number
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(directory)
        self.put(self.sysfs / "sda1/partition", "1")

    def put(self, path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")

    def discards(self, granularity: int, most: int) -> None:
        self.put(self.sysfs / "queue/discard_granularity", str(granularity))
        self.put(self.sysfs / "queue/discard_max_bytes", str(most))

    def device(self, minor: int = 0) -> Device:
        known = block_device.by_number(8, minor, roots=self.roots)
        assert known is not None
        return known

    def text(self, minor: int = 0) -> str:
        unwritten = provisioning.of(self.device(minor), self.root)
        return "" if unwritten is None else f"{unwritten.likely}: {unwritten.text}"


@pytest.fixture
def disk(tmp_path: Path) -> Disk:
    return Disk(tmp_path)


def test_a_disk_without_discards_stores_all_its_blocks(disk: Disk) -> None:
    assert disk.text() == ""
    disk.discards(512, 0)
    assert disk.text() == ""


@pytest.mark.parametrize("minor", [0, 1])
def test_a_disk_with_discards_may_have_trimmed_blocks(disk: Disk, minor: int) -> None:
    disk.discards(4096, 1 << 30)
    assert disk.text(minor) == "False: it takes discards (in units of 4096 bytes)"


@pytest.mark.parametrize("minor", [0, 1])
def test_a_thin_volume_has_no_blocks_until_they_are_written(disk: Disk, minor: int) -> None:
    disk.discards(4096, 1 << 30)
    path = disk.sysfs / "device/scsi_disk/0:0:0:0/thin_provisioning"
    disk.put(path, "0")
    assert disk.text(minor).startswith("False: it takes discards")
    disk.put(path, "1")
    assert disk.text(minor).startswith("True: it is a thin volume")


def test_a_sparse_file_lacks_blocks(disk: Disk) -> None:
    """Its loop device takes discards as well, whether the file is sparse or not."""
    disk.discards(4096, 1 << 30)
    disk.put(disk.sysfs / "loop/backing_file", "/image")
    image = disk.root / "image"
    with image.open("wb") as file:
        file.truncate(SIZE)
    assert disk.text() == "True: its file is sparse: 0.0% of it is allocated"
    with image.open("r+b") as file:
        file.write(os.urandom(SIZE // 2))
        os.fsync(file.fileno())
    assert disk.text() == "True: its file is sparse: 50.0% of it is allocated"
    with image.open("r+b") as file:
        file.write(os.urandom(SIZE))
        os.fsync(file.fileno())
    assert disk.text() == ""
    image.unlink()
    assert disk.text().startswith("False: ")


def test_only_reads_of_a_device_that_lacks_blocks_have_a_remark(disk: Disk) -> None:
    stream = replace(results.build().config.streams[0], weight=1, read_ppm=500_000)
    device = disk.device()
    disk.discards(4096, 1 << 30)
    assert provisioning.remarks([device], [stream]) == []
    disk.put(disk.sysfs / "device/scsi_disk/0:0:0:0/thin_provisioning", "1")
    (remark,) = provisioning.remarks([device], [stream])
    assert remark.startswith(f"{device.path}: it is a thin volume")
    assert provisioning.remarks([device], [replace(stream, read_ppm=0)]) == []
    assert provisioning.remarks([device], [replace(stream, weight=0)]) == []

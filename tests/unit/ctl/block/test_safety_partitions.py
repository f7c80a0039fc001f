# SPDX-License-Identifier: GPL-2.0
"""Data in partitions, which the safety check looks for as well as on the device itself."""

from __future__ import annotations

import os
import shutil
import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from lib.core.augment_images import SET, Images
from lib.ctl.disk_machine import NUMBERS, Machine, check
from lib.guest import disk_images

from spekctl.block import opening, safety, state_log
from spekctl.block.device import Device, start_sector
from spekctl.errors import RefusedError


@pytest.fixture
def imaged(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], Device]:
    """imaged("sda") is the disk with the bytes of a file of 64 MiB, which holds nothing yet;
    imaged(NAME) is its partition, which has the bytes that the disk has there."""
    dev = tmp_path / "dev"
    dev.mkdir()
    machine.roots = replace(machine.roots, dev=dev)
    image = dev / "sda"
    image.write_bytes(b"")
    os.truncate(image, 64 << 20)
    machine.write(machine.roots.sys / "class/block/sda/size", f"{64 << 11}\n")

    def of(name: str) -> Device:
        known = machine.get(name)
        if known.partition:
            with image.open("rb") as file:
                file.seek(start_sector(known) * 512)
                (dev / name).write_bytes(file.read(known.bytes))
        return known

    def number_of(fd: int) -> tuple[int, int]:
        major, minor = NUMBERS[Path(os.readlink(f"/proc/self/fd/{fd}")).name].split(":")
        return int(major), int(minor)

    monkeypatch.setattr(opening, "number_of", number_of)
    monkeypatch.setattr(safety, "_diskseq", lambda fd: 42)
    monkeypatch.setattr(safety, "_drop_cache", lambda path, fd: None)
    return of


def put(path: str, first: int, header: Callable[[str], None]) -> None:
    """Copy what @header writes to an empty file to byte @first of the file at @path."""
    source = Path(path).with_name("header")
    source.write_bytes(b"")
    os.truncate(source, 8 << 20)
    header(str(source))
    with open(path, "r+b") as file:
        file.seek(first)
        file.write(source.read_bytes())


@pytest.mark.parametrize(
    ("header", "text"),
    [
        (disk_images.luks, "encrypted volume crypto_LUKS at byte 1048576"),
        (disk_images.lvm_member, "RAID member LVM2_member at byte 1049112"),
        (
            lambda path: shutil.copy(Images(Path(path).parent / "set").path(0), path),
            f"spek augment cache of set {SET} at byte 1048576",
        ),
        (
            lambda path: Path(path).write_bytes(state_log.MAGIC),
            "signature spek_state_log at byte 1048576",
        ),
    ],
)
def test_data_in_a_partition_without_a_table_are_not_overwritten(
    machine: Machine,
    imaged: Callable[[str], Device],
    header: Callable[[str], None],
    text: str,
) -> None:
    """Partitions of the kernel's command line, of a device tree or of addpart: the ends of the disk
    hold nothing that libblkid reads."""
    machine.place("sda1", 2048, 16384)
    machine.place("sda2", 65536, 2048)
    disk = imaged("sda")
    put(disk.path, 1 << 20, header)
    with pytest.raises(RefusedError) as refusal:
        check(machine, disk)
    known = "2 partitions that the kernel knows, without a table that libblkid reads"
    assert f"holds data: {known}, {text}" in refusal.value.message
    assert refusal.value.message.endswith(
        f"; if their table was overwritten, `blockdev --rereadpt {disk.path}` removes them; to"
        " overwrite it, give --destroy 8:0/42"
    )
    remark = check(machine, disk, ("8:0/42",))
    assert remark is not None and f"{known}, {text}" in remark


def test_a_disk_with_partitions_of_the_kernel_holds_data(
    machine: Machine, imaged: Callable[[str], Device]
) -> None:
    """Whatever is in them: a program may use a partition without a header."""
    machine.place("sda1", 2048, 16384)
    with pytest.raises(RefusedError, match=r"holds data: 1 partition that the kernel knows, with"):
        check(machine, imaged("sda"))
    assert check(machine, imaged("sda1")) is None


def test_partitions_of_a_table_are_not_listed_beside_it(
    machine: Machine, imaged: Callable[[str], Device]
) -> None:
    machine.place("sda1", 2048, 16384)
    disk = imaged("sda")
    put(disk.path, 1 << 20, disk_images.luks)
    disk_images.mbr(disk.path)
    assert [str(signature) for signature in safety.signatures_on(disk, 42)] == [
        "partition table dos at byte 510",
        "encrypted volume crypto_LUKS at byte 1048576",
    ]


def test_a_table_that_was_overwritten_leaves_its_partitions_to_the_kernel(
    machine: Machine, imaged: Callable[[str], Device]
) -> None:
    """The runs of a campaign go on: what the kernel still knows of the table is not new data."""
    machine.place("sda1", 2048, 16384)
    disk = imaged("sda")
    disk_images.mbr(disk.path)
    before = safety.signatures_on(disk, 42)
    Path(disk.path).write_bytes(bytes(1 << 20))
    os.truncate(disk.path, 64 << 20)
    safety.check_again(disk, 42, before, machine.roots)
    with pytest.raises(RefusedError, match="did not hold when it was claimed: 1 partition that"):
        safety.check_again(disk, 42, [], machine.roots)


def test_partitions_known_by_another_path_are_on_the_disk(
    machine: Machine, imaged: Callable[[str], Device]
) -> None:
    machine.second_path()
    machine.place("sdc1", 2048, 16384)
    disk = imaged("sda")
    put(disk.path, 1 << 20, disk_images.luks)
    assert [signature.type for signature in safety.signatures_on(disk, 42, machine.roots)] == [
        "partitions",
        "crypto_LUKS",
    ]


def test_slices_in_a_partition_are_data_of_it(
    machine: Machine, imaged: Callable[[str], Device], monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.place("sda1", 2048, 65536)
    machine.place("sda2", 4096, 16384)
    put(imaged("sda").path, 2 << 20, disk_images.luks)
    outer = imaged("sda1")
    assert [str(signature) for signature in safety.signatures_on(outer, 42)] == [
        "1 partition that the kernel knows, without a table that libblkid reads",
        "encrypted volume crypto_LUKS at byte 1048576",
    ]
    monkeypatch.setattr(safety, "claimed_by_other_path", lambda *_: "")
    with pytest.raises(RefusedError, match="`blockdev --rereadpt /dev/sda` removes them; to"):
        check(machine, outer)


def test_a_partition_at_the_same_place_is_the_same_data(
    machine: Machine, imaged: Callable[[str], Device]
) -> None:
    for name in ("sda1", "sda2"):
        machine.place(name, 2048, 16384)
    assert safety.signatures_on(imaged("sda1"), 42) == []
    put(imaged("sda").path, 1 << 20, disk_images.luks)
    assert [str(signature) for signature in safety.signatures_on(imaged("sda1"), 42)] == [
        "encrypted volume crypto_LUKS at byte 0"
    ]


# Sectors of sda1 and of sda2, which a run writes.
ACROSS = {
    "begins before": ((2048, 32768), (16384, 32768)),
    "is around": ((2048, 65536), (16384, 16384)),
}


@pytest.mark.parametrize("places", ACROSS.values(), ids=ACROSS.keys())
def test_data_of_a_partition_that_overlaps_is_not_overwritten(
    machine: Machine,
    imaged: Callable[[str], Device],
    monkeypatch: pytest.MonkeyPatch,
    places: tuple[tuple[int, int], tuple[int, int]],
) -> None:
    """Its header is not on the partition that is written: only the disk has it."""
    monkeypatch.setattr(safety, "claimed_by_other_path", lambda *_: "")
    for name, place in zip(("sda1", "sda2"), places, strict=True):
        machine.place(name, *place)
    with pytest.raises(RefusedError) as refusal:
        check(machine, imaged("sda2"))
    assert refusal.value.message.endswith(
        "/sda2 holds data: part of partition sda1; to overwrite it, give --destroy 8:2/42"
    )
    put(imaged("sda").path, 1 << 20, disk_images.luks)
    with pytest.raises(RefusedError) as refusal:
        check(machine, imaged("sda2"))
    data = "part of partition sda1, encrypted volume crypto_LUKS at byte 0 of sda1"
    assert refusal.value.message.endswith(
        f"/sda2 holds data: {data}; to overwrite it, give --destroy 8:2/42"
    )
    remark = check(machine, imaged("sda2"), ("8:2/42",))
    assert remark is not None and remark.endswith(f"will be overwritten: {data}")
    machine.place("sda1", 2048, 14336)
    assert check(machine, imaged("sda2")) is None


def test_data_of_a_partition_that_ends_later_is_not_overwritten(
    machine: Machine, imaged: Callable[[str], Device]
) -> None:
    """A header at its end is beside the partition that is written; one at its beginning is
    listed once."""
    machine.place("sda1", 2048, 16384)
    machine.place("sda2", 2048, 32768)
    disk = imaged("sda")
    put(disk.path, 1 << 20, disk_images.luks)
    disk_images.write_at(disk.path, ((2048 + 32768) << 9) - 65536, md_0_90())
    assert [str(signature) for signature in safety.signatures_on(imaged("sda1"), 42)] == [
        "encrypted volume crypto_LUKS at byte 0",
        "part of partition sda2",
        f"RAID member linux_raid_member at byte {(32768 << 9) - 65536} of sda2",
    ]


def md_0_90() -> bytes:
    """Superblock of md with metadata 0.90, which is in the last 64 KiB."""
    return struct.pack("<4I", 0xA92B4EFC, 0, 90, 0).ljust(4096, b"\0")


def test_a_header_that_a_run_has_overwritten_is_no_new_data(
    machine: Machine, imaged: Callable[[str], Device], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(safety, "claimed_by_other_path", lambda *_: "")
    machine.place("sda1", 2048, 16384)
    machine.place("sda2", 16384, 32768)
    disk = imaged("sda")
    disk_images.write_at(disk.path, ((2048 + 16384) << 9) - 65536, md_0_90())
    before = safety.signatures_on(imaged("sda2"), 42)
    assert [data.type for data in before] == ["overlapping", "linux_raid_member"]
    disk_images.write_at(disk.path, 16384 << 9, bytes(1 << 20))
    safety.check_again(imaged("sda2"), 42, before, machine.roots)
    with pytest.raises(RefusedError, match="claimed: part of partition sda1;"):
        safety.check_again(imaged("sda2"), 42, [], machine.roots)


def test_a_partition_of_another_path_that_overlaps_has_data(
    machine: Machine, imaged: Callable[[str], Device]
) -> None:
    machine.second_path()
    machine.place("sdc1", 2048, 32768)
    machine.place("sda2", 16384, 32768)
    put(imaged("sda").path, 1 << 20, disk_images.luks)
    assert [
        str(signature) for signature in safety.signatures_on(imaged("sda2"), 42, machine.roots)
    ] == ["part of partition sdc1", "encrypted volume crypto_LUKS at byte 0 of sdc1"]


def test_a_disk_that_cannot_be_read_is_named(
    machine: Machine, imaged: Callable[[str], Device]
) -> None:
    """A container may have been given partitions only."""
    machine.place("sda1", 2048, 32768)
    machine.place("sda2", 16384, 32768)
    partition = imaged("sda2")
    (machine.roots.dev / "sda").unlink()
    with pytest.raises(RefusedError, match=r"cannot probe .*/sda for data: No such file"):
        safety.signatures_on(partition, 42)

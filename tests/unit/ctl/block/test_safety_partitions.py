# SPDX-License-Identifier: GPL-2.0
"""Data in partitions, which the safety check looks for as well as on the device itself."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from lib.core.augment_images import SET, Images
from lib.ctl.disk_machine import Machine, check
from lib.guest import disk_images

from spekctl.block import opening, safety, state_log
from spekctl.block.device import Device
from spekctl.errors import RefusedError


@pytest.fixture
def imaged(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], Device]:
    """imaged(name) is the device with the bytes of a file of 64 MiB, which holds nothing yet."""
    path = tmp_path / "image"
    path.write_bytes(b"")
    os.truncate(path, 64 << 20)
    machine.write(machine.roots.sys / "class/block/sda/size", f"{64 << 11}\n")

    def of(name: str) -> Device:
        known = machine.get(name)
        monkeypatch.setattr(opening, "number_of", lambda fd: (known.major, known.minor))
        return msgspec.structs.replace(known, path=str(path))

    monkeypatch.setattr(safety, "_diskseq", lambda fd: 42)
    monkeypatch.setattr(safety, "_drop_cache", lambda device, fd: None)
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
    """sda2 is a slice inside sda1; sda1 is what sda2 is inside of."""
    machine.place("sda1", 2048, 131072)
    machine.place("sda2", 4096, 16384)
    outer = imaged("sda1")
    put(outer.path, 1 << 20, disk_images.luks)
    assert [str(signature) for signature in safety.signatures_on(outer, 42)] == [
        "1 partition that the kernel knows, without a table that libblkid reads",
        "encrypted volume crypto_LUKS at byte 1048576",
    ]
    monkeypatch.setattr(safety, "claimed_by_other_path", lambda *_: "")
    with pytest.raises(RefusedError, match="`blockdev --rereadpt /dev/sda` removes them; to"):
        check(machine, outer)
    assert safety.signatures_on(imaged("sda2"), 42) == []
    machine.place("sda2", 2048, 131072)
    assert safety.signatures_on(imaged("sda1"), 42) == []

# SPDX-License-Identifier: GPL-2.0
"""Signatures of file systems, members and tables, as libblkid finds them."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from lib.guest import disk_images

from spekctl.block import blkid
from spekctl.block.blkid import Signature
from spekctl.errors import RefusedError


def image(tmp_path: Path, *command: str) -> Path:
    path = tmp_path / "image"
    with path.open("wb") as file:
        file.truncate(64 << 20)
    if command:
        if shutil.which(command[0]) is None:
            pytest.skip(f"{command[0]} is not installed")
        subprocess.run([*command, path], check=True, capture_output=True)
    return path


def found_on(path: Path) -> list[blkid.Signature]:
    fd = os.open(path, os.O_RDONLY)
    try:
        return blkid.signatures(fd)
    finally:
        os.close(fd)


def test_nothing_is_found_on_zeroes(tmp_path: Path) -> None:
    assert found_on(image(tmp_path)) == []


def test_a_file_system_is_found(tmp_path: Path) -> None:
    signatures = found_on(image(tmp_path, "mkfs.ext4", "-q", "-L", "mine"))
    assert [str(signature) for signature in signatures] == ["file system ext4 'mine' at byte 1080"]


def test_swap_space_is_found(tmp_path: Path) -> None:
    assert [signature.type for signature in found_on(image(tmp_path, "mkswap"))] == ["swap"]


def test_a_partition_table_is_found(tmp_path: Path) -> None:
    path = image(tmp_path)
    disk_images.mbr(str(path))
    signatures = found_on(path)
    assert [(signature.type, signature.usage) for signature in signatures] == [
        ("dos", "partition-table")
    ]


@pytest.mark.parametrize(
    ("write", "kind"),
    [
        (disk_images.luks, "crypto_LUKS"),
        (disk_images.lvm_member, "LVM2_member"),
        (disk_images.bcache_member, "bcache"),
        (disk_images.gpt, "gpt"),
    ],
)
def test_a_header_is_found(tmp_path: Path, write: Callable[[str], None], kind: str) -> None:
    path = image(tmp_path)
    write(str(path))
    assert [signature.type for signature in found_on(path)] == [kind]


def test_every_signature_is_found_not_only_the_first(tmp_path: Path) -> None:
    path = image(tmp_path, "mkfs.ext4", "-q")
    with path.open("r+b") as file:  # a RAID superblock of version 1.0 would be hidden behind it
        file.seek(510)
        file.write(b"\x55\xaa")
        file.seek(446 + 4)
        file.write(b"\x83")
        file.seek(446 + 8)
        file.write((2048).to_bytes(4, "little") + (2048).to_bytes(4, "little"))
    assert {signature.type for signature in found_on(path)} >= {"ext4"}


def test_without_libblkid_writing_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blkid, "_LIBRARY", "libblkid-is-not-here.so.1")
    with pytest.raises(RefusedError, match="cannot probe"):
        blkid.signatures(0)


def test_a_device_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    path = image(tmp_path)
    fd = os.open(path, os.O_WRONLY)
    try:
        with pytest.raises(RefusedError, match="cannot probe the device for data: "):
            blkid.signatures(fd)
    finally:
        os.close(fd)
    with pytest.raises(RefusedError, match="cannot probe the device for data: libblkid can't read"):
        blkid.signatures(fd)


def test_a_damaged_superblock_is_still_data(tmp_path: Path) -> None:
    """Its checksum is wrong, and somebody may want to repair it."""
    path = image(tmp_path, "mkfs.ext4", "-q", "-L", "mine", "-O", "metadata_csum")
    with path.open("r+b") as file:
        file.seek(1024 + 0x78)  # of the label
        file.write(b"M")
    assert [str(signature) for signature in found_on(path)] == [
        "file system ext4 'Mine' at byte 1080"
    ]


@pytest.mark.parametrize(
    ("signature", "text"),
    [
        (
            Signature("linux_raid_member", "raid", 4096, "a:0"),
            "RAID member linux_raid_member 'a:0'",
        ),
        (Signature("crypto_LUKS", "crypto", 0), "encrypted volume crypto_LUKS at byte 0"),
        (Signature("gpt", "partition-table", 512), "partition table gpt at byte 512"),
        (Signature("swap", "other", 4086, "s"), "swap space 's' at byte 4086"),
        (Signature("bcache", "other", 4120), "signature bcache at byte 4120"),
        (Signature("x", "later", 0), "later x at byte 0"),
    ],
)
def test_a_signature_says_what_it_is(signature: Signature, text: str) -> None:
    assert str(signature).startswith(text)

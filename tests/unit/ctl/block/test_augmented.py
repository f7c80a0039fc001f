# SPDX-License-Identifier: GPL-2.0
"""The SSD and the spare areas of an augment cache are recognized, and no run overwrites them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from lib.core.augment_images import BLOCK, SET, Images

from spekctl.block import augmented
from spekctl.block.blkid import Signature
from spekctl.errors import RefusedError


def signatures_on(path: str) -> list[Signature]:
    fd = os.open(path, os.O_RDONLY)
    try:
        return augmented.signatures(fd)
    finally:
        os.close(fd)


@pytest.fixture
def images(tmp_path: Path) -> Images:
    return Images(tmp_path / "set")


def test_both_superblocks_of_every_device_are_told_with_the_set(images: Images) -> None:
    for path in images.paths:
        assert [str(signature) for signature in signatures_on(path)] == [
            f"spek augment cache of set {SET} at byte 0",
            f"spek augment cache of set {SET} at byte 4096",
        ]


def test_the_second_superblock_alone_is_enough(images: Images) -> None:
    images.put(0, 0, bytes(BLOCK))
    assert [signature.offset for signature in signatures_on(images.path(0))] == [4096]


def test_a_damaged_superblock_counts(images: Images) -> None:
    """A torn one may be the last trace of data that nobody has destaged."""
    images.put(0, 1, bytes(BLOCK))
    images.damage(0, 0, at=80)
    assert [signature.offset for signature in signatures_on(images.path(0))] == [0]


@pytest.mark.parametrize("data", [b"", bytes(2 * BLOCK), b"SKRESUP", b"x" * 10])
def test_other_contents_are_no_cache(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "image"
    path.write_bytes(data)
    assert signatures_on(str(path)) == []


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    fd = os.open(tmp_path, os.O_RDONLY)
    try:
        with pytest.raises(RefusedError, match="cannot probe the device for data: Is a directory"):
            augmented.signatures(fd)
    finally:
        os.close(fd)

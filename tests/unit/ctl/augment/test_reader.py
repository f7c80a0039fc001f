# SPDX-License-Identifier: GPL-2.0
"""Blocks of files and devices; what is neither is not opened."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from lib.core.augment_images import BLOCK
from lib.ctl.augment import make_unreadable

from spekctl.augment.reader import Reader
from spekctl.block import opening
from spekctl.errors import NotPermittedError, SpekError, UsageError


@pytest.fixture
def path(tmp_path: Path) -> str:
    image = tmp_path / "image"
    image.write_bytes(b"".join(bytes([number]) * 4096 for number in range(5)) + b"x" * 100)
    return str(image)


def test_whole_blocks_are_read(path: str) -> None:
    with Reader(path) as reader:
        assert reader.count == 5
        assert [block[0] for block in reader.blocks(1, 3)] == [1, 2, 3]
        assert {len(block) for block in reader.blocks(0, 5)} == {4096}


def test_the_end_gives_fewer(path: str) -> None:
    with Reader(path) as reader:
        assert [block[0] for block in reader.blocks(3, 10)] == [3, 4]
        assert reader.blocks(100, 1) == []


def test_what_is_no_device_is_not_opened(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with pytest.raises(UsageError, match="is not a block device"):
        Reader(str(fifo))
    with pytest.raises(UsageError, match="there is no device or file"):
        Reader(str(tmp_path / "nothing"))


def test_a_device_is_opened_by_its_number_past_the_page_cache(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, int, object]] = []

    def open_device(path: str, flags: int, number: object = None) -> int:
        asked.append((path, flags, number))
        return os.open(path, os.O_RDONLY)

    monkeypatch.setattr(opening, "open_block_device", open_device)
    with Reader(path, (8, 1)) as reader:
        assert reader.blocks(2, 1)[0][0] == 2
    assert asked == [(path, os.O_RDONLY | os.O_DIRECT, (8, 1))]


def test_failures_are_sentences(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*given: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(opening, "open_block_device", refuse)
    with pytest.raises(NotPermittedError, match="not permitted to read"):
        Reader(path, (8, 1))

    def fail(*given: object) -> int:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(opening, "open_block_device", fail)
    with pytest.raises(SpekError, match=r"cannot open .*: Input/output error"):
        Reader(path, (8, 1))
    monkeypatch.undo()
    with Reader(path) as reader:
        monkeypatch.setattr(os, "preadv", fail)
        with pytest.raises(SpekError, match=r"reading .* at block 3: Input/output error"):
            reader.blocks(3, 1)
    monkeypatch.setattr(os, "lseek", fail)
    with pytest.raises(SpekError, match=r"cannot tell the size of .*: Input/output error"):
        Reader(path)


def test_blocks_that_cannot_be_read_leave_the_others(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_unreadable(monkeypatch, (path, 1), (path, 3))
    with Reader(path) as reader:
        read = reader.each(0, 10)
        assert [block and block[0] for block in read] == [0, None, 2, None, 4]
        assert reader.each(5, 1) == []


def test_what_is_read_in_part_is_read_on_singly(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As of a file, of which the blocks before the first that cannot be read are returned."""
    real = os.preadv

    def preadv(fd: int, buffers: Sequence[memoryview], offset: int) -> int:
        return min(real(fd, buffers, offset), 2 * BLOCK)

    monkeypatch.setattr(os, "preadv", preadv)
    with Reader(path) as reader:
        assert [block and block[0] for block in reader.each(1, 4)] == [1, 2, 3, 4]

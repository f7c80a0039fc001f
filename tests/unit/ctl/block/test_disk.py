# SPDX-License-Identifier: GPL-2.0
"""A real disk to be measured: what cannot be opened is refused in a sentence, reads are timed."""

from __future__ import annotations

import errno
import fcntl
import os
import struct
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from spekctl.block import opening
from spekctl.block.disk import SECTOR, RealDisk
from spekctl.errors import NotPermittedError, RefusedError, SpekError, UsageError

Opened = Callable[..., str]


@pytest.fixture
def block(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Opened:
    """block(size, logical block): path of a file that is taken for a block device."""
    path = tmp_path / "disk"
    path.write_bytes(bytes(range(256)) * 32)
    opened = os.open

    def make(size: int = 8192, logical: int = SECTOR, fails: int = 0) -> str:
        def ioctl(fd: int, request: int, buffer: bytes) -> bytes:
            wide = len(buffer) == 8
            return struct.pack("Q" if wide else "i", size if wide else logical)

        def open_file(name: str, flags: int) -> int:
            if flags & os.O_PATH:
                return opened(name, flags)
            assert flags & os.O_EXCL and flags & os.O_DIRECT
            if fails:
                raise OSError(fails, os.strerror(fails))
            return opened(name, os.O_RDONLY)

        monkeypatch.setattr(opening, "number_of", lambda fd: (8, 16))
        monkeypatch.setattr(os, "open", open_file)
        monkeypatch.setattr(fcntl, "ioctl", ioctl)
        return str(path)

    return make


def test_sectors_are_read_and_timed(block: Opened) -> None:
    with RealDisk(block()) as opened:
        assert opened.sectors == 16
        before = time.monotonic_ns()
        begin, end = opened.read(3, 2)
        assert before <= begin < end <= time.monotonic_ns()


def test_a_short_read_is_not_a_time(block: Opened) -> None:
    with RealDisk(block(size=1 << 20)) as opened, pytest.raises(SpekError) as failure:
        opened.read(15, 2)
    assert failure.value.message.endswith("at LBA 15 gave 512 of 1024 bytes")


@pytest.mark.parametrize(
    ("fails", "error", "sentence"),
    [
        (errno.EBUSY, RefusedError, "is in use; it must be idle to be measured"),
        (errno.EACCES, NotPermittedError, "may only be read by root"),
        (errno.ENOENT, UsageError, "there is no device"),
        (errno.EIO, SpekError, "Input/output error"),
    ],
)
def test_what_cannot_be_opened_says_why(
    fails: int, error: type[Exception], sentence: str, block: Opened
) -> None:
    with pytest.raises(error, match=sentence):
        RealDisk(block(fails=fails))


def test_large_sectors_are_refused_and_the_disk_is_let_go(
    block: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[RealDisk] = []
    path = block(logical=4096)
    monkeypatch.setattr(RealDisk, "close", lambda self: closed.append(self))
    with pytest.raises(UsageError, match="logical blocks of 4096 bytes; single sectors of 512"):
        RealDisk(path)
    (opened,) = closed
    os.close(opened._fd)


def test_a_file_is_no_disk(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="is not a block device"):
        RealDisk(str(tmp_path / "file"))
    with pytest.raises(UsageError, match="there is no device"):
        RealDisk(str(tmp_path / "none"))


def test_a_wait_does_not_end_early(block: Opened) -> None:
    with RealDisk(block()) as opened:
        for ms in (0, 1, 4):
            until = time.monotonic_ns() + ms * 10**6
            opened.wait_until(until)
            assert time.monotonic_ns() >= until

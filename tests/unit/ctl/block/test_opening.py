# SPDX-License-Identifier: GPL-2.0
"""Block devices are opened by number: what took the place of one is not opened at all."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from lib.fakes.machine import disk
from lib.processes import closes_what_it_opens

from spekctl.block import opening, safety, zones
from spekctl.block.disk import RealDisk
from spekctl.block.opening import open_block_device
from spekctl.errors import RefusedError, UsageError

NUMBER = (8, 16)
Node = Callable[[str, tuple[int, int]], Path]


@pytest.fixture
def node(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Node:
    """node(name, number): a file with its name as content, which fstat() calls a block device."""
    numbers: dict[int, int] = {}
    fstat = os.fstat

    def fake_fstat(fd: int) -> object:
        status = fstat(fd)
        if status.st_ino not in numbers:
            return status
        return SimpleNamespace(st_mode=stat.S_IFBLK | 0o600, st_rdev=numbers[status.st_ino])

    def make(name: str, number: tuple[int, int]) -> Path:
        path = tmp_path / name
        path.write_text(name)
        numbers[path.stat().st_ino] = os.makedev(*number)
        return path

    monkeypatch.setattr(os, "fstat", fake_fstat)
    return make


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Paths that are opened for more than to know what they are."""
    paths: list[str] = []
    os_open = os.open

    def spy(path: str, flags: int, *rest: int) -> int:
        if not flags & os.O_PATH:
            paths.append(str(path))
            # A FIFO without a writer would block here.
            flags |= os.O_NONBLOCK
        return os_open(path, flags, *rest)

    monkeypatch.setattr(os, "open", spy)
    return paths


@pytest.fixture(autouse=True)
def no_leak() -> Iterator[None]:
    with closes_what_it_opens():
        yield


def read(path: Path, number: tuple[int, int] | None = NUMBER) -> bytes:
    with os.fdopen(open_block_device(str(path), os.O_RDONLY, number), "rb") as file:
        return file.read()


def test_the_device_with_the_number_is_opened(node: Node, tmp_path: Path) -> None:
    sdb = node("sdb", NUMBER)
    assert read(sdb) == read(sdb, None) == b"sdb"
    link = tmp_path / "by-id"
    link.symlink_to(sdb)
    assert read(link) == b"sdb"
    fd = open_block_device(str(sdb), os.O_RDONLY, NUMBER)
    try:
        assert not os.get_inheritable(fd)
        assert not os.get_blocking(fd)
    finally:
        os.close(fd)


def plain_file(path: Path) -> None:
    path.write_bytes(b"")


def fifo(path: Path) -> None:
    os.mkfifo(path)


def character_device(path: Path) -> None:
    path.symlink_to("/dev/null")


REPLACEMENTS = [plain_file, Path.mkdir, fifo, character_device]


@pytest.mark.parametrize("put", REPLACEMENTS)
def test_what_is_no_block_device_is_not_opened(
    put: Callable[[Path], None], tmp_path: Path, opened: list[str]
) -> None:
    """A watchdog that is opened starts, a tape rewinds, a FIFO waits. The character device 1:3 is
    not the disk 1:3."""
    path = tmp_path / "sdb"
    put(path)
    for number in (NUMBER, (1, 3)):
        with pytest.raises(RefusedError, match="sdb has just been replaced by another device"):
            read(path, number)
    with pytest.raises(UsageError, match="sdb is not a block device"):
        read(path, None)
    assert opened == []


def test_another_disk_is_not_opened(node: Node, tmp_path: Path, opened: list[str]) -> None:
    link = tmp_path / "by-id"
    link.symlink_to(node("sdc", (8, 32)))
    with pytest.raises(RefusedError, match="replaced"):
        read(link)
    assert opened == []


def test_a_path_that_changes_after_the_look_is_not_followed_again(
    node: Node, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sdb, intruder = node("sdb", NUMBER), node("sdc", (8, 32))
    link = tmp_path / "by-id"
    link.symlink_to(sdb)
    os_open = os.open

    def change_after(path: str, flags: int) -> int:
        fd = os_open(path, flags)
        if flags & os.O_PATH:
            link.unlink()
            link.symlink_to(intruder)
        return fd

    monkeypatch.setattr(os, "open", change_after)
    assert read(link) == b"sdb"


def test_it_is_checked_again_what_was_opened(
    node: Node, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a container /proc may be what its owner put there."""
    sdb = node("sdb", NUMBER)
    (tmp_path / "proc").mkdir()
    for fd in range(100):
        (tmp_path / "proc" / str(fd)).symlink_to("/dev/null")
    monkeypatch.setattr(opening, "_PROC", str(tmp_path / "proc"))
    with pytest.raises(RefusedError, match="replaced"):
        read(sdb)


def test_without_proc_the_refusal_says_so(
    node: Node, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sdb = node("sdb", NUMBER)
    monkeypatch.setattr(opening, "_PROC", str(tmp_path / "none"))
    with pytest.raises(RefusedError, match="mount /proc"):
        read(sdb)
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "sdz")


def test_a_character_device_is_opened_by_its_number_as_well(
    node: Node, tmp_path: Path, opened: list[str]
) -> None:
    """The disk 1:3 is not the character device 1:3."""
    sdb = node("sdb", (1, 3))
    for path, number in ((sdb, (1, 3)), (Path("/dev/null"), (1, 5)), (tmp_path, (1, 3))):
        with pytest.raises(RefusedError, match="has just been replaced by another device"):
            opening.open_character_device(str(path), os.O_RDONLY, number)
    assert opened == []
    fd = opening.open_character_device("/dev/null", os.O_RDONLY, (1, 3))
    try:
        assert os.read(fd, 1) == b""
        assert not os.get_inheritable(fd)
    finally:
        os.close(fd)


@pytest.mark.parametrize("put", REPLACEMENTS)
def test_nobody_opens_a_device_by_its_path_alone(
    put: Callable[[Path], None], tmp_path: Path, opened: list[str]
) -> None:
    """Neither who looks for data, nor the reader of zones, nor that of sectors."""
    path = tmp_path / "sdb0"
    put(path)
    given = disk(str(path), major=NUMBER[0], minor=NUMBER[1])
    assert zones.report(given) == []
    with pytest.raises(RefusedError, match="replaced"):
        safety.signatures_on(given, 42)
    with pytest.raises(RefusedError, match="replaced"):
        RealDisk(str(path), NUMBER)
    with pytest.raises(UsageError, match="not a block device"):
        RealDisk(str(path))
    assert opened == []

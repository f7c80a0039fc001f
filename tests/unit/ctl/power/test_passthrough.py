# SPDX-License-Identifier: GPL-2.0
"""Commands as ioctl(2) gets them, by a kernel that reads the caller's memory as the real one."""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from spekctl.block import opening
from spekctl.errors import NotPermittedError, RefusedError, SpekError
from spekctl.power import passthrough
from spekctl.power.passthrough import Node, NvmeReply, Place, ScsiReply

NULL = Place("/dev/null", (1, 3), is_character=True)
Ioctl = Callable[[int, int, bytearray], int]


def patched(monkeypatch: pytest.MonkeyPatch, ioctl: Ioctl) -> Node:
    monkeypatch.setattr("spekctl.power.passthrough.fcntl.ioctl", ioctl)
    return Node(NULL)


def test_a_scsi_command_has_its_cdb_direction_and_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """struct sg_io_hdr of the 64-bit ABI: 88 bytes."""

    def ioctl(fd: int, request: int, header: bytearray) -> int:
        assert (request, len(header)) == (0x2285, 88)
        interface, direction, cdb_length, sense_room = struct.unpack_from("=iiBB", header)
        length, data, cdb, sense, timeout = struct.unpack_from("=IQQQI", header, 12)
        assert (interface, direction, cdb_length, length) == (ord("S"), -3, 6, 18)
        assert timeout == 1234
        assert ctypes.string_at(cdb, 6) == b"\x03\0\0\0\x12\0"
        ctypes.memmove(data, b"\x70abcdefgh", 9)
        ctypes.memmove(sense, b"\x72\x01", 2)
        assert sense_room >= 24
        header[64], header[67] = 2, 2  # status, length of sense
        struct.pack_into("=HHi", header, 68, 7, 8, 9)  # host, driver, residue
        return 0

    node = patched(monkeypatch, ioctl)
    reply = node.scsi(b"\x03\0\0\0\x12\0", length=18, timeout_ms=1234)
    assert reply == ScsiReply(2, 7, b"\x72\x01", b"\x70abcdefgh")
    node.close()


@pytest.mark.parametrize(("data", "direction"), [(b"", -1), (b"parameters", -2)])
def test_parameters_are_sent_and_nothing_is_received(
    monkeypatch: pytest.MonkeyPatch, data: bytes, direction: int
) -> None:
    def ioctl(fd: int, request: int, header: bytearray) -> int:
        assert struct.unpack_from("=i", header, 4) == (direction,)
        length, address = struct.unpack_from("=IQ", header, 12)
        assert ctypes.string_at(address, length) == data
        assert struct.unpack_from("=I", header, 40) == (Node.TIMEOUT_MS,)
        return 0

    with patched(monkeypatch, ioctl) as node:
        assert node.scsi(bytes(6), data=data) == ScsiReply(0, 0, b"", b"")


def test_an_nvme_command_has_its_dwords(monkeypatch: pytest.MonkeyPatch) -> None:
    """struct nvme_passthru_cmd: 72 bytes."""
    clock = [10**9]

    def ioctl(fd: int, request: int, command: bytearray) -> int:
        assert (request, len(command)) == (0xC0484E41, 72)
        assert command[0] == 0x0A
        assert struct.unpack_from("=I", command, 4) == (3,)
        address, _, length = struct.unpack_from("=QII", command, 24)
        assert struct.unpack_from("=6I", command, 40) == (2, 5, 0, 0, 0, 0)
        assert struct.unpack_from("=I", command, 64) == (Node.TIMEOUT_MS,)
        ctypes.memmove(address, b"answer", 6)
        clock.append(75_000)
        struct.pack_into("=I", command, 68, 0x64)
        return 0x4002 if length != 8 else 0

    with patched(monkeypatch, ioctl) as node:
        monkeypatch.setattr(passthrough, "time", SimpleNamespace(monotonic_ns=lambda: sum(clock)))
        assert node.nvme(0x0A, (2, 5), 8, 3) == NvmeReply(0, 0x64, b"answer\0\0", 75_000)


@pytest.mark.parametrize(
    ("number", "kind", "sentence"),
    [
        (errno.EPERM, NotPermittedError, "only root may send commands to /dev/null"),
        (errno.EACCES, NotPermittedError, "only root may send commands to /dev/null"),
        (errno.ENOTTY, SpekError, "/dev/null takes no commands of this kind"),
        (errno.EIO, SpekError, "/dev/null: a command failed: Input/output error"),
        (errno.ENODEV, OSError, ""),
    ],
)
def test_what_the_kernel_refuses_is_a_sentence(
    monkeypatch: pytest.MonkeyPatch, number: int, kind: type[Exception], sentence: str
) -> None:
    def ioctl(fd: int, request: int, header: bytearray) -> int:
        raise OSError(number, os.strerror(number))

    with patched(monkeypatch, ioctl) as node, pytest.raises(kind) as caught:
        node.scsi(bytes(6))
    assert isinstance(caught.value, kind)
    assert sentence in str(caught.value)


@pytest.mark.parametrize("code", [0, errno.EIO])
def test_a_reset_is_of_the_disk_alone_and_may_fail(
    monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    asked = []

    def ioctl(fd: int, request: int, argument: bytearray) -> int:
        asked.append((request, struct.unpack("=i", argument)[0]))
        if code:
            raise OSError(code, os.strerror(code))
        return 0

    with patched(monkeypatch, ioctl) as node:
        node.reset()
    assert asked == [(0x2284, 0x101)]


def test_a_node_is_opened_for_reading_and_only_if_it_is_the_one(tmp_path: Path) -> None:
    with Node(NULL) as node, pytest.raises(SpekError, match="takes no commands of this kind"):
        node.scsi(bytes(6))
    with pytest.raises(RefusedError, match="has just been replaced"):
        Node(Place("/dev/null", (1, 5), is_character=True))
    with pytest.raises(RefusedError, match="has just been replaced"):
        Node(Place("/dev/null", (1, 3), is_character=False))
    with pytest.raises(FileNotFoundError):
        Node(Place(str(tmp_path / "sg9"), (21, 9), is_character=True))


def test_who_may_not_open_it_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: str, flags: int, number: object) -> int:
        assert flags == os.O_RDONLY
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(opening, "open_character_device", refuse)
    with pytest.raises(NotPermittedError, match="only root may send commands to /dev/null"):
        Node(NULL)

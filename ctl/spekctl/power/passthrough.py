# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands to disks by ioctl: SCSI ones by SG_IO, NVMe admin commands by NVME_IOCTL_ADMIN_CMD.

Of a SCSI disk it opens the generic node (/dev/sgN). That sends nothing; the open of /dev/sdX sends
TEST UNIT READY and PREVENT MEDIUM REMOVAL to a disk that calls itself removable, and may read its
partition table. All are opened for reading: udev looks into a disk that was open for writing.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from spekctl.block import opening
from spekctl.closing import Closing
from spekctl.errors import NotPermittedError, SpekError

# include/scsi/sg.h and include/uapi/linux/nvme_ioctl.h.
_SG_IO = 0x2285
_SG_SCSI_RESET = 0x2284
_RESET_DISK = 0x101  # SG_SCSI_RESET_DEVICE | SG_SCSI_RESET_NO_ESCALATE
_NVME_ADMIN = 0xC0484E41
_SG_HEADER = struct.Struct("=iiBBHIQQQIIi4xQBBBBHHiII4x")
_NVME_COMMAND = struct.Struct("=BBHIIIQQIIIIIIIIII")
_NONE, _TO_DISK, _FROM_DISK = -1, -2, -3
_SENSE_BYTES = 64

# What becomes of the ioctl when the disk is there no more.
GONE = (errno.ENODEV, errno.ENXIO)


@dataclass(frozen=True, slots=True)
class ScsiReply:
    """The end of a SCSI command. @host: not 0: the command got no answer from the disk."""

    status: int
    host: int
    sense: bytes
    data: bytes


@dataclass(frozen=True, slots=True)
class NvmeReply:
    """The end of an NVMe admin command: status field, Dword 0 of the completion, and data.
    @spent_ns: from the call of the kernel to its return."""

    status: int
    result: int
    data: bytes
    spent_ns: int = 0


class Channel(Protocol):
    """A way to send commands to a disk. OSError as of ioctl(2)."""

    def scsi(
        self, cdb: bytes, length: int = 0, data: bytes = b"", timeout_ms: int = 0
    ) -> ScsiReply:
        """Send a CDB; @length: bytes to be received; @data: bytes to be sent."""
        ...

    def nvme(
        self, opcode: int, dwords: tuple[int, ...], length: int = 0, namespace: int = 0
    ) -> NvmeReply:
        """Send an admin command with Dwords 10, 11 and so on; @length: bytes to be received;
        @namespace: that it is about, 0: none."""
        ...

    def reset(self) -> None:
        """Reset a SCSI disk, and nothing else if its driver cannot do that."""
        ...

    def close(self) -> None:
        """Close it."""
        ...


@dataclass(frozen=True, slots=True)
class Place:
    """A node that takes commands."""

    path: str
    number: opening.Number
    is_character: bool


Opener = Callable[[Place], Channel]


class Node(Closing):
    """A Channel to a node of the kernel."""

    TIMEOUT_MS = 20_000

    def __init__(self, place: Place) -> None:
        self._path = place.path
        open_node = (
            opening.open_character_device if place.is_character else opening.open_block_device
        )
        try:
            self._fd = open_node(place.path, os.O_RDONLY, place.number)
        except PermissionError as error:
            raise not_permitted(place.path) from error

    def close(self) -> None:
        """Close the node."""
        os.close(self._fd)

    def scsi(
        self, cdb: bytes, length: int = 0, data: bytes = b"", timeout_ms: int = 0
    ) -> ScsiReply:
        """As Channel says."""
        size = len(data) or length
        buffer = ctypes.create_string_buffer(data or bytes(size), max(size, 1))
        sense = ctypes.create_string_buffer(_SENSE_BYTES)
        command = ctypes.create_string_buffer(cdb, len(cdb))
        direction = _TO_DISK if data else _FROM_DISK if length else _NONE
        header = bytearray(
            _SG_HEADER.pack(
                *(ord("S"), direction, len(cdb), _SENSE_BYTES, 0, size, ctypes.addressof(buffer)),
                *(ctypes.addressof(command), ctypes.addressof(sense)),
                *(timeout_ms or self.TIMEOUT_MS, 0, 0, 0),
                *(0, 0, 0, 0, 0, 0, 0, 0, 0),
            )
        )
        self._ioctl(_SG_IO, header)
        fields = _SG_HEADER.unpack(header)
        status, _, _, written, host, _, residue = fields[13:20]
        received = b"" if data else buffer.raw[: max(0, size - residue)]
        return ScsiReply(status, host, sense.raw[:written], received)

    def nvme(
        self, opcode: int, dwords: tuple[int, ...], length: int = 0, namespace: int = 0
    ) -> NvmeReply:
        """As Channel says."""
        buffer = ctypes.create_string_buffer(max(length, 1))
        words = (*dwords, *[0] * (6 - len(dwords)))
        command = bytearray(
            _NVME_COMMAND.pack(
                *(opcode, 0, 0, namespace, 0, 0, 0),
                *(ctypes.addressof(buffer) if length else 0, 0, length),
                *(*words, self.TIMEOUT_MS, 0),
            )
        )
        began_ns = time.monotonic_ns()
        status = self._ioctl(_NVME_ADMIN, command)
        spent_ns = time.monotonic_ns() - began_ns
        return NvmeReply(status, _NVME_COMMAND.unpack(command)[-1], buffer.raw[:length], spent_ns)

    def reset(self) -> None:
        """As Channel says."""
        # Drivers without a reset of the disk alone fail it.
        with contextlib.suppress(SpekError):
            self._ioctl(_SG_SCSI_RESET, bytearray(struct.pack("=i", _RESET_DISK)))

    def _ioctl(self, request: int, argument: bytearray) -> int:
        try:
            return int(fcntl.ioctl(self._fd, request, argument))
        except PermissionError as error:
            raise not_permitted(self._path) from error
        except OSError as error:
            if error.errno in GONE:
                raise
            if error.errno in (errno.ENOTTY, errno.EINVAL):
                raise SpekError(f"{self._path} takes no commands of this kind") from error
            raise SpekError(f"{self._path}: a command failed: {error.strerror}") from error


def not_permitted(path: str) -> NotPermittedError:
    """The refusal of who is not root."""
    return NotPermittedError(f"only root may send commands to {path}")

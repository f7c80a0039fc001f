# SPDX-License-Identifier: GPL-2.0-or-later
"""A real disk to be measured: single reads past the page cache, timed by CLOCK_MONOTONIC."""

from __future__ import annotations

import errno
import fcntl
import mmap
import os
import struct
import time

from spekctl.block import opening
from spekctl.closing import Closing
from spekctl.errors import NotPermittedError, RefusedError, SpekError, UsageError

SECTOR = 512
_BLKGETSIZE64 = 0x80081272
_BLKSSZGET = 0x1268
# A sleep may last so much too long; the remaining time is spun away.
_SLEEPS_LATE_NS = 2_000_000


class RealDisk(Closing):
    """A block device, opened for exclusive reading."""

    def __init__(self, path: str, number: opening.Number | None = None) -> None:
        """@number: of the device that was looked at, if one was; no other is opened."""
        flags = os.O_RDONLY | os.O_DIRECT | os.O_EXCL
        try:
            self._fd = opening.open_block_device(path, flags, number)
        except FileNotFoundError as error:
            raise UsageError(f"there is no device {path}") from error
        except PermissionError as error:
            raise NotPermittedError(f"{path} may only be read by root") from error
        except OSError as error:
            if error.errno == errno.EBUSY:
                raise RefusedError(f"{path} is in use; it must be idle to be measured") from error
            raise SpekError(f"cannot open {path}: {error.strerror}") from error
        self.path = path
        self._buffer = mmap.mmap(-1, 1 << 20)
        size = struct.unpack("Q", fcntl.ioctl(self._fd, _BLKGETSIZE64, bytes(8)))[0]
        block = struct.unpack("i", fcntl.ioctl(self._fd, _BLKSSZGET, bytes(4)))[0]
        self.sectors = size // SECTOR
        if block != SECTOR:
            self.close()
            raise UsageError(
                f"{path} has logical blocks of {block} bytes; single sectors of 512 are needed"
            )

    def close(self) -> None:
        """Close the disk."""
        os.close(self._fd)

    def read(self, lba: int, sectors: int = 1) -> tuple[int, int]:
        """Read sectors; return start and end, ns."""
        view = memoryview(self._buffer)[: sectors * SECTOR]
        begin = time.monotonic_ns()
        try:
            count = os.preadv(self._fd, [view], lba * SECTOR)
        except OSError as error:
            raise SpekError(f"reading {self.path} at LBA {lba}: {error.strerror}") from error
        end = time.monotonic_ns()
        if count != len(view):
            raise SpekError(f"reading {self.path} at LBA {lba} gave {count} of {len(view)} bytes")
        return begin, end

    def wait_until(self, ns: int) -> None:
        """Wait until this time of that clock, ns."""
        left = ns - time.monotonic_ns() - _SLEEPS_LATE_NS
        if left > 0:
            time.sleep(left / 1e9)
        while time.monotonic_ns() < ns:
            pass

# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads blocks of a device, or of an image of it in a file, and never writes.

A device is read past the page cache, which does not learn of what a mapping writes to it.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import stat

from spekctl.block import opening
from spekctl.block.augmented import BLOCK_BYTES
from spekctl.closing import Closing
from spekctl.errors import NotPermittedError, SpekError, UsageError

_MOST_BLOCKS = 64


class Reader(Closing):
    """A device or file, open for reading."""

    def __init__(self, path: str, number: opening.Number | None = None) -> None:
        """@number: of the device that was looked at, if one was; no other is opened."""
        self.path = path
        try:
            if number is None and stat.S_ISREG(os.stat(path).st_mode):
                self._fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            else:
                flags = os.O_RDONLY | os.O_DIRECT
                self._fd = opening.open_block_device(path, flags, number)
        except FileNotFoundError as error:
            raise UsageError(f"there is no device or file {path}") from error
        except PermissionError as error:
            raise NotPermittedError(f"not permitted to read {path}") from error
        except OSError as error:
            raise SpekError(f"cannot open {path}: {error.strerror}") from error
        try:
            self.count = os.lseek(self._fd, 0, os.SEEK_END) // BLOCK_BYTES
        except OSError as error:
            os.close(self._fd)
            raise SpekError(f"cannot tell the size of {path}: {error.strerror}") from error
        self._buffer = mmap.mmap(-1, _MOST_BLOCKS * BLOCK_BYTES)

    def close(self) -> None:
        """Close the device or file."""
        os.close(self._fd)
        self._buffer.close()

    def blocks(self, first: int, count: int) -> list[bytes]:
        """Blocks of 4 KiB; fewer at the end of the device. @count: 64 at most."""
        with memoryview(self._buffer)[: count * BLOCK_BYTES] as view:
            try:
                length = os.preadv(self._fd, [view], first * BLOCK_BYTES)
            except OSError as error:
                raise SpekError(
                    f"reading {self.path} at block {first}: {error.strerror}"
                ) from error
            whole = length // BLOCK_BYTES
            return [
                bytes(view[place * BLOCK_BYTES : (place + 1) * BLOCK_BYTES])
                for place in range(whole)
            ]

    def each(self, first: int, count: int) -> list[bytes | None]:
        """As blocks(), but None for each block that cannot be read by block() either: what kept the
        device from it may be over."""
        try:
            read: list[bytes | None] = [*self.blocks(first, count)]
        except SpekError:
            read = []
        end = min(first + count, self.count)
        return read + [self._singly(block) for block in range(first + len(read), end)]

    def block(self, number: int) -> bytes:
        """A block, read a second time if the first fails, as the module reads it. Empty beyond the
        end of the device; SpekError if both fail."""
        try:
            read = self.blocks(number, 1)
        except SpekError:
            read = self.blocks(number, 1)
        return b"".join(read)

    def _singly(self, number: int) -> bytes | None:
        with contextlib.suppress(SpekError):
            return self.block(number) or None
        return None

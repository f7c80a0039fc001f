# SPDX-License-Identifier: GPL-2.0
"""Memory that blocks its readers until the test supplies the contents."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import mmap
import os
import struct
from collections.abc import Callable, Iterator

from lib.guest.syscalls import SYS

API, MISSING = 0xAA, 1


def _request(number: int, *words: int) -> tuple[int, bytes]:
    """Code and argument of an ioctl() of userfaultfd, all of u64."""
    argument = struct.pack(f"={len(words)}Q", *words)
    return 3 << 30 | len(argument) << 16 | API << 8 | number, argument


def address_of(memory: mmap.mmap) -> int:
    """Address of writable memory."""
    return ctypes.addressof(ctypes.c_char.from_buffer(memory))


@contextlib.contextmanager
def absent(memory: mmap.mmap, content: bytes = b"") -> Iterator[Callable[[], object]]:
    """Whoever touches @memory, the kernel too, waits until the function that is given is called,
    and then finds @content there, and zeroes after it."""
    start = address_of(memory)
    source = mmap.mmap(-1, len(memory))
    source[: len(content)] = content
    uffd = ctypes.CDLL(None, use_errno=True).syscall(SYS.userfaultfd, os.O_CLOEXEC)
    assert uffd >= 0, os.strerror(ctypes.get_errno())
    try:
        fcntl.ioctl(uffd, *_request(0x3F, API, 0, 0))
        fcntl.ioctl(uffd, *_request(0x00, start, len(memory), MISSING, 0))
        copy = _request(0x03, start, address_of(source), len(memory), 0, 0)
        yield lambda: fcntl.ioctl(uffd, *copy)
    finally:
        os.close(uffd)

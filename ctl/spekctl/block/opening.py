# SPDX-License-Identifier: GPL-2.0-or-later
"""Opens block devices by their number.

A path is looked at first and opened later, and may lead elsewhere meanwhile: links and directories
on the way may be a user's. To open what has come in its place may have effects, as that of a tape
rewinds it, that of a watchdog starts it, and that of a FIFO waits. So the path is only walked, by
O_PATH, which opens no device; what it leads to is compared with the number, and then that very
inode is opened, through /proc/self/fd. Links are followed, as /dev/disk/by-id consists of them:
the number decides.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable

from spekctl.errors import RefusedError, UsageError

# As st_rdev: a device number of the kernel, major and minor.
Number = tuple[int, int]

_PROC = "/proc/self/fd"


def open_block_device(path: str, flags: int, number: Number | None = None) -> int:
    """Open the block device at @path, if it has this @number; without one, any block device.

    @flags: O_RDONLY and the like; O_CLOEXEC and O_NONBLOCK, by which a drive without a medium is
    opened, are added.
    Return: a descriptor of the caller's. OSError as of open(2); RefusedError if the path leads to
    something else than the device with that number, which is then not opened, or if there is no
    /proc to open it by; UsageError, without a number, if it is not a block device.
    """
    return _open(path, flags, number, number_of)


def open_character_device(path: str, flags: int, number: Number) -> int:
    """Open the character device at @path, if it has this @number, such as the generic node of a
    SCSI disk. Otherwise as open_block_device()."""
    return _open(path, flags, number, _character_number_of)


def _open(
    path: str, flags: int, number: Number | None, read_number: Callable[[int], Number | None]
) -> int:
    """@read_number: the number of a descriptor's device; None if it is of another kind."""
    place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        here = read_number(place)
        if here is None and number is None:
            raise UsageError(f"{path} is not a block device")
        if here is None or number not in (None, here):
            raise replaced(path)
        fd = _reopen(place, path, flags | os.O_CLOEXEC | os.O_NONBLOCK)
    finally:
        os.close(place)
    # What is mounted at /proc need not be procfs.
    if read_number(fd) != here:
        os.close(fd)
        raise replaced(path)
    return fd


def _reopen(place: int, path: str, flags: int) -> int:
    try:
        return os.open(f"{_PROC}/{place}", flags)
    except FileNotFoundError as error:
        if os.path.exists(_PROC):
            raise
        raise RefusedError(
            f"{path} is opened through /proc/self/fd, so that nothing else is opened in its"
            " place; mount /proc"
        ) from error


def number_of(fd: int) -> Number | None:
    """The number of the block device at @fd; None of anything else: a character device may have
    the same."""
    return _number_if(stat.S_ISBLK, fd)


def _character_number_of(fd: int) -> Number | None:
    return _number_if(stat.S_ISCHR, fd)


def _number_if(is_kind: Callable[[int], bool], fd: int) -> Number | None:
    status = os.fstat(fd)
    if not is_kind(status.st_mode):
        return None
    return os.major(status.st_rdev), os.minor(status.st_rdev)


class ReplacedError(RefusedError):
    """Something else has taken the place of a device."""


def replaced(path: str) -> ReplacedError:
    """The refusal of what has taken the place of a device."""
    return ReplacedError(f"{path} has just been replaced by another device")

# SPDX-License-Identifier: GPL-2.0-or-later
"""Which disks spekctl has put to sleep.

A disk in SLEEP answers no command: the kernel resets it, which wakes it. So it cannot be asked, and
the kernel shows nowhere that it sleeps. What is kept, until the next boot, is the kernel's count of
commands when the disk fell asleep: while that stays, nothing was sent to it. A disk that another
program puts to sleep (`hdparm -Y`) cannot be told from a disk that is awake.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

import msgspec

from spekctl import files
from spekctl.errors import SpekError
from spekctl.power.disk import Disk, counters_of, requests_of

FOLDER = Path("/run/spek/asleep")


class _Record(msgspec.Struct, frozen=True):
    """Counts of commands and of completed I/O when the disk fell asleep."""

    requests: int | None
    completed: int | None


def note(disk: Disk, folder: Path = FOLDER) -> None:
    """Remember that the disk sleeps now."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SpekError(f"cannot create {folder}: {error.strerror}") from error
    files.write(_path(disk, folder), msgspec.json.encode(_now(disk)))


def sleeps(disk: Disk, folder: Path = FOLDER) -> bool:
    """Whether nothing has been sent to the disk since spekctl put it to sleep."""
    try:
        kept = files.decode(_path(disk, folder).read_bytes(), _Record)
    except (OSError, msgspec.DecodeError):
        return False
    return kept == _now(disk) and kept != _Record(None, None)


def forget(disk: Disk, folder: Path = FOLDER) -> None:
    """The disk does not sleep any more."""
    with contextlib.suppress(OSError):
        _path(disk, folder).unlink()


def _now(disk: Disk) -> _Record:
    counters = counters_of(disk)
    return _Record(requests_of(disk), counters.completed if counters else None)


def _path(disk: Disk, folder: Path) -> Path:
    """A disk sequence number is of one disk until the next boot."""
    device = disk.device
    return folder / f"{device.major}:{device.minor}-{device.diskseq}"

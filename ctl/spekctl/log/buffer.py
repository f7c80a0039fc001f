# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel's log buffers: files of debugfs, one for each worker of a run."""

from __future__ import annotations

import contextlib
import errno as errno_names
import os
import re
from io import FileIO
from pathlib import Path
from typing import Protocol

from spekctl import namespaces
from spekctl.errors import NotPermittedError, SpekError, UsageError
from spekctl.kernel.records import RunInfo

MOUNTS = Path("/proc/self/mounts")


class Buffer(Protocol):
    """Whole records, in order of completion."""

    def readinto(self, buffer: memoryview, /) -> int | None:
        """Records that fit; 0 bytes: there are none at the moment."""

    def close(self) -> None:
        """Read no more of them."""


def debugfs() -> Path:
    """Mount point of debugfs."""
    with contextlib.suppress(OSError):
        for line in MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines():
            fields = line.split(" ")
            if len(fields) > 2 and fields[2] == "debugfs":
                # /proc writes blanks and the like as \040.
                octal = re.compile(r"\\([0-7]{3})")
                return Path(octal.sub(lambda digits: chr(int(digits[1], 8)), fields[1]))
    remedy = "mount -t debugfs none /sys/kernel/debug"
    if namespaces.around().container:
        remedy = namespaces.DEBUGFS_REMEDY
    raise UsageError(f"a per-I/O log needs debugfs, which is not mounted: {remedy}")


def open_buffer(info: RunInfo, worker: int) -> FileIO:
    """The records of a worker of a run that has a log; a SpekError says why they cannot be read."""
    path = debugfs() / info.log_dir / f"worker{worker}"
    try:
        return FileIO(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK))
    except OSError as error:
        text = f"cannot read the log at {path}: {error.strerror or error}"
        if error.errno in (errno_names.EPERM, errno_names.EACCES):
            raise NotPermittedError(f"{text} (a locked-down kernel may forbid it)") from error
        raise SpekError(text) from error

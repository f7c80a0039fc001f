# SPDX-License-Identifier: GPL-2.0-or-later
"""Recognizes a device that holds the log of `spekctl run --state-on`, by the magic in its first
block; run/state_log.py describes the log."""

from __future__ import annotations

import os

from spekctl.block.blkid import Signature
from spekctl.errors import RefusedError

NAME = "spek_state_log"
MAGIC = b"SPEKACKS"


def signatures(fd: int, first: int = 0) -> list[Signature]:
    """The log on the device open at @fd, or on its partition from byte @first on; fails closed."""
    try:
        head = os.pread(fd, len(MAGIC), first)
    except OSError as error:
        raise RefusedError(f"cannot probe the device for data: {error.strerror}") from error
    return [Signature(NAME, "other", first)] if head == MAGIC else []

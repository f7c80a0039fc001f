# SPDX-License-Identifier: GPL-2.0
"""What is left of the kernel's events for udev to do."""

from __future__ import annotations

from pathlib import Path

_QUEUE = Path("/run/udev/queue")


class State:
    """@rests: udev reads events and does nothing about them, so that nobody waits for it."""

    rests = False


def has_handled_all() -> bool:
    """True if udev has nothing to do, or will do nothing."""
    return State.rests or not _QUEUE.exists()

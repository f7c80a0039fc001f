# SPDX-License-Identifier: GPL-2.0-or-later
"""The state and counters of all runs in the kernel at this moment, for a monitoring system."""

from __future__ import annotations

import contextlib

from spekctl.errors import NotFoundError
from spekctl.kernel.client import Kernel
from spekctl.kernel.records import RunInfo, RunState, StatsCell

# These have no counters yet, or never get them.
_WITHOUT = (RunState.OPENING, RunState.READY, RunState.FAILED)


def runs(kernel: Kernel) -> list[tuple[RunInfo, list[StatsCell]]]:
    """Each run with its cells, by number; without those that are deleted meanwhile."""
    found = []
    for info in sorted(kernel.runs(), key=lambda one: one.id):
        with contextlib.suppress(NotFoundError):
            found.append((info, [] if info.state in _WITHOUT else kernel.stats(info.id)))
    return found

# SPDX-License-Identifier: GPL-2.0-or-later
"""Pauses of a closed loop between bursts: what ends a burst, and how long the pause after it is."""

from __future__ import annotations

from typing import NamedTuple

from spekctl import units
from spekctl.errors import UsageError
from spekctl.workload.model import Arrival
from spekctl.workload.once import once

PAUSE_NS_MAX = 10**15


class Pauses(NamedTuple):
    """Members of the kernel's arrival process. All are 0 for a process that does not pause."""

    pause_ns: int = 0
    pause_every: int = 0
    pause_counts_completed: int = 0
    pause_after_ns: int = 0


@once
def pauses_of(arrival: Arrival) -> Pauses:
    """The pauses of a process. UsageError with a sentence."""
    if arrival.pause_counts is not None and arrival.pause_every is None:
        raise UsageError("'pause_counts' belongs to 'pause_every': give both")
    if arrival.pause is None:
        for key in ("pause_every", "pause_after"):
            if getattr(arrival, key) is not None:
                raise UsageError(f"'{key}' belongs to a 'pause': give its length")
        return Pauses()
    if arrival.pause_every is None and arrival.pause_after is None:
        raise UsageError("'pause' needs 'pause_every', 'pause_after' or both")
    return Pauses(
        _length_ns("pause", arrival.pause),
        arrival.pause_every or 0,
        int(arrival.pause_counts == "completed"),
        _length_ns("pause_after", arrival.pause_after) if arrival.pause_after is not None else 0,
    )


def _length_ns(key: str, text: str) -> int:
    length_ns = units.parse_duration_ns(text)
    if not 0 < length_ns <= PAUSE_NS_MAX:
        raise UsageError(f"{key} must be 1ns to 1000000s (11 days), not {text}")
    return length_ns

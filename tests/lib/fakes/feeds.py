# SPDX-License-Identifier: GPL-2.0
"""What the prober says of a rail."""

from __future__ import annotations

from spekctl.kernel.records import Use

SECOND = 10**9
FJ = 10**15


def use(
    joules: float, known_s: float, gap_s: float = 0, lost_s: float = 0, pending_s: float = 0
) -> Use:
    """Energy and times of a span."""
    known, gap, lost, pending = (
        round(seconds * SECOND) for seconds in (known_s, gap_s, lost_s, pending_s)
    )
    watts = round(joules / known_s * 1e6) if known_s else 0
    return Use(round(joules * FJ), known, gap, lost, pending, 9, watts - 100, watts + 200)

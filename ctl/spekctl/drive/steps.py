# SPDX-License-Identifier: GPL-2.0-or-later
"""Milliseconds and watts of model files as the integers of the core; nothing is rounded away."""

from __future__ import annotations

from spekctl.errors import UsageError


def whole(value: float, unit: int, step: str, field: str) -> int:
    """@value in steps of 1 / @unit."""
    scaled = round(value * unit)
    if abs(value * unit - scaled) > 1e-3:
        raise UsageError(f"{field}: {value!r} is finer than {step}, the smallest step")
    return scaled


def ns(ms: float, field: str) -> int:
    """Milliseconds as ns."""
    return whole(ms, 10**6, "1 ns", field)


def uw(watts: float, field: str) -> int:
    """Watts as uW."""
    return whole(watts, 10**6, "1 uW", field)

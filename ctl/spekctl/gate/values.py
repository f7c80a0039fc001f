# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures beside others, shares, and figures for machines."""

from __future__ import annotations

from spekctl.condition import format_value


def format_apart(value: float, bound: float, unit: str) -> tuple[str, str]:
    """Two different figures for people; with all digits if they would look the same."""
    told = format_value(value, unit), format_value(bound, unit)
    if told[0] != told[1]:
        return told
    return f"{exact(value)} {unit}".rstrip(), f"{exact(bound)} {unit}".rstrip()


def format_share(share: float) -> str:
    """A relative change in per cent, with two decimals, as exact bounds are printed."""
    return f"{share * 100:+.2f} %"


def exact(value: float) -> str:
    """A figure for machines: a decimal that reads back as the same number."""
    return str(int(value)) if value == int(value) and abs(value) < 2**53 else repr(value)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Operations in the letters of blktrace's rwbs field: W, RA, FWFS, DE, ZR ..."""

from __future__ import annotations

import numpy as np

from spekctl.trace.columns import IGNORED, Array, Flag, Misfit, Op, Words

# First letters of each operation; None: not replayable.
_STARTS: tuple[tuple[str, Op | None], ...] = (
    ("ZRA", None),  # all zones
    ("ZR", Op.ZONE_RESET),
    ("ZA", Op.ZONE_APPEND),
    ("ZF", Op.ZONE_FINISH),
    ("ZO", Op.ZONE_OPEN),
    ("ZC", Op.ZONE_CLOSE),
    ("WZ", Op.WRITE_ZEROES),
    ("DE", Op.SECURE_ERASE),
    ("D", Op.DISCARD),
    ("F", Op.FLUSH),
    ("W", Op.WRITE),
    ("R", Op.READ),
    ("N", None),
)
# FUA, read-ahead, synchronous, metadata, barrier, priority, swapped.
_MARKS = frozenset("FASMBPU")


def operation(word: str) -> tuple[int, int]:
    """Operation and flags of an rwbs field; Misfit if there is no such."""
    rest, flags = word, 0
    if rest[:1] == "F" and rest[1:2] in ("R", "W", "D", "N", "Z"):
        # The flush comes before the write, or is alone.
        rest, flags = rest[1:], int(Flag.PREFLUSH)
        if rest[0] in "NR":
            rest = "F" + rest[1:]
    for start, op in _STARTS:
        if rest.startswith(start):
            marks = rest[len(start) :]
            if set(marks) - _MARKS:
                break
            if op is None:
                return IGNORED, 0
            if op is not Op.WRITE:
                return int(op), 0
            return int(op), flags | (int(Flag.FUA) if "F" in marks else 0)
    raise Misfit(f"unknown operation '{word[:40]}'")


def operations(words: Words) -> tuple[Array, Array]:
    """Operation and flags of each word of a column."""
    table = np.zeros((len(words.values), 2), np.uint8)
    for code in np.unique(words.codes).tolist():
        table[code] = operation(words.values[code])
    op, flags = table[words.codes].T
    return op, flags

# SPDX-License-Identifier: GPL-2.0-or-later
"""A set of addresses as ranges: exact, and small where accesses are sequential or come again."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

_COMPACT = 1 << 20


class Ranges:
    """Addresses in whatever unit, as ranges that neither overlap nor touch.

    Memory: 16 bytes for each, and twice as much for those added lately.
    """

    def __init__(self) -> None:
        self._parts: list[tuple[Array, Array]] = []
        self._loose = 0
        self._settled = 0

    def add(self, first: Array, end: Array) -> None:
        """Addresses @first to @end, without @end; empty ranges add nothing."""
        is_any = end > first
        if not is_any.all():
            first, end = first[is_any], end[is_any]
        if not len(first):
            return
        self._parts.append((first.astype(np.uint64), end.astype(np.uint64)))
        self._loose += len(first)
        # Only when there is as much new as old: each range is then sorted a few times at most.
        if self._loose > max(_COMPACT, self._settled):
            self._settle()

    def update(self, ranges: Ranges) -> None:
        """All addresses of @ranges."""
        self.add(*ranges.ranges())

    def _settle(self) -> None:
        if not self._loose:
            return
        first = np.concatenate([part[0] for part in self._parts])
        end = np.concatenate([part[1] for part in self._parts])
        # Of millions of ranges each copy counts.
        self._parts = []
        order = np.argsort(first, kind="stable")
        first = first[order]
        end = end[order]
        del order
        np.maximum.accumulate(end, out=end)
        begins = np.flatnonzero(np.concatenate([[True], first[1:] > end[:-1]]))
        lasts = np.concatenate([begins[1:], [len(end)]]) - 1
        self._parts = [(first[begins], end[lasts])]
        self._loose, self._settled = 0, len(begins)

    def ranges(self) -> tuple[Array, Array]:
        """First addresses, ascending, and those after the last ones."""
        self._settle()
        if not self._parts:
            return np.zeros(0, np.uint64), np.zeros(0, np.uint64)
        return self._parts[0]

    @property
    def total(self) -> int:
        """Addresses of the set."""
        first, end = self.ranges()
        return int((end - first).sum())

    @property
    def held(self) -> int:
        """Ranges in memory, also those that are still to be joined with others."""
        return self._loose + self._settled

    def __len__(self) -> int:
        """Number of ranges."""
        return len(self.ranges()[0])

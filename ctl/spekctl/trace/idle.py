# SPDX-License-Identifier: GPL-2.0-or-later
"""Idle times of a trace, over all its devices, cut to a limit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from spekctl.trace.columns import Array, Batch


@dataclass(slots=True)
class Idle:
    """A limit of the times between successive requests, and what it cut.

    The time before the first request counts from 0, as a replay waits for it.
    """

    limit_ns: int  # 0: no limit
    count: int = 0
    cut_ns: int = 0
    last_ns: int = 0  # of the last request, as recorded

    def cut(self, at_ns: Array) -> Array:
        """Times of the next requests, in order, with idle times cut to the limit."""
        if not self.limit_ns or not len(at_ns):
            return at_ns
        limit = np.uint64(self.limit_ns)
        gaps = np.diff(at_ns, prepend=np.uint64(self.last_ns))
        over = np.where(gaps > limit, gaps - limit, np.uint64(0))
        total = np.cumsum(over, dtype=np.uint64) + np.uint64(self.cut_ns)
        self.count += int(np.count_nonzero(over))
        self.cut_ns, self.last_ns = int(total[-1]), int(at_ns[-1])
        cut_ns: Array = at_ns - total
        return cut_ns

    def of(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """The batches with these times."""
        for batch in batches:
            yield batch.replace(at_ns=self.cut(batch.at_ns))

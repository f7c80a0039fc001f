# SPDX-License-Identifier: GPL-2.0-or-later
"""Response times over time: the growth of the kernel's histograms from look to look.

The kernel adds up the measure phase only, and tells no time with its sums. But it counts an I/O in
its sum no later than in its interval, so the sum says which intervals it has in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from spekctl.documents.histogram import HIST_MAX_BITS, bucket_index, bucket_low, dense
from spekctl.documents.result import Buckets, Slice
from spekctl.kernel.records import Histogram, IntervalRow, Metric, Phase, StatsCell

# Four buckets for every power of two: as many as a picture can show.
BITS = 2
# Beyond that, pairs of slices become one: a run of any length has at most so many.
MOST = 240


class Slices:
    """Collects the slices of one run."""

    def __init__(self) -> None:
        self._slices: list[tuple[int, int, dict[int, int]]] = []  # start, end, counts
        self._each = 1  # looks that make a slice
        self._looks = 0  # those in the last slice
        self._before: dict[int, int] = {}
        self._next_row = 0
        self._ios = 0  # of the measure phase in the rows before that
        self._start_ns = 0

    def take(self, cells: Iterable[StatsCell], rows: Sequence[IntervalRow]) -> None:
        """A look. @cells: the sums, asked for before the last of @rows, which are all so far."""
        measured = [cell for cell in cells if cell.phase is Phase.MEASURE]
        ios = sum(cell.ios for cell in measured)
        end_ns = 0
        while self._next_row < len(rows):
            row = rows[self._next_row]
            if row.phase is Phase.MEASURE:
                done = self._ios + row.read.ios + row.write.ios
                if done > ios:
                    break
                self._ios, end_ns = done, row.end_ns
                self._start_ns = self._start_ns or row.start_ns
            self._next_row += 1
        if not end_ns:
            return
        now = coarse(
            found
            for cell in measured
            if (found := cell.histograms.get(Metric.RESPONSE)) is not None
        )
        grown = {at: n - self._before.get(at, 0) for at, n in now.items()}
        self._before = now
        self._add(end_ns, grown)

    def _add(self, end_ns: int, counts: dict[int, int]) -> None:
        if self._slices and self._looks < self._each:
            self._slices[-1] = _joined(self._slices[-1], (self._start_ns, end_ns, counts))
            self._looks += 1
        else:
            if len(self._slices) == MOST:
                pairs = zip(self._slices[::2], self._slices[1::2], strict=True)
                self._slices = [_joined(one, other) for one, other in pairs]
                self._each *= 2
            self._slices.append((self._start_ns, end_ns, counts))
            self._looks = 1
        self._start_ns = end_ns

    def result(self) -> list[Slice]:
        """All slices so far."""
        return [
            Slice(start, end, Buckets(BITS, HIST_MAX_BITS, *dense(counts)))
            for start, end, counts in self._slices
        ]


def coarse(histograms: Iterable[Histogram]) -> dict[int, int]:
    """Their counts in buckets of BITS, exactly: each of them is a number of whole buckets."""
    counts: dict[int, int] = {}
    for one in histograms:
        if one.bits < BITS:
            raise ValueError(f"histograms with {one.bits} bits are coarser than {BITS}")
        for index, count in one.counts.items():
            at = bucket_index(bucket_low(index, one.bits), BITS)
            counts[at] = counts.get(at, 0) + count
    return counts


def _joined(
    one: tuple[int, int, dict[int, int]], other: tuple[int, int, dict[int, int]]
) -> tuple[int, int, dict[int, int]]:
    """Two slices, of which @other follows @one."""
    counts = dict(one[2])
    for at, count in other[2].items():
        counts[at] = counts.get(at, 0) + count
    return one[0], other[1], counts

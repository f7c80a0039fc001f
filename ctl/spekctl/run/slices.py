# SPDX-License-Identifier: GPL-2.0-or-later
"""Response times, and if wanted service times, over time: the growth of the kernel's histograms
from look to look.

The kernel adds up the measure phase only, and tells no time with its sums. But it counts an I/O in
its sum no later than in its interval, so the sum says which intervals it has in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from spekctl.documents.histogram import HIST_MAX_BITS, bucket_index, bucket_low, dense
from spekctl.documents.result_parts import ServiceTimes, Slice
from spekctl.documents.times import Buckets
from spekctl.kernel.records import Direction, Histogram, IntervalRow, Metric, Phase, StatsCell

# Four buckets for every power of two: as many as a picture can show.
BITS = 2
# Those of the kernel, and of fio's logs of histograms.
SERVICE_BITS = 6
# Beyond that, pairs of slices become one: a run of any length has at most so many.
MOST = 240

# Operation and direction of service times; None: the response times of all.
_Of = tuple[str, Direction] | None
_Counts = dict[tuple[_Of, int], int]  # by whose times they are, and bucket


class Slices:
    """Collects the slices of one run."""

    def __init__(self, operations: Sequence[str] | None = None) -> None:
        """@operations: those of the streams, by which service times are kept; None: none are."""
        self._operations = operations
        self._slices: list[tuple[int, int, _Counts]] = []  # start, end, counts
        self._each = 1  # looks that make a slice
        self._looks = 0  # those in the last slice
        self._before: _Counts = {}
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
                # An interval that came too late for others ends before later ones.
                self._ios, end_ns = done, max(end_ns, row.end_ns)
                self._start_ns = self._start_ns or row.start_ns
            self._next_row += 1
        if not end_ns:
            return
        now = self._sums(measured)
        grown = {at: n - self._before.get(at, 0) for at, n in now.items()}
        self._before = now
        self._add(end_ns, grown)

    def _sums(self, cells: Sequence[StatsCell]) -> _Counts:
        """What the kernel has counted so far."""
        responses = (cell.histograms.get(Metric.RESPONSE) for cell in cells)
        times: list[tuple[_Of, dict[int, int]]] = [
            (None, coarse(response for response in responses if response is not None))
        ]
        if self._operations is not None:
            alike: dict[tuple[str, Direction], list[Histogram]] = {}
            for cell in cells:
                histogram = cell.histograms.get(Metric.SERVICE)
                if histogram is not None:
                    kind = self._operations[cell.stream], cell.direction
                    alike.setdefault(kind, []).append(histogram)
            times += [
                (kind, coarse(histograms, SERVICE_BITS)) for kind, histograms in alike.items()
            ]
        return {(of, at): count for of, counts in times for at, count in counts.items()}

    def _add(self, end_ns: int, counts: _Counts) -> None:
        if self._slices and end_ns <= self._start_ns:
            self._slices[-1] = _joined(self._slices[-1], (0, self._slices[-1][1], counts))
            return
        if self._slices and self._looks < self._each:
            self._slices[-1] = _joined(self._slices[-1], (self._start_ns, end_ns, counts))
            self._looks += 1
        else:
            if len(self._slices) == MOST:
                pairs = zip(self._slices[::2], self._slices[1::2], strict=True)
                self._slices = [_joined(earlier, later) for earlier, later in pairs]
                self._each *= 2
            self._slices.append((self._start_ns, end_ns, counts))
            self._looks = 1
        self._start_ns = end_ns

    def result(self) -> list[Slice]:
        """All slices so far."""
        return [self._slice(*time_slice) for time_slice in self._slices]

    def _slice(self, start_ns: int, end_ns: int, counts: _Counts) -> Slice:
        buckets: dict[_Of, dict[int, int]] = {None: {}}
        for (of, at), count in counts.items():
            if count:
                buckets.setdefault(of, {})[at] = count
        response = buckets.pop(None)
        service = [
            ServiceTimes(*of, Buckets(SERVICE_BITS, HIST_MAX_BITS, *dense(mine)))
            for of, mine in buckets.items()
            if of is not None
        ]
        return Slice(
            start_ns,
            end_ns,
            Buckets(BITS, HIST_MAX_BITS, *dense(response)),
            service if self._operations is not None else None,
        )


def coarse(histograms: Iterable[Histogram], bits: int = BITS) -> dict[int, int]:
    """Their counts in buckets of @bits, exactly: each of them is a number of whole buckets."""
    counts: dict[int, int] = {}
    for histogram in histograms:
        if histogram.bits < bits:
            raise ValueError(f"histograms with {histogram.bits} bits are coarser than {bits}")
        for index, count in histogram.counts.items():
            at = bucket_index(bucket_low(index, histogram.bits), bits)
            counts[at] = counts.get(at, 0) + count
    return counts


def _joined(
    earlier: tuple[int, int, _Counts], later: tuple[int, int, _Counts]
) -> tuple[int, int, _Counts]:
    """Two slices, of which @later follows @earlier."""
    counts = dict(earlier[2])
    for at, count in later[2].items():
        counts[at] = counts.get(at, 0) + count
    return earlier[0], later[1], counts

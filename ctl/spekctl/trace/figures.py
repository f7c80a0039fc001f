# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures of a trace, computed while it streams by."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from spekctl.documents.trace import (
    TraceDefects,
    TraceDevice,
    TraceDispersion,
    TraceInfo,
    TraceOp,
    TraceOrigin,
    TracePlaces,
    TraceQuantiles,
    TraceSize,
)
from spekctl.ranges import Ranges
from spekctl.recorded import text
from spekctl.trace.columns import Array, Batch, Flag, Op, concatenated, grouped
from spekctl.trace.trace import Trace

WINDOWS_NS = (10**6, 10**7, 10**8, 10**9, 10**10, 10**11)
# Fewer windows say nothing about their variance.
_WINDOWS_LEAST = 10
_SIZES_SHOWN = 32
_LOOK_BACK = 32
_PAGE = 4096


class Buckets:
    """A distribution of whole numbers in buckets whose width is at most 1/64 of their values."""

    _BITS = 6

    def __init__(self) -> None:
        self.counts = np.zeros(64 << self._BITS, np.int64)
        self.total = 0
        self.sum = 0.0
        self.squares = 0.0
        self.most = 0

    def add(self, values: Array) -> None:
        """Count these."""
        if not len(values):
            return
        exponent = np.maximum(np.frexp(values.astype(np.float64))[1] - 1 - self._BITS, 0)
        # Values near a power of two may have been rounded up to it.
        exponent -= (values >> exponent.astype(np.uint64)) < (1 << self._BITS) * (exponent > 0)
        index = (exponent << self._BITS) + (values >> exponent.astype(np.uint64)).astype(np.int64)
        self.counts += np.bincount(index, minlength=len(self.counts))
        self.total += len(values)
        plain = values.astype(np.float64)
        self.sum += float(plain.sum())
        self.squares += float(plain @ plain)
        self.most = max(self.most, int(values.max()))

    def quantile(self, share: float) -> float:
        """The nearest rank's bucket, in its middle."""
        rank = max(1, math.ceil(self.total * share - 1e-9))
        return self.value(int(np.searchsorted(np.cumsum(self.counts), rank)))

    def value(self, index: int) -> float:
        """The middle of a bucket."""
        exponent = max((index >> self._BITS) - 1, 0)
        low = (index - (exponent << self._BITS)) << exponent
        return min(float(low) + ((1 << exponent) - 1) / 2, float(self.most))

    def quantiles(self) -> TraceQuantiles | None:
        """None of nothing."""
        if not self.total:
            return None
        return TraceQuantiles(
            mean=self.sum / self.total,
            p50=self.quantile(0.5),
            p90=self.quantile(0.9),
            p99=self.quantile(0.99),
            p999=self.quantile(0.999),
            max=self.most,
        )

    @property
    def cv(self) -> float | None:
        """Standard deviation over mean."""
        if self.total < 2 or not self.sum:
            return None
        mean = self.sum / self.total
        return math.sqrt(max(self.squares / self.total - mean * mean, 0.0)) / mean


class Sizes:
    """Request sizes: exact while there are at most MOST distinct ones, as in buckets beyond."""

    MOST = 1 << 16

    def __init__(self) -> None:
        self.by_size: dict[int, int] = {}
        self._buckets = Buckets()

    def add(self, sizes: Array) -> None:
        """Count these."""
        self._buckets.add(sizes)
        values, counts = np.unique(sizes, return_counts=True)
        for size, count in zip(values.tolist(), counts.tolist(), strict=True):
            if size in self.by_size or len(self.by_size) < self.MOST:
                self.by_size[size] = self.by_size.get(size, 0) + count

    def quantiles(self) -> TraceQuantiles | None:
        """None of nothing."""
        total = self._buckets.total
        if not total or sum(self.by_size.values()) < total:
            return self._buckets.quantiles()
        sizes = np.array(sorted(self.by_size), np.uint64)
        ranks = np.cumsum([self.by_size[size] for size in sizes.tolist()])

        def at(share: float) -> float:
            place = np.searchsorted(ranks, max(1, math.ceil(total * share - 1e-9)))
            return float(sizes[place])

        return TraceQuantiles(
            mean=self._buckets.sum / total,
            p50=at(0.5),
            p90=at(0.9),
            p99=at(0.99),
            p999=at(0.999),
            max=self._buckets.most,
        )


class Footprint:
    """Distinct bytes by device. Exact up to MOST ranges; beyond these it counts in a smaller and
    smaller sample of the address space's pieces, so that memory stays bounded."""

    MOST = 1 << 21
    PIECE = 1 << 22

    def __init__(self) -> None:
        # One in so many pieces, a power of two, is in the sample; 1: all.
        self.sampled = 1
        self._devices: dict[int, Ranges] = {}

    def add(self, device: int, first: Array, end: Array) -> None:
        """Bytes @first to @end of @device, without @end."""
        if self.sampled > 1:
            first, end = self._in_sample(first, end)
        self._devices.setdefault(device, Ranges()).add(first, end)

    def bound(self) -> None:
        """Keep to MOST ranges; to be called now and then."""
        while sum(device.held for device in self._devices.values()) > 2 * self.MOST:
            if sum(len(device) for device in self._devices.values()) <= self.MOST:
                break
            self.sampled *= 2
            for number, old in self._devices.items():
                fewer = Ranges()
                fewer.add(*self._in_sample(*old.ranges()))
                self._devices[number] = fewer

    def _in_sample(self, first: Array, end: Array) -> tuple[Array, Array]:
        """The parts of the ranges that lie in pieces of the sample."""
        nonempty = end > first
        first, end = first[nonempty], end[nonempty]
        unit = np.uint64(self.PIECE)
        begin = first // unit
        counts = ((end - np.uint64(1)) // unit - begin + np.uint64(1)).astype(np.int64)
        before = np.cumsum(counts) - counts
        piece = np.repeat(begin - before.astype(np.uint64), counts)
        piece += np.arange(len(piece), dtype=np.uint64)
        kept = np.flatnonzero(_mixed(piece) % np.uint64(self.sampled) == 0)
        piece, owner = piece[kept], np.repeat(np.arange(len(counts)), counts)[kept]
        return np.maximum(first[owner], piece * unit), np.minimum(
            end[owner], (piece + np.uint64(1)) * unit
        )

    def of(self, device: int) -> int:
        """Bytes of one device."""
        touched = self._devices.get(device)
        return touched.total * self.sampled if touched is not None else 0

    @property
    def bytes(self) -> int:
        """Bytes of all devices."""
        return sum(self.of(device) for device in self._devices)


def _mixed(numbers: Array) -> Array:
    """A hash of each number: a step of splitmix64."""
    hashed = numbers + np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        hashed ^= hashed >> np.uint64(shift)
        hashed *= np.uint64(factor)
    hashed ^= hashed >> np.uint64(31)
    return hashed


@dataclass(slots=True)
class Windows:
    """Numbers of requests in consecutive windows of one length."""

    window_ns: int
    _index: int = 0
    _count: int = 0
    _sum: int = 0
    _squares: int = 0
    _peak: int = 0

    def add(self, at_ns: Array) -> None:
        """Arrivals in order of time, each after all before."""
        index = at_ns // np.uint64(self.window_ns)
        starts = np.flatnonzero(np.concatenate([[True], index[1:] != index[:-1]]))
        counts = np.diff(np.concatenate([starts, [len(index)]]))
        if int(index[0]) == self._index:
            counts[0] += self._count
        else:
            self._close(np.array([self._count]))
        self._close(counts[:-1])
        self._index, self._count = int(index[-1]), int(counts[-1])

    def _close(self, counts: Array) -> None:
        if len(counts):
            self._sum += int(counts.sum())
            self._squares += int((counts.astype(np.int64) ** 2).sum())
            self._peak = max(self._peak, int(counts.max()))

    def dispersion(self) -> TraceDispersion | None:
        """Over all windows that are over, also the empty ones; None if they are too few."""
        number = self._index
        if number < _WINDOWS_LEAST or not self._sum:
            return None
        mean = self._sum / number
        variance = (self._squares - self._sum * mean) / (number - 1)
        return TraceDispersion(self.window_ns, number, variance / mean, self._peak)


@dataclass(slots=True)
class _Device:
    requests: int = 0
    reads: int = 0
    bytes: int = 0
    end: int = 0


@dataclass(slots=True)
class _Op:
    requests: int = 0
    bytes: int = 0
    fua: int = 0


@dataclass(slots=True)
class Figures:
    """Everything that info() tells; add() all records in order of time."""

    requests: int = 0
    span_ns: int = 0
    gaps: Buckets = field(default_factory=Buckets)
    sizes: Sizes = field(default_factory=Sizes)
    windows: list[Windows] = field(
        default_factory=lambda: [Windows(window_ns) for window_ns in WINDOWS_NS]
    )
    ops: dict[int, _Op] = field(default_factory=dict)
    devices: dict[int, _Device] = field(default_factory=dict)
    all: Footprint = field(default_factory=Footprint)
    read: Footprint = field(default_factory=Footprint)
    written: Footprint = field(default_factory=Footprint)
    placed: int = 0
    sequential: int = 0
    sequential_of_many: int = 0
    aligned: int = 0
    _tail: Batch | None = None

    def add(self, batch: Batch) -> None:
        """Records after all those before."""
        if not len(batch):
            return
        at = batch.at_ns
        gaps = np.diff(at)
        if self.requests:
            gaps = np.concatenate([[at[0] - np.uint64(self.span_ns)], gaps])
        self.gaps.add(gaps)
        self.requests += len(batch)
        self.span_ns = int(at[-1])
        for window in self.windows:
            window.add(at)
        self._count_ops(batch)
        placed = batch.take((batch.op != Op.FLUSH) & (batch.bytes > 0))
        if len(placed):
            self._count_places(placed)
            self._count_sequences(placed)

    def _count_ops(self, batch: Batch) -> None:
        for op in np.unique(batch.op).tolist():
            is_op = batch.op == op
            of_op = self.ops.setdefault(op, _Op())
            of_op.requests += int(is_op.sum())
            of_op.bytes += int(batch.bytes[is_op].sum())
            of_op.fua += int(((batch.flags[is_op] & int(Flag.FUA)) != 0).sum())
        for device, mine in grouped(batch.device):
            of_device = self.devices.setdefault(device, _Device())
            of_device.requests += len(batch.op[mine])
            of_device.reads += int((batch.op[mine] == Op.READ).sum())
            of_device.bytes += int(batch.bytes[mine].sum())

    def _count_places(self, batch: Batch) -> None:
        self.sizes.add(batch.bytes)
        self.placed += len(batch)
        page = np.uint64(_PAGE)
        self.aligned += int(((batch.offset_bytes % page == 0) & (batch.bytes % page == 0)).sum())
        for device, mine in grouped(batch.device):
            first, op = batch.offset_bytes[mine], batch.op[mine]
            end = first + batch.bytes[mine]
            self.devices[device].end = max(self.devices[device].end, int(end.max()))
            self.all.add(device, first, end)
            for footprint, kind in ((self.read, Op.READ), (self.written, Op.WRITE)):
                matching = op == kind
                if matching.any():
                    footprint.add(device, first[matching], end[matching])
        for footprint in (self.all, self.read, self.written):
            footprint.bound()

    def _count_sequences(self, batch: Batch) -> None:
        before = 0
        if self._tail is not None:
            before = len(self._tail)
            batch = concatenated([self._tail, batch])
        order = np.argsort(batch.device, kind="stable")
        device, first = batch.device[order], batch.offset_bytes[order]
        end = batch.end_bytes[order]
        is_new = order >= before
        sequential = np.zeros(len(order), bool)
        for back in range(1, min(_LOOK_BACK, len(order) - 1) + 1):
            follows = (device[back:] == device[:-back]) & (first[back:] == end[:-back])
            sequential[back:] |= follows
            if back == 1:
                self.sequential += int((sequential & is_new).sum())
        self.sequential_of_many += int((sequential & is_new).sum())
        # The last ones of each device, for the next batch.
        lasts = np.flatnonzero(np.concatenate([device[1:] != device[:-1], [True]]))
        counts = np.diff(np.concatenate([[-1], lasts]))
        from_end = np.repeat(lasts, counts) - np.arange(len(order))
        self._tail = batch.take(np.sort(order[from_end < _LOOK_BACK]))


def measure(trace: Trace) -> Figures:
    """Read the trace once."""
    figures = Figures()
    for batch in trace.batches():
        figures.add(batch)
    return figures


def info(trace: Trace) -> TraceInfo:
    """The figures of a trace as a document."""
    return as_document(measure(trace), trace)


def origins(trace: Trace) -> list[TraceOrigin]:
    """The files of a trace."""
    return [TraceOrigin(text(str(part.source.path)), part.format.name) for part in trace.parts]


def defects(trace: Trace) -> TraceDefects:
    """Defects of the files, once they have been read."""
    faults = trace.faults
    return TraceDefects(
        bad=faults.bad,
        first=text(faults.first.text) if faults.first is not None else "",
        unordered=faults.unordered,
        moved=faults.moved,
        ignored=faults.ignored,
        notes=list(faults.notes),
    )


def as_document(figures: Figures, trace: Trace) -> TraceInfo:
    """As a document; the trace has been read."""
    seconds = figures.span_ns / 1e9
    total = sum(tally.bytes for tally in figures.ops.values())
    read, write = (figures.ops.get(op, _Op()) for op in (Op.READ, Op.WRITE))
    both, both_bytes = read.requests + write.requests, read.bytes + write.bytes
    often = sorted(
        figures.sizes.by_size.items(),
        key=lambda size_and_count: (-size_and_count[1], size_and_count[0]),
    )[:_SIZES_SHOWN]
    dispersions = [window.dispersion() for window in figures.windows]
    return TraceInfo(
        origins=origins(trace),
        requests=figures.requests,
        bytes=total,
        span_ns=figures.span_ns,
        iops=figures.requests / seconds if seconds else 0.0,
        bytes_per_s=total / seconds if seconds else 0.0,
        read_share=read.requests / both if both else 0.0,
        read_share_bytes=read.bytes / both_bytes if both_bytes else 0.0,
        ops=[
            TraceOp(Op(op).text, tally.requests, tally.bytes, tally.fua)
            for op, tally in sorted(figures.ops.items())
        ],
        sizes=[TraceSize(size, count) for size, count in often],
        sizes_distinct=len(figures.sizes.by_size),
        size_bytes=figures.sizes.quantiles(),
        gap_ns=figures.gaps.quantiles(),
        gap_cv=figures.gaps.cv,
        dispersion=[dispersion for dispersion in dispersions if dispersion is not None],
        places=_places(figures),
        devices=[
            TraceDevice(
                text(trace.devices.names[number]),
                device.requests,
                device.reads,
                device.bytes,
                device.end,
                figures.all.of(number),
            )
            for number, device in sorted(figures.devices.items())
        ],
        defects=defects(trace),
    )


def _places(figures: Figures) -> TracePlaces:
    placed = figures.placed or 1
    footprints = (figures.all, figures.read, figures.written)
    return TracePlaces(
        footprint_bytes=figures.all.bytes,
        read_footprint_bytes=figures.read.bytes,
        written_footprint_bytes=figures.written.bytes,
        granularity_bytes=Footprint.PIECE
        if any(footprint.sampled > 1 for footprint in footprints)
        else 1,
        sequential=figures.sequential / placed,
        sequential_of_32=figures.sequential_of_many / placed,
        aligned_4k=figures.aligned / placed,
    )

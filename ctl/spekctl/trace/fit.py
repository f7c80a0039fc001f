# SPDX-License-Identifier: GPL-2.0-or-later
"""A workload from a trace: mix, sizes, places, sequences and arrivals; and how far it is off.

Places: for each device and direction the addresses are cut into bands of equal numbers of
requests, each of them a stream that is uniform over its band: a density in steps. The share that
continues the request before is counted within each band. Several numbers of bands are tried, with
streams of their own for requests that are aligned to 4 KiB and without; the workload is the one
whose requests come closest. Arrivals: arrivals.py.

Distances come from a second reading: the workload's requests, made by twin.py over the same time,
against those of the trace.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from spekctl import recorded, units
from spekctl.documents.trace import TraceFit, TraceProperty
from spekctl.errors import UsageError
from spekctl.trace.arrivals import Bursts, Constant, Process
from spekctl.trace.arrivals import fit as fit_arrivals
from spekctl.trace.columns import SECTOR_BYTES, Array, Batch, Op, grouped
from spekctl.trace.figures import Figures, defects, origins
from spekctl.trace.order import signed
from spekctl.trace.trace import Trace
from spekctl.trace.twin import Twin, TwinStream
from spekctl.workload import file, override
from spekctl.workload.model import (
    Arrival,
    Asu,
    Header,
    RunDefaults,
    SizeShare,
    Stream,
    WorkloadFile,
)
from spekctl.workload.values import ASUS_MAX, IO_BYTES_MAX, SIZES_MAX, STREAMS_MAX

# Device, operation, and aligned to 4 KiB or not; None: both.
Key = tuple[int, int, bool | None]
Mix = tuple[tuple[int, int], ...]  # sizes and weights
Bands = dict[Key, list[tuple[int, int]]]
# Numbers of bands that are tried: more of them follow the density, fewer keep sequences together.
_BANDS = (16, 8, 4, 2, 1)
# Requests of each try.
_TRIED = 200_000
_BINS = 4096
_BIN_BYTES = 4096
_PAGE = 4096
# Sequential but for so many is sequential.
_ALL_SEQUENTIAL = 0.98
_CAPACITY_UNIT = 1 << 20


class Addresses:
    """How many requests begin where on a device: BINS bins, whose width doubles as needed."""

    def __init__(self, width: int = _BIN_BYTES) -> None:
        self.width = width
        self.counts = np.zeros(_BINS, np.int64)

    def add(self, offsets: Array) -> None:
        """Count these."""
        if not len(offsets):
            return
        while int(offsets.max()) >= self.width * _BINS:
            self.widen()
        bins = (offsets // np.uint64(self.width)).astype(np.int64)
        self.counts += np.bincount(bins, minlength=_BINS)

    def update(self, addresses: Addresses) -> None:
        """All that @addresses has counted; it stays as it is."""
        mine = Addresses(addresses.width)
        mine.counts = addresses.counts.copy()
        while mine.width < self.width:
            mine.widen()
        while self.width < mine.width:
            self.widen()
        self.counts += mine.counts

    def widen(self) -> None:
        """Bins of twice the width."""
        pairs = self.counts.reshape(-1, 2).sum(axis=1)
        self.counts = np.concatenate([pairs, np.zeros(_BINS // 2, np.int64)])
        self.width *= 2

    def bands(self, most: int, least_bytes: int) -> list[tuple[int, int]]:
        """Start and end of at most @most bands of about equal numbers of requests, none shorter
        than @least_bytes, from the first bin used to the last."""
        used = np.flatnonzero(self.counts)
        first, end = int(used[0]), int(used[-1]) + 1
        sums = np.cumsum(self.counts)
        total = int(sums[-1])
        edges = [first]
        least = -(-least_bytes // self.width)
        for band in range(1, most):
            edge = int(np.searchsorted(sums, total * band / most, side="left")) + 1
            if edge - edges[-1] >= least and end - edge >= least:
                edges.append(edge)
        # A range that is too short for one request grows.
        end = max(end, edges[-1] + least)
        return [
            (start * self.width, stop * self.width)
            for start, stop in zip(edges, [*edges[1:], end], strict=True)
        ]


@dataclass(slots=True)
class _Part:
    """Requests of a device, direction and alignment."""

    requests: int = 0
    addresses: Addresses = field(default_factory=Addresses)
    sizes: dict[int, int] = field(default_factory=dict)


@dataclass(slots=True)
class Measured:
    """A trace, or a twin, as the fit sees it: reads and writes of whole sectors."""

    figures: Figures = field(default_factory=Figures)
    parts: dict[Key, _Part] = field(default_factory=dict)
    left_out: int = 0  # other operations, and sizes of 0

    def add(self, batch: Batch) -> None:
        """Records after those before."""
        kept = kept_of(batch)
        self.left_out += len(batch) - len(kept)
        if not len(kept):
            return
        self.figures.add(kept)
        for key, mine in by_key(kept):
            part = self.parts.setdefault(key, _Part())
            part.requests += len(mine)
            part.addresses.add(mine.offset_bytes)
            sizes, counts = np.unique(mine.bytes, return_counts=True)
            for size, count in zip(sizes.tolist(), counts.tolist(), strict=True):
                part.sizes[size] = part.sizes.get(size, 0) + count


def kept_of(batch: Batch) -> Batch:
    """Reads and writes of some bytes, as whole sectors."""
    transfers = ((batch.op == Op.READ) | (batch.op == Op.WRITE)) & (batch.bytes > 0)
    kept = batch if transfers.all() else batch.take(transfers)
    sector = np.uint64(SECTOR_BYTES)
    first = kept.offset_bytes // sector * sector
    size = (kept.end_bytes + (sector - np.uint64(1))) // sector * sector - first
    return kept.replace(offset_bytes=first, bytes=np.minimum(size, np.uint64(IO_BYTES_MAX)))


def by_key(batch: Batch, split: bool = True) -> Iterable[tuple[Key, Batch]]:
    """The records of each device and direction, and with @split of each alignment."""
    page = np.uint64(_PAGE)
    aligned = (batch.offset_bytes % page == 0) & (batch.bytes % page == 0)
    code = batch.device.astype(np.int64) * 4 + (batch.op == Op.WRITE) * 2 + (aligned & split)
    for key, mine in grouped(code):
        op = Op.WRITE if key & 2 else Op.READ
        yield (key >> 2, int(op), bool(key & 1) if split else None), batch.take(mine)


def measured(batches: Iterable[Batch]) -> Measured:
    """All of @batches."""
    sums = Measured()
    for batch in batches:
        sums.add(batch)
    return sums


# --- the workload --------------------------------------------------------------------------------


def fit(trace: Trace, name: str) -> tuple[WorkloadFile, TraceFit]:
    """The workload, checked as a file of this text, and its distances from the trace."""
    of_trace = measured(signed(trace.batches()))
    if not of_trace.parts:
        raise UsageError(f"{trace.name} has no reads or writes to make a workload of")
    figures = of_trace.figures
    rate = (figures.requests - 1) * 1e9 / figures.span_ns if figures.span_ns else 0.0
    if not rate:
        raise UsageError(
            f"the requests of {trace.name} have no times to take a rate from; a workload needs one"
        )
    windows = [window.dispersion() for window in figures.windows]
    processes = fit_arrivals(
        rate,
        figures.gaps.cv,
        [dispersion for dispersion in windows if dispersion is not None],
        figures.span_ns,
    )
    streams, others = _streams(of_trace, processes, trace)
    twin = Twin(streams, processes, figures.span_ns)
    of_twin = measured(twin.batches())
    notes = []
    if of_trace.left_out:
        notes.append(
            f"left out: {of_trace.left_out:,} requests that are no reads or writes of bytes"
        )
    if others:
        notes.append(
            f"left out: {others:,} requests of the least used devices, for want of streams"
        )
    workload = _workload(name, trace, streams, processes, figures.span_ns)
    # Checked as the text of a file.
    checked = file.parse(override.to_toml(workload))
    report = TraceFit(
        origins=origins(trace),
        workload=name,
        requests=figures.requests,
        twin_requests=of_twin.figures.requests,
        properties=_properties(of_trace, of_twin),
        notes=notes,
        defects=defects(trace),
    )
    return checked, report


def _streams(
    of_trace: Measured, processes: list[Process], trace: Trace
) -> tuple[list[TwinStream], int]:
    """Streams by device, direction, alignment and band; and how many requests have none."""
    room = STREAMS_MAX // len(processes)
    mixes: list[tuple[dict[Key, Mix], int]] = []
    tried: list[Bands] = []
    for parts in (of_trace.parts, _merged(of_trace.parts)):
        chosen = _busiest(parts, room)
        others = sum(part.requests for key, part in parts.items() if key not in chosen)
        sizes = {key: _mix(parts[key].sizes) for key in chosen}
        for most in _BANDS:
            if most * len(chosen) <= room:
                bands = {
                    key: parts[key].addresses.bands(most, max(size for size, _ in sizes[key]))
                    for key in chosen
                }
                tried.append(bands)
                mixes.append((sizes, others))
    counts = _sequences(trace, tried)
    candidates = [
        (_cut(bands, counted, sizes), others)
        for bands, counted, (sizes, others) in zip(tried, counts, mixes, strict=True)
    ]
    rate = sum(process.rate for process in processes)
    span_ns = min(of_trace.figures.span_ns, int(_TRIED / rate * 1e9))
    return min(
        candidates,
        key=lambda candidate: _loss(of_trace, measured(_short(candidate[0], processes, span_ns))),
    )


def _busiest(parts: dict[Key, _Part], most: int) -> list[Key]:
    """At most @most keys of at most ASUS_MAX devices."""
    chosen: list[Key] = []
    for key in sorted(parts, key=lambda key: (-parts[key].requests, key[:2], bool(key[2]))):
        devices = {picked[0] for picked in chosen} | {key[0]}
        if len(chosen) < most and len(devices) <= ASUS_MAX:
            chosen.append(key)
    return chosen


def _merged(parts: dict[Key, _Part]) -> dict[Key, _Part]:
    """The same without a distinction of alignment."""
    merged: dict[Key, _Part] = {}
    for (device, op, _), part in parts.items():
        whole = merged.setdefault((device, op, None), _Part())
        whole.requests += part.requests
        whole.addresses.update(part.addresses)
        for size, count in part.sizes.items():
            whole.sizes[size] = whole.sizes.get(size, 0) + count
    return merged


def _short(streams: list[TwinStream], processes: list[Process], span_ns: int) -> Iterable[Batch]:
    return Twin(streams, processes, span_ns).batches()


def _loss(trace: Measured, twin: Measured) -> float:
    """How far places and sequences are off."""
    a, b = trace.figures, twin.figures
    if not b.placed:
        return math.inf
    return (
        _ks_addresses(trace, twin)
        + abs(a.sequential / a.placed - b.sequential / b.placed)
        + abs(a.sequential_of_many / a.placed - b.sequential_of_many / b.placed) / 2
        + abs(a.aligned / a.placed - b.aligned / b.placed) / 2
    )


def _cut(bands: Bands, counts: dict[Key, Array], sizes: dict[Key, Mix]) -> list[TwinStream]:
    """A stream for each band with requests, or one for all if all are sequential."""
    streams: list[TwinStream] = []
    for key in sorted(bands, key=lambda stream_key: (stream_key[:2], bool(stream_key[2]))):
        total, continued = counts[key].sum(axis=0).tolist()
        places = [
            (start, end, int(requests), min(float(continuing / requests), _ALL_SEQUENTIAL))
            for (start, end), (requests, continuing) in zip(bands[key], counts[key], strict=True)
            if requests
        ]
        if len(bands[key]) == 1 and continued >= _ALL_SEQUENTIAL * max(1, total - 1):
            places = [(*bands[key][0], total, 1.0)]
        streams += [
            TwinStream(
                key[0],
                Op(key[1]),
                weight,
                start,
                end - start,
                sizes[key],
                _align(sizes[key]),
                share,
            )
            for start, end, weight, share in places
        ]
    return streams


def _mix(sizes: dict[int, int]) -> Mix:
    """At most SIZES_MAX sizes; the others count as the nearest of these."""
    often = sorted(sizes, key=lambda size: (-sizes[size], size))[:SIZES_MAX]
    kept = np.array(sorted(often), np.int64)
    counts = np.zeros(len(kept), np.int64)
    for size, count in sizes.items():
        counts[int(np.abs(kept - size).argmin())] += count
    return tuple(zip(kept.tolist(), counts.tolist(), strict=True))


def _align(sizes: Mix) -> int:
    common = math.gcd(*(size for size, _ in sizes))
    return min(common & -common, _PAGE)


def _sequences(trace: Trace, tried: list[Bands]) -> list[dict[Key, Array]]:
    """For each band the number of requests, and of those that continue the one before in it."""
    totals = [
        {key: np.zeros((len(spans), 2), np.int64) for key, spans in bands.items()}
        for bands in tried
    ]
    starts = [
        {key: np.array([start for start, _ in spans], np.uint64) for key, spans in bands.items()}
        for bands in tried
    ]
    ends = [
        {key: np.full(len(spans), -1, np.int64) for key, spans in bands.items()} for bands in tried
    ]
    for batch in trace.batches():
        kept = kept_of(batch)
        for split in (True, False):
            for key, mine in by_key(kept, split):
                for counts, edges, lasts in zip(totals, starts, ends, strict=True):
                    if key in edges:
                        _count_sequences(mine, edges[key], counts[key], lasts[key])
    return totals


def _count_sequences(batch: Batch, edges: Array, counts: Array, lasts: Array) -> None:
    """Into @counts; @lasts: where the last request of each band ended."""
    place = np.searchsorted(edges, batch.offset_bytes, side="right") - 1
    for band, mine in grouped(place):
        here = batch.take(mine)
        end = here.end_bytes.astype(np.int64)
        before = np.concatenate([[lasts[band]], end[:-1]])
        counts[band] += (len(here), int((here.offset_bytes.astype(np.int64) == before).sum()))
        lasts[band] = end[-1]


def _workload(
    name: str,
    trace: Trace,
    streams: list[TwinStream],
    processes: list[Process],
    span_ns: int,
) -> WorkloadFile:
    devices = sorted({stream.device for stream in streams})
    asus = []
    for device in devices:
        end = max(stream.start + stream.length for stream in streams if stream.device == device)
        size = -(-end // _CAPACITY_UNIT) * _CAPACITY_UNIT
        asus.append(Asu(name=f"d{device}", size=size))
    arrivals = [_arrival(number, process) for number, process in enumerate(processes)]
    tables = [
        Stream(
            name=f"d{stream.device}-{'w' if stream.op is Op.WRITE else 'r'}{number}-{arrival.name}",
            asu=f"d{stream.device}",
            arrival=arrival.name,
            share=stream.weight,
            read="0%" if stream.op is Op.WRITE else "100%",
            sizes=[SizeShare(size=size, share=weight) for size, weight in stream.sizes],
            pattern="sequential" if stream.sequential >= 1 else "uniform",
            start=stream.start,
            range=stream.length,
            align=stream.align,
            sequential=_percent(stream.sequential) if 0 < stream.sequential < 1 else None,
        )
        for arrival in arrivals
        for number, stream in enumerate(streams)
    ]
    names = ", ".join(trace.devices.names[device] for device in devices[:8])
    doc = recorded.text(f"Made from {trace.name}; devices: {names}.")
    doc += " Each device is an asu, and each band of addresses with its direction a stream."
    seconds = max(1, span_ns // 10**9)
    return WorkloadFile(
        workload=Header(name=name, summary="Synthetic twin of a trace", doc=doc),
        asu=asus,
        arrival=arrivals,
        stream=tables,
        run=RunDefaults(time=f"{seconds}s"),
    )


def _percent(share: float) -> str:
    return f"{100 * share:.4f}".rstrip("0").rstrip(".") + "%"


def _arrival(number: int, process: Process) -> Arrival:
    if isinstance(process, Bursts):
        interval = units.format_duration(process.interval_ns)
        return Arrival(
            name=f"bursts{number}", law="burst", length=process.length, interval=interval
        )
    if isinstance(process, Constant):
        return Arrival(name="constant", law="constant", rate=round(process.rate, 3))
    return Arrival(name="poisson", law="poisson", rate=max(round(process.rate, 3), 0.001))


# --- distances -----------------------------------------------------------------------------------


def _properties(trace: Measured, twin: Measured) -> list[TraceProperty]:
    a, b = trace.figures, twin.figures
    properties = [
        _ratio("rate (requests/s)", _rate(a), _rate(b)),
        _difference("read share", _reads(a), _reads(b)),
        _difference("sequential", a.sequential / a.placed, b.sequential / max(1, b.placed)),
        _difference(
            "sequential of 32",
            a.sequential_of_many / a.placed,
            b.sequential_of_many / max(1, b.placed),
        ),
        _difference("aligned to 4 KiB", a.aligned / a.placed, b.aligned / max(1, b.placed)),
        _ratio("footprint (bytes)", a.all.bytes, b.all.bytes),
        _ratio("mean size (bytes)", _mean_size(a), _mean_size(b)),
        TraceProperty("size distribution", None, None, _ks(a.sizes.by_size, b.sizes.by_size), "ks"),
        TraceProperty("address distribution", None, None, _ks_addresses(trace, twin), "ks"),
    ]
    if a.gaps.cv is not None and b.gaps.cv is not None:
        properties.append(_ratio("variation of gaps", a.gaps.cv, b.gaps.cv))
    for of_trace, of_twin in zip(a.windows, b.windows, strict=True):
        mine, theirs = of_trace.dispersion(), of_twin.dispersion()
        if mine is not None and theirs is not None:
            name = f"dispersion at {units.format_duration(of_trace.window_ns)}"
            properties.append(_ratio(name, mine.index, theirs.index))
    return properties


def _rate(figures: Figures) -> float:
    return figures.requests * 1e9 / figures.span_ns if figures.span_ns else 0.0


def _reads(figures: Figures) -> float:
    read = figures.ops.get(Op.READ)
    return read.requests / figures.requests if read is not None else 0.0


def _mean_size(figures: Figures) -> float:
    return sum(op.bytes for op in figures.ops.values()) / max(1, figures.requests)


def _difference(name: str, trace: float, twin: float) -> TraceProperty:
    return TraceProperty(name, trace, twin, abs(twin - trace), "difference")


def _ratio(name: str, trace: float, twin: float) -> TraceProperty:
    """The distance is that of the ratio from 1, the larger over the smaller."""
    low, high = sorted((trace, twin))
    distance = high / low - 1 if low > 0 else (0.0 if high == 0 else math.inf)
    return TraceProperty(name, trace, twin, min(distance, 1e9), "ratio")


def _ks(a: dict[int, int], b: dict[int, int]) -> float:
    """Largest distance of the distribution functions."""
    values = sorted({*a, *b})
    left = np.cumsum([a.get(value, 0) for value in values]) / max(1, sum(a.values()))
    right = np.cumsum([b.get(value, 0) for value in values]) / max(1, sum(b.values()))
    return float(np.abs(left - right).max()) if values else 0.0


def _ks_addresses(trace: Measured, twin: Measured) -> float:
    """The same of the addresses: of each device and direction, and the mean by requests."""
    parts, others = _merged(trace.parts), _merged(twin.parts)
    total = sum(part.requests for part in parts.values())
    weighted = 0.0
    for key, part in parts.items():
        counterpart = others.get(key)
        if counterpart is None or not counterpart.requests:
            weighted += part.requests / total
            continue
        mine, theirs = part.addresses, counterpart.addresses
        while mine.width < theirs.width:
            mine.widen()
        while theirs.width < mine.width:
            theirs.widen()
        distance = np.abs(
            np.cumsum(mine.counts) / part.requests - np.cumsum(theirs.counts) / counterpart.requests
        ).max()
        weighted += float(distance) * part.requests / total
    return weighted

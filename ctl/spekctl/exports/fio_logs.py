# SPDX-License-Identifier: GPL-2.0-or-later
"""A result as fio's logs of bandwidth, IOPS and latency (log_avg_msec: the report interval), with
those of histograms (fio_hist.py).

Lines are "time, value, direction, block size, priority"; the last two are 0, as in fio's averages.
Times are milliseconds from the start of the measure phase, bandwidth is KiB/s, latency is ns. The
latencies of an interval are known for reads and for all else together, which is one direction: of
streams with several operations the line says write. Flushes alone have no lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from spekctl.documents.result import Result
from spekctl.exports import fio_hist, measured
from spekctl.exports.measured import WAYS, Way
from spekctl.kernel.records import Direction, IntervalCell, Phase

_KINDS = ("bw", "iops", "lat", "clat", "slat", "clat_hist")


def paths(prefix: Path, job: int = 1) -> dict[str, Path]:
    """The files by kind; fio numbers the jobs, which are the steps of a run."""
    return {kind: prefix.with_name(f"{prefix.name}_{kind}.{job}.log") for kind in _KINDS}


def encode(result: Result) -> dict[str, Iterable[bytes]]:
    """The lines of the contents by kind."""
    lines: dict[str, list[bytes]] = {kind: [] for kind in _KINDS}
    for ms, kind, value, way in sorted(
        _averages(result), key=lambda line: (line[0], line[3].value)
    ):
        lines[kind].append(f"{ms}, {value}, {way.value}, 0, 0\n".encode())
    return {**lines, "clat_hist": fio_hist.lines(result)}


def _averages(result: Result) -> Iterator[tuple[int, str, int, Way]]:
    """Time, kind, value and direction of all lines."""
    for way in WAYS:
        for sample in measured.samples(result, way):
            if sample.ios:
                ms = sample.end_ns // 10**6
                yield ms, "bw", int(sample.bytes / sample.seconds / 1024), way
                yield ms, "iops", round(sample.ios / sample.seconds), way
    writes = {
        measured.way_of(result, index, Direction.WRITE)
        for index, stream in enumerate(result.config.streams)
        if stream.weight and stream.read_ppm < 1_000_000
    } - {Way.SYNC}
    others = Way.WRITE if len(writes) > 1 else next(iter(writes), None)
    zero, _ = measured.span_ns(result)
    for row in result.intervals:
        if row.phase is Phase.MEASURE:
            cells = [(Way.READ, row.read), *([(others, row.write)] if others else [])]
            for way, cell in cells:
                for kind, value in _means(cell).items():
                    yield (row.end_ns - zero) // 10**6, kind, value, way


def _means(cell: IntervalCell) -> dict[str, int]:
    if not cell.ios:
        return {}
    response, service = cell.response_sum_ns // cell.ios, cell.service_sum_ns // cell.ios
    return {"lat": response, "clat": service, "slat": response - service}

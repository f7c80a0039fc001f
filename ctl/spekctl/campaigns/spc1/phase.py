# SPDX-License-Identifier: GPL-2.0-or-later
"""Computes a phase from the result of its run: intensities, streams, address ranges."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from spekctl.campaigns import points
from spekctl.campaigns.spc1.plan import beyond
from spekctl.documents.curve import Load
from spekctl.documents.per_host import clients
from spekctl.documents.result import Result
from spekctl.documents.result_parts import Cell, Interval
from spekctl.documents.spc1 import AsuFigures, Limits, Phase, Step, StreamFigures

# The coefficient of variation is taken over parts of a phase: a minute each for the standard's ten.
PARTS = 10


def phase_of(step: Step, result: Result, limits: Limits, result_file: str) -> Phase:
    """The phase of a step from the result of its run."""
    point = points.point_of(result, Load("bsu", step.bsu), result_file)
    parts = parts_of(points.measured_intervals(result))
    return Phase(
        step=step,
        point=point,
        beyond=beyond(point, limits),
        parts=len(parts),
        streams=_streams(result, parts),
        asus=_asus(result),
    )


def parts_of(rows: Sequence[Interval]) -> list[list[int]]:
    """I/Os of each stream in up to PARTS parts of the measure phase."""
    count = min(PARTS, len(rows))
    parts = []
    for index in range(count):
        part = rows[index * len(rows) // count : (index + 1) * len(rows) // count]
        streams = zip(*(row.streams for row in part), strict=True)
        parts.append([sum(cell[0] + cell[2] for cell in cells) for cells in streams])
    return parts


def variation(parts: Sequence[Sequence[int]], stream: int) -> tuple[float | None, float | None]:
    """Coefficient of variation of a stream's share, and what chance alone makes of it.

    By chance each I/O belongs to the stream with probability p, so its share among n I/Os has the
    variance p(1-p)/n.
    """
    counts = [(part[stream], sum(part)) for part in parts if sum(part)]
    shares = [ios / everything for ios, everything in counts]
    if len(shares) < 2 or not any(shares):
        return None, None
    mean = statistics.fmean(shares)
    whole = sum(ios for ios, _ in counts) / sum(everything for _, everything in counts)
    by_chance = statistics.fmean(whole * (1 - whole) / everything for _, everything in counts)
    return statistics.stdev(shares) / mean, math.sqrt(by_chance) / mean


def _streams(result: Result, parts: Sequence[Sequence[int]]) -> list[StreamFigures]:
    config = result.config
    weights = sum(stream.weight for stream in config.streams)
    figures = []
    for index, stream in enumerate(config.streams):
        sums = _Sums(result, [index])
        cov, chance = variation(parts, index)
        figures.append(
            StreamFigures(
                name=stream.name,
                asu=config.asus[stream.asu].name,
                ios=sums.ios,
                share=sums.share,
                intended=stream.weight / weights,
                share_cov=cov,
                share_cov_chance=chance,
                read_share=sums.read_share,
                mean_bytes=sums.mean_bytes,
                response=points.merged_figures(sums.cells, "response"),
            )
        )
    return figures


def _asus(result: Result) -> list[AsuFigures]:
    config = result.config
    weights = sum(stream.weight for stream in config.streams)
    sizes = _sizes(result)
    figures = []
    for number, asu in enumerate(config.asus):
        members = [index for index, stream in enumerate(config.streams) if stream.asu == number]
        sums = _Sums(result, members)
        figures.append(
            AsuFigures(
                name=asu.name,
                bytes=sizes[number],
                ios=sums.ios,
                share=sums.share,
                intended=sum(config.streams[index].weight for index in members) / weights,
                read_share=sums.read_share,
                mean_bytes=sums.mean_bytes,
                response=points.merged_figures(sums.cells, "response"),
            )
        )
    return figures


def _sizes(result: Result) -> list[int]:
    """Bytes of each address range; of all hosts of a fleet, what several have counting once."""
    if result.hosts is None:
        return [asu.bytes for asu in result.config.asus]
    runs = [(host.name, host.run) for host in clients(result.hosts) if host.run is not None]
    sizes = []
    for number in range(len(result.config.asus)):
        bytes_at: dict[tuple[object, int], int] = {}
        for name, run in runs:
            asu = run.config.asus[number]
            for extent in asu.extents:
                device = run.targets[extent.target].facts.identity or (name, extent.target)
                # A stripe over several targets takes as much of each.
                bytes_at[device, extent.start] = asu.bytes // len(asu.extents)
        sizes.append(sum(bytes_at.values()))
    return sizes


class _Sums:
    """Counters of some streams together, in the measure phase."""

    def __init__(self, result: Result, streams: Sequence[int]) -> None:
        self.cells: list[Cell] = [
            cell for cell in result.cells if cell.phase == "measure" and cell.stream in streams
        ]
        self.ios = sum(cell.ios for cell in self.cells)
        reads = sum(cell.ios for cell in self.cells if cell.direction == "read")
        everything = result.totals.all.ios
        self.share = self.ios / everything if everything else 0.0
        self.read_share = reads / self.ios if self.ios else 0.0
        self.mean_bytes = sum(cell.bytes for cell in self.cells) / self.ios if self.ios else 0.0

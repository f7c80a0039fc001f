# SPDX-License-Identifier: GPL-2.0
"""Emerald's hot band against the same I/Os at random addresses, on a modelled drive with a cache.

The paper compares arrays whose caches are much smaller than the working set, 3 % and 26 % of it.
The working set here is what the requests touch, and the cache is that of a drive: segments.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from bench.papers.modelled import requests_of, serve

from spekctl.drive import file
from spekctl.drive.model import Cache
from spekctl.report.sheet import Grid, Sheet
from spekctl.workload import file as workloads

DRIVE = "wd2001fass"
COUNT = 6000
DEPTH = 4
BLOCK = 8  # sectors of 4 KiB
SEGMENTS = 64
SHARES = (0.0, 0.03, 0.26)  # of the working set


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the paper's table. @share: of cache in the working set."""

    share: float
    hot_iops: float
    hot_ms: float
    random_iops: float
    random_ms: float
    hot_hits: float
    random_hits: float

    @property
    def gain(self) -> float:
        """IOPS of the hot band over random ones."""
        return self.hot_iops / self.random_iops


def working_set(requests: Any) -> int:
    """Sectors in the blocks that @requests touch."""
    first = requests["lba"] // BLOCK
    last = (requests["lba"] + requests["sectors"] - 1) // BLOCK
    touched = [first + step for step in range(int((last - first).max()) + 1)]
    blocks = np.concatenate([each[each <= last] for each in touched])
    return len(np.unique(blocks)) * BLOCK


@functools.cache
def rows() -> list[Row]:
    """Simulated once."""
    model = file.load(DRIVE)
    hot = requests_of(workloads.load("emerald-hot-band"), model, COUNT)
    scattered = hot.copy()
    generator = np.random.default_rng(1)
    places = (model.capacity - int(hot["sectors"].max())) // BLOCK
    scattered["lba"] = generator.integers(0, places, COUNT) * BLOCK
    touched = working_set(hot)
    table = []
    for share in SHARES:
        size = int(touched * share)
        cache = Cache()
        if size:
            segment = size // SEGMENTS
            cache = Cache(SEGMENTS, segment, min(segment, 512), 0, 100_000, 1_706_667)
        drive = replace(model, cache=cache)
        first, second = (serve(drive, requests, DEPTH) for requests in (hot, scattered))
        table.append(
            Row(
                size / touched,
                first.iops, first.mean_ms, second.iops, second.mean_ms, first.hits, second.hits,
            )
        )  # fmt: skip
    return table


def sheet_of(table: list[Row]) -> Sheet:
    """The paper's table for the modelled drive."""
    sheet = Sheet(
        "hot-band", "hot band against random", f"Hot band against random: {DRIVE}",
        label="hot band",
        conditions=[("outstanding", str(DEPTH)), ("requests", f"{COUNT:,}")],
    )  # fmt: skip
    columns = (
        "cache / working set", "hot IOPS", "hot response", "random IOPS", "random response",
        "hits hot", "hits random",
    )  # fmt: skip
    lines = [
        (
            f"{row.share:.0%}", f"{row.hot_iops:.0f}", f"{row.hot_ms:.1f} ms",
            f"{row.random_iops:.0f}", f"{row.random_ms:.1f} ms",
            f"{row.hot_hits:.1%}", f"{row.random_hits:.1%}",
        )
        for row in table
    ]  # fmt: skip
    sheet.grids = [Grid("Hot band against random", columns, [True] * len(columns), lines)]
    return sheet

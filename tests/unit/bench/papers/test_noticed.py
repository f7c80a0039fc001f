# SPDX-License-Identifier: GPL-2.0
"""Responses as a generator sees them that looks for completions only when its queue is full."""

from __future__ import annotations

import pytest
from bench.papers import arrays
from bench.papers.noticed import DEPTHS, LOADS, Seen, noticed_ms, seen

MS = 1_000_000


@pytest.mark.parametrize(
    ("at_ms", "took_ms", "depth", "mean_ms"),
    [
        # A queue of one is always full.
        ((0, 20, 40), (5, 5, 5), 1, 5),
        # Each is noticed when the next one is sent, and the last one never.
        ((0, 20, 40, 60), (5, 5, 5, 5), 2, 20),
        # Of four, three wait for the last of them.
        ((0, 20, 40, 60), (5, 5, 5, 5), 4, (60 + 40 + 20) / 3),
        # When the third fills the queue, it ends before the second.
        ((0, 20, 40), (5, 50, 5), 2, (20 + 5) / 2),
        # The third is sent once the queue has room again, and this wait is not its own.
        ((0, 1, 2), (30, 30, 30), 2, (30 + 30) / 2),
    ],
)
def test_completions_are_noticed_when_the_queue_is_full(
    at_ms: tuple[int, ...], took_ms: tuple[int, ...], depth: int, mean_ms: float
) -> None:
    at, took = ([each * MS for each in times] for times in (at_ms, took_ms))
    assert noticed_ms(at, took, depth) == pytest.approx(mean_ms)


@pytest.fixture(scope="module")
def rows() -> list[Seen]:
    return seen()


def test_a_disk_and_an_ssd_look_alike_at_each_load(rows: list[Seen]) -> None:
    assert [(row.drive, row.bsu) for row in rows] == [
        (drive, bsu) for drive, loads in LOADS.items() for bsu in loads
    ]
    device = {drive: [r.device_ms for r in rows if r.drive == drive] for drive in LOADS}
    assert min(device[arrays.HDD]) > 4 * max(device[arrays.SSD])
    for place, depth in enumerate(DEPTHS):
        means = [row.noticed_ms[place] for row in rows]
        # Half of the time in which the queue fills.
        assert max(means) < 1.3 * min(means)
        limit_ms = 1e3 * depth / arrays.IOPS_PER_BSU
        assert all(0.3 * limit_ms < mean < 0.7 * limit_ms for mean in means)

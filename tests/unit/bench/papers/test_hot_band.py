# SPDX-License-Identifier: GPL-2.0
"""Emerald's hot band against random addresses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from bench.papers import hot_band, paper001
from bench.papers.claims import NO, PARTLY, YES
from bench.papers.hot_band import Row
from bench.papers.modelled import REQUESTS


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return hot_band.rows()


def test_the_working_set_is_every_block_that_is_touched() -> None:
    requests = np.zeros(3, REQUESTS)
    requests["lba"] = [0, 4, 800]
    requests["sectors"] = [8, 8, 1]
    # Blocks 0, 0 and 1, 100.
    assert hot_band.working_set(requests) == 3 * 8


def test_a_larger_cache_serves_more_of_the_hot_band(rows: list[Row]) -> None:
    assert [round(row.share, 2) for row in rows] == [0.0, 0.03, 0.26]
    assert rows[0].hot_hits == 0 < rows[1].hot_hits < rows[2].hot_hits
    assert rows[0].gain < rows[1].gain < rows[2].gain
    assert all(row.random_hits < 0.01 and row.random_iops < row.hot_iops for row in rows)
    assert all(row.hot_ms < row.random_ms for row in rows)


def test_each_row_of_the_paper_is_judged(rows: list[Row]) -> None:
    claims = list(paper001._hot_band(rows))
    assert [claim.verdict for claim in claims] == [YES, PARTLY, PARTLY]
    assert claims[2].paper == "1.99, hits 60%/24%"
    as_printed = [
        replace(row, hot_iops=gain * row.random_iops)
        for row, (gain, _) in zip(rows, paper001.HOT_BAND.values(), strict=True)
    ]
    assert [claim.verdict for claim in paper001._hot_band(as_printed)] == [YES] * 3
    slower = [replace(row, hot_iops=0.5 * row.random_iops) for row in rows]
    assert [claim.verdict for claim in paper001._hot_band(slower)] == [NO] * 3


def test_the_table_has_a_line_for_each_cache(rows: list[Row]) -> None:
    (grid,) = hot_band.sheet_of(rows).grids
    assert [line[0] for line in grid.rows] == ["0%", "3%", "26%"]
    assert len(grid.columns) == len(grid.rows[0]) == 7

# SPDX-License-Identifier: GPL-2.0
"""Stand-ins have what is published of their traces, and traces take their place."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from bench.paper004 import loads, nas
from bench.paper004.sim import FLUSH, NS, READ, REQUESTS, WRITE

from spekctl.errors import UsageError

RAID_BLOCKS = 360_000_000


def test_websearch_has_the_published_hit_ratios() -> None:
    requests = loads.stand_in("websearch", RAID_BLOCKS, 200_000, 100.0, 1)
    assert (requests["op"] == READ).all()
    assert requests["blocks"].mean() * 4 == pytest.approx(15.4, abs=3)
    for size, published, allowed in ((100e6, 0.008, 0.006), (512e6, 0.046, 0.012),
                                     (1024e6, 0.213, 0.04)):  # fmt: skip
        assert loads.lru_hit_ratio(requests, size) == pytest.approx(published, abs=allowed)


def test_cello_writes_mostly_within_its_footprint() -> None:
    requests = loads.stand_in("cello99", RAID_BLOCKS, 50_000, 100.0, 1)
    assert (requests["op"] == WRITE).mean() == pytest.approx(0.6, abs=0.02)
    pieces = np.unique(requests["block"] // 2048)
    assert len(pieces) < 1.2 * 30e9 / (8 << 20)
    # All over the array.
    assert pieces.min() < RAID_BLOCKS // 2048 // 100
    assert pieces.max() > RAID_BLOCKS // 2048 * 0.99


@pytest.mark.parametrize("key", loads.TRACES)
@pytest.mark.parametrize("rate", [100.0, 500.0])
def test_fixed_rate_changes_times_alone(key: str, rate: float) -> None:
    requests = loads.stand_in(key, RAID_BLOCKS, 20_000, rate, 1)
    original = loads.stand_in(key, RAID_BLOCKS, 20_000, None, 1)
    assert len(requests) / (int(requests["arrival_ns"][-1]) / NS) == pytest.approx(rate, rel=0.03)
    for field in ("block", "blocks", "op"):
        assert (requests[field] == original[field]).all()
    assert (np.diff(requests["arrival_ns"].astype(np.int64)) >= 0).all()
    assert int(requests["block"].max()) + 256 <= RAID_BLOCKS


def test_original_timing_of_cello_has_bursts() -> None:
    gaps = np.diff(loads.arrivals("cello99", 100_000, None, 1).astype(np.int64)) / NS
    assert 1 / gaps.mean() == pytest.approx(10, rel=0.15)
    assert np.median(gaps) < 0.01


def test_footprint_counts_distinct_blocks_by_day() -> None:
    rows = [(0, 10, 4, READ), (1, 12, 4, WRITE), (loads.DAY_NS, 14, 4, READ)]
    mega = loads.footprint_of_days(np.array(rows, REQUESTS))
    assert mega == [(0, 6 * 4096 / 1e9, 6 * 4096 / 1e9), (1, 4 * 4096 / 1e9, 2 * 4096 / 1e9)]


def test_lru_of_two_blocks() -> None:
    rows = [(n, block, 1, READ) for n, block in enumerate((1, 2, 1, 3, 2, 3))]
    assert loads.lru_hit_ratio(np.array(rows, REQUESTS), 2 * 4096) == 2 / 6


def spc(path: Path) -> Path:
    path.write_text("0,8,4096,R,0.000000\n1,16,8192,w,0.500000\n0,24,512,r,1.000000\n")
    return path


def test_trace_takes_the_place_of_its_stand_in(tmp_path: Path) -> None:
    load, requests = loads.from_files(
        loads.CELLO, [spc(tmp_path / "a.spc")], 10_000_000, 3, None, 1
    )
    assert load.name == "cello99 trace"
    assert requests["arrival_ns"].tolist() == [0, NS // 2, NS]
    part = 10_000_000 // 2 - loads.MOST_BLOCKS
    assert requests["block"].tolist() == [1, part + 2, 3]
    assert requests["blocks"].tolist() == [1, 2, 1]
    assert requests["op"].tolist() == [READ, WRITE, READ]


def test_trace_at_a_rate(tmp_path: Path) -> None:
    _, requests = loads.from_files(
        loads.WEBSEARCH, [spc(tmp_path / "a.spc")], 10_000_000, 3, 100.0, 1
    )
    assert (requests["arrival_ns"] == loads.arrivals("websearch", 3, 100.0, 1)).all()


def test_trace_of_a_single_request_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.spc").write_text("0,8,4096,R,0.000000\n")
    with pytest.raises(UsageError, match="has 1 reads and writes; at least 2 are needed"):
        loads.from_files(loads.CELLO, [tmp_path / "a.spc"], 10_000_000, 3, None, 1)


def test_week_is_what_it_says() -> None:
    week = nas.week(RAID_BLOCKS, 1)
    assert (np.diff(week["arrival_ns"].astype(np.int64)) >= 0).all()
    assert int(week["arrival_ns"].max()) < nas.WEEK_NS
    logs = week[week["op"] == FLUSH]
    assert len(logs) == pytest.approx(7 * 86_400 / 30, rel=0.05)
    films = week[(week["op"] == READ) & (week["block"] < 6 * RAID_BLOCKS // 20)]
    assert len(films) == 9 * 7200
    assert len(np.unique(films["block"])) == len(films)
    written = week[(week["op"] == WRITE) & (week["blocks"] > 4)]["blocks"].sum() * 4096
    assert written == pytest.approx(7 * 0.5e9, rel=0.01)
    assert int((week["block"] + week["blocks"]).max()) < RAID_BLOCKS

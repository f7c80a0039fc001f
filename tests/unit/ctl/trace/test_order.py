# SPDX-License-Identifier: GPL-2.0
"""Order of time: within a file as far as the window reaches, and of several files together."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lib.ctl.traces import records

from spekctl.trace.columns import Batch, batch_of
from spekctl.trace.faults import Faults
from spekctl.trace.order import from_zero, in_order, merged
from spekctl.trace.source import Source
from spekctl.trace.trace import open_trace

TIMES = st.lists(st.lists(st.integers(-1000, 1000), max_size=30), max_size=6)


def stream(parts: list[list[int]], device: int = 0) -> Iterator[Batch]:
    place = 0
    for part in parts:
        offsets = np.arange(place, place + len(part), dtype=np.uint64)
        yield batch_of(np.array(part, np.int64), device, offsets, 1, 0)
        place += len(part)


def rows(batches: Iterator[Batch]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for one in batches:
        assert len(one)
        found += zip(one.at_ns.tolist(), one.offset_bytes.tolist(), strict=True)
    return found


@given(TIMES)
def test_what_the_window_holds_is_sorted_stably(parts: list[list[int]]) -> None:
    faults = Faults()
    flat = [at for part in parts for at in part]
    expected = sorted(zip(flat, range(len(flat)), strict=True), key=lambda one: one[0])
    assert rows(in_order(stream(parts), faults)) == expected
    assert faults.unordered == sum(b < a for a, b in pairwise(flat))
    assert faults.moved == 0


@given(TIMES, st.integers(0, 10))
def test_what_is_later_than_the_window_moves_and_is_counted(
    parts: list[list[int]], window: int
) -> None:
    faults = Faults()
    found = rows(in_order(stream(parts), faults, window, more=1))
    flat = [at for part in parts for at in part]
    times = [at for at, _ in found]
    assert times == sorted(times)
    assert sorted(place for _, place in found) == list(range(len(flat)))
    changed = sum(at != flat[place] for at, place in found)
    assert changed == faults.moved


@given(st.lists(st.lists(st.lists(st.integers(0, 50), max_size=9), max_size=4), max_size=4))
def test_several_streams_are_one(streams: list[list[list[int]]]) -> None:
    ordered = [in_order(stream(parts, number), Faults()) for number, parts in enumerate(streams)]
    found = [at for at, _ in rows(merged(ordered))]
    assert found == sorted(at for parts in streams for part in parts for at in part)


def test_times_count_from_the_first_however_far_they_are_apart() -> None:
    times = [-(2**63), 0, 2**63 - 1]
    (found,) = from_zero(stream([times]))
    assert found.at_ns.dtype == np.uint64
    assert found.at_ns.tolist() == [0, 2**63, 2**64 - 1]


def test_files_of_one_trace_share_clock_and_devices(tmp_path: Path) -> None:
    first, second = tmp_path / "1", tmp_path / "2"
    line = "12816637200306{},{},0,Read,0,512,1\n"
    first.write_text(line.format("1000", "hm") + line.format("1004", "hm"))
    second.write_text(line.format("1002", "usr") + line.format("1006", "hm"))
    trace = open_trace([first, second])
    found = [(at, device) for at, device, *_ in records(trace)]
    assert found == [(0, "hm_0"), (200, "usr_0"), (400, "hm_0"), (600, "hm_0")]


def test_many_files_share_the_memory_of_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As blktrace writes them, one for each CPU. Each would fill the window of one file."""
    monkeypatch.setattr("spekctl.trace.trace.WINDOW", 10_000)
    monkeypatch.setattr("spekctl.trace.trace.BATCH", 10_000)
    monkeypatch.setattr("spekctl.trace.trace._WINDOW_LEAST", 100)
    monkeypatch.setattr("spekctl.trace.source._BLOCK_LEAST", 1000)
    monkeypatch.setattr(Source.chunks, "__defaults__", (0, 1 << 18))
    paths = []
    for cpu in range(20):
        path = tmp_path / f"{cpu}.spc"
        path.write_text("".join(f"{cpu},{n},512,r,{n}.{cpu:03}\n" for n in range(10_000)))
        paths.append(path)
    trace = open_trace(paths)
    next(trace.batches())  # what is loaded once
    tracemalloc.start()
    try:
        found = [(len(one), int(one.at_ns[0]), int(one.at_ns[-1])) for one in trace.batches()]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert sum(count for count, _, _ in found) == 200_000
    assert all(before[2] <= after[1] for before, after in pairwise(found))
    # 3.2 MB; 16.4 MB if each had blocks and a window of its own.
    assert peak < 6_000_000

# SPDX-License-Identifier: GPL-2.0
"""Alibaba and Tencent: microseconds there, whole seconds here, which are spread."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lib.ctl.traces import read_text

from spekctl.errors import UsageError
from spekctl.trace.columns import Batch, batch_of
from spekctl.trace.faults import Faults
from spekctl.trace.order import spread

ALIBABA = "0,R,126703661056,4096,1577808000000046\n7,W,8192,512,1577808000000050\n"
TENCENT = """\
1538323199,1003027216,16,0,2313
1538323199,16,8,1,2313
1538323199,24,8,1,1306
1538323200,8,8,0,1306
1538323202,8,8,0,1306
"""


@pytest.mark.parametrize("header", ["", "device_id,opcode,offset,length,timestamp\n"])
def test_alibaba(header: str, tmp_path: Path) -> None:
    rows, trace = read_text(tmp_path, header + ALIBABA)
    assert trace.parts[0].format.name == "alibaba"
    assert rows == [(0, "0", 126703661056, 4096, "read"), (4000, "7", 8192, 512, "write")]


@pytest.mark.parametrize("stamp", ["1577808000000", "1577808000000046000"])
def test_milliseconds_and_nanoseconds_are_not_those_of_alibaba(stamp: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="format"):
        read_text(tmp_path, f"0,R,126703661056,4096,{stamp}\n" * 2)


def test_a_second_of_tencent_is_spread_and_mentioned(tmp_path: Path) -> None:
    rows, trace = read_text(tmp_path, TENCENT)
    assert trace.parts[0].format.name == "tencent"
    assert rows == [
        (0, "2313", 1003027216 * 512, 8192, "read"),
        (333_333_333, "2313", 8192, 4096, "write"),
        (666_666_666, "1306", 12288, 4096, "write"),
        (1_000_000_000, "1306", 4096, 4096, "read"),
        (3_000_000_000, "1306", 4096, 4096, "read"),
    ]
    (note,) = trace.faults.notes
    assert note.startswith("times are multiples of 1.00 s; requests of one time are spread")


def test_bad_lines_are_counted(tmp_path: Path) -> None:
    _, trace = read_text(tmp_path, TENCENT + "1538323202,8,8,2,1306\n")
    assert trace.faults.first is not None
    assert trace.faults.first.reason == "unknown operation '2'"
    _, trace = read_text(tmp_path, ALIBABA + "7,X,8192,512,1577808000000050\n")
    assert trace.faults.first is not None
    assert trace.faults.first.reason == "unknown operation 'X'"


@given(st.lists(st.integers(0, 5), max_size=40), st.lists(st.integers(1, 9), min_size=1))
def test_spreading_does_not_depend_on_batches(seconds: list[int], cuts: list[int]) -> None:
    times = np.array(sorted(seconds), np.int64) * 10**9
    expected = []
    for second in range(6):
        count = seconds.count(second)
        expected += [second * 10**9 + place * 10**9 // count for place in range(count)]
    parts: list[Batch] = []
    start = 0
    while start < len(times):
        length = cuts[len(parts) % len(cuts)]
        parts.append(batch_of(times[start : start + length], 0, 0, 0, 0))
        start += length
    spread_times = [
        at for batch in spread(iter(parts), 10**9, Faults()) for at in batch.at_ns.tolist()
    ]
    assert spread_times == expected


def test_spread_times_never_go_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spekctl.trace.order._SPREAD_MOST", 8)
    parts = [batch_of(np.full(5, 10**9), 0, 0, 0, 0) for _ in range(4)]
    spread_times = [
        at for batch in spread(iter(parts), 10**9, Faults()) for at in batch.at_ns.tolist()
    ]
    assert (len(spread_times), spread_times) == (20, sorted(spread_times))
    text = "1538323199,8,8,1,7\n" * 3 + "1538323199.5,8,8,1,7\n"
    times = [row[0] for row in read_text(tmp_path, text, format="tencent")[0]]
    assert times == [0, 333_333_333, 666_666_666, 666_666_666]

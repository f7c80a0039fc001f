# SPDX-License-Identifier: GPL-2.0
"""Parts of a trace: what all conditions select, with times from the first request."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lib.ctl.command_line import Spekctl
from lib.ctl.traces import Made, batch, mixed, read

from spekctl.errors import ExitCode, UsageError
from spekctl.trace.columns import Op
from spekctl.trace.select import Cut
from spekctl.trace.trace import open_trace


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return mixed(tmp_path)


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        ("--start 1us", [1, 2, 3, 4, 5]),
        ("--end 2us", [0, 1]),
        ("--start 1us --end 2us", [1]),
        ("--volume sdb", [2, 3]),
        ("--volume sdb --volume sda", [0, 1, 2, 3, 4, 5]),
        ("--range 4096-64KiB", [1, 2]),
        ("--range 64KiB-", [4, 5]),
        ("--range 0-4KiB", [0]),
        ("--op write --op flush", [1, 2, 3]),
        ("--first 2", [0, 1]),
        ("--volume sda --op write --first 9", [1]),
    ],
)
def test_a_part_is_what_all_options_select(
    options: str, kept: list[int], spekctl: Spekctl, path: Path, tmp_path: Path
) -> None:
    out = tmp_path / "t.parquet"
    outcome = spekctl("trace", "cut", str(path), *options.split(), "-o", str(out))
    assert outcome.code == ExitCode.OK
    rows = [read(path)[0][index] for index in kept]
    assert read(out)[0] == [(at - rows[0][0], *rest) for at, *rest in rows]


def test_a_device_behind_the_part_is_a_device_of_the_trace(path: Path) -> None:
    trace = open_trace([path])
    lengths = [len(part) for part in Cut(count=1, devices=("sda", "sdb")).of(trace)]
    assert lengths == [1]
    assert list(Cut(end_ns=500, devices=("sdb",)).of(trace)) == []
    with pytest.raises(UsageError, match="has no device 'sdc'; it has sda, sdb"):
        list(Cut(count=1, devices=("sda", "sdc")).of(trace))


def test_of_many_devices_the_first_are_named(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    rows = "".join(f"{n},d{n},0,512,read\n" for n in range(30))
    path.write_text("at_ns,device,offset_bytes,bytes,op\n" + rows)
    with pytest.raises(UsageError, match=r"'x'; it has d0, .*, d19 \.\.\.$"):
        list(Cut(devices=("x",)).of(open_trace([path])))


ROWS = st.lists(
    st.tuples(
        st.integers(0, 20),
        st.integers(0, 2),
        st.integers(0, 10),
        st.integers(0, 4),
        st.sampled_from([Op.READ, Op.WRITE, Op.FLUSH]),
    ),
    min_size=1,
    max_size=30,
)


@given(
    ROWS,
    st.integers(1, 9),
    st.integers(0, 20),
    st.one_of(st.none(), st.integers(1, 9)),
    st.integers(0, 9),
    st.one_of(st.none(), st.integers(1, 9)),
    st.one_of(st.none(), st.integers(1, 9)),
)
def test_a_part_is_the_same_whatever_the_batches_are(
    rows: list[tuple[int, int, int, int, int]],
    step: int,
    start_ns: int,
    more_ns: int | None,
    start_bytes: int,
    more_bytes: int | None,
    count: int | None,
) -> None:
    rows.sort(key=lambda row: row[0])
    end_ns = None if more_ns is None else start_ns + more_ns
    end_bytes = None if more_bytes is None else start_bytes + more_bytes
    is_whole = start_bytes == 0 and end_bytes is None
    expected = [
        (at, offset)
        for at, _, offset, size, op in rows
        if at >= start_ns
        and (end_ns is None or at < end_ns)
        and (
            is_whole
            or (
                op != Op.FLUSH
                and offset + size > start_bytes
                and (end_bytes is None or offset < end_bytes)
            )
        )
    ][:count]
    trace = Made([batch(rows[place : place + step]) for place in range(0, len(rows), step)])
    chosen = Cut(start_ns, end_ns, (), start_bytes, end_bytes, (), count)
    cut_rows = [
        row
        for part in chosen.of(trace)
        for row in zip(part.at_ns.tolist(), part.offset_bytes.tolist(), strict=True)
    ]
    assert cut_rows == [(at - expected[0][0], offset) for at, offset in expected]

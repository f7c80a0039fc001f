# SPDX-License-Identifier: GPL-2.0
"""A trace of one file or of several: their clock, their devices and what is no trace at all."""

from __future__ import annotations

import tracemalloc
from itertools import pairwise
from pathlib import Path

import pytest
from lib.ctl.traces import records

from spekctl.errors import UsageError
from spekctl.trace.formats.format import ReadOptions
from spekctl.trace.source import Source
from spekctl.trace.trace import open_trace


def test_files_of_one_trace_share_clock_and_devices(tmp_path: Path) -> None:
    first, second = tmp_path / "1", tmp_path / "2"
    line = "12816637200306{},{},0,Read,0,512,1\n"
    first.write_text(line.format("1000", "hm") + line.format("1004", "hm"))
    second.write_text(line.format("1002", "usr") + line.format("1006", "hm"))
    trace = open_trace([first, second])
    seen = [(at, device) for at, device, *_ in records(trace)]
    assert seen == [(0, "hm_0"), (200, "usr_0"), (400, "hm_0"), (600, "hm_0")]


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
        spans = [
            (len(batch), int(batch.at_ns[0]), int(batch.at_ns[-1])) for batch in trace.batches()
        ]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert sum(count for count, _, _ in spans) == 200_000
    assert all(before[2] <= after[1] for before, after in pairwise(spans))
    # 3.2 MB; 16.4 MB if each had blocks and a window of its own.
    assert peak < 6_000_000


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("none", "there is no file none"),
        (".", ". is not a file; expected a trace"),
        ("/dev/null", "/dev/null is not a file; expected a trace"),
        ("empty", "empty is empty; expected a trace"),
        ("noise", "noise is not a trace of a known format"),
    ],
)
def test_what_is_no_trace_gets_a_sentence(
    name: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("empty").touch()
    Path("noise").write_bytes(bytes(range(256)) * 10)
    with pytest.raises(UsageError) as caught:
        open_trace([Path(name)])
    assert sentence in caught.value.message


def test_each_reading_begins_with_nothing(tmp_path: Path) -> None:
    path = tmp_path / "t.spc"
    path.write_text("7,1,512,r,0.5\n7,1,512,q,0.6\n1,1,512,r,0.4\n")
    trace = open_trace([path])
    first = records(trace)
    assert (trace.faults.bad, trace.faults.unordered, trace.devices.names) == (1, 1, ["7", "1"])
    assert records(trace) == first
    assert (trace.faults.bad, trace.faults.unordered, trace.devices.names) == (1, 1, ["7", "1"])


def test_the_name_counts_the_other_files(tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}" for number in range(3)]
    for path in paths:
        path.write_text("0,1,512,r,0.5\n")
    assert open_trace(paths[:1]).name == str(paths[0])
    assert open_trace(paths).name == f"{paths[0]} and 2 more"


def test_files_of_two_formats_are_no_trace_unless_one_is_named(tmp_path: Path) -> None:
    spc, alibaba = tmp_path / "1", tmp_path / "2"
    spc.write_text("0,1,512,r,0.5\n")
    alibaba.write_text("0,R,4096,512,1577808000000046\n")
    with pytest.raises(UsageError, match="have one format; these are spc and alibaba"):
        open_trace([spc, alibaba])
    trace = open_trace([spc, alibaba], ReadOptions(format="spc"))
    assert len(records(trace)) == trace.faults.bad == 1


def test_columns_that_are_named_are_those_of_csv(tmp_path: Path) -> None:
    path = tmp_path / "t"
    path.write_text("when,lba,length,kind\n5,8,4096,r\n")
    columns = ("at=when:us", "offset=lba:512", "size=length", "op=kind")
    assert records(open_trace([path], ReadOptions(columns=columns))) == [
        (0, "0", 4096, 4096, "read")
    ]
    with pytest.raises(UsageError, match="--column names columns of csv, not of spc"):
        open_trace([path], ReadOptions(format="spc", columns=columns))


def test_some_of_the_files_may_be_empty(tmp_path: Path) -> None:
    full, first, second = tmp_path / "sda.1", tmp_path / "sda.0", tmp_path / "sda.2"
    full.write_text("0,1,512,r,0\n")
    first.touch()
    second.touch()
    trace = open_trace([first, full, second])
    assert records(trace) == records(open_trace([full]))
    assert trace.faults.notes == ["empty files: 2"]
    with pytest.raises(UsageError, match=r"sda\.0 and 1 more are empty; expected a trace"):
        open_trace([first, second])

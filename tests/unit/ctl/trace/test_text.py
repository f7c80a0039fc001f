# SPDX-License-Identifier: GPL-2.0
"""Text in columns: both ways of parsing agree, and bad lines are found wherever they are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lib.ctl.traces import SAMPLES, read, read_text, sample

from spekctl.trace import text
from spekctl.trace.columns import Batch, Devices, Misfit, batch_of, concatenated
from spekctl.trace.faults import Faults
from spekctl.trace.source import Chunk, Source
from spekctl.trace.text import UNENDED

LAYOUT = text.Layout((("a", "number"), ("when", "s"), ("word", "word"), ("rest", "skip")))


def convert(rows: text.Rows) -> text.Converted:
    if len(rows["a"]) and int(rows["a"].max()) == 13:
        raise Misfit("thirteen")
    return batch_of(rows["when"], 0, rows["a"], 512, 0), rows["word"]


def parsed(path: Path, data: bytes) -> tuple[list[tuple[int, int, str]], Faults]:
    devices, faults = Devices(), Faults()
    batches: list[Batch] = [
        batch
        for batch in text.parse(Chunk(data, 1), LAYOUT, convert, devices, faults, Source(path))
        if len(batch)
    ]
    if not batches:
        return [], faults
    whole = concatenated(batches)
    rows = zip(
        whole.at_ns.tolist(), whole.offset_bytes.tolist(), whole.device.tolist(), strict=True
    )
    return [(at, offset, devices.names[device]) for at, offset, device in rows], faults


FIELD = st.one_of(
    st.integers(-5, 2**64 + 5).map(str),
    st.decimals(-(10**10), 10**10, places=9).map(str),
    st.decimals(-(10**10), 10**10, places=14).map(str),
    st.text(st.sampled_from("0123456789.eE+-xX _\t\"'#NAN\r\0é"), max_size=6),
    st.sampled_from(["", "NULL", "NaN", "nan", "null", "n/a", "1e3", "0x1f", "007", " 5 ", "inf"]),
)
LINE = st.one_of(
    st.tuples(st.integers(0, 99).map(str), FIELD, FIELD, FIELD).map(",".join),
    st.tuples(FIELD, st.integers(0, 99).map(str), FIELD, FIELD).map(",".join),
    st.lists(FIELD, max_size=6).map(",".join),
)


@given(LINE)
def test_both_ways_accept_the_same_lines(line: str) -> None:
    """A line by itself, and after one that makes the whole block go line by line."""
    path = Path(__file__)
    alone = line.encode() + b"\n"
    # Bad in the last field's absence, so the fast way refuses the block.
    mixed = b"1,2,3\n" + alone
    try:
        fast = text._fast(alone, LAYOUT)
        accepted = len(fast["a"]) == 1
    except (Misfit, pa.ArrowInvalid, OverflowError):
        accepted = False
    rows, _ = parsed(path, mixed)
    if accepted:
        whole, faults = parsed(path, alone)
        assert rows == whole, (line, faults.first)


@pytest.mark.parametrize("count", [1, 2, 5000, 60_000])
def test_a_bad_line_is_named_wherever_it_is(count: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(count)
    lines = [f"0,{index},512,r,{index / 1e3:.6f}" for index in range(count)]
    places = sorted(rng.choice(count, min(3, count), replace=False).tolist())
    for place in places:
        lines[place] = "0,1,what,r,1"
    rows, trace = read_text(tmp_path, "\n".join(lines) + "\n", format="spc")
    assert len(rows) == count - len(places)
    assert trace.faults.bad == len(places)
    assert trace.faults.first is not None
    assert trace.faults.first.number == places[0] + 1
    assert trace.faults.first.reason == "size 'what' is not a whole number"
    left = [index for index in range(count) if index not in places]
    assert [offset // 512 for _, _, offset, _, _ in rows] == left


def test_blank_lines_and_line_ends_of_windows(tmp_path: Path) -> None:
    rows, trace = read_text(tmp_path, "0,1,512,r,0.5\r\n\r\n0,2,512,r,0.6\r\n\n  \n")
    assert (len(rows), trace.faults.bad) == (2, 0)


def test_a_line_without_end_is_bad_and_does_not_fill_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spekctl.trace.source.LINE_MAX", 1000)
    monkeypatch.setattr(Source.chunks, "__defaults__", (0, 500))
    path = tmp_path / "trace"
    path.write_bytes(b"0,1,512,r,0.5\n" + b"x" * 20_000 + b"\n0,2,512,r,0.6\n")
    rows, trace = read(path, format="spc")
    assert [row[2] for row in rows] == [512, 1024]
    assert trace.faults.bad > 1


def test_the_device_of_a_bad_line_is_none(tmp_path: Path) -> None:
    _, trace = read_text(tmp_path, "0,1,512,r,0.5\n7,1,512,q,0.6\n1,1,512,r,0.7\n")
    assert trace.devices.names == ["0", "1"]


def test_a_byte_order_mark_within_the_file_is_a_bad_line(tmp_path: Path) -> None:
    path = Path(__file__)
    for data in ("\ufeff1,2,x,y\n", "\ufeff1,2,x,y\nbad\n"):
        rows, faults = parsed(path, data.encode())
        assert (rows, faults.first and faults.first.number) == ([], 1)


MARKED = {
    "spc": "0,1,512,r,0.5\n0,2,512,w,0.75\n",
    "msr": "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n"
    "128166372003061629,hm,0,Read,8192,4096,153\n",
    "systor": "Timestamp,Response,IOType,LUN,Offset,Size\n1456095145.1,0.1,R,0,8,512\n",
    "alibaba": "device_id,opcode,offset,length,timestamp\n0,R,8,512,1577808000000046\n",
    "tencent": "Timestamp,Offset,Size,IOType,VolumeID\n1538323199,8,16,0,7\n",
    "csv": "at_us,offset_bytes,bytes,op\n5,0,512,read\n",
    "fio": "fio version 3 iolog\n1 /dev/sda read 0 512\n",
    "blkparse": "8,0 3 1 0.5 697 Q R 8 + 8 [cp]\n",
    "blkreplay": "start ; sector; length ; op ; a ; b\n0.5 ; 8 ; 8 ; R ; 0 ; 0\n",
}


@pytest.mark.parametrize("name", MARKED)
def test_files_may_begin_with_a_byte_order_mark(name: str, tmp_path: Path) -> None:
    plain, _ = read_text(tmp_path, MARKED[name])
    rows, trace = read_text(tmp_path, "\ufeff" + MARKED[name].replace("\n", "\r\n"))
    assert trace.parts[0].format.name == name
    assert (rows, trace.faults.bad) == (plain, 0)


@pytest.mark.parametrize("name", ["msr", "systor", "alibaba", "tencent", "csv"])
def test_blank_lines_may_precede_the_header(name: str, tmp_path: Path) -> None:
    plain, _ = read_text(tmp_path, MARKED[name])
    rows, trace = read_text(tmp_path, "\n  \n\n" + MARKED[name] + "bad\n")
    assert trace.parts[0].format.name == name
    assert (rows, trace.faults.bad) == (plain, 1)
    assert trace.faults.first is not None
    assert trace.faults.first.number == 6


def test_digits_beyond_the_nanosecond_do_not_make_parsing_slow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(text, "_slow", None)
    times = ("0.1234567899", " -1.0000000019\t", "2", "+.5000000000000000", "3.25")
    data = "".join(f"{number},{time},w,x\n" for number, time in enumerate(times))
    rows, faults = parsed(Path(__file__), data.encode())
    assert [at for at, _, _ in rows] == [123456789, -1000000001, 2 * 10**9, 5 * 10**8, 325 * 10**7]
    assert faults.bad == 0


TEXTS = [seed for seed in SAMPLES if seed.startswith("py-trace_text/")]


@pytest.mark.parametrize("seed", TEXTS)
def test_a_last_line_that_is_cut_off_is_bad(seed: str, tmp_path: Path) -> None:
    """Wherever it is cut: what is left may be a record with other numbers."""
    path = sample(tmp_path, seed)
    data = path.read_bytes().rstrip(b"\n")
    start = data.rfind(b"\n") + 1
    path.write_bytes(data[:start])
    rest, trace = read(path, format=SAMPLES[seed])
    bad = trace.faults.bad
    for end in range(start + 1, len(data) + 1):
        path.write_bytes(data[:end])
        rows, trace = read(path, format=SAMPLES[seed])
        cut = bool(data[start:end].strip())
        assert (rows, trace.faults.bad) == (rest, bad + cut)
    fault = trace.faults.first
    assert fault is not None and (bad or fault.reason == UNENDED)
    path.write_bytes(data + b"\n")
    assert read(path, format=SAMPLES[seed])[1].faults.bad == bad


def test_a_last_line_of_blanks_is_none(tmp_path: Path) -> None:
    rows, trace = read_text(tmp_path, "0,1,512,r,0.5\n0,2,512,r,0.6\n \r", format="spc")
    assert (len(rows), trace.faults.bad) == (2, 0)

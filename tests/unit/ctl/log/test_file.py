# SPDX-License-Identifier: GPL-2.0
"""The file of a per-I/O log: every value comes back, and what is not whole does not look it."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lib.core.spekcore import Arrival, Asu, Stream, Workload, library
from lib.ctl import plot_files
from lib.ctl.log_files import TYPE, column, free_bytes, header, records, written

from spekctl.errors import UsageError
from spekctl.kernel.gen.spek_records import LOG_RECORD, LOG_RECORD_BYTES
from spekctl.log import file
from spekctl.log.file import LogFullError, LogWriter, open_log
from spekctl.workload.config import Extent, ResolvedAsu

MIB = 1 << 20
FFI, LIB = library()


def test_every_member_of_a_record_has_a_column() -> None:
    assert TYPE.itemsize == LOG_RECORD_BYTES
    assert len(file.COLUMNS) == len(LOG_RECORD)


def test_every_value_of_every_column_comes_back(tmp_path: Path) -> None:
    rows = records(5000)
    for name, kind in LOG_RECORD:
        top = np.iinfo(kind).max
        rows[name][:2] = [0, top]
    path = written(tmp_path / "log", rows)
    for name, (member, _) in zip(file.COLUMNS, LOG_RECORD, strict=True):
        values = column(path, name)
        assert values.dtype == rows[member].dtype
        assert np.array_equal(values, rows[member]), name


def test_a_header_comes_back(tmp_path: Path) -> None:
    path = written(tmp_path / "log", records(10), lost=3, complete=False, reason="stopped")
    read_back = open_log(path).header
    assert read_back == header(records=10, lost=3, complete=False, reason="stopped")
    plain = json.loads(pq.read_metadata(path).metadata[b"spek"])
    assert (plain["kind"], plain["version"], plain["streams"]) == (
        "spek-log",
        2,
        ["first", "second"],
    )


def test_warming_up_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file.warm_up()
    assert list(tmp_path.iterdir()) == []


def test_a_second_writer_of_a_log_says_that_there_is_one(tmp_path: Path) -> None:
    path = tmp_path / "io.parquet"
    writer = LogWriter(path)
    sentence = f"cannot log to {path}: another process is writing io.parquet.part"
    with pytest.raises(UsageError) as refusal:
        LogWriter(path)
    assert refusal.value.message == sentence
    writer.add(records(10))
    writer.finish(header())
    assert pq.read_metadata(path).num_rows == 10


def test_long_logs_are_written_and_read_in_pieces(tmp_path: Path) -> None:
    path = tmp_path / "log"
    writer = LogWriter(path)
    block = records(1 << 16)
    for _ in range(33):
        writer.add(block)
    assert writer.records == 2 << 20  # two full row groups are out, the rest is held back
    writer.finish(header())
    metadata = pq.read_metadata(path)
    assert metadata.num_row_groups == 3
    assert metadata.row_group(0).num_rows == file.ROW_GROUP
    sizes = [batch.num_rows for batch in open_log(path).batches(["op"], rows=100_000)]
    assert sum(sizes) == 33 << 16
    assert max(sizes) <= 100_000


def test_a_log_without_records_is_a_log(tmp_path: Path) -> None:
    path = tmp_path / "log"
    LogWriter(path).finish(header())
    log = open_log(path)
    assert log.header.records == 0
    assert list(log.batches()) == []


def test_the_old_file_stays_until_the_new_one_is_whole(tmp_path: Path) -> None:
    path = written(tmp_path / "log", records(10))
    writer = LogWriter(path)
    writer.add(records(20))
    writer.flush()
    assert len(column(path, "op")) == 10
    writer.finish(header())
    assert len(column(path, "op")) == 20
    assert [entry.name for entry in tmp_path.iterdir()] == ["log"]


def test_what_a_dead_controller_leaves_does_not_look_whole(tmp_path: Path) -> None:
    path = tmp_path / "log"
    program = (
        "import os, sys, pathlib, numpy as np\n"
        "from spekctl.log import file\n"
        "writer = file.LogWriter(pathlib.Path(sys.argv[1]))\n"
        "for _ in range(3):\n"
        "    writer.add(np.zeros(file.ROW_GROUP, file.record_type()))\n"
        "os._exit(9)\n"
    )
    assert subprocess.run([sys.executable, "-c", program, str(path)]).returncode == 9
    assert not path.exists()
    part = tmp_path / "log.part"
    assert part.stat().st_size > 0
    with pytest.raises(UsageError, match="whose controller died; it cannot be read"):
        open_log(part)
    # The same name can be used again.
    assert len(column(written(path, records(7)), "op")) == 7
    assert not part.exists()


def test_other_files_are_refused_with_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no file"):
        open_log(tmp_path / "nothing")
    text = tmp_path / "text"
    text.write_text("not Parquet at all")
    with pytest.raises(UsageError, match="is not a spek file; expected a per-I/O log"):
        open_log(text)
    foreign = tmp_path / "other"
    pq.write_table(pa.table({"x": [1]}), foreign)
    with pytest.raises(UsageError, match="is a Parquet file, but not a per-I/O log of spek"):
        open_log(foreign)
    newer = tmp_path / "newer"
    writer = LogWriter(newer)
    writer.finish(header(version=3))
    with pytest.raises(
        UsageError, match="has version 3 of its format; this spekctl reads versions 1 to 2"
    ):
        open_log(newer)


def test_a_nearly_full_disk_is_refused_at_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free_bytes(monkeypatch, lambda: 63 * MIB)
    with pytest.raises(UsageError, match=r"has 63 MiB left, and a log needs 64 MiB in reserve"):
        LogWriter(tmp_path / "log")
    assert list(tmp_path.iterdir()) == []


def test_a_file_system_that_does_not_know_its_size_is_taken_to_be_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unknown = SimpleNamespace(f_blocks=0, f_bavail=0, f_frsize=0)
    monkeypatch.setattr(os, "statvfs", lambda path: unknown)
    assert len(column(written(tmp_path / "log", records(10)), "op")) == 10


def test_a_disk_that_fills_up_ends_a_log_that_is_whole_up_to_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = iter([100 * MIB, 90 * MIB, 10 * MIB])
    free_bytes(monkeypatch, lambda: next(left))
    path = tmp_path / "log"
    writer = LogWriter(path)
    block = records(file.ROW_GROUP)
    writer.add(block)
    with pytest.raises(LogFullError, match="has only 10 MiB left"):
        writer.add(block)
    writer.finish(header())
    assert np.array_equal(column(path, "address"), np.tile(block["addr"], 2))


def test_no_row_group_needs_more_than_the_reserve(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    worst = rng.integers(0, 256, file.ROW_GROUP * 48, np.uint8).view(TYPE)
    path = written(tmp_path / "log", worst)
    assert path.stat().st_size < file.RESERVE_BYTES


@given(st.data())
def test_places_on_devices_are_those_of_the_core(data: st.DataObject) -> None:
    asus = []
    for _ in range(data.draw(st.integers(1, 3))):
        nr = data.draw(st.integers(1, 16))
        stripe = 2 ** data.draw(st.integers(9, 24)) if nr > 1 else 0
        size = nr * stripe * data.draw(st.integers(1, 1000)) or 1 << 40
        targets = data.draw(st.permutations(range(nr)))
        extents = [Extent(target, 512 * data.draw(st.integers(0, 2**40))) for target in targets]
        asus.append(ResolvedAsu("a", size, extents, stripe))
    rows = [
        (asu, data.draw(st.integers(0, asus[asu].bytes - 1)))
        for asu in data.draw(st.lists(st.integers(0, len(asus) - 1), min_size=1, max_size=20))
    ]
    log = file.LogFile(Path("x"), None, header(asus=asus))
    target, byte = log.device_address(
        np.array([asu for asu, _ in rows], np.uint8), np.array([at for _, at in rows], np.uint64)
    )
    expected = [core_place(asus[asu], at) for asu, at in rows]
    assert list(zip(target.tolist(), byte.tolist(), strict=True)) == expected


def core_place(asu: ResolvedAsu, address: int) -> tuple[int, int]:
    """Where the core that the module ships puts a byte."""
    extents = [(extent.target, extent.start) for extent in asu.extents]
    core_asu = Asu(asu.bytes, asu.stripe_bytes, extents)
    wl = Workload([core_asu], [Arrival(depth=1)], [Stream()])
    c_map = FFI.new("struct spek_asu_map *")
    LIB.spek_asu_map_init(c_map, FFI.addressof(wl.c.asu, 0))
    target, offset = FFI.new("u32 *"), FFI.new("u64 *")
    LIB.shim_asu_map(c_map, address, 1, target, offset)
    return int(target[0]), int(offset[0])


def test_names_are_in_the_file_and_numbers_come_back(tmp_path: Path) -> None:

    rows = records(1000)
    rows["error"][:7] = errno.EIO
    path = tmp_path / "log"
    writer = LogWriter(path, file.Names(["first", "second"], ["a", "b"]))
    writer.add(rows[:400])
    writer.flush()
    writer.add(rows[400:])
    writer.finish(header(records=len(rows)))
    columns = pq.read_table(path).to_pydict()
    assert set(columns["op"]) == {"read", "write"}
    assert set(columns["phase"]) == {"measure"}
    assert (set(columns["stream"]), set(columns["asu"])) == ({"first", "second"}, {"a", "b"})
    assert columns["error"][:8] == ["EIO"] * 7 + ["none"]
    for name, member in (("op", "write"), ("stream", "stream"), ("error", "error")):
        assert (column(path, name) == rows[member]).all()
        assert column(path, name).dtype == rows[member].dtype


def test_logs_with_bare_numbers_are_still_read(tmp_path: Path) -> None:

    path, rows = tmp_path / "old", records(100)
    columns = [pa.array(np.ascontiguousarray(rows[member])) for member, _ in LOG_RECORD]
    table = pa.Table.from_arrays(columns, schema=file._schema(named=False))
    writer = pq.ParquetWriter(path, table.schema)
    writer.write_table(table)
    writer.add_key_value_metadata({file.KEY: msgspec.json.encode(header(records=100))})
    writer.close()
    assert (column(path, "op") == rows["write"]).all()
    assert (column(path, "stream") == rows["stream"]).all()


@pytest.mark.parametrize("part", ["footer", "pages"])
@pytest.mark.parametrize("byte", [0, 14, 255])
def test_overwritten_bytes_are_damage_in_one_line(tmp_path: Path, byte: int, part: str) -> None:
    path = tmp_path / "log"
    writer = LogWriter(path)
    writer.add(records(100))
    writer.finish(header(records=100))
    data = bytearray(path.read_bytes())
    end = len(data) - 8
    footer = end - int.from_bytes(data[end : end + 4], "little")
    start, stop = (footer, end) if part == "footer" else (4, footer)
    data[start:stop] = bytes([byte]) * (stop - start)
    path.write_bytes(data)
    with pytest.raises(UsageError, match=r"/log is damaged: \w") as refusal:
        column(path, "address")
    assert refusal.value.message.isprintable()


@pytest.mark.parametrize("change", [{"operations": ["transfer"]}, {"fua": [True]}])
def test_a_header_that_does_not_say_what_all_streams_do_is_damage(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    path = written(tmp_path / "log", records(10), **change)
    with pytest.raises(UsageError, match="log is damaged: not all streams have an operation"):
        open_log(path)


def test_a_name_that_is_not_text_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "log", records(10)).rename(tmp_path / "\udcff")
    with pytest.raises(UsageError, match=r"^cannot read .*: the name of a log must be UTF-8$"):
        open_log(path)


def test_a_name_that_the_header_lacks_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "log"
    writer = LogWriter(path, file.Names(["first", "other"], ["a", "b"]))
    writer.add(records(100))
    writer.finish(header(records=100))
    with pytest.raises(UsageError, match="is damaged: a wrong name in column stream"):
        column(path, "stream")


@pytest.mark.parametrize(
    ("count", "changes", "sentence"),
    [
        (0, {}, "holds no I/Os"),
        (10, {"measure_ns": 0}, "has no measure phase: its run ended before"),
    ],
)
def test_a_log_without_measured_ios_is_refused(
    count: int, changes: dict[str, int], sentence: str, tmp_path: Path
) -> None:
    rows = plot_files.records(10)[:count]
    path = plot_files.write_log(tmp_path / "a.parquet", rows, **changes)
    with pytest.raises(UsageError, match=sentence):
        file.open_measured(path)

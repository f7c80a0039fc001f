# SPDX-License-Identifier: GPL-2.0
"""The stored form: the same records come back, and damage is told from data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from lib.ctl.log_files import records as log_records
from lib.ctl.log_files import written
from lib.ctl.traces import batch, records

from spekctl.documents import document
from spekctl.documents.document import Kind
from spekctl.documents.trace import TraceOrigin
from spekctl.errors import UsageError
from spekctl.trace import store
from spekctl.trace.columns import Flag, Op
from spekctl.trace.trace import open_trace

ROWS = [(0, 0, 4096, 512, Op.READ), (7, 1, 0, 0, Op.FLUSH), (7, 0, 2**62, 4096, Op.DISCARD)]


def stored(path: Path, **changes: Any) -> Path:
    with store.writing(path) as writer:
        writer.add(batch(ROWS))
        writer.add(batch([(9, 1, 8192, 4096, Op.WRITE)], flags=Flag.FUA))
        values: dict[str, Any] = {
            "origins": [TraceOrigin("x.spc", "spc")],
            "devices": ["a", "b"],
            "records": writer.records,
            "span_ns": writer.span_ns,
            "bad": 0,
            "unordered": 0,
        }
        writer.finish(store.TraceHeader(**{**values, **changes}))
    return path


def rewrite(path: Path, table: pa.Table) -> None:
    """Other rows under the same header."""
    header = pq.ParquetFile(path).metadata.metadata[store.KEY]
    pq.write_table(table.replace_schema_metadata({store.KEY: header}), path)


def test_records_come_back(tmp_path: Path) -> None:
    trace = open_trace([stored(tmp_path / "t")])
    assert trace.parts[0].format.name == "spek-trace"
    assert records(trace) == [
        (0, "a", 4096, 512, "read"),
        (7, "b", 0, 0, "flush"),
        (7, "a", 2**62, 4096, "discard"),
        (9, "b", 8192, 4096, "write+"),
    ]
    header = store.open_stored(tmp_path / "t").header
    assert (header.records, header.span_ns, header.version) == (4, 9, 1)


def test_a_trace_of_an_older_spek_has_lost_nothing_that_is_known(tmp_path: Path) -> None:
    path = stored(tmp_path / "t")
    data = json.loads(pq.ParquetFile(path).metadata.metadata[store.KEY])
    assert data.pop("lost") == 0
    table = pq.read_table(path).replace_schema_metadata({store.KEY: json.dumps(data).encode()})
    pq.write_table(table, path)
    assert store.open_stored(path).header.lost == 0


def test_a_trace_and_a_log_are_told_apart(tmp_path: Path) -> None:
    trace, log = stored(tmp_path / "t"), written(tmp_path / "log", log_records(10))
    assert document.identify(trace, [Kind.TRACE]) is Kind.TRACE
    assert document.identify(log, [Kind.LOG]) is Kind.LOG
    with pytest.raises(UsageError, match="is a stored trace; expected a per-I/O log"):
        document.identify(trace, [Kind.LOG])
    with pytest.raises(UsageError, match="is a per-I/O log; expected a stored trace"):
        document.identify(log, [Kind.TRACE])


def test_what_is_written_has_its_name_only_when_it_is_whole(tmp_path: Path) -> None:
    with pytest.raises(KeyError), store.writing(tmp_path / "t") as writer:
        writer.add(batch(ROWS))
        assert not (tmp_path / "t").exists()
        raise KeyError
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("keep", [4, 100, -9, -1])
def test_half_a_file_is_damaged(keep: int, tmp_path: Path) -> None:
    path = stored(tmp_path / "t")
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(UsageError, match="damaged"):
        records(open_trace([path]))


def test_half_a_file_is_of_no_kind(tmp_path: Path) -> None:
    path = stored(tmp_path / "t")
    path.write_bytes(path.read_bytes()[:200])
    words = "a damaged Parquet file, which lacks its end"
    assert document.description(path) == words
    for wanted in (Kind.RESULT, Kind.TRACE):
        with pytest.raises(UsageError, match=f"is {words}; expected {wanted.text}"):
            document.identify(path, [wanted])


def test_a_name_that_is_not_text_is_refused(tmp_path: Path) -> None:
    path = stored(tmp_path / "t").rename(tmp_path / "\udcff")
    sentence = "the name of a stored trace must be UTF-8$"
    with pytest.raises(UsageError, match=f"^cannot read .*: {sentence}"):
        store.open_stored(path)
    with pytest.raises(UsageError, match=f"^cannot write .*: {sentence}"), store.writing(path):
        pass
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("byte", [0, 14, 255])
def test_overwritten_bytes_are_damage_in_one_line(tmp_path: Path, byte: int) -> None:
    path = stored(tmp_path / "t")
    whole = path.read_bytes()
    footer = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    pages = whole[:4] + bytes([byte]) * (footer - 4) + whole[footer:]
    none = whole[:footer] + bytes([byte]) * (len(whole) - 8 - footer) + whole[-8:]
    for data in (pages, none):
        path.write_bytes(data)
        with pytest.raises(UsageError, match=r"/t is damaged: \w") as refusal:
            list(store.open_stored(path).batches())
        assert refusal.value.message.isprintable()


@pytest.mark.parametrize(
    ("column", "value", "sentence"),
    [
        ("device", 2, "device beyond 1"),
        ("offset_bytes", 2**63, "offset beyond"),
        ("at_ns", 2**63, "time beyond"),
        ("flags", 4, "flag beyond 3"),
        ("op", "erase", "there is no operation 'erase'"),
    ],
)
def test_values_that_cannot_be_are_damage(
    column: str, value: Any, sentence: str, tmp_path: Path
) -> None:
    path = stored(tmp_path / "t")
    table = pq.read_table(path)
    index = store.SCHEMA.get_field_index(column)
    kind = store.SCHEMA.field(index)
    values = [value] * table.num_rows
    plain = pa.string() if column == "op" else kind.type
    changed = pa.array(values, plain)
    if column == "op":
        changed = changed.dictionary_encode()
    rewrite(path, table.set_column(index, kind, changed))
    with pytest.raises(UsageError, match=sentence):
        records(open_trace([path]))


def test_other_columns_are_no_trace(tmp_path: Path) -> None:
    path = stored(tmp_path / "t")
    rewrite(path, pa.table({"x": np.arange(3)}))
    with pytest.raises(UsageError, match="its columns are not those of a trace"):
        open_trace([path]).batches().__next__()

# SPDX-License-Identifier: GPL-2.0-or-later
"""The stored form of a trace: Parquet, one row per record in the order of their times.

The columns are those of columns.Batch, with the operation and the device as names. The header is
JSON under the key "spek" of the file's metadata, with the envelope of all of spek's documents.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Annotated, Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from msgspec import Meta

from spekctl import files
from spekctl.documents import document
from spekctl.documents.document import Document, Kind
from spekctl.documents.trace import TraceOrigin
from spekctl.errors import SpekError, UsageError
from spekctl.trace.columns import BATCH, END_MAX, OP_BY_TEXT, Array, Batch, Flag, Op

KEY = b"spek"
ROW_GROUP = 1 << 20
_KNOWN_FLAGS = int(Flag.FUA | Flag.PREFLUSH)
_UTF_8 = "the name of a stored trace must be UTF-8"  # pyarrow opens no other


class TraceHeader(Document, frozen=True, kw_only=True, tag=Kind.TRACE.value):
    """Header of a stored trace."""

    origins: list[TraceOrigin]
    devices: Annotated[list[str], Meta(description="Names, by the number in the rows.")]
    records: Annotated[int, Meta(description="Rows.")]
    span_ns: Annotated[int, Meta(description="Time of the last record; the first is at 0.")]
    bad: Annotated[int, Meta(description="Records of the origins that could not be read.")]
    unordered: Annotated[int, Meta(description="Records that were put in order of time.")]
    lost: Annotated[int, Meta(description="I/Os that logs among the origins lack.")] = 0


_NAMES = pa.dictionary(pa.int32(), pa.string())
SCHEMA = pa.schema(
    [
        pa.field("at_ns", pa.uint64(), nullable=False),
        pa.field("device", pa.uint32(), nullable=False),
        pa.field("offset_bytes", pa.uint64(), nullable=False),
        pa.field("bytes", pa.uint64(), nullable=False),
        pa.field("op", _NAMES, nullable=False),
        pa.field("flags", pa.uint8(), nullable=False),
    ]
)
_OPS = [op.text for op in Op]


def to_arrow(batch: Batch) -> Any:
    """A pyarrow.RecordBatch of the stored form's schema."""
    return pa.RecordBatch.from_arrays(
        [
            pa.array(np.ascontiguousarray(batch.at_ns)),
            pa.array(np.ascontiguousarray(batch.device)),
            pa.array(np.ascontiguousarray(batch.offset_bytes)),
            pa.array(np.ascontiguousarray(batch.bytes)),
            pa.DictionaryArray.from_arrays(
                pa.array(np.asarray(batch.op, np.int32)), pa.array(_OPS)
            ),
            pa.array(np.ascontiguousarray(batch.flags)),
        ],
        schema=SCHEMA,
    )


@contextlib.contextmanager
def writing(path: Path) -> Iterator[StoredWriter]:
    """A stored trace that takes the place of @path as files.replacing() says."""
    try:
        str(path).encode()
    except UnicodeEncodeError as error:
        raise UsageError(f"cannot write {path}: {_UTF_8}") from error
    with files.replacing(path) as out:
        writer = StoredWriter(path, out)
        try:
            yield writer
        except BaseException:
            writer.discard()
            raise


class StoredWriter:
    """A stored trace being written into an open file; @path names it in messages."""

    def __init__(self, path: Path, out: IO[bytes]) -> None:
        self.path = path
        self.records = 0
        self.span_ns = 0
        self._pending: list[Any] = []
        self._rows = 0
        self._writer = pq.ParquetWriter(
            out,
            SCHEMA,
            compression="zstd",
            compression_level=1,
            use_dictionary=["device", "bytes", "op", "flags"],
            column_encoding={"at_ns": "DELTA_BINARY_PACKED"},
        )

    def add(self, batch: Batch) -> None:
        """Records to the end."""
        if not len(batch):
            return
        self.records += len(batch)
        self.span_ns = int(batch.at_ns[-1])
        self._pending.append(to_arrow(batch))
        self._rows += len(batch)
        if self._rows >= ROW_GROUP:
            self._flush()

    def _flush(self) -> None:
        if not self._pending:
            return
        table = pa.Table.from_batches(self._pending, SCHEMA)
        try:
            self._writer.write_table(table, row_group_size=self._rows)
        except OSError as error:
            raise SpekError(f"cannot write {self.path}: {_reason(error)}") from error
        self._pending, self._rows = [], 0

    def finish(self, header: TraceHeader) -> None:
        """Write the remaining records and the header."""
        self._flush()
        try:
            self._writer.add_key_value_metadata({KEY: msgspec.json.encode(header)})
            self._writer.close()
        except OSError as error:
            raise SpekError(f"cannot write {self.path}: {_reason(error)}") from error

    def discard(self) -> None:
        """Abandon the file: a writer that is not closed would write to it when it is deleted."""
        with contextlib.suppress(Exception):
            self._writer.close()


class StoredTrace:
    """A stored trace on disk."""

    def __init__(self, path: Path, file: Any, header: TraceHeader) -> None:
        self.path = path
        self.header = header
        self._file = file

    def batches(self) -> Iterator[Batch]:
        """The records; UsageError if the file is damaged."""
        if not self._file.num_row_groups:
            return
        try:
            for rows in self._file.iter_batches(batch_size=BATCH):
                yield self._batch(rows)
        except (OSError, pa.ArrowException, ValueError) as error:
            if isinstance(error, OSError) and error.errno:
                raise SpekError(f"cannot read {self.path}: {_reason(error)}") from error
            raise document.damaged(self.path, error) from error

    def _batch(self, rows: Any) -> Batch:
        def numbers(name: str) -> Array:
            column = rows.column(name)
            if column.null_count:
                raise UsageError(f"{self.path} is damaged: there is a gap in column {name}")
            values: Array = column.to_numpy(zero_copy_only=False)
            return values

        ops = rows.column("op")
        words = ops.dictionary.to_pylist()
        unknown = [word for word in words if word not in OP_BY_TEXT]
        if unknown:
            raise UsageError(f"{self.path} is damaged: there is no operation '{unknown[0]}'")
        table = np.array([OP_BY_TEXT[word] for word in words], np.uint8)
        codes = ops.indices.to_numpy(zero_copy_only=False)
        if ops.null_count or (len(codes) and not 0 <= codes.min() <= codes.max() < len(words)):
            raise UsageError(f"{self.path} is damaged: a wrong name in column op")
        batch = Batch(
            numbers("at_ns"),
            numbers("device"),
            numbers("offset_bytes"),
            numbers("bytes"),
            table[codes] if len(codes) else np.zeros(0, np.uint8),
            numbers("flags"),
        )
        if len(batch):
            self._check(batch)
        return batch

    def _check(self, batch: Batch) -> None:
        limits = (
            (batch.at_ns, END_MAX, "time"),
            (batch.device, len(self.header.devices) - 1, "device"),
            (batch.offset_bytes, END_MAX, "offset"),
            (batch.bytes, END_MAX, "size"),
            (batch.end_bytes, END_MAX, "end"),
            (batch.flags, _KNOWN_FLAGS, "flag"),
        )
        for values, most, what in limits:
            if int(values.max()) > most:
                raise UsageError(f"{self.path} is damaged: {what} beyond {most}")


def open_stored(path: Path) -> StoredTrace:
    """Open a stored trace; UsageError names the defect of the file."""
    try:
        file = pq.ParquetFile(str(path))
        columns = file.schema_arrow
    except UnicodeEncodeError as error:
        raise UsageError(f"cannot read {path}: {_UTF_8}") from error
    except (pa.ArrowException, ValueError) as error:
        raise UsageError(f"{path} is damaged: it is not a complete Parquet file") from error
    except OSError as error:
        if error.errno is None:
            raise document.damaged(path, error) from error
        raise UsageError(f"cannot read {path}: {_reason(error)}") from error
    data = (file.metadata.metadata or {}).get(KEY)
    if data is None:
        raise UsageError(f"{path} is a Parquet file, but not a trace of spek")
    header = document.decode(path, data, TraceHeader)
    if not columns.equals(SCHEMA):
        raise UsageError(f"{path} is damaged: its columns are not those of a trace")
    return StoredTrace(path, file, header)


def _reason(error: OSError) -> str:
    return os.strerror(error.errno) if error.errno else str(error)

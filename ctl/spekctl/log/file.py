# SPDX-License-Identifier: GPL-2.0-or-later
"""The file of a per-I/O log: Parquet, one row per I/O, and a header that explains the numbers.

Rows of a worker come in the order in which it handled completions; workers are interleaved as
they were read. Whoever needs another order sorts.

A log that is being written is FILE.part. It gets its footer, without which it cannot be read,
and its name only when it is whole; so what a dead controller leaves behind cannot be mistaken
for a log.
"""

from __future__ import annotations

import contextlib
import errno as errno_names
import importlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import Meta

from spekctl import files, units
from spekctl.documents import document
from spekctl.documents.document import Document, Kind, Part
from spekctl.entry import EntryError
from spekctl.errors import SpekError, UsageError
from spekctl.extras import install
from spekctl.kernel.gen.spek_records import LOG_RECORD
from spekctl.log.place import FilePlace, Nowhere, Place
from spekctl.workload.config import ResolvedAsu
from spekctl.workload.values import Operation

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Block = NDArray[np.void]
    U64 = NDArray[np.uint64]

KEY = b"spek"
ROW_GROUP = 1 << 20
# A row group of random numbers, which do not shrink, and the footer.
RESERVE_BYTES = 64 << 20

# What the members of a record become.
COLUMNS = (
    "arrival_ns",
    "issue_ns",
    "completion_ns",
    "address",
    "bytes",
    "bsu",
    "stream",
    "worker",
    "asu",
    "op",
    "phase",
    "error",
)
OPS = ("read", "write")
PHASES = ("ramp", "measure", "drain")
NO_ERROR = "none"
# Times go up in small steps: the steps take a quarter of the room. A dictionary of values that
# hardly repeat only costs time.
_STEPS = ("arrival_ns", "issue_ns", "completion_ns")
_REPEATING = COLUMNS[COLUMNS.index("bytes") :]


class LogTarget(Part, frozen=True):
    """A device of the run."""

    path: str
    bytes: int


def _from_version_1(fields: dict[str, Any]) -> None:
    """Version 2 says when and by what it was written."""
    fields["created"] = document.timestamp(fields["start_real_ns"])
    fields["command"] = []


class LogHeader(Document, frozen=True, kw_only=True, tag=Kind.LOG.value):
    """Explains the numbers in the rows; JSON under the key "spek" of the file's metadata."""

    UPGRADES = (_from_version_1,)

    version: document.Version[Literal[2]] = 2
    workload: str
    streams: Annotated[list[str], Meta(description="Names, by the number in the rows.")]
    operations: Annotated[
        list[Operation],
        Meta(
            description="What the streams do: all but transfers have rows of writes. Of older logs"
            " there is nothing."
        ),
    ] = msgspec.field(default_factory=list)
    fua: Annotated[
        list[bool], Meta(description="Streams whose writes have forced unit access.")
    ] = msgspec.field(default_factory=list)
    asus: Annotated[list[ResolvedAsu], Meta(description="As in the configuration of the run.")]
    targets: list[LogTarget]
    seed: int
    workers: int
    started_ns: Annotated[int, Meta(description="CLOCK_MONOTONIC, as all times.")]
    measure_ns: Annotated[int, Meta(description="Start of the measure phase; 0: not reached.")]
    drain_ns: Annotated[int, Meta(description="Its end; 0: not reached.")]
    ended_ns: Annotated[int, Meta(description="0: the run had not ended.")]
    start_real_ns: Annotated[int, Meta(description="CLOCK_REALTIME at started_ns.")]
    module_version: str
    reason: Annotated[str, Meta(description="Why the run ended; stopped: it was interrupted.")]
    records: Annotated[int, Meta(description="Rows.")]
    lost: Annotated[int, Meta(description="I/Os of the run that have no row.")]
    complete: Annotated[bool, Meta(description="The run ended and every I/O has its row.")]

    def of_writes(self) -> list[str]:
        """What rows that are writes did, by stream: write, discard, flush ..."""
        writes = [
            "write" if operation == "transfer" else operation for operation in self.operations
        ]
        return writes or ["write"] * len(self.streams)


def require(what: str = "a per-I/O log") -> None:
    """UsageError if the libraries that logs and traces need are missing."""
    try:
        importlib.import_module("numpy")
        importlib.import_module("pyarrow.parquet")
    except ImportError as error:
        raise UsageError(f"{what} needs pyarrow: {install('log')}") from error


def record_type() -> np.dtype[Any]:
    """A record of the kernel as a numpy type."""
    import numpy as np

    return np.dtype(list(LOG_RECORD))


@dataclass(frozen=True, slots=True)
class Names:
    """The names behind the numbers of a run."""

    streams: Sequence[str] = ()
    asus: Sequence[str] = ()

    def words(self) -> dict[str, list[str]]:
        """Columns of numbers that have names: the names, by number."""
        errors = [errno_names.errorcode.get(code, str(code)) for code in range(1, 256)]
        return {
            "stream": list(self.streams),
            "asu": list(self.asus),
            "op": list(OPS),
            "phase": list(PHASES),
            "error": [NO_ERROR, *errors],
        }


def _schema(named: bool = True) -> Any:
    """The columns; older logs have bare numbers for what is @named."""
    import pyarrow as pa

    kinds = {"u8": pa.uint64(), "u4": pa.uint32(), "u2": pa.uint16(), "u1": pa.uint8()}
    # Indices of a dictionary are read as int32, whatever they are written as.
    name_type = pa.dictionary(pa.int32(), pa.string())
    words = Names().words() if named else {}
    return pa.schema(
        [
            pa.field(name, name_type if name in words else kinds[kind], nullable=False)
            for name, (_, kind) in zip(COLUMNS, LOG_RECORD, strict=True)
        ]
    )


class LogFullError(SpekError):
    """The file system is nearly full. The log can still be finished, and is whole up to here."""


class LogWriter:
    """A log being written, by one thread at a time."""

    def __init__(self, place: Path | Place, names: Names | None = None) -> None:
        import pyarrow.parquet as pq

        self._place = FilePlace(place) if isinstance(place, Path) else place
        name = self._place.name
        self._words = (names or Names()).words()
        self.records = 0
        self.bytes = 0  # when it is finished
        self._pending: list[Any] = []
        self._pending_rows = 0
        self._schema = _schema()
        try:
            free = self._place.free_bytes()
            if free < RESERVE_BYTES:
                raise UsageError(
                    f"cannot log to {name}: its file system has {units.format_bytes(free)} left,"
                    f" and a log needs {units.format_bytes(RESERVE_BYTES)} in reserve"
                )
            self._writer = pq.ParquetWriter(
                self._place.sink(),
                self._schema,
                compression="zstd",
                compression_level=1,
                use_dictionary=list(_REPEATING),
                column_encoding=dict.fromkeys(_STEPS, "DELTA_BINARY_PACKED"),
            )
        except OSError as error:
            raise UsageError(f"cannot log to {name}: {reason_of(error)}") from error
        except UnicodeEncodeError as error:
            raise UsageError(f"cannot log to {name}: the name of a log must be UTF-8") from error

    def add(self, block: Block) -> None:
        """Records to the end of the log.

        OSError if they could not be written: then the file is of no use any more.
        LogFullError if they were written, and were the last for which there is room.
        """
        import pyarrow as pa

        columns = [
            self._column(name, block[member])
            for name, (member, _) in zip(COLUMNS, LOG_RECORD, strict=True)
        ]
        self._pending.append(pa.RecordBatch.from_arrays(columns, schema=self._schema))
        self._pending_rows += len(block)
        if self._pending_rows >= ROW_GROUP:
            self.flush()
            free = self._place.free_bytes()
            if free < RESERVE_BYTES:
                raise LogFullError(f"its file system has only {units.format_bytes(free)} left")

    def _column(self, name: str, numbers: NDArray[Any]) -> Any:
        """Numbers as they are, or as names."""
        import numpy as np
        import pyarrow as pa

        words = self._words.get(name)
        if words is None:
            return pa.array(np.ascontiguousarray(numbers))
        # A number without a name stands for itself.
        words += [str(code) for code in range(len(words), int(numbers.max(initial=0)) + 1)]
        return pa.DictionaryArray.from_arrays(pa.array(numbers.astype(np.int32)), pa.array(words))

    def flush(self) -> None:
        """Write buffered records. OSError as add()."""
        import pyarrow as pa

        if not self._pending:
            return
        table = pa.Table.from_batches(self._pending, self._schema)
        self._writer.write_table(table, row_group_size=max(ROW_GROUP, self._pending_rows))
        self.records += self._pending_rows
        self._pending, self._pending_rows = [], 0

    def finish(self, header: LogHeader) -> None:
        """Write header and footer and give the file its name. OSError as add()."""
        self.flush()
        self._writer.add_key_value_metadata({KEY: msgspec.json.encode(header)})
        self._writer.close()
        self.bytes = self._place.keep()

    def discard(self) -> None:
        """Abandon the log and delete its file."""
        # Only the descriptor matters: a footer would not make a broken file readable.
        with contextlib.suppress(Exception):
            self._writer.close()
        self._place.discard()


def warm_up() -> None:
    """Write a record to nowhere. The first write loads much of a library, which may take longer
    than the kernel's buffer lasts: so it must not be that of a run."""
    import numpy as np

    writer = LogWriter(Nowhere())
    writer.add(np.zeros(1, record_type()))
    writer.flush()
    writer.discard()


def reason_of(error: OSError) -> str:
    """The message of an OSError: ours or the system's, not pyarrow's."""
    if isinstance(error, EntryError):
        return str(error.strerror)
    return os.strerror(error.errno) if error.errno else str(error)


def open_log(path: Path) -> LogFile:
    """A log for reading; UsageError with what is wrong with the file."""
    require()
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(str(path))
        columns = file.schema_arrow
    except FileNotFoundError as error:
        raise files.missing(path) from error
    except UnicodeEncodeError as error:
        raise UsageError(f"cannot read {path}: the name of a log must be UTF-8") from error
    except (pa.ArrowException, ValueError) as error:
        if path.suffix == ".part":
            raise UsageError(
                f"{path} is the log of a run in progress, or of one whose controller died; it"
                " cannot be read"
            ) from error
        document.identify(path, [Kind.LOG])
        raise UsageError(f"{path} is damaged: it is not a complete Parquet file") from error
    except OSError as error:
        if error.errno is None:
            raise document.damaged(path, error) from error
        raise UsageError(f"cannot read {path}: {reason_of(error)}") from error
    metadata: Mapping[bytes, bytes] = file.metadata.metadata or {}
    header = _header(path, metadata)
    if not any(columns.equals(_schema(named)) for named in (True, False)):
        raise UsageError(f"{path} is damaged: its columns are not those of a log")
    if {len(header.operations), len(header.fua)} - {0, len(header.streams)}:
        raise UsageError(f"{path} is damaged: not all streams have an operation")
    return LogFile(path, file, header)


def open_measured(path: Path) -> LogFile:
    """A log that has a measure phase and records in it."""
    log = open_log(path)
    if not log.header.records:
        raise UsageError(f"{path} holds no I/Os")
    if not log.header.measure_ns:
        raise UsageError(f"{path} has no measure phase: its run ended before")
    return log


def _header(path: Path, metadata: Mapping[bytes, bytes]) -> LogHeader:
    data = metadata.get(KEY)
    if data is None:
        raise UsageError(f"{path} is a Parquet file, but not a per-I/O log of spek")
    return document.decode(path, data, LogHeader)


class LogFile:
    """A log on disk, read in pieces of bounded size."""

    def __init__(self, path: Path, file: Any, header: LogHeader) -> None:
        self.path = path
        self.header = header
        self._file = file

    def batches(self, columns: Sequence[str] | None = None, rows: int = ROW_GROUP) -> Iterator[Any]:
        """The rows as pyarrow.RecordBatch of at most @rows, as they lie; @columns only."""
        import pyarrow as pa

        names = list(columns) if columns is not None else list(COLUMNS)
        if not self._file.num_row_groups:
            return  # pyarrow 18 cannot read nothing
        try:
            yield from self._file.iter_batches(batch_size=rows, columns=names)
        except (OSError, pa.ArrowException, ValueError) as error:
            if isinstance(error, OSError) and error.errno:
                raise SpekError(f"cannot read {self.path}: {reason_of(error)}") from error
            # pyarrow's own, without a number: a page that can't be unpacked
            raise document.damaged(self.path, error) from error

    def columns(self, *names: str) -> Iterator[tuple[NDArray[Any], ...]]:
        """The same as numpy arrays, in the order of @names; what has a name as its number."""
        header = self.header
        words = Names(header.streams, [asu.name for asu in header.asus]).words()
        for batch in self.batches(names):
            yield tuple(self._numbers(batch, name, words) for name in names)

    def _numbers(self, batch: Any, name: str, words: Mapping[str, list[str]]) -> NDArray[Any]:
        import numpy as np
        import pyarrow as pa

        column = batch.column(name)
        if not pa.types.is_dictionary(column.type):
            values: NDArray[Any] = column.to_numpy(zero_copy_only=False)
            return values
        numbers = {word: number for number, word in enumerate(words[name])}
        kind = LOG_RECORD[COLUMNS.index(name)][1]
        try:
            codes = [
                numbers[word] if word in numbers else int(word)
                for word in column.dictionary.to_pylist()
            ]
            table = np.array(codes, np.dtype(kind))
            array: NDArray[Any] = table[column.indices.to_numpy(zero_copy_only=False)]
        except (TypeError, ValueError, OverflowError, IndexError) as error:
            raise UsageError(f"{self.path} is damaged: a wrong name in column {name}") from error
        return array

    def check_named(self, **numbers: NDArray[Any]) -> None:
        """UsageError if there are numbers of streams or asus that the header does not name.
        @numbers: by their column, ``stream`` or ``asu``."""
        header = self.header
        for column, values in numbers.items():
            known = len(header.streams if column == "stream" else header.asus)
            if len(values) and (most := int(values.max())) >= known:
                raise UsageError(
                    f"{self.path} is damaged: it has I/Os of {column} {most}, and names {known}"
                )

    def device_address(
        self, asu: NDArray[Any], address: NDArray[Any]
    ) -> tuple[NDArray[np.uint32], U64]:
        """Where I/Os begin: number of the target, and byte on it (kmod/load/core/asu.c)."""
        import numpy as np

        target = np.zeros(len(asu), np.uint32)
        byte = np.zeros(len(asu), np.uint64)
        for index, place in enumerate(self.header.asus):
            mine = asu == index
            there = address[mine].astype(np.uint64)
            numbers = np.array([extent.target for extent in place.extents], np.uint32)
            starts = np.array([extent.start for extent in place.extents], np.uint64)
            if len(numbers) == 1:
                target[mine], byte[mine] = numbers[0], starts[0] + there
                continue
            stripe, nr = np.uint64(place.stripe_bytes), np.uint64(len(numbers))
            unit, within = there // stripe, there % stripe
            column = (unit % nr).astype(np.intp)
            target[mine] = numbers[column]
            byte[mine] = starts[column] + unit // nr * stripe + within
        return target, byte

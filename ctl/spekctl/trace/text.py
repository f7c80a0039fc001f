# SPDX-License-Identifier: GPL-2.0-or-later
"""Text in columns: parsed in blocks by pyarrow, and line by line where a block has a bad line.

Both ways accept the same lines and give the same numbers. A block that pyarrow refuses is halved
until the bad line stands in a small piece, so a bad line costs little.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv

from spekctl.trace.columns import IGNORED, Array, Batch, Devices, Misfit, Words, check_extents
from spekctl.trace.faults import Faults
from spekctl.trace.source import LINE_MAX, Chunk, Head, Source

# number: whole, not negative. s, ms, us: a decimal number of these, as nanoseconds. word: text.
# skip: anything.
Kind = Literal["number", "s", "ms", "us", "word", "skip"]
_DIGITS = {"s": 9, "ms": 6, "us": 3}
_PRECISION = 28
# Blocks of this size are parsed line by line.
_SLOW_BYTES = 16 << 10
_U64_MAX = 2**64 - 1
_BLANK = " \t"
# pyarrow takes hexadecimal numbers, too, of as many digits as the type holds.
_NUMBER = re.compile(r"[0-9]+|0[xX][0-9a-fA-F]{1,16}", re.ASCII)
_DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?", re.ASCII)
_NUMBER_LONGEST = 100

UNENDED = (
    "it has no newline at its end and may be cut off; if it is complete, append a newline to the"
    " file"
)

Rows = dict[str, Any]  # Array or Words by column
# The records, with device 0 throughout, and whose they are: names, or numbers that are names.
Converted = tuple[Batch, "Words | Array | str"]
Convert = Callable[[Rows], Converted]


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of a line."""

    columns: tuple[tuple[str, Kind], ...]
    delimiter: str = ","
    # Further columns, which say nothing, may follow.
    more: bool = False
    # Lines of another form that are no I/O.
    ignored: re.Pattern[str] | None = None

    @property
    def names(self) -> list[str]:
        """Of the columns that are read."""
        return [name for name, kind in self.columns if kind != "skip"]


def likeness(head: Head, pattern: re.Pattern[str], header: re.Pattern[str] | None = None) -> float:
    """Share of the first lines, but for a @header, that are of this form."""
    lines = head.lines()
    if header is not None and head.header(header):
        del lines[0]
    if not lines:
        return 0.0
    return sum(bool(pattern.match(line)) for line in lines) / len(lines)


def read_lines(
    source: Source,
    layout: Layout,
    convert: Convert,
    devices: Devices,
    faults: Faults,
    skip_lines: int = 0,
) -> Iterator[Batch]:
    """All records of a file with this layout; skips the first @skip_lines."""
    for chunk in whole_lines(source, faults, skip_lines):
        yield from parse(chunk, layout, convert, devices, faults, source)


def whole_lines(source: Source, faults: Faults, skip_lines: int = 0) -> Iterator[Chunk]:
    """The chunks of a file but for a last line without a newline, which is a bad one: of a line
    that is cut off within its last number nothing else tells."""
    for chunk in source.chunks(skip_lines):
        if chunk.data.endswith(b"\n") or len(chunk.data) >= LINE_MAX:
            yield chunk
        elif chunk.data.strip():
            faults.add(source.path, chunk.line, UNENDED)


def parse(
    chunk: Chunk,
    layout: Layout,
    convert: Convert,
    devices: Devices,
    faults: Faults,
    source: Source,
) -> Iterator[Batch]:
    """The records of some lines."""
    try:
        converted = convert(_fast(chunk.data, layout))
        check_extents(converted[0])
    except (Misfit, pa.ArrowInvalid, OverflowError):
        if len(chunk.data) > _SLOW_BYTES:
            middle = chunk.data.find(b"\n", len(chunk.data) // 2) + 1
            if 0 < middle < len(chunk.data):
                first = Chunk(chunk.data[:middle], chunk.line)
                second = Chunk(chunk.data[middle:], chunk.line + first.data.count(b"\n"))
                for half in (first, second):
                    yield from parse(half, layout, convert, devices, faults, source)
                return
        yield from _slow(chunk, layout, convert, devices, faults, source)
        return
    yield _with_devices(converted, devices, faults)


def _with_devices(converted: Converted, devices: Devices, faults: Faults) -> Batch:
    batch, owner = converted
    is_io = batch.op != IGNORED
    if not is_io.all():
        faults.ignored += int(len(batch) - is_io.sum())
        batch = batch.take(is_io)
        if isinstance(owner, Words):
            owner = Words(owner.codes[is_io], owner.values)
        elif not isinstance(owner, str):
            owner = owner[is_io]
    if isinstance(owner, str):
        number = np.full(len(batch), devices.number(owner), np.uint32) if len(batch) else None
        return batch if number is None else batch.replace(device=number)
    if isinstance(owner, Words):
        return batch.replace(device=devices.of_words(owner))
    return batch.replace(device=devices.of_numbers(owner))


# --- in blocks -----------------------------------------------------------------------------------


def _fast(data: bytes, layout: Layout) -> Rows:
    if data.count(b"\r") != data.count(b"\r\n"):
        raise Misfit("a carriage return within a line")
    if data.startswith(BOM_UTF8):
        # pyarrow would drop it.
        raise Misfit("a byte order mark within the file")
    names = [name for name, _ in layout.columns]
    if layout.more:
        start = data.lstrip(b"\r\n")[:4096].partition(b"\n")[0]
        extra = start.count(layout.delimiter.encode()) + 1 - len(names)
        names += [f"more {index}" for index in range(max(extra, 0))]
    types = {name: _arrow_type(kind) for name, kind in layout.columns if kind != "skip"}
    try:
        table = _parsed(data, layout, names, types)
    except pa.ArrowInvalid as error:
        if _TOO_EXACT not in str(error):
            raise
        times = {name: kind for name, kind in layout.columns if kind in _DIGITS}
        texts = _parsed(data, layout, names, {**types, **dict.fromkeys(times, pa.string())})
        table = _cut(texts, times)
    return {
        name: _column(table.column(name).combine_chunks(), kind)
        for name, kind in layout.columns
        if kind != "skip"
    }


# What pyarrow says of digits beyond the last one of a type.
_TOO_EXACT = "Rescaling Decimal value would cause data loss"


def _cut(table: Any, times: dict[str, Kind]) -> Any:
    """The table with these columns of text as times, without digits beyond the nanosecond."""
    import pyarrow.compute as pc

    for name, kind in times.items():
        pattern = rf"^([+-]?[0-9]*\.[0-9]{{{_DIGITS[kind]}}})[0-9]+$"
        plain = pc.ascii_trim(table.column(name), _BLANK)
        plain = pc.replace_substring_regex(plain, pattern, r"\1")
        place = table.schema.get_field_index(name)
        table = table.set_column(place, name, pc.cast(plain, _arrow_type(kind)))
    return table


def _parsed(data: bytes, layout: Layout, names: list[str], types: dict[str, Any]) -> Any:
    return csv.read_csv(
        pa.BufferReader(data),
        read_options=csv.ReadOptions(column_names=names),
        parse_options=csv.ParseOptions(
            delimiter=layout.delimiter, quote_char=False, newlines_in_values=False
        ),
        convert_options=csv.ConvertOptions(
            column_types=types,
            include_columns=layout.names,
            null_values=[],
            strings_can_be_null=False,
        ),
    )


def _arrow_type(kind: Kind) -> Any:
    if kind == "number":
        return pa.uint64()
    if kind == "word":
        return pa.dictionary(pa.int32(), pa.string())
    return pa.decimal128(_PRECISION, _DIGITS[kind])


def _column(values: Any, kind: Kind) -> Array | Words:
    if isinstance(values, pa.ChunkedArray):
        values = values.chunk(0) if values.num_chunks else pa.array([], values.type)
    if kind == "number":
        array: Array = values.to_numpy(zero_copy_only=False)
        return array
    if kind == "word":
        texts = [text.strip(_BLANK) for text in values.dictionary.to_pylist()]
        return Words(values.indices.to_numpy(zero_copy_only=False), texts)
    halves = np.frombuffer(values.buffers()[1], np.int64)
    start = 2 * values.offset
    halves = halves[start : start + 2 * len(values)]
    low, high = halves[0::2], halves[1::2]
    if not np.array_equal(high, low >> 63):
        raise Misfit("a time beyond 292 years")
    return low


# --- line by line --------------------------------------------------------------------------------


def _slow(
    chunk: Chunk,
    layout: Layout,
    convert: Convert,
    devices: Devices,
    faults: Faults,
    source: Source,
) -> Iterator[Batch]:
    rows: list[tuple[int, tuple[Any, ...]]] = []
    reasons: list[tuple[int, str]] = []
    for number, line in enumerate(chunk.data.split(b"\n"), start=chunk.line):
        try:
            values = _values(line, layout)
        except Misfit as error:
            if layout.ignored is not None and layout.ignored.match(line.decode("utf-8", "replace")):
                faults.ignored += 1
                continue
            reasons.append((number, error.reason))
            continue
        if values is not None:
            rows.append((number, values))
    converted = list(_converted(rows, layout, convert, reasons))
    for number, reason in sorted(reasons):
        faults.add(source.path, number, reason)
    for part in converted:
        yield _with_devices(part, devices, faults)


def _converted(
    rows: list[tuple[int, tuple[Any, ...]]],
    layout: Layout,
    convert: Convert,
    reasons: list[tuple[int, str]],
) -> Iterator[Converted]:
    """The rows as convert() converts them; rejected rows go to @reasons."""
    if not rows:
        return
    try:
        converted = convert(_as_columns([values for _, values in rows], layout))
        check_extents(converted[0])
    except Misfit as error:
        if len(rows) == 1:
            reasons.append((rows[0][0], error.reason))
            return
        middle = len(rows) // 2
        for half in (rows[:middle], rows[middle:]):
            yield from _converted(half, layout, convert, reasons)
        return
    yield converted


def _values(line: bytes, layout: Layout) -> tuple[Any, ...] | None:
    """The fields of a line that are read; None of a blank line."""
    text = line.removesuffix(b"\r").decode("utf-8", "surrogateescape")
    if not text.strip(_BLANK):
        return None
    if "\r" in text:
        raise Misfit("a carriage return within the line")
    fields = text.split(layout.delimiter)
    wanted = len(layout.columns)
    if len(fields) < wanted or (len(fields) > wanted and not layout.more):
        raise Misfit(f"expected {wanted} fields, found {len(fields)}")
    return tuple(
        _value(field, name, kind)
        for field, (name, kind) in zip(fields, layout.columns, strict=False)
        if kind != "skip"
    )


def _value(field: str, name: str, kind: Kind) -> int | str:
    text = field.strip(_BLANK)
    if kind == "word":
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise Misfit(f"{name} is not UTF-8 text") from error
        return text
    shown = text.encode("utf-8", "replace").decode()[:40]
    if kind == "number":
        if not _NUMBER.fullmatch(text) or len(text) > _NUMBER_LONGEST:
            raise Misfit(f"{name} '{shown}' is not a whole number")
        number = int(text, 16 if text[1:2] in ("x", "X") else 10)
        if number > _U64_MAX:
            raise Misfit(f"{name} '{shown}' exceeds 64 bits")
        return number
    return _time_ns(text, shown, name, _DIGITS[kind])


def _time_ns(text: str, shown: str, name: str, digits: int) -> int:
    if not _DECIMAL.fullmatch(text) or len(text) > _NUMBER_LONGEST:
        raise Misfit(f"{name} '{shown}' is not a time")
    try:
        # Digits beyond the nanosecond are cut off.
        value = int(Decimal(text).scaleb(digits))
    except (InvalidOperation, OverflowError) as error:
        raise Misfit(f"{name} '{shown}' is not a time") from error
    if not -(2**63) <= value < 2**63:
        raise Misfit(f"{name} '{shown}' is beyond 292 years")
    return value


def _as_columns(rows: list[tuple[Any, ...]], layout: Layout) -> Rows:
    columns: Rows = {}
    kinds = [(name, kind) for name, kind in layout.columns if kind != "skip"]
    for (name, kind), values in zip(kinds, zip(*rows, strict=True), strict=True):
        if kind == "word":
            distinct = list(dict.fromkeys(values))
            index = {word: code for code, word in enumerate(distinct)}
            columns[name] = Words(np.array([index[value] for value in values], np.int32), distinct)
        else:
            columns[name] = np.array(values, np.uint64 if kind == "number" else np.int64)
    return columns

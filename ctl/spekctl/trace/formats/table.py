# SPDX-License-Identifier: GPL-2.0-or-later
"""CSV whose first line names the columns.

Columns are recognized by their names, which `convert` writes; --column says it for other names:
``at=ts:us``, ``offset=lba:512``. A column of times, one of offsets, one of sizes and one of
operations are needed; a device, FUA and a flush before a write are not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, cast

import numpy as np

from spekctl.errors import UsageError
from spekctl.suggest import did_you_mean
from spekctl.trace.columns import (
    OP_BY_TEXT,
    Array,
    Batch,
    Flag,
    Misfit,
    Op,
    batch_of,
    in_bytes,
    of_filetime,
)
from spekctl.trace.formats.format import READ_WRITE, Format, Reading
from spekctl.trace.source import Chunk, Head
from spekctl.trace.text import Converted, Kind, Layout, Rows, parse, whole_lines

Field = Literal["at", "device", "offset", "size", "op", "fua", "preflush"]
FIELDS: tuple[Field, ...] = ("at", "device", "offset", "size", "op", "fua", "preflush")
NEEDED: tuple[Field, ...] = ("at", "offset", "size", "op")
TIME_UNITS = ("ns", "us", "ms", "s", "100ns")
# Names that are recognized, with the unit that they mean.
KNOWN: dict[str, tuple[Field, str]] = {
    "at_ns": ("at", "ns"),
    "at_us": ("at", "us"),
    "at_ms": ("at", "ms"),
    "at_s": ("at", "s"),
    "time_ns": ("at", "ns"),
    "time_us": ("at", "us"),
    "time_ms": ("at", "ms"),
    "time_s": ("at", "s"),
    "timestamp_ns": ("at", "ns"),
    "timestamp_us": ("at", "us"),
    "timestamp_ms": ("at", "ms"),
    "timestamp_s": ("at", "s"),
    "arrival_ns": ("at", "ns"),
    "device": ("device", ""),
    "disk": ("device", ""),
    "volume": ("device", ""),
    "asu": ("device", ""),
    "offset_bytes": ("offset", "1"),
    "offset_sectors": ("offset", "512"),
    "address": ("offset", "1"),
    "sector": ("offset", "512"),
    "bytes": ("size", "1"),
    "size_bytes": ("size", "1"),
    "length_bytes": ("size", "1"),
    "size_sectors": ("size", "512"),
    "sectors": ("size", "512"),
    "op": ("op", ""),
    "operation": ("op", ""),
    "fua": ("fua", ""),
    "preflush": ("preflush", ""),
}
_NAMED = {**OP_BY_TEXT, "trim": Op.DISCARD, "sync": Op.FLUSH}
_OPS = {
    **READ_WRITE,
    **{
        variant: int(op)
        for text, op in _NAMED.items()
        for variant in (text, text.upper(), text.capitalize(), text.title())
    },
}
_FLAGS: tuple[tuple[Field, Flag], ...] = (("fua", Flag.FUA), ("preflush", Flag.PREFLUSH))
_DELIMITERS = (",", ";", "\t")
_ANY = re.compile("")


@dataclass(frozen=True, slots=True)
class _Column:
    field: Field
    name: str
    unit: str


def _header(head: Head) -> tuple[list[str], str]:
    """Names of the columns and the delimiter, of the first line that is not blank."""
    _, line = next(head.numbered(), (0, ""))
    delimiter = max(_DELIMITERS, key=line.count)
    return [name.strip().strip('"') for name in line.split(delimiter)], delimiter


def _guess(names: list[str]) -> dict[Field, _Column]:
    columns: dict[Field, _Column] = {}
    for name in names:
        if name.lower() in KNOWN:
            field, unit = KNOWN[name.lower()]
            columns.setdefault(field, _Column(field, name, unit))
    return columns


def _refuse_doubt(names: list[str], named: set[str]) -> None:
    """@named: fields that --column names a column for. UsageError if names of several columns mean
    one of the other fields."""
    for field in FIELDS:
        several = [
            name for name in dict.fromkeys(names) if KNOWN.get(name.lower(), ("",))[0] == field
        ]
        if len(several) > 1 and field not in named:
            raise UsageError(
                f"columns {', '.join(several)} each mean '{field}'; choose one with --column"
                f" {field}=COLUMN{':UNIT' if field in ('at', 'offset', 'size') else ''}"
            )


def _likeness(head: Head) -> float:
    return float(set(NEEDED) <= set(_guess(_header(head)[0])))


def _chosen(names: list[str], options: tuple[str, ...]) -> dict[Field, _Column]:
    """The guess, overruled by --column."""
    columns = _guess(names)
    named: set[str] = set()
    for text in options:
        field, equals, rest = text.partition("=")
        if not equals or field not in FIELDS:
            hint = did_you_mean(field, FIELDS)
            raise UsageError(
                f"--column {text}: write FIELD=COLUMN or FIELD=COLUMN:UNIT, where FIELD is one of"
                f" {', '.join(FIELDS)}{hint}"
            )
        name, colon, unit = rest.rpartition(":")
        if not colon:
            name, unit = rest, "ns" if field == "at" else "1"
        if name not in names:
            shown = ", ".join(names)
            raise UsageError(f"--column {text}: there is no column '{name}'; there are {shown}")
        if field == "at" and unit not in TIME_UNITS:
            raise UsageError(f"--column {text}: a time is in {', '.join(TIME_UNITS)}")
        if field in ("offset", "size") and not re.fullmatch(r"[1-9][0-9]{0,6}", unit):
            raise UsageError(f"--column {text}: the unit is a number of bytes, such as 1 or 512")
        columns[field] = _Column(field, name, unit)
        named.add(field)
    _refuse_doubt(names, named)
    missing = [field for field in NEEDED if field not in columns]
    if missing:
        raise UsageError(
            f"no column for {', '.join(missing)}; name it with --column FIELD=COLUMN:UNIT. The"
            f" columns are {', '.join(names)}"
        )
    return columns


def _read(reading: Reading) -> Iterator[Batch]:
    head = reading.source.head()
    names, delimiter = _header(head)
    chosen = _chosen(names, reading.options.columns)
    kinds = {column.name: _kind(column) for column in chosen.values()}
    for name in kinds:
        if names.count(name) > 1:
            raise UsageError(f"{reading.source.path}: two columns have the name '{name}'")
    # Others may have equal names, or none, as behind commas at the end. No name has a newline.
    columns: list[tuple[str, Kind]] = [
        (name, kinds[name]) if name in kinds else (f"skipped\n{place}", "skip")
        for place, name in enumerate(names)
    ]
    layout = Layout(tuple(columns), delimiter)
    if len(kinds) != len(chosen):
        raise UsageError("--column: a column is used for two fields")

    def convert(rows: Rows) -> Converted:
        at: Array = rows[chosen["at"].name]
        if chosen["at"].unit == "100ns":
            at = of_filetime(at)
        elif chosen["at"].unit == "ns":
            if len(at) and int(at.max()) >= 1 << 63:
                raise Misfit("a time beyond 292 years")
            at = at.astype(np.int64)
        offset, size = chosen["offset"], chosen["size"]
        flags: Array = np.zeros(len(at), np.uint64)
        for field, flag in _FLAGS:
            if field in chosen:
                marks: Array = rows[chosen[field].name]
                if len(marks) and int(marks.max()) > 1:
                    raise Misfit(f"{field} is neither 0 nor 1")
                flags |= marks * np.uint64(flag)
        batch = batch_of(
            at,
            0,
            in_bytes(rows[offset.name], int(offset.unit), "offset"),
            in_bytes(rows[size.name], int(size.unit), "size"),
            rows[chosen["op"].name].mapped(_OPS, "operation"),
            flags,
        )
        return batch, rows[chosen["device"].name] if "device" in chosen else "0"

    skip = head.header(_ANY)
    for chunk in whole_lines(reading.source, reading.faults, skip):
        plain = Chunk(_unquoted(chunk.data, delimiter), chunk.line)
        yield from parse(plain, layout, convert, reading.devices, reading.faults, reading.source)


def _unquoted(data: bytes, delimiter: str) -> bytes:
    """Fields in quotes without them. A field that has quotes or delimiters inside keeps them, and
    its line is bad if they matter."""
    if b'"' not in data:
        return data
    edge = re.escape(delimiter.encode())
    pattern = rb'(?m)(^|%s)[ \t]*"([^"\r\n%s]*)"[ \t]*(?=%s|\r?$)' % (edge, edge, edge)
    return re.sub(pattern, rb"\1\2", data)


def _kind(column: _Column) -> Kind:
    if column.field in ("device", "op"):
        return "word"
    if column.field == "at" and column.unit in ("s", "ms", "us"):
        return cast(Kind, column.unit)
    return "number"


FORMAT = Format("csv", "CSV with named columns", _likeness, _read)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Load files of blkreplay.

Comments, a line ``start ; sector; length ; op ; replay_delay ; replay_duration``, and then records:
seconds, sectors of 512 bytes, an operation as blktrace writes it (R, W, RA). Some files have
comments and the line with the names twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from spekctl.trace.columns import SECTOR_BYTES, Batch, batch_of, in_bytes
from spekctl.trace.formats.format import Format, Reading
from spekctl.trace.formats.rwbs import operations
from spekctl.trace.source import Head
from spekctl.trace.text import Converted, Layout, Rows, likeness, read_lines

_HEADER = re.compile(rb"(?m)^[ \t]*start[ \t]*;[ \t]*sector[ \t]*;[^\n]*\n?")
_LINE = re.compile(
    r"[ \t]*\d+\.\d+[ \t]*;[ \t]*\d+[ \t]*;[ \t]*\d+[ \t]*;[ \t]*[RWDF][A-Z]*[ \t]*;"
)
_RECORD = re.compile(rb"(?m)^[ \t]*[0-9.]+[ \t]*;[ \t]*\d+[ \t]*;")
_LAYOUT = Layout(
    (("start", "s"), ("sector", "number"), ("length", "number"), ("op", "word")),
    delimiter=";",
    more=True,
    # Also between records, where files were joined.
    ignored=re.compile(r"[ \t]*(#|start[ \t]*;[ \t]*sector[ \t]*;)"),
)


def _lines_before(head: Head) -> int:
    """Lines up to the one that names the columns, and that one; if there are several ahead of the
    first record, the last."""
    record = _RECORD.search(head.text)
    before = head.text if record is None else head.text[: record.start()]
    end = max((header.end() for header in _HEADER.finditer(before)), default=0)
    return before[:end].count(b"\n")


def _likeness(head: Head) -> float:
    return 1.0 if _HEADER.search(head.text) is not None else likeness(head, _LINE)


def _read(reading: Reading) -> Iterator[Batch]:
    def convert(rows: Rows) -> Converted:
        op, flags = operations(rows["op"])
        return batch_of(
            rows["start"],
            0,
            in_bytes(rows["sector"], SECTOR_BYTES, "sector"),
            in_bytes(rows["length"], SECTOR_BYTES, "length"),
            op,
            flags,
        ), "0"

    skip = _lines_before(reading.source.head())
    yield from read_lines(reading.source, _LAYOUT, convert, reading.devices, reading.faults, skip)


FORMAT = Format("blkreplay", "load file of blkreplay", _likeness, _read)

# SPDX-License-Identifier: GPL-2.0-or-later
"""FIU traces.

``89968195792462 20782 gzip 283193184 8 R 6 0 56f11b...``: ns, pid, process, LBA and size in
sectors, R or W, major and minor number, MD5 of the contents. A process may have blanks in its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from spekctl.trace.columns import SECTOR_BYTES, Array, Batch, Misfit, Words, batch_of, in_bytes
from spekctl.trace.formats.format import READ_WRITE, Format, Reading
from spekctl.trace.source import Chunk, Head
from spekctl.trace.text import Converted, Layout, Rows, likeness, parse, whole_lines

_LINE = re.compile(r"\d+ \d+ \S.* \d+ \d+ [RW] \d+ \d+( |\r?$)", re.ASCII)
# What is before the name, and what is behind it, from the end of the line on.
_NAMED = re.compile(rb"([0-9]+ [0-9]+ ).*( [0-9]+ [0-9]+ [RrWw] [0-9]+ [0-9]+(?: \S+)?\s*)")
_LAYOUT = Layout(
    (
        ("at", "number"),
        ("pid", "skip"),
        ("process", "skip"),
        ("lba", "number"),
        ("size", "number"),
        ("op", "word"),
        ("major", "number"),
        ("minor", "number"),
    ),
    delimiter=" ",
    more=True,
)
_SPACE, _NEWLINE = ord(" "), ord("\n")
_NAMES = [name for name, _ in _LAYOUT.columns]
_OPERATION = _NAMES.index("op")
_OPERATIONS = np.frombuffer(b"RrWw", np.uint8)


def numbered(major: Array, minor: Array) -> Words:
    """Devices by their numbers, as ``8,16``."""
    if len(major) and max(int(major.max()), int(minor.max())) >= 1 << 31:
        raise Misfit("device number beyond 31 bits")
    keys = major.astype(np.int64) << 31 | minor.astype(np.int64)
    values, inverse = np.unique(keys, return_inverse=True)
    names = [f"{key >> 31},{key & (1 << 31) - 1}" for key in values.tolist()]
    return Words(inverse.reshape(-1), names)


def _likeness(head: Head) -> float:
    return likeness(head, _LINE)


def _read(reading: Reading) -> Iterator[Batch]:
    def convert(rows: Rows) -> Converted:
        if len(rows["at"]) and int(rows["at"].max()) >= 1 << 63:
            raise Misfit("a time beyond 292 years")
        return batch_of(
            rows["at"].astype(np.int64),
            0,
            in_bytes(rows["lba"], SECTOR_BYTES, "LBA"),
            in_bytes(rows["size"], SECTOR_BYTES, "size"),
            rows["op"].mapped(READ_WRITE, "operation"),
        ), numbered(rows["major"], rows["minor"])

    for chunk in whole_lines(reading.source, reading.faults):
        plain = Chunk(_without_names(chunk.data), chunk.line)
        yield from parse(plain, _LAYOUT, convert, reading.devices, reading.faults, reading.source)


def _without_names(data: bytes) -> bytes:
    """The lines with names of processes that have blanks made one word. Only those are looked at
    that have no operation in its place, or more fields than a digest behind it."""
    raw = np.frombuffer(data, np.uint8)
    ends = np.append(np.flatnonzero(raw == _NEWLINE), len(raw))
    starts = np.append(0, ends[:-1] + 1)
    spaces = np.append(np.flatnonzero(raw == _SPACE), [len(raw)] * _OPERATION)
    first = np.searchsorted(spaces[:-_OPERATION], starts)
    count = np.searchsorted(spaces[:-_OPERATION], ends) - first
    place = np.minimum(
        spaces[np.minimum(first + _OPERATION - 1, len(spaces) - 1)] + 1, len(raw) - 1
    )
    odd = (count >= _OPERATION) & (~np.isin(raw[place], _OPERATIONS) | (count > len(_NAMES)))
    if not odd.any():
        return data
    lines = data.split(b"\n")
    for number in np.flatnonzero(odd).tolist():
        lines[number] = _NAMED.sub(rb"\1-\2", lines[number], count=1)
    return b"\n".join(lines)


FORMAT = Format("fiu", "FIU", _likeness, _read)

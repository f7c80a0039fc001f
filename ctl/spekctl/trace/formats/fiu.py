# SPDX-License-Identifier: GPL-2.0-or-later
"""FIU traces.

``89968195792462 20782 gzip 283193184 8 R 6 0 56f11b...``: ns, pid, process, LBA and size in
sectors, R or W, major and minor number, MD5 of the contents.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from spekctl.trace.columns import SECTOR_BYTES, Array, Batch, Misfit, Words, batch_of, in_bytes
from spekctl.trace.formats.format import READ_WRITE, Format, Reading
from spekctl.trace.source import Head
from spekctl.trace.text import Converted, Layout, Rows, likeness, read_lines

_LINE = re.compile(r"\d+ \d+ \S+ \d+ \d+ [RW] \d+ \d+( |\r?$)", re.ASCII)
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

    yield from read_lines(reading.source, _LAYOUT, convert, reading.devices, reading.faults)


FORMAT = Format("fiu", "FIU", _likeness, _read)

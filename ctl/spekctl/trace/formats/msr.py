# SPDX-License-Identifier: GPL-2.0-or-later
"""MSR Cambridge traces.

``128166372003061629,hm,0,Read,8192,4096,153``: FILETIME (100 ns since 1601), host, disk, type,
byte offset, bytes, response in 100 ns. Some mirrors add a header. Times go back now and then, and
not all offsets are multiples of 512. Offsets are within the volume.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from spekctl.trace.columns import Array, Batch, Misfit, Op, Words, batch_of, of_filetime
from spekctl.trace.formats.format import Format, Reading
from spekctl.trace.source import Head
from spekctl.trace.text import Converted, Layout, Rows, likeness, read_lines

_LINE = re.compile(r"\d{15,19},[^,]*,\d+,(Read|Write),\d+,\d+,\d+\r?$", re.ASCII | re.IGNORECASE)
_HEADER = re.compile(r"[ \t\"]*time(stamp)?\"?,\"?host(name)?", re.IGNORECASE)
_LAYOUT = Layout(
    (
        ("timestamp", "number"),
        ("host", "word"),
        ("disk", "number"),
        ("type", "word"),
        ("offset", "number"),
        ("size", "number"),
        ("response", "skip"),
    )
)
_TYPES = {
    **dict.fromkeys(("Read", "read", "READ"), int(Op.READ)),
    **dict.fromkeys(("Write", "write", "WRITE"), int(Op.WRITE)),
}


def _likeness(head: Head) -> float:
    return likeness(head, _LINE, _HEADER)


def _read(reading: Reading) -> Iterator[Batch]:
    skip = reading.source.head().header(_HEADER)
    yield from read_lines(reading.source, _LAYOUT, _convert, reading.devices, reading.faults, skip)


def _convert(rows: Rows) -> Converted:
    return batch_of(
        of_filetime(rows["timestamp"]),
        0,
        rows["offset"],
        rows["size"],
        rows["type"].mapped(_TYPES, "type"),
    ), _volumes(rows["host"], rows["disk"])


def _volumes(host: Words, disk: Array) -> Words:
    """Host and disk as a name: hm_0, as the files are called."""
    if len(disk) and int(disk.max()) >= 1 << 31:
        raise Misfit("disk number beyond 31 bits")
    keys = host.codes.astype(np.int64) << 31 | disk.astype(np.int64)
    values, inverse = np.unique(keys, return_inverse=True)
    names = [f"{host.values[key >> 31]}_{key & (1 << 31) - 1}" for key in values.tolist()]
    return Words(inverse.reshape(-1), names)


FORMAT = Format("msr", "MSR Cambridge", _likeness, _read)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Systor '17: enterprise VDI, captured on a Fibre Channel link.

``1456095145.133076000,0.000806000,R,0,899056122368,131072``: seconds since 1970, response time,
R or W, LUN, byte offset, bytes. Digits below the microsecond mean nothing. Response time and type
are blank if no response was captured: the operation of such a record is unknown. Each hour is a
file, and packets are lost at full hours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from spekctl.trace.columns import IGNORED, Batch, batch_of
from spekctl.trace.formats.format import READ_WRITE, Format, Reading
from spekctl.trace.source import Head
from spekctl.trace.text import Converted, Layout, Rows, likeness, read_lines

_HEADER = re.compile(r"timestamp,response,iotype,lun", re.IGNORECASE)
_LINE = re.compile(r"\d{9,10}\.\d+,(\d*\.?\d+)?,[RW]?,\d+,\d+,\d+\r?$", re.ASCII)
_LAYOUT = Layout(
    (
        ("timestamp", "s"),
        ("response", "skip"),
        ("type", "word"),
        ("LUN", "number"),
        ("offset", "number"),
        ("size", "number"),
    )
)
_TYPES = {**READ_WRITE, "": IGNORED}


def _likeness(head: Head) -> float:
    return likeness(head, _LINE, _HEADER)


def _read(reading: Reading) -> Iterator[Batch]:
    def convert(rows: Rows) -> Converted:
        return batch_of(
            rows["timestamp"],
            0,
            rows["offset"],
            rows["size"],
            rows["type"].mapped(_TYPES, "type"),
        ), rows["LUN"]

    skip = reading.source.head().header(_HEADER)
    before = reading.faults.ignored
    yield from read_lines(reading.source, _LAYOUT, convert, reading.devices, reading.faults, skip)
    if reading.faults.ignored > before:
        reading.faults.note("records without a response are left out: their type is not recorded")


FORMAT = Format("systor", "Systor '17 (VDI)", _likeness, _read)

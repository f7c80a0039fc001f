# SPDX-License-Identifier: GPL-2.0-or-later
"""SPC traces: Financial1 and 2, WebSearch1 to 3 of the UMass repository.

``0,303567,3584,w,0.000000``: ASU, LBA, bytes, opcode, seconds since the start. The bytes of an
LBA's block are stated outside the file. Each ASU is an address space of its own. Sizes of 0, and
sizes that are no multiple of 512, are legal; further fields may follow.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from spekctl.trace.columns import Batch, batch_of, in_bytes
from spekctl.trace.formats.format import READ_WRITE, Format, Reading
from spekctl.trace.source import Head
from spekctl.trace.text import Converted, Layout, Rows, likeness, read_lines

_LINE = re.compile(
    r"[ \t]*\d+[ \t]*,[ \t]*\d+[ \t]*,[ \t]*\d+[ \t]*,[ \t]*[rRwW][ \t]*,[ \t]*\d*\.?\d+", re.ASCII
)
_LAYOUT = Layout(
    (("asu", "number"), ("lba", "number"), ("size", "number"), ("opcode", "word"), ("time", "s")),
    more=True,
)


def _likeness(head: Head) -> float:
    return likeness(head, _LINE)


def _read(reading: Reading) -> Iterator[Batch]:
    block = reading.options.block_bytes

    def convert(rows: Rows) -> Converted:
        return batch_of(
            rows["time"],
            0,
            in_bytes(rows["lba"], block, "LBA"),
            rows["size"],
            rows["opcode"].mapped(READ_WRITE, "opcode"),
        ), rows["asu"]

    yield from read_lines(reading.source, _LAYOUT, convert, reading.devices, reading.faults)


FORMAT = Format("spc", "SPC trace (Financial, WebSearch)", _likeness, _read)

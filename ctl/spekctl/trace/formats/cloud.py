# SPDX-License-Identifier: GPL-2.0-or-later
"""Block traces of cloud volumes: Alibaba 2020 and Tencent CBS.

Alibaba: ``0,R,126703661056,4096,1577808000000046``: device, operation, byte offset, bytes, us since
1970; without a header.

Tencent: ``1538323199,1003027216,16,0,2313``: whole seconds since 1970, offset and size in sectors,
0 for a read and 1 for a write, volume. Thousands of requests share a second.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from spekctl.trace.columns import SECTOR_BYTES, Batch, Op, batch_of, in_bytes
from spekctl.trace.formats.format import READ_WRITE, Format, Reading
from spekctl.trace.source import Head
from spekctl.trace.text import Converted, Layout, Rows, likeness, read_lines

_ALIBABA = re.compile(r"\d+,[RWrw],\d+,\d+,\d{16}\r?$", re.ASCII)
_ALIBABA_HEADER = re.compile(r"device(_id)?,op", re.IGNORECASE)
_ALIBABA_LAYOUT = Layout(
    (("device", "number"), ("op", "word"), ("offset", "number"), ("size", "number"), ("at", "us"))
)
_TENCENT = re.compile(r"\d{9,10},\d+,\d+,[01],\d+\r?$", re.ASCII)
_TENCENT_HEADER = re.compile(r"timestamp,offset,size", re.IGNORECASE)
_TENCENT_LAYOUT = Layout(
    (("at", "s"), ("offset", "number"), ("size", "number"), ("op", "word"), ("volume", "number"))
)
_TENCENT_OPS = {"0": int(Op.READ), "1": int(Op.WRITE)}


def _like_alibaba(head: Head) -> float:
    return likeness(head, _ALIBABA, _ALIBABA_HEADER)


def _read_alibaba(reading: Reading) -> Iterator[Batch]:
    def convert(rows: Rows) -> Converted:
        return batch_of(
            rows["at"], 0, rows["offset"], rows["size"], rows["op"].mapped(READ_WRITE, "operation")
        ), rows["device"]

    skip = reading.source.head().header(_ALIBABA_HEADER)
    yield from read_lines(
        reading.source, _ALIBABA_LAYOUT, convert, reading.devices, reading.faults, skip
    )


def _like_tencent(head: Head) -> float:
    return likeness(head, _TENCENT, _TENCENT_HEADER)


def _read_tencent(reading: Reading) -> Iterator[Batch]:
    def convert(rows: Rows) -> Converted:
        return batch_of(
            rows["at"],
            0,
            in_bytes(rows["offset"], SECTOR_BYTES, "offset"),
            in_bytes(rows["size"], SECTOR_BYTES, "size"),
            rows["op"].mapped(_TENCENT_OPS, "operation"),
        ), rows["volume"]

    skip = reading.source.head().header(_TENCENT_HEADER)
    yield from read_lines(
        reading.source, _TENCENT_LAYOUT, convert, reading.devices, reading.faults, skip
    )


ALIBABA = Format("alibaba", "Alibaba block traces 2020", _like_alibaba, _read_alibaba)
TENCENT = Format("tencent", "Tencent CBS", _like_tencent, _read_tencent, 10**9)

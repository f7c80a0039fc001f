# SPDX-License-Identifier: GPL-2.0-or-later
"""spek's per-I/O logs (`spekctl run --log`), so that a measured run can be replayed.

A record is an arrival: the intended time of the I/O, also if it failed. What it did is its
stream's operation, and a transfer's direction. Addresses are those on the devices.
`spekctl log --csv` gives CSV with named columns, whose addresses are within the asu.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from spekctl.documents.document import Kind, parquet_kind
from spekctl.errors import UsageError
from spekctl.trace.columns import OP_BY_TEXT, Array, Batch, Flag, Op, batch_of
from spekctl.trace.formats.format import Format, Reading
from spekctl.trace.source import Head

if TYPE_CHECKING:
    from spekctl.log.file import LogHeader

_COLUMNS = ("arrival_ns", "asu", "address", "bytes", "op", "stream")


def _likeness(head: Head) -> float:
    return float(head.data.startswith(b"PAR1") and parquet_kind(head.path) is not Kind.TRACE)


def _read(reading: Reading) -> Iterator[Batch]:
    from spekctl.log.file import open_log

    log = open_log(reading.source.path)
    header = log.header
    reading.faults.add_lost(reading.source.path, header.lost)
    devices = np.array(
        [reading.devices.number(target.path) for target in header.targets], np.uint32
    )
    written, fua = _writes(header)
    for arrival, asu, address, size, direction, stream in log.columns(*_COLUMNS):
        if len(stream) and int(stream.max()) >= len(header.streams):
            raise UsageError(f"{reading.source.path} is damaged: a wrong name in column stream")
        target, offset = log.device_address(asu, address)
        op = np.where(direction == 0, np.uint8(Op.READ), written[stream])
        addressed = op != Op.FLUSH
        yield batch_of(
            arrival,
            devices[target] if len(devices) else 0,
            np.where(addressed, offset, np.uint64(0)),
            np.where(addressed, size, np.uint64(0)),
            op,
            np.where(op == Op.WRITE, fua[stream], np.uint8(0)),
        )


def _writes(header: LogHeader) -> tuple[Array, Array]:
    """By stream: the operation of rows that are writes, and the flags of writes."""
    ops = [OP_BY_TEXT[text] for text in header.of_writes()]
    flags = [Flag.FUA if is_fua else 0 for is_fua in header.fua or [False] * len(ops)]
    return np.array(ops, np.uint8), np.array(flags, np.uint8)


FORMAT = Format("spek-log", "per-I/O log of spek", _likeness, _read)

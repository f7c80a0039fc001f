# SPDX-License-Identifier: GPL-2.0-or-later
"""spek's per-I/O logs (`spekctl run --log`), so that a measured run can be replayed.

A record is an arrival: the intended time of the I/O, also if it failed. Addresses are those on
the devices. `spekctl log --csv` gives CSV with named columns, whose addresses are within
the asu.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from spekctl.documents.document import Kind, parquet_kind
from spekctl.trace.columns import Batch, Op, batch_of
from spekctl.trace.formats.format import Format, Reading
from spekctl.trace.source import Head

_COLUMNS = ("arrival_ns", "asu", "address", "bytes", "op")


def _likeness(head: Head) -> float:
    return float(head.data.startswith(b"PAR1") and parquet_kind(head.path) is not Kind.TRACE)


def _read(reading: Reading) -> Iterator[Batch]:
    from spekctl.log.file import open_log

    log = open_log(reading.source.path)
    header = log.header
    if header.lost:
        reading.faults.note(f"the log lacks {header.lost:,} I/Os, lost while it was recorded")
    devices = np.array(
        [reading.devices.number(target.path) for target in header.targets], np.uint32
    )
    for arrival, asu, address, size, op in log.columns(*_COLUMNS):
        target, offset = log.device_address(asu, address)
        yield batch_of(
            arrival,
            devices[target] if len(devices) else 0,
            offset,
            size,
            np.where(op == 0, np.uint8(Op.READ), np.uint8(Op.WRITE)),
        )


FORMAT = Format("spek-log", "per-I/O log of spek", _likeness, _read)

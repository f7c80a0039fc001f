# SPDX-License-Identifier: GPL-2.0-or-later
"""The stored form: Parquet, as `spekctl trace convert` writes it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from spekctl.documents.document import Kind, parquet_kind
from spekctl.trace import store
from spekctl.trace.columns import Batch
from spekctl.trace.formats.format import Format, Reading
from spekctl.trace.source import Head


def _likeness(head: Head) -> float:
    return float(head.data.startswith(b"PAR1") and parquet_kind(head.path) is Kind.TRACE)


def _read(reading: Reading) -> Iterator[Batch]:
    stored = store.open_stored(reading.source.path)
    # A replay of it leaves out what one of its origins does.
    header = stored.header
    reading.faults.add_stored(stored.path, header.bad, header.unordered, header.lost)
    numbers = np.array([reading.devices.number(name) for name in header.devices], np.uint32)
    for batch in stored.batches():
        yield batch.replace(at_ns=batch.at_ns.astype(np.int64), device=numbers[batch.device])


FORMAT = Format("spek-trace", "trace stored by spek", _likeness, _read)

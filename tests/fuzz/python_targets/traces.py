# SPDX-License-Identifier: GPL-2.0
"""Readers of traces: whatever the bytes are, records in order that a device can have, or a
sentence."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from spekctl.trace.columns import END_MAX, Batch, Op
from spekctl.trace.figures import Figures
from spekctl.trace.formats.format import ReadOptions
from spekctl.trace.trace import open_trace

TEXT = (
    *("spc", "msr", "alibaba", "tencent", "systor", "fiu", "blkreplay", "blkparse", "fio"),
    "csv",
)
BINARY = ("blktrace", "vscsi", "srt", "spek-trace")


def read(path: Path, formats: tuple[str, ...], data: bytes) -> None:
    """The first byte chooses the format; the last choice is the one that the contents tell."""
    path.write_bytes(data[1:])
    number = data[0] % (len(formats) + 1) if data else 0
    name = formats[number] if number < len(formats) else ""
    trace = open_trace([path], ReadOptions(format=name))
    figures, last = Figures(), 0
    for batch in trace.batches():
        last = check(batch, len(trace.devices.names), last)
        figures.add(batch)
    assert figures.requests == sum(device.requests for device in figures.devices.values())
    faults = trace.faults
    assert (faults.bad > 0) == (faults.first is not None)


def check(batch: Batch, devices: int, last: int) -> int:
    """Time of the last record, which is at least @last."""
    assert len(batch)
    at = batch.at_ns
    assert at.dtype == np.uint64
    assert int(at[0]) >= last
    assert bool((at[1:] >= at[:-1]).all())
    assert int(batch.device.max()) < devices
    assert int(batch.end_bytes.max()) <= END_MAX
    assert int(batch.bytes.max()) <= END_MAX
    assert int(batch.op.max()) <= max(Op)
    return int(at[-1])

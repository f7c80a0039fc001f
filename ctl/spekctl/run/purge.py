# SPDX-License-Identifier: GPL-2.0-or-later
"""A purge: all blocks of devices are discarded, by the replay of a trace that is made for them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

import numpy as np

from spekctl.block.device import Device
from spekctl.run import replay_request
from spekctl.run.job import Request
from spekctl.run.targets import Room
from spekctl.trace.columns import Op, batch_of
from spekctl.trace.in_memory import trace_of
from spekctl.workload.model import TraceSource, WorkloadFile
from spekctl.workload.options import AUTO, Options

NAME = "purge.csv"
DISCARD_BYTES = 1 << 30
OUTSTANDING = 4
WHY_NOT = (
    "no support for discards; with --no-purge the test starts from the present state of all"
    " devices, and the report says so"
)


def workload(file: str = NAME) -> WorkloadFile:
    """The workload of a purge. @file: of its trace; build() reads none."""
    return replay_request.workload_of(TraceSource([file], closed=OUTSTANDING))


def extents(devices: Sequence[Device], rooms: Sequence[Room] = ()) -> Iterator[tuple[int, ...]]:
    """Device number, first byte and bytes of each discard. @rooms: the part of each device that is
    purged; none: all of it."""
    for index, device in enumerate(devices):
        room = rooms[index] if rooms else Room(0, device.bytes)
        end = (room.start + room.bytes) // device.logical_block * device.logical_block
        for start in range(room.start, end, DISCARD_BYTES):
            yield index, start, min(DISCARD_BYTES, end - start)


def build(
    purged: WorkloadFile,
    devices: Sequence[Device],
    rooms: Sequence[Room],
    given: Options,
    destroy: Sequence[str] = (),
    can_discard: bool | None = None,
) -> Request:
    """The run that discards all blocks of @rooms; needs no file. @purged: workload(). @can_discard:
    what another machine says of its devices; None: they are of this machine."""
    index, start, size = zip(*extents(devices, rooms), strict=True)
    trace = trace_of(NAME, batch_of(np.zeros(len(index)), index, start, size, int(Op.DISCARD)))
    # More workers than discards outstanding would have nothing to do.
    options = dataclasses.replace(
        given, workers=min(given.workers, OUTSTANDING) if given.workers else given.workers
    )
    if given.cpus is not None and given.cpus != AUTO:
        options = dataclasses.replace(options, cpus=given.cpus[:OUTSTANDING])
    return replay_request.build(
        purged, devices, options, destroy, trace=trace, can_discard=can_discard
    )

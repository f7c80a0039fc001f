# SPDX-License-Identifier: GPL-2.0-or-later
"""Interface of readers: name, detection and records of a format.

A reader yields batches whose at_ns is int64 on the format's own clock, in the order of the file.
Unreadable records go to Faults, with their line; events that are not I/O are counted there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from spekctl.trace.columns import Batch, Devices, Op
from spekctl.trace.faults import Faults
from spekctl.trace.options import ReadOptions
from spekctl.trace.source import Head, Source


@dataclass(frozen=True, slots=True)
class Reading:
    """A file being read, the device table, the defects and the options."""

    source: Source
    devices: Devices
    faults: Faults
    options: ReadOptions


@dataclass(frozen=True, slots=True)
class Format:
    """A format and its reader."""

    name: str
    title: str
    # How sure the contents are of this format: 0 if not, 1 if they say so themselves.
    likeness: Callable[[Head], float]
    read: Callable[[Reading], Iterator[Batch]]
    # Timestamp resolution; requests with the same timestamp are spread evenly over it.
    resolution_ns: int = 1


READ_WRITE = {
    "r": int(Op.READ),
    "R": int(Op.READ),
    "w": int(Op.WRITE),
    "W": int(Op.WRITE),
}

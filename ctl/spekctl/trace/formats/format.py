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
from spekctl.trace.source import Head, Source

# Events of block tracing that can be an I/O's arrival, and their letters.
EVENTS = {"queue": "Q", "issue": "D"}


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How to read a trace."""

    # Name of the format; empty: told by the contents.
    format: str = ""
    strict: bool = False
    # SPC: bytes of an LBA's block, which is stated outside the file.
    block_bytes: int = 512
    # blktrace, blkparse: which event is an I/O's arrival, queue (Q) or issue (D).
    event: str = "queue"
    # CSV: FIELD=COLUMN[:UNIT] each.
    columns: tuple[str, ...] = ()


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

# SPDX-License-Identifier: GPL-2.0-or-later
"""Client of spek.ko that feeds the trace of a run, on a socket of its own.

The first socket that feeds a run is its feeder. If it is closed before the end of the trace, the
kernel ends the run.
"""

from __future__ import annotations

from typing import Protocol

from spekctl.closing import Closing
from spekctl.kernel.gen import spek
from spekctl.kernel.link import Link

# Records of one message.
BATCH = spek.TRACE_BATCH
# struct spek_trace_record as columns: names and types of numpy.
RECORD = (
    ("at_ns", "=u8"),
    ("addr", "=u8"),
    ("bytes", "=u4"),
    ("asu", "=u2"),
    ("op", "u1"),
    ("flags", "u1"),
)


class TraceFeed(Protocol):
    """Where the records of a run go; unit tests provide their own."""

    def feed(self, run: int, worker: int, records: memoryview) -> int: ...
    def end(self, run: int, count: int) -> None: ...
    def close(self) -> None: ...


class TraceLink(Closing):
    """A connection to spek.ko that feeds."""

    def __init__(self) -> None:
        self._link = Link(spek, None, "spek was unloaded")

    def close(self) -> None:
        """Close the connection; a run whose trace has not ended ends."""
        self._link.close()

    def feed(self, run: int, worker: int, records: memoryview) -> int:
        """Offer records, at most BATCH; how many were accepted, the first ones."""
        answer = self._link.ask(spek.Cmd.TRACE_FEED, run=run, worker=worker, records=records)
        return int(answer["accepted"])

    def end(self, run: int, count: int) -> None:
        """All records were fed, @count of them."""
        self._link.tell(spek.Cmd.TRACE_END, run=run, count=count)


def connect() -> TraceFeed:
    """A connection of its own."""
    return TraceLink()

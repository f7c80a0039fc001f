# SPDX-License-Identifier: GPL-2.0-or-later
"""What a result of several hosts says beside that of a single run: how each host started, how
good its clock is, and the time in which all of them were at work.

Times of a fleet are of CLOCK_REALTIME. The times of a host are of its own CLOCK_MONOTONIC, and
its pair of both clocks relates them.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated

from msgspec import Meta

from spekctl.documents.document import Part


class Role(StrEnum):
    """What a host does in a fleet."""

    CLIENT = "client"
    TARGET = "target"


class ClockBound(Part, frozen=True):
    """How far the CLOCK_REALTIME of a host may be off, and the source that promises so."""

    bound_ns: Annotated[int | None, Meta(description="null: nothing promises any bound.")] = None
    source: Annotated[str, Meta(description="chrony, PTP, ...; or none.")] = "none"


class ClockLook(ClockBound, frozen=True):
    """What was known of the clock at one time."""

    off_ns: Annotated[
        int | None,
        Meta(description="Less the controller's, by messages; null: it was not measured."),
    ] = None
    off_bound_ns: Annotated[
        int | None, Meta(description="Error of off_ns either way: half a round trip.")
    ] = None


class HostClock(ClockBound, frozen=True):
    """What was known of the clock before and after a run; its bound is the worse of both."""

    stepped_ns: Annotated[
        int,
        Meta(description="By how much the clock was set between arming and end; 0: it was not."),
    ] = 0
    before: Annotated[ClockLook | None, Meta(description="Before the start; null: not known.")] = (
        None
    )
    after: Annotated[
        ClockLook | None, Meta(description="After the end; null: not known, as of a lost host.")
    ] = None
    strayed: Annotated[
        str, Meta(description="How it left max_skew of the plan; empty: it did not, or had none.")
    ] = ""


class HostLoss(Part, frozen=True):
    """The controller lost the host."""

    at_ns: Annotated[int, Meta(description="CLOCK_REALTIME of the controller.")]
    text: Annotated[str, Meta(description="Why, as a sentence.")]


class HostFacts(Part, frozen=True):
    """What the controller knows of a host beside its result."""

    name: str
    role: Role = Role.CLIENT
    planned_ns: int | None = None
    clock: HostClock = HostClock()
    loss: HostLoss | None = None
    remarks: Sequence[str] = ()  # on the run of all hosts


class HostStart(Part, frozen=True):
    """When a host was to start, and when it did."""

    planned_ns: Annotated[
        int | None, Meta(description="CLOCK_REALTIME, the same on all hosts; null: none was set.")
    ] = None
    actual_ns: Annotated[
        int | None,
        Meta(
            description="CLOCK_REALTIME of the host; of one that was lost, as planned, if it told"
            " of intervals; null: it is not known to start."
        ),
    ] = None
    monotonic_ns: Annotated[
        int | None, Meta(description="CLOCK_MONOTONIC of the host, read together with it.")
    ] = None
    skew_ns: Annotated[
        int | None,
        Meta(description="actual_ns less planned_ns; null: one of them was not told."),
    ] = None

    @property
    def offset_ns(self) -> int:
        """CLOCK_REALTIME minus CLOCK_MONOTONIC."""
        return (self.actual_ns or 0) - (self.monotonic_ns or 0)


class WindowSum(Part, frozen=True):
    """I/Os of the common window."""

    ios: int
    bytes: int
    errors: int
    response_sum_ns: int
    response_max_ns: int
    iops: float
    bytes_per_s: float
    mean_ns: Annotated[float | None, Meta(description="Mean response time; null: no I/Os.")]


class WindowStream(Part, frozen=True):
    """I/Os of a stream in the common window."""

    name: str
    reads: int
    read_bytes: int
    writes: int
    write_bytes: int


class HostShare(Part, frozen=True):
    """The part that a host has in the common window."""

    name: str
    all: WindowSum
    share: Annotated[float | None, Meta(description="Of the I/Os of all hosts; null: no I/Os.")]


class CommonWindow(Part, frozen=True):
    """From the latest start of a measure phase to the earliest end: the report intervals that all
    clients have. An interval is that of the same number since the common start on every host, so
    its edges differ from host to host by the skew."""

    start_ns: Annotated[int, Meta(description="CLOCK_REALTIME: latest start; 0: no window.")]
    end_ns: Annotated[int, Meta(description="CLOCK_REALTIME: earliest end.")]
    duration_ns: Annotated[
        int, Meta(description="Of the intervals; the longest, if hosts differ. Rates use it.")
    ]
    intervals: Annotated[int, Meta(description="Numbers of intervals in it.")]
    whole: Annotated[
        bool,
        Meta(
            description="It has all I/Os of the measure phases, so the percentiles in totals are"
            " those of the window."
        ),
    ]
    read: WindowSum
    write: WindowSum
    all: WindowSum
    streams: list[WindowStream]
    hosts: Annotated[list[HostShare], Meta(description="Clients that started.")]
    jain: Annotated[
        float | None,
        Meta(description="Jain's index of the I/Os of the hosts: 1 if equal; null: no I/Os."),
    ]
    skew_ns: Annotated[
        int | None,
        Meta(
            description="Worst distance of a start from the planned, of those that were told; null:"
            " no plan."
        ),
    ]
    spread_ns: Annotated[
        int,
        Meta(description="Latest less earliest start that was told, each by its host's clock."),
    ]
    bound_ns: Annotated[
        int | None, Meta(description="Worst bound of a clock; null: one promises none.")
    ]
    text: Annotated[str, Meta(description="Why there is no window, as a sentence; else empty.")]

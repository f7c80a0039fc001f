# SPDX-License-Identifier: GPL-2.0-or-later
# generated from prober/uapi/spek_prober.yaml, run `make gen`
"""Netlink family spek_prober: limits, words and records of requests."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from spekctl.contract.wire import given

TOTAL = 4294967295
MIN_INTERVAL_NS = 1000000
MAX_INTERVAL_NS = 3600000000000
DEFAULT_RING_ROWS = 4096
MIN_RING_ROWS = 2
MAX_RING_ROWS = 1048576
MAX_RING_BYTES = 268435456
MAX_TASKS = 1024
MAX_FEEDS = 16
MAX_RAILS = 64
MAX_NAME = 31
MAX_BATCH = 2048
MAX_BATCH_BYTES = 49152
MAX_INTERVALS = 2048
MAX_INTERVALS_BYTES = 32768
MAX_POWER_UW = 1000000000000
MAX_AHEAD_NS = 1000000000
DEFAULT_STEP_NS = 10000000000
MAX_STEP_LIMIT_NS = 3600000000000
DEFAULT_HISTORY = 65536
MIN_HISTORY = 64
MAX_HISTORY = 4194304
MAX_HISTORY_BYTES = 268435456
MAX_LAG_NS = 2000000000
POWER_GAP = 1


class TaskRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Attributes of the set task in a request."""

    pid: Annotated[
        int,
        Meta(
            description=(
                "Thread id in the initial pid namespace, as spek gives those of its workers."
            )
        ),
    ]

    def attributes(self) -> dict[str, Any]:
        """The attributes, without those that have their default."""
        return given(
            ("pid", int(self.pid), ()),
        )


class ProbeStartRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Attributes of the set probe in a request."""

    interval_ns: Annotated[
        int,
        Meta(description="From tick to tick; min-interval-ns to max-interval-ns."),
    ]
    ring_rows: Annotated[
        int | None,
        Meta(description="Rows kept; then the oldest is overwritten."),
    ] = None
    detached: Annotated[int, Meta(description="1 - the probe outlives its socket.")] = 0
    tasks: Annotated[list[TaskRequest], Meta(description="One for each task to watch.")] = []

    def attributes(self) -> dict[str, Any]:
        """The attributes, without those that have their default."""
        return given(
            ("interval_ns", int(self.interval_ns), ()),
            ("ring_rows", self.ring_rows, (None,)),
            ("detached", int(self.detached), (0,)),
            ("task", [each.attributes() for each in self.tasks], ([],)),
        )


class SampleGetRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Attributes of the set sample in a request."""

    probe: Annotated[
        int | None,
        Meta(description="Number of the probe; in a request, refuse any other."),
    ] = None
    since: Annotated[int, Meta(description="Request - first row wanted; 0 when not given.")] = 0
    hold: Annotated[int, Meta(description="Request - 1 - keep rows back until power has come.")] = 0

    def attributes(self) -> dict[str, Any]:
        """The attributes, without those that have their default."""
        return given(
            ("probe", self.probe, (None,)),
            ("since", int(self.since), (0,)),
            ("hold", int(self.hold), (0,)),
        )


class RailRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Attributes of the set rail in a request."""

    name: Annotated[str, Meta(description="Name, printable, without spaces, unique in the feed.")]
    lsb_nw: Annotated[
        int,
        Meta(description="Least step of the measured power, nanowatt; 0 - not known."),
    ] = 0

    def attributes(self) -> dict[str, Any]:
        """The attributes, without those that have their default."""
        return given(
            ("name", self.name, ()),
            ("lsb_nw", int(self.lsb_nw), (0,)),
        )


class FeedOpenRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Attributes of the set feed in a request."""

    name: Annotated[str, Meta(description="Name, printable, without spaces.")]
    source: Annotated[str, Meta(description="What measures (u6, hwmon...).")]
    rails: Annotated[
        list[RailRequest],
        Meta(description="One for each rail at feed-open, one in each message of feed-get."),
    ]
    history: Annotated[
        int,
        Meta(description="Samples kept for each rail, rounded up to a multiple of 64."),
    ] = 65536
    max_step_ns: Annotated[
        int,
        Meta(description="Samples further apart than this have a gap between them."),
    ] = 10000000000
    uncertainty_ns: Annotated[
        int | None,
        Meta(description="How far the time stamps may be off; feed-mark updates it."),
    ] = None

    def attributes(self) -> dict[str, Any]:
        """The attributes, without those that have their default."""
        return given(
            ("name", self.name, ()),
            ("source", self.source, ()),
            ("history", int(self.history), (65536,)),
            ("max_step_ns", int(self.max_step_ns), (10000000000,)),
            ("uncertainty_ns", self.uncertainty_ns, (None,)),
            ("rail", [each.attributes() for each in self.rails], ()),
        )


class FeedMarkRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Attributes of the set feed in a request."""

    id: Annotated[int, Meta(description="Number of the feed; each feed-open gives the next.")]
    uncertainty_ns: Annotated[
        int | None,
        Meta(description="How far the time stamps may be off; feed-mark updates it."),
    ] = None
    drift_ppb: Annotated[
        int | None,
        Meta(description="Rate of the source's clock against CLOCK_MONOTONIC."),
    ] = None
    residual_ns: Annotated[
        int | None,
        Meta(description="Largest deviation from the line that maps the clocks."),
    ] = None
    overflows: Annotated[
        int | None,
        Meta(description="Overflows that the source has reported so far."),
    ] = None
    lost: Annotated[
        int | None,
        Meta(description="Samples that the source knows to have lost so far."),
    ] = None
    until_ns: Annotated[
        int | None,
        Meta(
            description=(
                "No sample before this will come; what lies between a rail's last sample and this "
                "is a gap."
            )
        ),
    ] = None

    def attributes(self) -> dict[str, Any]:
        """The attributes, without those that have their default."""
        return given(
            ("id", int(self.id), ()),
            ("uncertainty_ns", self.uncertainty_ns, (None,)),
            ("drift_ppb", self.drift_ppb, (None,)),
            ("residual_ns", self.residual_ns, (None,)),
            ("overflows", self.overflows, (None,)),
            ("lost", self.lost, (None,)),
            ("until_ns", self.until_ns, (None,)),
        )

# SPDX-License-Identifier: GPL-2.0
"""The result of the benchmark on one kernel, as it is written to out/bench/KERNEL.json."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from bench import raw
from bench.cases import DEEP, Conditions
from msgspec import Meta

VERSION = 4


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Base of the tables of the result."""


class Figure(Part, frozen=True):
    """What an I/O costs in one row under one set of conditions."""

    row: str
    title: str
    disk: str
    depth: int
    iostats: bool
    instructions: Annotated[float, Meta(description="Per I/O; mean of the passes.")]
    passes: Annotated[list[float], Meta(description="Per I/O, as each pass measured it.")]
    spread: Annotated[float, Meta(description="(Largest - smallest) / mean of the passes.")]
    agrees: Annotated[bool, Meta(description="The spread is at most the tolerance.")]
    switches: Annotated[float, Meta(description="Context switches per I/O, all of the guest.")]
    syscalls: Annotated[float, Meta(description="System calls per I/O, all of the guest.")]
    elapsed_ns: Annotated[
        float,
        Meta(description="Time per I/O, idle time included; mean of the passes; 0: not known."),
    ]
    response_ns: Annotated[
        float,
        Meta(description="Mean response time that the load generator reports; 0: not known."),
    ]
    ratios: Annotated[
        dict[str, float], Meta(description="To other rows under the same conditions.")
    ] = msgspec.field(default_factory=dict)

    @property
    def key(self) -> str:
        return f"{self.row}/{Conditions(self.depth, self.iostats).name}"


class Prober(Part, frozen=True):
    """What the prober takes from a busy CPU."""

    instructions: Annotated[float, Meta(description="Per sample; mean of the passes.")]
    passes: list[float]
    inside: Annotated[float, Meta(description="Of these, between the reads of the clock.")]
    share_at_10ms: Annotated[float, Meta(description="Of one CPU, 1e9 instructions per second.")]


class OpenLoop(Part, frozen=True):
    """An open loop in its steady state."""

    law: str
    iops: int
    spin_ns: int
    slip_p50_ns: int
    slip_p99_ns: int
    slip_max_ns: int
    worker_share: Annotated[float, Meta(description="CPU time of the worker's thread.")]
    busy_share: Annotated[float, Meta(description="Of the CPU, interrupts included.")]
    switches: Annotated[float, Meta(description="Context switches per I/O.")]


class Scaling(Part, frozen=True):
    """Two workers on two CPUs, under ordinary emulation: as good as the host's CPUs were free."""

    ratio: Annotated[float, Meta(description="Throughput of two to that of one; the median.")]
    ratios: list[float]


class Notifications(Part, frozen=True):
    """Doorbell writes of a device, under ordinary emulation."""

    disk: str
    row: str
    per_io: float


class Restart(Part, frozen=True):
    """A cache of dirty blocks after a power cut, until it has served a read."""

    disk: str
    blocks: int
    instructions: Annotated[float, Meta(description="Those of the restart.")]
    elapsed_ns: Annotated[int, Meta(description="Idle time included.")]


class Generation(Part, frozen=True):
    """SPC-1 operations generated per second by one CPU of the machine that measures."""

    bsus: int
    fastest_per_s: Annotated[float, Meta(description="In the fastest of many short slices.")]
    median_per_s: float


class Demand(Part, frozen=True):
    """A number that is asked for, and whether it was reached."""

    text: str
    value: float
    limit: float
    at_least: Annotated[bool, Meta(description="The limit is a lower one.")]
    met: bool


class Bench(Part, frozen=True):
    """Everything that was measured on one kernel."""

    kind: Literal["spek-bench"]
    version: int
    created: str
    commit: str
    environment: raw.Environment
    tolerance: float
    figures: list[Figure]
    idle_floor: Annotated[
        float | None, Meta(description="The floor of requests before spek was loaded.")
    ]
    prober: Prober | None
    open_loops: list[OpenLoop]
    scaling: Scaling | None
    core: Annotated[
        dict[str, float], Meta(description="The core alone, instructions per operation.")
    ]
    demands: list[Demand]
    generation: list[Generation] = []
    core_misses: Annotated[
        dict[str, float], Meta(description="Misses of a cache of 32 KiB per operation of the core.")
    ] = {}
    notifications: list[Notifications] = []
    restarts: list[Restart] = []
    sharing: Annotated[
        dict[str, float],
        Meta(description="Cache misses per I/O that two workers cause each other, by function."),
    ] = {}

    @property
    def disagreeing(self) -> list[Figure]:
        """Figures that two passes did not agree on."""
        return [figure for figure in self.figures if not figure.agrees]


def figure(bench: Bench, row: str, conditions: Conditions = DEEP) -> Figure | None:
    """One figure; None if it was not measured."""
    key = f"{row}/{conditions.name}"
    return next((measured for measured in bench.figures if measured.key == key), None)

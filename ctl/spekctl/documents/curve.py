# SPDX-License-Identifier: GPL-2.0-or-later
"""Load curves: one measured point per load, as data for tables and plots.

Each point is a run of its own; what is here is the part of its result that is drawn against the
load. ``points.py`` makes a point of a result.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta

from spekctl.documents import document
from spekctl.documents.device import TargetFacts
from spekctl.documents.document import Document, Kind, Part
from spekctl.documents.power import MIB, MOST_UNKNOWN, efficiency
from spekctl.documents.result_parts import Efficiency, Environment, RunEnd, RunOk
from spekctl.documents.unanswered import sentence

SCHEMA_FILE = Path(__file__).with_name("curve.schema.json")
# A device fell behind if more than 2 % of the I/Os, and more than a short queue, are left over.
KEPT_UP = 1.02
FEW_LEFT = 30
LoadKind = Literal["bsu", "rate", "depth"]


class Load(Part, frozen=True):
    """The load offered to the device."""

    kind: Annotated[
        LoadKind,
        Meta(description="bsu: BSUs; rate: I/Os per second, both open loop; depth: closed loop."),
    ]
    value: float

    def __str__(self) -> str:
        number = f"{self.value:g}" if self.value < 1e6 else f"{self.value:.0f}"
        return {
            "bsu": f"{number} BSU",
            "rate": f"{number} I/Os per second",
            "depth": f"depth {number}",
        }[self.kind]


class Over(Part, frozen=True):
    """A field of the workload, or an option, that a sweep varies beside its loads."""

    field: str
    values: Annotated[list[str], Meta(description="As they were given.")]

    def __str__(self) -> str:
        return f"{self.field}={','.join(self.values)}"


class TimeFigures(Part, frozen=True):
    """A distribution of times in a few figures, all of them ns."""

    mean: float
    p50: int
    p90: int
    p99: int
    p999: int
    max: int


class Unanswered(Part, frozen=True):
    """I/Os in flight at the end of the measure phase.

    An I/O in flight takes at least its age, so times in which it counts by that are lower bounds
    of those that a longer measurement would have seen.
    """

    count: int
    oldest_ns: Annotated[int, Meta(description="End minus intended arrival of the oldest.")]
    at_least: Annotated[
        TimeFigures, Meta(description="Response times of these and of the completed I/Os.")
    ]

    @property
    def text(self) -> str:
        """That as a part of a sentence."""
        return sentence(self.count, self.oldest_ns)


class Power(Part, frozen=True):
    """Power over the measure phase."""

    watts: Annotated[float, Meta(description="Mean over the measure phase, all rails.")]
    rails_watts: Annotated[dict[str, float], Meta(description="Mean of each rail.")]
    joules: Annotated[float, Meta(description="Energy in the time in which power is known.")] = 0.0
    gap_s: Annotated[float, Meta(description="Time of which nothing is known.")] = 0.0
    baseline_w: Annotated[
        float, Meta(description="To be taken from watts before they are compared with the load.")
    ] = 0.0

    @property
    def net_watts(self) -> float:
        """Less the baseline."""
        return self.watts - self.baseline_w


def place_words(at: Mapping[str, str]) -> list[str]:
    """The values of fields that a sweep varies, each with its field."""
    return [f"{field} {value}" for field, value in at.items()]


class Point(Part, frozen=True):
    """The figures of one load, over the measure phase of its run."""

    load: Load
    offered_iops: Annotated[
        float | None, Meta(description="Open loop: the rate that was offered; null: closed loop.")
    ]
    measured_ns: Annotated[int, Meta(description="Length of the measure phase.")]
    ios: int
    reads: int
    writes: int
    iops: float
    mib_s: Annotated[float, Meta(description="MiB per second.")]
    response: Annotated[
        TimeFigures | None,
        Meta(description="Completion minus intended arrival, ns; null: no I/O completed."),
    ]
    service: Annotated[TimeFigures | None, Meta(description="Completion minus issue, ns.")]
    slip: Annotated[TimeFigures | None, Meta(description="Issue minus intended arrival, ns.")]
    backlog: Annotated[int, Meta(description="Arrivals due and not issued at the end.")]
    left_over: Annotated[
        int,
        Meta(
            description="I/Os by which the queue (backlog and what the device holds) grew in the"
            " measure phase."
        ),
    ]
    stretch: Annotated[
        float | None,
        Meta(
            description="Time it takes to work off what arrived in the measure phase at the rate"
            " achieved, over the length of the phase: 1 is kept up, 4 is four times too much."
            " null: closed loop, or no I/O completed."
        ),
    ]
    cpu: Annotated[float | None, Meta(description="Busy share of the CPUs, 0 to 1.")]
    switches_per_io: Annotated[float | None, Meta(description="Context switches per I/O.")]
    cpu_of: Annotated[
        Literal["machine", "workers"],
        Meta(
            description="Whose these two are: of the whole machine when a prober was beside the"
            " run, else of the worker threads alone (share of one CPU each)."
        ),
    ]
    errors: int
    ok: RunOk
    text: RunEnd
    limit_missed: Annotated[
        bool,
        Meta(description="A threshold ended the run, or it did not reach the steady state asked."),
    ] = False
    beyond: Annotated[
        str, Meta(description="Search: why the load is not within the condition; else empty.")
    ] = ""
    result_file: Annotated[
        str | None, Meta(description="Its whole result, beside this file; null: not kept.")
    ] = None
    power: Annotated[Power | None, Meta(description="null: not known.")] = None
    at: Annotated[
        dict[str, str], Meta(description="Values of the fields that the sweep varies.")
    ] = {}  # noqa: RUF012 - msgspec copies it
    unanswered: Annotated[
        Unanswered | None,
        Meta(description="null: there were none, no I/O completed, or they were not counted."),
    ] = None
    power_text: Annotated[
        str,
        Meta(description="Why power is null, with the hosts of a fleet that lack it; else empty."),
    ] = ""

    @property
    def empty(self) -> bool:
        """Its run came to its end, and nothing was measured. In a search such a load is beyond the
        limit."""
        return self.ok and not (self.limit_missed or self.beyond or self.ios)

    @property
    def failed(self) -> bool:
        """Its run had errors, or did not come to an end that it was given."""
        return not (self.ok or self.limit_missed)

    @property
    def name(self) -> str:
        """Its load, and the values of the fields."""
        return ", ".join([str(self.load), *place_words(self.at)])

    @property
    def kept_up(self) -> bool:
        """Whether the device kept up with the offered load; in a closed loop it always does."""
        return self.stretch is None or self.stretch <= KEPT_UP or self.left_over <= FEW_LEFT

    @property
    def known_power(self) -> Power | None:
        """Power, if its mean is that of the measure phase: unknown for at most MOST_UNKNOWN of it;
        else None."""
        if self.power is None or self.power.gap_s > MOST_UNKNOWN * self.measured_ns / 1e9:
            return None
        return self.power

    @property
    def efficiency(self) -> Efficiency | None:
        """Power due to the load: the baseline is subtracted."""
        if self.power is None:
            return None
        return efficiency(self.power.net_watts, self.iops, self.mib_s * MIB)


class Within(Part, frozen=True):
    """The search for the highest load within a condition."""

    condition: Annotated[str, Meta(description="What has to be true of the measure phase.")]
    resolution_percent: Annotated[float, Meta(description="Precision of the search.")]
    load: Annotated[
        float | None, Meta(description="Highest load within it that was measured; null: none.")
    ]
    beyond: Annotated[
        float | None, Meta(description="Lowest load that was measured beyond it; null: none.")
    ]
    text: Annotated[str, Meta(description="That as a sentence.")]


class Curve(Document, frozen=True, kw_only=True, tag=Kind.CURVE.value):
    """A workload measured at a list of loads."""

    workload: Annotated[str, Meta(description="Its name.")]
    seed: int
    cpus: Annotated[list[int], Meta(description="CPU of each worker.")]
    ramp_ns: Annotated[int, Meta(description="Ramp-up before each measure phase.")]
    time_ns: Annotated[int, Meta(description="Length of each measure phase.")]
    targets: list[TargetFacts]
    environment: Annotated[Environment | None, Meta(description="null: see what holds this.")]
    complete: Annotated[bool, Meta(description="All loads that were asked for were measured.")]
    points: Annotated[list[Point], Meta(description="In the order in which they were measured.")]
    remarks: Annotated[list[str], Meta(description="Remarks for the reader.")]
    within: Annotated[Within | None, Meta(description="null: the loads were a list.")] = None
    over: Annotated[
        list[Over],
        Meta(description="Fields that were varied; all combinations, each at all loads."),
    ] = []  # noqa: RUF012 - msgspec copies it


def json_schema() -> dict[str, Any]:
    """JSON Schema of a curve."""
    return document.schema("Load curve measured by spek", Curve)


def load_curve(path: Path) -> Curve:
    """Read a curve; UsageError for any other file."""
    return document.read(path, Curve)

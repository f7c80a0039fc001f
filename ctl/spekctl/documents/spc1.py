# SPDX-License-Identifier: GPL-2.0-or-later
"""The SPC-1-like test: its parameters, and its report as structs that define its JSON Schema.

A test is a list of phases. The next phase follows from the completed ones
(campaigns/spc1/plan.py); a phase is the result of one run, reduced to the figures of the test
(phase.py); the report is computed from the phases alone (report.py), so that an interrupted test
continues where it stopped.

The phases, their lengths and the limits follow versions 1.10 to 1.14 of the published standard
from memory, and are parameters here: none of this is the text of the standard, "SPC-1" is a
trademark, and results are SPC-1-like and unaudited.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta

from spekctl.documents import document, shape
from spekctl.documents.benchmark import Notice, PlanOptions, Remarks, Verdict
from spekctl.documents.curve import Curve, Point, TimeFigures
from spekctl.documents.device import TargetFacts
from spekctl.documents.document import Document, Kind, Part
from spekctl.documents.result_parts import Environment
from spekctl.documents.verification import VerifyCounts

SCHEMA_FILE = Path(__file__).with_name("spc1.schema.json")
NOTICE = "SPC-1-like, unaudited"
WORKLOAD = "spc1"

SECOND = 10**9
MINUTE = 60 * SECOND
MS = 10**6

RAMP_PERCENTS = (95, 90, 80, 50, 10)
REPEAT_PERCENTS = (10, 100)
REPEAT_PASSES = 2
CheckKind = Literal[
    "response",
    "served",
    "errors",
    "intensity",
    "intensity-cov",
    "repeat-iops",
    "repeat-lrt",
    "capacity",
    "asu-share",
]
PhaseKind = Literal["search", "sustain", "iops", "ramp", "repeat"]


class Durations(Part, frozen=True):
    """Lengths of all parts of the test."""

    sustain_ns: Annotated[int, Meta(description="Sustained run at the level that was found.")]
    iops_ns: Annotated[int, Meta(description="IOPS phase, and each repetition of it.")]
    phase_ns: Annotated[int, Meta(description="Each step of the response-time ramp.")]
    ramp_ns: Annotated[int, Meta(description="Ramp-up before each measurement.")]
    search_ns: Annotated[int, Meta(description="Each point of the search for the level.")]
    resolution_percent: Annotated[
        float, Meta(description="The search ends when its bracket is that narrow; 0: 1 BSU.")
    ]


# The standard's lengths; that of a search point, which it leaves open, is the ramp-up's.
STANDARD = Durations(
    sustain_ns=8 * 60 * MINUTE,
    iops_ns=10 * MINUTE,
    phase_ns=10 * MINUTE,
    ramp_ns=3 * MINUTE,
    search_ns=3 * MINUTE,
    resolution_percent=0.0,
)
# About 5 minutes and 2 more for the search. A mean response time near the limit needs hundreds of
# the queue's relaxation times: seconds for what answers in milliseconds, not for slow disks. How
# far stream shares may be off by chance at such lengths is taken into account by the checks.
QUICK = Durations(
    sustain_ns=45 * SECOND,
    iops_ns=30 * SECOND,
    phase_ns=20 * SECOND,
    ramp_ns=2 * SECOND,
    search_ns=6 * SECOND,
    resolution_percent=2.0,
)


class Limits(Part, frozen=True):
    """Limits that a test has to meet."""

    response_ns: Annotated[int, Meta(description="Mean response time of every phase.")] = 30 * MS
    left_over: Annotated[
        float,
        Meta(
            description="Share of the I/Os of a phase by which the queue may grow, if that is"
            " more than left_over_responses times response_ns of work."
        ),
    ] = 0.01
    left_over_responses: float = 5.0
    intensity: Annotated[
        float, Meta(description="Share of each stream: relative difference from the workload's.")
    ] = 0.05
    intensity_cov: Annotated[
        float, Meta(description="Coefficient of variation of that share within a phase.")
    ] = 0.20
    repeat_iops: Annotated[float, Meta(description="Relative difference of repeated IOPS.")] = 0.05
    repeat_lrt: Annotated[float, Meta(description="Relative difference of repeated LRT ...")] = 0.05
    repeat_lrt_ns: Annotated[int, Meta(description="... or in time, whichever is more.")] = MS
    unused_capacity: Annotated[
        float, Meta(description="Share of the devices' capacity that is not in an asu.")
    ] = 0.45
    chance_sigmas: Annotated[
        float,
        Meta(
            description="Limits of counted quantities are widened to that many standard"
            " deviations of what chance alone does with so few I/Os."
        ),
    ] = 5.0
    lower_percent: Annotated[
        float,
        Meta(
            description="If the sustained run or the IOPS phase misses the response limit, the"
            " level is lowered by that much, at least 1 BSU, and both are done again."
        ),
    ] = 5.0
    lowered_at_most: Annotated[int, Meta(description="Maximum number of such reductions.")] = 10


class Shape(shape.Shape, frozen=True):
    """Options of every run of the test."""

    cpus: Annotated[list[int], Meta(description="CPU of each worker.")]
    hrrw: Literal["classic", "fixed"]
    iops_per_bsu: int | None
    max_outstanding: int | None


class Parameters(Part, frozen=True):
    """Everything that decides what is measured; the same on every resumption."""

    durations: Durations
    limits: Limits
    shape: Shape
    start_bsu: Annotated[int, Meta(description="Where the search begins.")]
    max_bsu: Annotated[int, Meta(description="Highest load of the search.")]
    fleet: PlanOptions = None
    clients: Annotated[
        int, Meta(description="Hosts of a fleet, each with a BSU at least; else 1.")
    ] = 1
    placed: Annotated[
        str, Meta(description="The asus with devices of their own, and these; else empty.")
    ] = ""


class Step(Part, frozen=True):
    """What to measure."""

    kind: PhaseKind
    name: str
    percent: Annotated[int, Meta(description="Of the level; 100 in the search, too.")]
    bsu: int
    ramp_ns: int
    time_ns: int


class StreamFigures(Part, frozen=True):
    """A stream in the measure phase."""

    name: str
    asu: str
    ios: int
    share: Annotated[float, Meta(description="Measured intensity multiplier: of all I/Os.")]
    intended: Annotated[float, Meta(description="The same as the workload has it.")]
    share_cov: Annotated[
        float | None,
        Meta(description="Coefficient of variation of share over parts; null: too few I/Os."),
    ]
    share_cov_chance: Annotated[
        float | None, Meta(description="What chance alone makes of it with so few I/Os.")
    ]
    read_share: float
    mean_bytes: float
    response: TimeFigures | None


class AsuFigures(Part, frozen=True):
    """An address range in the measure phase."""

    name: str
    bytes: int
    ios: int
    share: float
    intended: float
    read_share: float
    mean_bytes: float
    response: TimeFigures | None


class Phase(Part, frozen=True):
    """A step that was measured."""

    step: Step
    point: Point
    beyond: Annotated[
        str, Meta(description="Why the load is more than the device serves in time; else empty.")
    ]
    parts: Annotated[int, Meta(description="Parts of the phase that share_cov is taken over.")]
    streams: list[StreamFigures]
    asus: list[AsuFigures]

    @property
    def ok(self) -> bool:
        """The run completed without errors."""
        return self.point.ok

    @property
    def fine(self) -> bool:
        """It completed within its limits and without errors."""
        return not self.beyond and self.ok


class Check(Part, frozen=True):
    """A limit, and whether it is met."""

    kind: CheckKind
    phase: str
    stream: Annotated[str, Meta(description="Empty: all of them.")]
    value: float
    limit: float
    allowed: Annotated[
        float, Meta(description="The limit, widened where so few I/Os can tell no better.")
    ]
    passed: bool
    text: Annotated[str, Meta(description="As a sentence.")]


class Capacity(Part, frozen=True):
    """How much of the devices is used."""

    devices_bytes: int
    asus_bytes: Annotated[int, Meta(description="Total ASU capacity.")]
    used_share: float


class Persistence(Part, frozen=True):
    """Persistence test: does data survive detaching the devices?"""

    bsu: Annotated[int, Meta(description="Load while writing: 25 % of the level, rounded up.")]
    time_ns: int
    writes: int
    written: Annotated[VerifyCounts, Meta(description="Checked while it was written.")]
    read_back: Annotated[
        VerifyCounts | None, Meta(description="Right after that; null: not everything.")
    ]
    checked: Annotated[
        VerifyCounts | None, Meta(description="After the devices came back; null: not yet.")
    ]
    passed: Annotated[bool | None, Meta(description="null: not checked yet.")]
    text: Annotated[str, Meta(description="The same as a sentence.")]


class Report(Document, frozen=True, kw_only=True, tag=Kind.SPC1.value):
    """Report of an SPC-1-like, unaudited test."""

    notice: Notice
    passed: Annotated[bool, Meta(description="It is complete and meets all limits.")]
    complete: Annotated[bool, Meta(description="All phases were measured.")]
    verdict: Verdict
    level_bsu: Annotated[int | None, Meta(description="100 % of the load; null: not found.")]
    iops: Annotated[float | None, Meta(description="SPC-1-like IOPS: I/Os per second at 100 %.")]
    lrt_ns: Annotated[float | None, Meta(description="SPC-1-like LRT: mean response at 10 %.")]
    capacity: Capacity
    parameters: Parameters
    targets: list[TargetFacts]
    environment: Environment | None
    curve: Annotated[Curve, Meta(description="Response time against load, 10 to 100 %.")]
    search: Annotated[Curve, Meta(description="The points that led to the level.")]
    checks: list[Check]
    phases: Annotated[
        list[Phase], Meta(description="All phases in the order of measuring, the search included.")
    ]
    remarks: Remarks
    persistence: Annotated[Persistence | None, Meta(description="null: without --persistence.")] = (
        None
    )


def json_schema() -> dict[str, Any]:
    """JSON Schema of a report."""
    return document.schema("Report of spekctl spc1", Report)


def load_report(path: Path) -> Report:
    """Read a report; refuses what is not one."""
    return document.read(path, Report)

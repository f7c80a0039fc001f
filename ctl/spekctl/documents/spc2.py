# SPDX-License-Identifier: GPL-2.0-or-later
"""The SPC-2-like test: its parameters, and its report as structs that define its JSON Schema.

Phases, transfer sizes and limits follow published results from memory, and are parameters here:
none of this is the text of a standard, "SPC-2" is a trademark, and results are SPC-2-like and
unaudited. MB are 10^6 bytes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta

from spekctl.documents import document
from spekctl.documents.benchmark import (
    Hours,
    LevelsMeasured,
    LoadPassed,
    Notice,
    PlanOptions,
    Price,
    Remarks,
    ResultFile,
    Site,
    Verdict,
)
from spekctl.documents.curve import TimeFigures
from spekctl.documents.device import TargetFacts
from spekctl.documents.document import Document, Kind, Part
from spekctl.documents.exact import Figure, Given
from spekctl.documents.power import PowerFigures
from spekctl.documents.result_parts import Environment, RunEnd, RunOk
from spekctl.documents.shape import Shape

SCHEMA_FILE = Path(__file__).with_name("spc2.schema.json")
NOTICE = "SPC-2-like, unaudited"
ENERGY_NOTICE = "SPC-2/E-like, unaudited"

PartName = Literal["lfp", "ldq", "vod"]


class Durations(Part, frozen=True):
    """Lengths of all parts of the test."""

    ramp_ns: Annotated[int, Meta(description="Ramp-up before each measurement.")]
    time_ns: Annotated[int, Meta(description="Each run of large files and queries.")]
    vod_ns: Annotated[int, Meta(description="Each run of video on demand.")]
    search_ns: Annotated[int, Meta(description="Each point of the search for its streams.")]
    resolution_percent: Annotated[
        float, Meta(description="The search ends when its bracket is that narrow; 0: 1 stream.")
    ]


class Limits(Part, frozen=True):
    """Limits of video on demand."""

    response_ns: Annotated[
        int,
        Meta(
            description="A transfer that takes longer is late: the stream, which is one transfer"
            " ahead, underruns."
        ),
    ]
    late: Annotated[float, Meta(description="Share of the transfers that may be late.")] = 0.0
    lower_percent: Annotated[
        float,
        Meta(
            description="If the long run misses the limit, streams are lowered by that much, at"
            " least 1, and it is done again."
        ),
    ] = 5.0
    lowered_at_most: Annotated[int, Meta(description="Maximum number of such reductions.")] = 10


class Parameters(Part, frozen=True):
    """Everything that decides what is measured; the same on every resumption."""

    durations: Durations
    limits: Limits
    shape: Shape
    parts: Annotated[list[PartName], Meta(description="In their order.")]
    streams: Annotated[int, Meta(description="Most streams of large files and queries.")]
    vod_streams: Annotated[
        int | None, Meta(description="Streams of video on demand; null: searched for.")
    ]
    vod_start: Annotated[int, Meta(description="First stream count of that search.")]
    vod_most: Annotated[int, Meta(description="Highest stream count of that search.")]
    half: Annotated[
        bool, Meta(description="Video on demand at half of the streams as well, for its power.")
    ]
    clients: Annotated[
        int, Meta(description="Hosts of a fleet, each with an equal part of the streams; else 1.")
    ] = 1
    fleet: PlanOptions = None


class Step(Part, frozen=True):
    """What to measure."""

    kind: Literal["run", "search"]
    part: PartName
    test: Annotated[str, Meta(description="One of the part's tests, such as lfp-write-1024k.")]
    read_percent: int
    transfer_bytes: int
    depth: Annotated[
        int | None, Meta(description="I/Os outstanding of each stream; null: paced, open loop.")
    ]
    streams: int
    ramp_ns: int
    time_ns: int
    again: Annotated[int, Meta(description="Reductions of the stream count before it.")] = 0

    @property
    def name(self) -> str:
        """Of its result's file, and for people."""
        what = f"{self.test}-search" if self.kind == "search" else self.test
        return f"{what}-{self.streams}" + (f"-again-{self.again}" if self.again else "")


class Run(Part, frozen=True):
    """A step that was measured."""

    step: Step
    measured_ns: int
    ios: int
    mb_s: Annotated[Given, Meta(description="Data rate of all streams, 10^6 bytes per second.")]
    response: Annotated[TimeFigures | None, Meta(description="ns; null: no I/O completed.")]
    late: Annotated[
        int | None,
        Meta(
            description="Transfers of video on demand that took longer than allowed, or had not"
            " been answered for longer at the end, by the histogram's buckets (exact to 1/128;"
            " whether there is one, exactly); null: not limited."
        ),
    ]
    left_over: Annotated[int, Meta(description="I/Os by which the queue grew.")]
    beyond: Annotated[
        str, Meta(description="Why the streams are more than the device serves; else empty.")
    ]
    errors: int
    ok: RunOk
    text: RunEnd
    watts: Annotated[Given | None, Meta(description="Mean power; null: missing.")]
    power: PowerFigures | None
    result_file: ResultFile
    unanswered: Annotated[
        int | None,
        Meta(description="Those of late that were still in flight at the end; null: not counted."),
    ] = None

    @property
    def fine(self) -> bool:
        """It completed within its limits and without errors."""
        return not self.beyond and self.ok


class Composite(Part, frozen=True):
    """The result of a part at its highest stream count, or of all parts together."""

    name: Annotated[str, Meta(description="lfp, ldq, vod, or spc2: the mean of the three.")]
    streams: Annotated[int | None, Meta(description="null: all parts.")]
    mb_s: Annotated[Figure, Meta(description="Mean data rate of its tests.")]
    watts: Annotated[Figure | None, Meta(description="Mean power of its tests; null: missing.")]
    mb_s_per_watt: Figure | None


class Report(Document, frozen=True, kw_only=True, tag=Kind.SPC2.value):
    """Report of an SPC-2-like, unaudited test."""

    notice: Notice
    passed: Annotated[
        bool, Meta(description="All runs asked for were measured, and none failed or was late.")
    ]
    complete: Annotated[bool, Meta(description="All runs of the three parts were measured.")]
    verdict: Verdict
    mbps: Annotated[
        Figure | None,
        Meta(description="SPC-2-like MBPS: mean of the three parts; null: one is missing."),
    ]
    composites: Annotated[list[Composite], Meta(description="Results of the complete parts.")]
    vod_streams: Annotated[
        int | None, Meta(description="Streams of video on demand that are served; null: unknown.")
    ]
    price: Annotated[Given | None, Meta(description="Price of the storage; null: not given.")]
    price_per_mbps: Figure | None
    parameters: Parameters
    runs: Annotated[list[Run], Meta(description="All runs, in the order of measuring.")]
    targets: list[TargetFacts]
    environment: Environment | None
    remarks: Remarks


class RateLevel(Part, frozen=True):
    """A level of load."""

    name: Annotated[
        Literal["heavy", "moderate", "idle"],
        Meta(description="At the most streams, at half of them, and without any I/O."),
    ]
    mb_s: Annotated[Given, Meta(description="Mean of the three parts.")]
    watts: Annotated[Given | None, Meta(description="Likewise; null: power is missing.")]
    composites: Annotated[list[Composite], Meta(description="The parts; empty: idle.")]
    power: Annotated[PowerFigures | None, Meta(description="Rails of the idle test.")]


class RateProfile(Part, frozen=True):
    """A usage profile, or the mean of all of them (name composite)."""

    name: str
    hours: Hours
    watts: Annotated[Figure, Meta(description="Nominal power, W.")]
    mb_s: Annotated[Figure, Meta(description="Nominal traffic, 10^6 bytes per second.")]
    mb_s_per_watt: Figure
    btu_per_hour: Annotated[Figure, Meta(description="Nominal heat.")]


class Spc2eReport(Document, frozen=True, kw_only=True, tag=Kind.SPC2E.value):
    """Report of an SPC-2/E-like, unaudited test."""

    notice: Notice
    source: Annotated[
        str, Meta(description="measured, or the file that the levels were read from.")
    ] = "measured"
    complete: LevelsMeasured
    passed: LoadPassed
    verdict: Verdict
    levels: Annotated[list[RateLevel], Meta(description="heavy, moderate, idle; if measured.")]
    profiles: list[RateProfile]
    composite: RateProfile | None
    annual_kwh: Figure | None
    price: Price
    annual_cost: Figure | None
    targets: list[TargetFacts]
    environment: Environment | None
    remarks: list[str]
    site: Site | None = None


def json_schema() -> dict[str, Any]:
    """JSON Schema of both reports."""
    return document.schema("Reports of spekctl spc2 and energy spc2e", Report, Spc2eReport)


def load_report(path: Path) -> Report:
    """Read a report; refuses what is not one."""
    return document.read(path, Report)


def load_energy(path: Path) -> Spc2eReport:
    """Read a report of the energy test; refuses what is not one."""
    return document.read(path, Spc2eReport)

# SPDX-License-Identifier: GPL-2.0-or-later
"""The PTS-like test of solid-state storage: its parameters, and its report as structs that define
its JSON Schema.

Tests, rounds, sizes and limits follow the SNIA Solid State Storage Performance Test Specification
from memory, and are parameters here: none of this is its text, and results are PTS-like and
unaudited.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta

from spekctl.documents import document
from spekctl.documents.benchmark import Notice, PlanOptions, Remarks, ResultFile, Verdict
from spekctl.documents.device import TargetFacts
from spekctl.documents.document import Document, Kind, Part
from spekctl.documents.power import PowerFigures
from spekctl.documents.result import NOTHING
from spekctl.documents.result_parts import Environment, RunEnd, RunOk
from spekctl.documents.shape import Shape
from spekctl.documents.steady import Criteria, Window

SCHEMA_FILE = Path(__file__).with_name("pts.schema.json")
NOTICE = "PTS-like, unaudited"

PartName = Literal["iops", "throughput", "latency", "saturation"]
MetricName = Literal["iops", "bandwidth", "latency"]


class Parameters(Part, frozen=True):
    """Everything that decides what is measured; the same on every resumption."""

    parts: Annotated[list[PartName], Meta(description="In their order.")]
    purge: Annotated[bool, Meta(description="All blocks are discarded before each test.")]
    precondition_percent: Annotated[
        int, Meta(description="Written sequentially before each test, of the capacity.")
    ]
    time_ns: Annotated[int, Meta(description="Length of each measurement of a round.")]
    rounds: Annotated[int, Meta(description="Most rounds of a test.")]
    steady: Annotated[Criteria, Meta(description="Limits of steady state.")]
    sizes: Annotated[list[int], Meta(description="iops: block sizes, bytes.")]
    reads: Annotated[list[int], Meta(description="iops: shares of reads, per cent.")]
    throughput_sizes: Annotated[list[int], Meta(description="throughput: block sizes, bytes.")]
    latency_sizes: Annotated[list[int], Meta(description="latency: block sizes, bytes.")]
    latency_reads: Annotated[list[int], Meta(description="latency: shares of reads, per cent.")]
    saturation_percent: Annotated[
        int, Meta(description="saturation: amount that is written, of the capacity.")
    ]
    saturation_ns: Annotated[
        int | None, Meta(description="saturation: its length instead; null: by the amount.")
    ]
    depth: Annotated[int, Meta(description="I/Os outstanding, except in latency: 1.")]
    workers: Annotated[int, Meta(description="Workers, except in latency: 1.")]
    shape: Shape
    clients: Annotated[
        int, Meta(description="Hosts of a fleet, each with 1 I/O outstanding in latency; else 1.")
    ] = 1
    fleet: PlanOptions = None


class Step(Part, frozen=True):
    """What to do."""

    kind: Literal["purge", "precondition", "round", "saturation"]
    test: Annotated[str, Meta(description="iops, throughput-1024k, latency, saturation.")]
    round: Annotated[int, Meta(description="From 1; 0: before the rounds.")] = 0
    read_percent: int = 0
    bytes: Annotated[int, Meta(description="Block size; 0: purge.")] = 0

    @property
    def name(self) -> str:
        """Of its result's file, and for people."""
        if self.kind != "round":
            return self.test if self.kind == "saturation" else f"{self.test}-{self.kind}"
        return f"{self.test}-round-{self.round}-{size_text(self.bytes)}-read-{self.read_percent}"


class Run(Part, frozen=True):
    """A step that was carried out."""

    step: Step
    measured_ns: int
    ios: int
    bytes: int
    iops: float
    bytes_per_s: float
    mean_ns: Annotated[
        float | None,
        Meta(
            description="Mean response time; null: no I/O. If I/Os had been in flight at the end"
            " for longer than any that completed, they count by their ages, here and in the next"
            " two."
        ),
    ]
    p99_ns: int | None
    max_ns: int | None
    errors: int
    ok: RunOk
    text: RunEnd
    power: PowerFigures | None
    result_file: ResultFile

    @property
    def failure(self) -> str:
        """Why it is not a good step; empty if it is. A purge counts no I/O of a measure phase."""
        if not self.ok:
            return self.text
        return "" if self.ios or self.step.kind == "purge" else NOTHING


class Round(Part, frozen=True):
    """The tracked metric in a round, at the tracked share of reads."""

    number: int
    values: Annotated[list[float], Meta(description="Of each block size, in their order.")]


class Cell(Part, frozen=True):
    """A block size and share of reads, over the rounds of the window."""

    bytes: Annotated[int, Meta(description="Block size.")]
    read_percent: int
    iops: Annotated[float, Meta(description="Mean of the rounds.")]
    bytes_per_s: Annotated[float, Meta(description="Mean of the rounds.")]
    mean_ns: Annotated[float | None, Meta(description="Mean response time, mean of the rounds.")]
    p99_ns: Annotated[float | None, Meta(description="Mean of the rounds.")]
    max_ns: Annotated[int | None, Meta(description="Largest of the rounds.")]


class Measured(Part, frozen=True):
    """A test with rounds."""

    name: str
    part: PartName
    metric: Annotated[MetricName, Meta(description="What is tracked: its unit is that of a run.")]
    tracked_bytes: Annotated[int, Meta(description="Block size that is tracked.")]
    tracked_read_percent: int
    purged: bool
    preconditioned_bytes: Annotated[int, Meta(description="Written sequentially before it.")]
    steady: Annotated[
        bool | None, Meta(description="Steady state was reached; null: rounds are missing.")
    ]
    window: Annotated[
        Window | None,
        Meta(description="The last rounds of what is tracked; null: there is no whole round."),
    ]
    sizes: list[int]
    rounds: list[Round]
    cells: list[Cell]
    text: Verdict

    def __post_init__(self) -> None:
        if self.window is not None and not self.window.values:
            raise ValueError("window has no values")
        there = {(cell.bytes, cell.read_percent) for cell in self.cells}
        for percent in {cell.read_percent for cell in self.cells}:
            for size in self.sizes:
                if (size, percent) not in there:
                    raise ValueError(f"cells has none of {size} bytes and {percent} % reads")
        for number, round_ in enumerate(self.rounds):
            if len(round_.values) != len(self.sizes):
                raise ValueError(
                    f"rounds[{number}] has {len(round_.values)} values for {len(self.sizes)} sizes"
                )


class Sample(Part, frozen=True):
    """An interval of write saturation."""

    end_s: Annotated[float, Meta(description="Since the start of writing.")]
    written_bytes: Annotated[int, Meta(description="Since the start, at the end.")]
    iops: float
    mean_ns: float | None
    max_ns: int | None


class Report(Document, frozen=True, kw_only=True, tag=Kind.PTS.value):
    """Report of a PTS-like, unaudited test."""

    notice: Notice
    passed: Annotated[
        bool, Meta(description="All tests were done and reached steady state without errors.")
    ]
    complete: Annotated[bool, Meta(description="All steps were done.")]
    verdict: Verdict
    tests: Annotated[list[Measured], Meta(description="Those with rounds.")]
    saturation: Annotated[list[Sample], Meta(description="Write saturation; empty: not done.")]
    parameters: Parameters
    runs: Annotated[list[Run], Meta(description="All that was done, in that order.")]
    targets: list[TargetFacts]
    environment: Environment | None
    remarks: Remarks


def metric_of(figures: Run | Cell, metric: MetricName) -> float:
    """The metric; 0 of a time that there is none of."""
    if metric == "latency":
        return figures.mean_ns or 0.0
    return figures.iops if metric == "iops" else figures.bytes_per_s


def known_value(value: float, metric: MetricName) -> float | None:
    """A value of metric_of(); None for a time that there is none of."""
    return None if metric == "latency" and not value else value


def size_text(size: int) -> str:
    """A block size in names: 4k, 512."""
    return f"{size >> 10}k" if size % 1024 == 0 else str(size)


def json_schema() -> dict[str, Any]:
    """JSON Schema of a report."""
    return document.schema("Report of spekctl pts", Report)


def load_report(path: Path) -> Report:
    """Read a report; refuses what is not one."""
    return document.read(path, Report)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Verdicts on results: of `spekctl gate`, against limits, and of `spekctl compare`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from spekctl.documents import document
from spekctl.documents.document import Document, Kind, Part
from spekctl.documents.result_parts import RunEnd

SCHEMA_FILE = Path(__file__).with_name("verdict.schema.json")

Value = Annotated[float | None, Meta(description="null: the result does not have the figure.")]


class Judged(Part, frozen=True):
    """A run whose result was judged."""

    file: str
    name: Annotated[str, Meta(description="The file's name as a word; differs from all others.")]
    run: int
    started: Annotated[str, Meta(description="ISO 8601, UTC.")]
    duration_ns: Annotated[int, Meta(description="Of the measure phase.")]
    workload: str
    devices: list[str]
    hostname: str
    kernel: str
    ok: Annotated[
        bool, Meta(description="The run completed without errors, and measured something.")
    ]
    text: RunEnd


class Unjudged(Part, frozen=True):
    """A file that was to be judged and holds no result that can be."""

    file: str
    name: Annotated[str, Meta(description="The file's name as a word; differs from all others.")]
    text: Annotated[str, Meta(description="Why, as a sentence.")]


class CheckVerdict(StrEnum):
    """What became of a figure."""

    PASSED = "passed"
    FAILED = "failed"
    MISSING = "missing"
    REPORTED = "reported"


class Check(Part, frozen=True):
    """A figure of a result, and its limits."""

    run: Annotated[int, Meta(description="Index in runs.")]
    metric: str
    unit: str
    value: Value
    least: Annotated[float | None, Meta(description="null: no lower limit.")]
    most: Annotated[float | None, Meta(description="null: no upper limit.")]
    verdict: Annotated[
        CheckVerdict,
        Meta(description="missing: not in the result, which fails no limit and keeps none."),
    ]
    text: Annotated[str, Meta(description="The same as a sentence.")]
    set_by: Annotated[
        str, Meta(description="The part of the load that fixes the figure; empty: none does.")
    ] = ""
    remark: Annotated[
        str, Meta(description="What makes the figure less certain, or why it is missing.")
    ] = ""


class GateVerdict(StrEnum):
    """What `spekctl gate` says of all results."""

    PASSED = "passed"
    FAILED = "failed"
    UNDECIDED = "undecided"


class GateReport(Document, frozen=True, kw_only=True, tag=Kind.GATE.value):
    """Whether results keep limits."""

    limits: Annotated[str, Meta(description="File of the limits.")]
    runs: list[Judged]
    checks: Annotated[list[Check], Meta(description="Run by run, in the order of the limits.")]
    verdict: Annotated[
        GateVerdict,
        Meta(
            description="failed: a run failed or measured nothing, a file holds no result, or a"
            " limit was missed. undecided: none of these, and a result lacks a figure that has a"
            " limit."
        ),
    ]
    text: Annotated[str, Meta(description="The same as a sentence.")]
    unjudged: Annotated[
        list[Unjudged], Meta(description="Files that hold no result; all their limits are missed.")
    ] = msgspec.field(default_factory=list)
    limited: Annotated[
        list[str], Meta(description="Metrics that have a limit; in older verdicts empty.")
    ] = msgspec.field(default_factory=list)

    def __post_init__(self) -> None:
        for number, check in enumerate(self.checks):
            if not 0 <= check.run < len(self.runs):
                raise ValueError(
                    f"checks[{number}].run is {check.run}; there are {len(self.runs)} runs"
                )


class Change(StrEnum):
    """What B is, against A."""

    SAME = "same"
    BETTER = "better"
    WORSE = "worse"
    UNDECIDED = "undecided"


class Figure(Part, frozen=True):
    """A figure of both sides. Shares are of A: 0.01 is one per cent more in B."""

    metric: str
    unit: str
    better: Literal["higher", "lower"]
    primary: Annotated[bool, Meta(description="The verdict of the comparison is this figure's.")]
    a: Annotated[
        list[float],
        Meta(
            description="One value for each run of A; of times with I/Os in flight at the end"
            " counted by their ages where that makes it longer."
        ),
    ]
    b: Annotated[list[float], Meta(description="The same of B.")]
    median_a: Value
    median_b: Value
    shift: Annotated[float | None, Meta(description="Estimate of the change; null: unknown.")]
    low: Annotated[
        float | None,
        Meta(
            description="runs: lower bound of the change. counts: smallest ratio of a run of B and"
            " one of A, less 1. null: too few runs for one."
        ),
    ]
    high: Annotated[float | None, Meta(description="The upper one, likewise.")]
    tolerance: Annotated[
        float, Meta(description="Share that a change has to exceed; counts: or the bound has to.")
    ]
    bound: Annotated[
        float | None,
        Meta(
            description="counts: share that every pair of runs has to exceed: the tolerance, or"
            " three times the largest spread within a side."
        ),
    ]
    p: Annotated[float | None, Meta(description="runs: exact, two-sided; counts: null.")]
    p_adjusted: Annotated[
        float | None,
        Meta(description="Of figures that are not primary, among each other (Benjamini-Hochberg)."),
    ]
    verdict: Change
    more_runs: Annotated[
        int | None,
        Meta(description="undecided: estimate of how many more runs per side decide it."),
    ]
    text: Annotated[str, Meta(description="The verdict as a sentence.")]


class Difference(Part, frozen=True):
    """A condition in which the sides differ, because that was allowed."""

    condition: Annotated[str, Meta(description="As named by --vary.")]
    field: str
    a: str
    b: str


class Method(StrEnum):
    """How sides are compared."""

    COUNTS = "counts"
    RUNS = "runs"


class FunctionChange(Part, frozen=True):
    """A function of the kernel: instructions of its own per I/O."""

    function: str
    a: Annotated[float, Meta(description="0: not executed.")]
    b: float


class Comparison(Document, frozen=True, kw_only=True, tag=Kind.COMPARISON.value):
    """Results of one set of runs against those of another."""

    method: Annotated[
        Method,
        Meta(
            description="counts: of guests that count instructions, by a fixed bound. runs: by the"
            " ranks of the runs."
        ),
    ]
    alpha: Annotated[
        float | None, Meta(description="Probability of error that was accepted; counts: null.")
    ]
    a: Annotated[list[Judged], Meta(min_length=1)]
    b: Annotated[list[Judged], Meta(min_length=1)]
    differences: list[Difference]
    figures: Annotated[list[Figure], Meta(description="The primary one first.")]
    remarks: Annotated[list[str], Meta(description="What a reader should know.")]
    verdict: Annotated[Change, Meta(description="Of the primary figure.")]
    text: Annotated[str, Meta(description="The same as a sentence.")]
    functions: Annotated[
        list[FunctionChange] | None,
        Meta(
            description="Functions that changed by 0.5 instructions per I/O or more, what grew most"
            " first; null: no profiles were given."
        ),
    ] = None


def json_schema() -> dict[str, Any]:
    """JSON Schema of either."""
    return document.schema("Verdict of spek on results", GateReport, Comparison)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports of energy tests as structs that are their JSON Schema.

Numbers that were given or measured are decimals as text, so that reading a report again gives the
same figures to the last digit. Where power is missing its fields are null and the rest stands.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from spekctl.documents import document
from spekctl.documents.benchmark import (
    Hours,
    LevelsMeasured,
    LoadPassed,
    Notice,
    PlanOptions,
    Price,
    Site,
    Verdict,
)
from spekctl.documents.device import TargetFacts
from spekctl.documents.document import Document, Kind, Part
from spekctl.documents.exact import Figure, Given
from spekctl.documents.power import PowerFigures
from spekctl.documents.result_parts import Environment

SCHEMA_FILE = Path(__file__).with_name("energy.schema.json")
SPC1E_NOTICE = "SPC-1/E-like, unaudited"
EMERALD_NOTICE = "Emerald-like, unaudited"
DCSE_NOTICE = "DCsE, unaudited"
CAPACITY_NOTICE = "Emerald-like capacity optimization, unaudited"


class LevelReport(Part, frozen=True):
    """A level of load."""

    name: Annotated[str, Meta(description="heavy, moderate or idle.")]
    percent: Annotated[int, Meta(description="Of the highest load; 0: idle.")]
    bsu: Annotated[int | None, Meta(description="null: not measured here.")]
    iops: Given
    watts: Annotated[Given | None, Meta(description="null: power is missing.")]
    power: Annotated[PowerFigures | None, Meta(description="Its rails; null: not measured here.")]
    result_file: Annotated[str | None, Meta(description="Beside this file; null: there is none.")]


class ProfileReport(Part, frozen=True):
    """A usage profile, or the mean of all of them (name composite)."""

    name: str
    hours: Hours
    watts: Annotated[Figure | None, Meta(description="Nominal power, W.")]
    iops: Annotated[Figure, Meta(description="Nominal traffic, I/Os per second.")]
    iops_per_watt: Figure | None
    btu_per_hour: Annotated[Figure | None, Meta(description="Nominal heat.")]


class Spc1eReport(Document, frozen=True, kw_only=True, tag=Kind.SPC1E.value):
    """Report of an SPC-1/E-like, unaudited test."""

    notice: Notice
    complete: LevelsMeasured
    passed: LoadPassed
    verdict: Verdict
    source: Annotated[str, Meta(description="measured, or the file that levels came from.")]
    levels: Annotated[list[LevelReport], Meta(description="heavy, moderate, idle; if measured.")]
    profiles: list[ProfileReport]
    composite: ProfileReport | None
    annual_kwh: Figure | None
    price: Price
    annual_cost: Figure | None
    site: Site | None
    targets: list[TargetFacts]
    environment: Environment | None
    remarks: list[str]


class DcseSpan(Part, frozen=True):
    """A part of normal operation."""

    start_real_ns: Annotated[int, Meta(description="CLOCK_REALTIME.", ge=0, le=(1 << 63) - 1)]
    length_s: float
    known_share: Annotated[
        float, Meta(description="Share of its time in which the power of all rails is known.")
    ]
    watts: Annotated[Given | None, Meta(description="Mean power of the rails.")]
    iops: Given | None
    megabytes_per_s: Given | None
    iops_per_watt: Figure | None
    mb_per_s_per_watt: Figure | None


class DcseReport(Document, frozen=True, kw_only=True, tag=Kind.DCSE.value):
    """DCsE figures of a system."""

    notice: str
    source: Annotated[str, Meta(description="The file, or command line.")]
    given: Annotated[
        dict[str, str],
        Meta(description="gigabytes, idle_watts, load_watts, iops, megabytes_per_s."),
    ]
    gb_per_watt: Figure | None
    iops_per_watt: Figure | None
    mb_per_s_per_watt: Figure | None
    against: Annotated[
        dict[str, Figure], Meta(description="Change against --against in per cent, by metric.")
    ]
    remarks: list[str]
    disks: Annotated[list[str], Meta(description="Whose samples these are; empty: typed in.")] = (
        msgspec.field(default_factory=list)
    )
    rails: Annotated[list[str], Meta(description="FEED/RAIL, whose sum is the power.")] = (
        msgspec.field(default_factory=list)
    )
    over_time: Annotated[
        list[DcseSpan], Meta(description="Of samples: the figures of one span after the other.")
    ] = msgspec.field(default_factory=list)


RunOptions = Annotated[
    dict[str, str],
    Meta(description="Options of the run that --search chose, by name; empty: none is searched."),
]


class Trial(Part, frozen=True):
    """A point of the search for the best depth, number of workers and options of --search."""

    phase: str
    workers: Annotated[int, Meta(description="Of all hosts of a fleet together.")]
    depth: int
    work: Annotated[Given, Meta(description="In the unit of the phase.")]
    watts: Given | None
    response_ns: Annotated[float | None, Meta(description="Mean response time.")]
    allowed: Annotated[bool, Meta(description="It keeps the response limits, without errors.")]
    options: RunOptions = msgspec.field(default_factory=dict)
    refusal: Annotated[str, Meta(description="Why the kernel refused it; empty: it ran.")] = ""


class EmeraldPhase(Part, frozen=True):
    """A measured phase."""

    name: str
    metric: Annotated[str, Meta(description="EP_..., or empty: preparation.")]
    unit: str
    workers: Annotated[int, Meta(description="Of all hosts of a fleet together.")]
    depth: Annotated[int | None, Meta(description="null: open loop, or idle.")]
    rate: Annotated[float | None, Meta(description="I/Os per second offered; null: closed loop.")]
    measured_ns: int
    work: Annotated[Given, Meta(description="In the unit of the phase, of watts apart.")]
    watts: Annotated[Given | None, Meta(description="Mean power; null: missing.")]
    value: Annotated[Figure | None, Meta(description="The metric; null: power is missing.")]
    response_ns: Annotated[float | None, Meta(description="Mean response time.")]
    worst_response_ns: Annotated[
        float | None,
        Meta(
            description="Mean response time of the worst window; at least that where I/Os were"
            " waited for that did not complete in it."
        ),
    ]
    passed: Annotated[bool, Meta(description="It keeps its limits, without errors.")]
    text: Annotated[str, Meta(description="Which it misses, or how the run ended.")]
    power: PowerFigures | None
    result_file: Annotated[str | None, Meta(description="Beside this file; null: there is none.")]
    workers_by_host: Annotated[
        dict[str, int], Meta(description="Workers of each host of a fleet; empty: one machine.")
    ] = msgspec.field(default_factory=dict)
    options: RunOptions = msgspec.field(default_factory=dict)


class EmeraldDurations(Part, frozen=True):
    """Lengths of all parts of the test."""

    prefill_percent: Annotated[
        int, Meta(description="Of the capacity, written once before all else; 0: none.")
    ]
    conditioning_ns: Annotated[int, Meta(description="Hot band before the first phase.")]
    warmup_ns: Annotated[int, Meta(description="Load before each measurement.")]
    measure_ns: Annotated[int, Meta(description="Each active phase.")]
    idle_ns: Annotated[int, Meta(description="Ready idle.")]
    search_ns: Annotated[int, Meta(description="Each trial of the search; 0: no search.")]


class EmeraldLimits(Part, frozen=True):
    """Limits of random phases and the hot band."""

    mean_ns: Annotated[int, Meta(description="Mean response time of a phase.")]
    window_mean_ns: Annotated[int, Meta(description="The same in any window.")]
    window_ns: Annotated[int, Meta(description="Length of a window.")]


Taxonomy = Annotated[str, Meta(description="Category of the product, such as Online 3.")]
Disclosures = Annotated[
    dict[str, str],
    Meta(description="Further disclosures about the system, by name, such as parity RAID: on."),
]


class EmeraldParameters(Part, frozen=True):
    """Everything that decides what is measured; the same on every resumption."""

    durations: EmeraldDurations
    limits: EmeraldLimits
    phases: Annotated[list[str], Meta(description="In their order.")]
    depths: Annotated[list[int], Meta(description="Depths that the search may try.")]
    workers: Annotated[list[int], Meta(description="Numbers of workers that it may try.")]
    seed: int
    stripe_bytes: int
    backend: str
    data: Annotated[Literal["zero", "random"], Meta(description="What is written.")]
    raw_gigabytes: Given
    taxonomy: Taxonomy = ""
    disclosures: Disclosures = msgspec.field(default_factory=dict)
    fleet: PlanOptions = None
    search: Annotated[
        list[str],
        Meta(description="Further options that the search may vary, such as backend=bio,mq."),
    ] = msgspec.field(default_factory=list)


class EmeraldReport(Document, frozen=True, kw_only=True, tag=Kind.EMERALD.value):
    """Report of an Emerald-like, unaudited test."""

    notice: Notice
    complete: Annotated[bool, Meta(description="All phases were done, and their power is known.")]
    passed: Annotated[bool, Meta(description="All phases were done and keep their limits.")]
    verdict: Verdict
    source: Annotated[str, Meta(description="measured, or the file that numbers came from.")]
    raw_gigabytes: Annotated[
        Given | None, Meta(description="Raw capacity, 10^9 bytes; null: not given.")
    ]
    parameters: EmeraldParameters | None
    phases: list[EmeraldPhase]
    trials: list[Trial]
    targets: list[TargetFacts]
    environment: Environment | None
    remarks: list[str]
    taxonomy: Taxonomy = ""
    disclosures: Disclosures = msgspec.field(default_factory=dict)
    site: Site | None = None


class CapacityStep(Part, frozen=True):
    """An operation on the device, and the bytes stored before and after it."""

    name: str
    written: Annotated[int, Meta(description="Bytes.")]
    stored_before: Annotated[int, Meta(description="Bytes.")]
    stored_after: int


class CapacityMethod(Part, frozen=True):
    """A capacity optimization method."""

    name: str
    verdict: Literal["yes", "no", "not tested"]
    reason: str


class CapacityReport(Document, frozen=True, kw_only=True, tag=Kind.CAPACITY.value):
    """Bytes written against bytes stored."""

    notice: str
    targets: list[TargetFacts]
    stored: Annotated[str, Meta(description="Source of the bytes stored.")]
    size: Annotated[int, Meta(description="Bytes of each data set.")]
    steps: list[CapacityStep]
    methods: list[CapacityMethod]
    remarks: list[str]


class Best(Part, frozen=True):
    """A metric, and the configuration that does best in it."""

    metric: str
    value: Figure
    unit: str
    configuration: str
    workers: int
    depth: int | None
    drives: Annotated[
        tuple[int, int] | None,
        Meta(description="Fewest and most drives of products that it represents."),
    ]
    rivals: Annotated[int, Meta(description="Number of configurations within the limits.")]
    options: RunOptions = msgspec.field(default_factory=dict)


ChecklistVerdict = Literal["yes", "no", "unknown"]


class Item(Part, frozen=True):
    """An entry of the checklist."""

    name: str
    verdict: ChecklistVerdict
    reason: str


class Judged(Part, frozen=True):
    """The combined result of the reports of several configurations."""

    best: list[Best]
    checklist: list[Item]
    remarks: list[str]

    @property
    def is_complete(self) -> bool:
        """No entry is refused or unknown."""
        return all(item.verdict == "yes" for item in self.checklist)


def json_schema() -> dict[str, Any]:
    """JSON Schema of the reports."""
    return document.schema(
        "Energy reports of spek", Spc1eReport, EmeraldReport, DcseReport, CapacityReport
    )


def load_spc1e(path: Path) -> Spc1eReport:
    """Read a report; refuses what is not one."""
    return document.read(path, Spc1eReport)


def load_emerald(path: Path) -> EmeraldReport:
    """Read a report; refuses what is not one."""
    return document.read(path, EmeraldReport)

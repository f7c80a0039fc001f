# SPDX-License-Identifier: GPL-2.0-or-later
"""Results of modelled drives: simulations of one drive, and the study of paper 003."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from spekctl.documents import document
from spekctl.documents.document import Document, Kind, Part

SCHEMA_FILE = Path(__file__).with_name("drive.schema.json")


class Times(Part, frozen=True):
    """A distribution of times, ns; percentiles are off by at most 1/128."""

    mean: float
    p50: int
    p90: int
    p99: int
    max: int


class Mode(Part, frozen=True):
    """Time and energy of a drive in one mode."""

    seconds: float
    joules: float


class FlashStep(Part, frozen=True):
    """Flash over a part of the requests."""

    until_ns: Annotated[int, Meta(description="End of the step; the next one begins there.")]
    requests: int
    write_rate: Annotated[float, Meta(description="Of the host's pages, bytes per second.")]
    amplification: Annotated[
        float, Meta(description="Pages programmed, moved ones included, by those of the host.")
    ]


class FlashUse(Part, frozen=True):
    """What a drive of flash did besides."""

    channels: int
    pages_programmed: Annotated[int, Meta(description="For the host.")]
    pages_moved: Annotated[int, Meta(description="By garbage collection.")]
    blocks_erased: int
    steps: Annotated[
        list[FlashStep], Meta(description="In the order of time: the write cliff, if there is one.")
    ]


class DriveSimulation(Document, frozen=True, kw_only=True, tag=Kind.DRIVE_SIMULATION.value):
    """A modelled drive over a list of requests."""

    model: str
    title: str
    profile: Annotated[str, Meta(description="Power profile; empty: the model has none.")]
    arms: int
    rpm: float
    policy: Annotated[str, Meta(description="Scheduling policy.")]
    window: Annotated[int, Meta(description="Maximum number of requests that it chose among.")]
    max_wait_ns: Annotated[int, Meta(description="Age from which a request goes first; 0: none.")]
    closed: Annotated[int, Meta(description="Requests kept outstanding; 0: open loop.")]
    requests: Annotated[int, Meta(ge=1)]
    elapsed_ns: Annotated[int, Meta(description="From time 0 to the end of the last request.")]
    iops: float
    response: Annotated[Times, Meta(description="End minus arrival.")]
    seek: Times
    rotation: Times
    transfer: Times
    moved: Annotated[float, Meta(description="Share of requests whose arm changed its cylinder.")]
    served_by_arm: list[int]
    hits: Annotated[int, Meta(description="Requests that the cache served.")]
    modes: Annotated[
        dict[str, Mode],
        Meta(
            description="idle, seek, rotation, transfer, or of flash idle, read, write, erase;"
            " spindle: it started, stopped or stood."
        ),
    ]
    joules_5v: float
    joules_12v: float
    watts: Annotated[float, Meta(description="Mean of both rails.")]
    flash: Annotated[FlashUse | None, Meta(description="null: a disk with platters.")] = None


class StudySystem(Part, frozen=True):
    """Drives under one load."""

    name: str
    arms: int
    rpm: int
    drives: int
    seek_scale: Annotated[float, Meta(description="Factor applied to seek times.")]
    rotation_scale: Annotated[float, Meta(description="Factor applied to rotational latencies.")]
    saturated: Annotated[
        bool, Meta(description="The queue grew to the end, so its times are of the first requests.")
    ]
    mean_ms: Annotated[
        float, Meta(description="Mean response time; the next three are percentiles.")
    ]
    p50_ms: float
    p90_ms: float
    p99_ms: float
    seek_ms: Annotated[float, Meta(description="Mean seek of an access.")]
    rotation_ms: Annotated[float, Meta(description="Mean rotational wait of an access.")]
    moved: Annotated[float, Meta(description="Share of accesses with a seek that is not 0.")]
    cdf: Annotated[list[float], Meta(description="Share of requests up to each of edges_ms.")]
    rotation_pdf: Annotated[
        list[float], Meta(description="Share of accesses between rotation_edges_ms.")
    ]
    watts: Annotated[
        dict[str, dict[str, float]],
        Meta(description="Mean power by profile and mode: idle, seek, rotation, transfer."),
    ]

    hits: Annotated[float, Meta(description="Share of accesses that the cache served.")] = 0.0
    errors: Annotated[int, Meta(description="Accesses that failed.")] = 0

    def watts_of(self, profile: str) -> float:
        """Mean power in all modes."""
        return sum(self.watts[profile].values())


class StudyLoad(Part, frozen=True):
    """A stand-in for a trace of the paper, and its results."""

    name: str
    known: Annotated[str, Meta(description="Published properties of the trace.")]
    assumed: Annotated[str, Meta(description="Assumptions about all other properties.")]
    array: Annotated[StudySystem, Meta(description="The array of the original system, MD.")]
    single: Annotated[list[StudySystem], Meta(description="One large drive, HC-SD, by arms.")]
    scaled: Annotated[list[StudySystem], Meta(description="HC-SD with scaled seek or rotation.")]
    slower: Annotated[list[StudySystem], Meta(description="Several arms at lower speeds.")]
    cached: Annotated[
        list[StudySystem], Meta(description="HC-SD with a cache, of 8 MB and of 64 MB.")
    ] = msgspec.field(default_factory=list)
    relaxed: Annotated[
        list[StudySystem],
        Meta(
            description="Several arms that move at the same time, and that transfer as well: both"
            " for each number of arms."
        ),
    ] = msgspec.field(default_factory=list)
    failed: Annotated[
        list[StudySystem],
        Meta(
            description="Several arms, of which the last fails halfway: times are those after the"
            " failure, watts those of the whole run."
        ),
    ] = msgspec.field(default_factory=list)

    def systems(self) -> list[StudySystem]:
        """All systems under this load."""
        return [
            *(self.array, *self.single, *self.scaled, *self.slower),
            *(*self.cached, *self.relaxed, *self.failed),
        ]


class StudyArrays(Part, frozen=True):
    """Arrays under the synthetic load of section 7.3."""

    interarrival_ms: float
    footprint: Annotated[float, Meta(description="Share of each drive that is used.")]
    systems: list[StudySystem]


class StudyCost(Part, frozen=True):
    """Material of an array in US dollars, by the paper's prices of components."""

    name: str
    drives: int
    arms: int
    low: Annotated[float, Meta(description="Of a drive, at the lowest price of each component.")]
    high: Annotated[float, Meta(description="Of a drive, at the highest price of each component.")]

    @property
    def mean(self) -> float:
        """Of the array, between both."""
        return self.drives * (self.low + self.high) / 2


class Claim(Part, frozen=True):
    """A claim of the paper, and the simulated result."""

    place: Annotated[str, Meta(description="Table, figure or section of the paper.")]
    what: str
    paper: str
    found: str
    holds: Annotated[bool | None, Meta(description="null: it is reported, not judged.")]
    remark: str = ""
    partly: Annotated[
        bool, Meta(description="The order of the claim holds, its sizes do not; holds is false.")
    ] = False

    @property
    def word(self) -> str:
        """How far it holds; - where it is not judged."""
        if self.partly:
            return "partly"
        return {True: "yes", False: "no", None: "-"}[self.holds]


class DriveStudy(Document, frozen=True, kw_only=True, tag=Kind.DRIVE_STUDY.value):
    """Paper 003 on modelled drives: its claims and the simulated results."""

    model: Annotated[str, Meta(description="The large drive, HC-SD.")]
    requests: Annotated[int, Meta(description="Requests per load.")]
    seed: int
    profiles: Annotated[
        list[str], Meta(min_length=1, description="Power profiles; the first one is the default.")
    ]
    edges_ms: list[float]
    rotation_edges_ms: list[float]
    loads: list[StudyLoad]
    arrays: list[StudyArrays]
    claims: list[Claim]
    rule: Annotated[str, Meta(description="How claims are judged; empty in older files.")] = ""
    costs: Annotated[
        list[StudyCost], Meta(description="Arrays of the same performance, by the paper.")
    ] = msgspec.field(default_factory=list)
    fits: Annotated[
        list[StudyLoad],
        Meta(
            description="Loads of the same names, of assumptions that are fitted to the paper; no"
            " claim is judged by them."
        ),
    ] = msgspec.field(default_factory=list)

    def __post_init__(self) -> None:
        for load in [*self.loads, *self.fits]:
            for system in load.systems():
                if len(system.cdf) != len(self.edges_ms):
                    raise ValueError(
                        f"cdf of {system.name} under {load.name} has {len(system.cdf)} values for"
                        f" {len(self.edges_ms)} edges_ms"
                    )


def json_schema() -> dict[str, Any]:
    """JSON Schema of these files."""
    return document.schema("Modelled drives simulated by spek", DriveSimulation, DriveStudy)

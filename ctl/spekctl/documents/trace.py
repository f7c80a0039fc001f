# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures of a trace, and the match of a workload made from it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta

from spekctl.documents import document
from spekctl.documents.document import Document, Kind, Part

SCHEMA_FILE = Path(__file__).with_name("trace.schema.json")


class TraceOrigin(Part, frozen=True):
    """A file that a trace was read from."""

    file: str
    format: Annotated[str, Meta(description="Name of the format, as the topic page lists them.")]


class TraceDefects(Part, frozen=True):
    """Defects of the files."""

    bad: Annotated[int, Meta(description="Records that could not be read.")]
    first: Annotated[str, Meta(description="The first of them, with file, line and reason.")]
    unordered: Annotated[int, Meta(description="Records whose time was before the one ahead.")]
    moved: Annotated[
        int, Meta(description="Of these, records too late for their place: their time was changed.")
    ]
    ignored: Annotated[int, Meta(description="Events that are not I/O.")]
    notes: list[str]


class TraceOp(Part, frozen=True):
    """Requests of one operation."""

    op: str
    requests: int
    bytes: int
    fua: int


class TraceSize(Part, frozen=True):
    """A request size."""

    bytes: int
    requests: int


class TraceQuantiles(Part, frozen=True):
    """A distribution. Percentiles of sizes are exact, those of gaps off by at most 1/128."""

    mean: float
    p50: float
    p90: float
    p99: float
    p999: float
    max: int


class TraceDispersion(Part, frozen=True):
    """Variance of the number of requests in a window, divided by its mean; Poisson arrivals: 1."""

    window_ns: int
    windows: int
    index: float
    peak: Annotated[int, Meta(description="Most requests in a window.")]


class TracePlaces(Part, frozen=True):
    """Where requests went."""

    footprint_bytes: Annotated[int, Meta(description="Distinct bytes that were accessed.")]
    read_footprint_bytes: int
    written_footprint_bytes: int
    granularity_bytes: Annotated[
        int,
        Meta(
            description="1: footprints are exact; else they are estimates from a sample of the"
            " address space, in pieces of this size."
        ),
    ]
    sequential: Annotated[
        float,
        Meta(description="Share of requests that begin where the one before on the device ended."),
    ]
    sequential_of_32: Annotated[
        float, Meta(description="The same, where any of the 32 before on the device ended.")
    ]
    aligned_4k: Annotated[
        float, Meta(description="Share of requests whose offset and size are multiples of 4 KiB.")
    ]


class TraceDevice(Part, frozen=True):
    """A device of a trace."""

    name: str
    requests: int
    reads: int
    bytes: int
    end_bytes: Annotated[int, Meta(description="End of the furthest request.")]
    footprint_bytes: int


class TraceInfo(Document, frozen=True, kw_only=True, tag=Kind.TRACE_INFO.value):
    """Figures of a trace."""

    origins: Annotated[list[TraceOrigin], Meta(min_length=1)]
    requests: int
    bytes: int
    span_ns: int
    iops: float
    bytes_per_s: float
    read_share: Annotated[float, Meta(description="Of reads and writes, by number.")]
    read_share_bytes: float
    ops: list[TraceOp]
    sizes: Annotated[list[TraceSize], Meta(description="The most frequent ones, by number.")]
    sizes_distinct: int
    size_bytes: TraceQuantiles | None
    gap_ns: Annotated[TraceQuantiles | None, Meta(description="From one arrival to the next.")]
    gap_cv: Annotated[
        float | None, Meta(description="Standard deviation over mean of the gaps; Poisson: 1.")
    ]
    dispersion: list[TraceDispersion]
    places: TracePlaces
    devices: list[TraceDevice]
    defects: TraceDefects


class TraceProperty(Part, frozen=True):
    """A property of a trace and of the workload made from it."""

    name: str
    trace: float | None
    twin: Annotated[float | None, Meta(description="Of the workload's requests.")]
    distance: float
    measure: Annotated[
        Literal["difference", "ratio", "ks"],
        Meta(
            description="difference: absolute; ratio: larger over smaller, minus 1; ks: largest"
            " distance of the distribution functions, over devices and directions the mean by"
            " requests."
        ),
    ]


class TraceFit(Document, frozen=True, kw_only=True, tag=Kind.TRACE_FIT.value):
    """How far a workload is off the trace that it was made from."""

    origins: Annotated[list[TraceOrigin], Meta(min_length=1)]
    workload: str
    requests: Annotated[int, Meta(description="Reads and writes of the trace.")]
    twin_requests: Annotated[int, Meta(description="Requests of the workload in the same time.")]
    properties: list[TraceProperty]
    notes: list[str]
    defects: TraceDefects


def json_schema() -> dict[str, Any]:
    """JSON Schema of the figures of a trace, and of the distances of a workload."""
    return document.schema("spek trace figures", TraceInfo, TraceFit)

# SPDX-License-Identifier: GPL-2.0-or-later
"""What modelled drives did: simulations of one drive, and the study of paper 003."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

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
    """What a drive used in a mode."""

    seconds: float
    joules: float


class DriveSimulation(Document, frozen=True, kw_only=True, tag=Kind.DRIVE_SIMULATION.value):
    """A modelled drive over a list of requests."""

    model: str
    title: str
    profile: Annotated[str, Meta(description="Of power; empty: the model has none.")]
    arms: int
    rpm: float
    policy: Annotated[str, Meta(description="How the drive chose the next request.")]
    window: Annotated[int, Meta(description="Requests it chose from, at most.")]
    max_wait_ns: Annotated[int, Meta(description="Age from which a request goes first; 0: none.")]
    closed: Annotated[int, Meta(description="Requests kept outstanding; 0: open loop.")]
    requests: int
    elapsed_ns: Annotated[int, Meta(description="From time 0 to the end of the last request.")]
    iops: float
    response: Annotated[Times, Meta(description="End minus arrival.")]
    seek: Times
    rotation: Times
    transfer: Times
    moved: Annotated[float, Meta(description="Share of requests whose arm changed its cylinder.")]
    served_by_arm: list[int]
    modes: Annotated[
        dict[str, Mode],
        Meta(description="idle, seek, rotation, transfer; spindle: it started, stopped or stood."),
    ]
    joules_5v: float
    joules_12v: float
    watts: Annotated[float, Meta(description="Mean of both rails.")]


def json_schema() -> dict[str, Any]:
    """JSON Schema of these files."""
    return document.schema("Modelled drives simulated by spek", DriveSimulation)

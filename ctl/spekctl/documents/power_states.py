# SPDX-License-Identifier: GPL-2.0-or-later
"""The document of `spekctl power states`: power states of disks, and how long they lasted."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta

from spekctl.documents import document
from spekctl.documents.disk_states import DiskStates
from spekctl.documents.document import Document, Kind
from spekctl.documents.result_parts import Clocks

SCHEMA_FILE = Path(__file__).with_name("power_states.schema.json")


class PowerStates(Document, frozen=True, kw_only=True, tag=Kind.POWER_STATES.value):
    """Power states of disks, by looks that wake none of them."""

    hostname: str
    interval_ns: Annotated[int, Meta(ge=0, description="Time between two looks; 0: one look.")]
    started: Annotated[Clocks, Meta(description="At the first look.")]
    ended: Annotated[Clocks, Meta(description="At the last look.")]
    disks: Annotated[list[DiskStates], Meta(min_length=1)]


def json_schema() -> dict[str, Any]:
    """JSON Schema of the file."""
    return document.schema("Power states of disks, as spek has seen them", PowerStates)

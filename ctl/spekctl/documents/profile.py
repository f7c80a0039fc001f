# SPDX-License-Identifier: GPL-2.0-or-later
"""What `spekctl vm --function-profile` finds: what an I/O costs in each function of a kernel."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta

from spekctl.documents import document
from spekctl.documents.document import Document, Kind, Part

SCHEMA_FILE = Path(__file__).with_name("profile.schema.json")


class ProfiledRun(Part, frozen=True):
    """The run that was profiled."""

    workload: str
    devices: list[str]
    drivers: Annotated[list[str], Meta(description="Of the devices.")]
    kernel: Annotated[str, Meta(description="Release of the guest's kernel.")]
    kernel_version: str
    ios: Annotated[int, Meta(description="I/Os of all phases.")]


class FunctionCost(Part, frozen=True):
    """A function of the kernel."""

    function: Annotated[
        str,
        Meta(
            description="With its module, as in /proc/kallsyms, and with the parts that a compiler"
            " split off."
        ),
    ]
    per_io: Annotated[float, Meta(description="Instructions of its own per I/O.")]


class Profile(Document, frozen=True, kw_only=True, tag=Kind.PROFILE.value):
    """Instructions that a guest executed from the start of a run to its end."""

    run: ProfiledRun
    per_io: Annotated[float, Meta(description="Instructions of the kernel per I/O.")]
    user_per_io: Annotated[float, Meta(description="Instructions of user space per I/O.")]
    functions: Annotated[list[FunctionCost], Meta(description="The most expensive first.")]


def json_schema() -> dict[str, Any]:
    """JSON Schema of a profile."""
    return document.schema("What an I/O costs in each function of a kernel", Profile)

# SPDX-License-Identifier: GPL-2.0
"""What a check of a device against a run's writes has found, as a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from spekctl.documents.result import Part, TargetFacts, VerifyCounts, WrongBlock

KIND: Literal["spek-verify"] = "spek-verify"


VERSION = 1


SCHEMA_FILE = Path(__file__).with_name("verify.schema.json")


class VerifyReport(Part, frozen=True):
    """Whether devices still hold what was written."""

    kind: Literal["spek-verify"]
    version: int
    created: str
    command: list[str]
    written: Annotated[str, Meta(description="When the file was made that says what.")]
    ok: Annotated[bool, Meta(description="Everything was read, and all of it was right.")]
    text: Annotated[str, Meta(description="The same as a sentence.")]
    stamp_id: int
    grain_bytes: int
    targets: list[TargetFacts]
    counts: VerifyCounts
    complete: Annotated[bool, Meta(description="Everything was read.")]
    first: Annotated[list[WrongBlock], Meta(description="The first wrong blocks.")]


def json_schema() -> dict[str, Any]:
    """JSON Schema of a report."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"{KIND}-{VERSION}",
        "title": "Whether devices still hold what spek wrote",
        **msgspec.json.schema(VerifyReport),
    }

# SPDX-License-Identifier: GPL-2.0-or-later
"""The report of `spekctl verify`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta

from spekctl.documents import document
from spekctl.documents.device import TargetFacts
from spekctl.documents.document import Document, Kind
from spekctl.documents.verification import VerifyCounts, WrongBlock

SCHEMA_FILE = Path(__file__).with_name("verify.schema.json")


class VerifyReport(Document, frozen=True, kw_only=True, tag=Kind.VERIFY.value):
    """Whether devices still hold what was written."""

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
    return document.schema("Whether devices still hold what spek wrote", VerifyReport)

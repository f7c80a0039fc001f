# SPDX-License-Identifier: GPL-2.0-or-later
"""Options of every run of a benchmark, as its report and its state have them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, structs

from spekctl.documents.document import Part


class Shape(Part, frozen=True):
    """Options of every run of the test."""

    seed: Annotated[int, Meta(description="Seed of the first run.")]
    stripe_bytes: int
    backend: str
    polled: bool
    batch: int | None
    spin_ns: int
    data: Literal["zero", "random"] | None

    def of_run(self, number: int) -> dict[str, Any]:
        """The options of a run by name; no two runs of a test access the same places."""
        return {**structs.asdict(self), "seed": self.seed + number}

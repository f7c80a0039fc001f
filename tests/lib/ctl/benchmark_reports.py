# SPDX-License-Identifier: GPL-2.0
"""Reports of a benchmark that spekctl does not have, for what serves any benchmark."""

from __future__ import annotations

from dataclasses import dataclass, field

from spekctl.documents.device import TargetFacts
from spekctl.documents.exact import Figure
from spekctl.documents.result_parts import Environment


@dataclass
class ListReport:
    """What spekctl.documents.benchmark.Report asks for."""

    passed: bool = True
    notice: str = "LIST-like, unaudited"
    verdict: str = "the outcome"
    targets: list[TargetFacts] = field(default_factory=list)
    environment: Environment | None = None
    remarks: list[str] = field(default_factory=lambda: ["one", "two"])


@dataclass
class ListProfile:
    """A usage profile."""

    name: str
    hours: list[str]
    watts: Figure | None


@dataclass
class ListAnnual(ListReport):
    """What spekctl.documents.benchmark.AnnualReport asks for."""

    complete: bool = True
    source: str = "list.toml"
    levels: list[ListProfile] = field(default_factory=list)
    profiles: list[ListProfile] = field(default_factory=list)
    composite: ListProfile | None = None
    annual_kwh: Figure | None = None
    annual_cost: Figure | None = None
    price: str = "0.25"

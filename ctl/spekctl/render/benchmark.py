# SPDX-License-Identifier: GPL-2.0-or-later
"""What the reports of all benchmarks have as text: head, remarks, cells, and annual figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

from spekctl import units
from spekctl.documents.device import TargetFacts
from spekctl.documents.exact import Figure

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

MISSING = "-"


class Report(Protocol):
    """The fields of a report that all of them have."""

    @property
    def notice(self) -> str: ...
    @property
    def verdict(self) -> str: ...
    @property
    def remarks(self) -> list[str]: ...


class Tested(Report, Protocol):
    """The fields of a report on devices."""

    @property
    def passed(self) -> bool: ...
    @property
    def targets(self) -> list[TargetFacts]: ...


class AnnualReport(Protocol):
    """The fields of a report on the energy of a year."""

    @property
    def annual_kwh(self) -> Figure | None: ...
    @property
    def annual_cost(self) -> Figure | None: ...
    @property
    def price(self) -> str: ...


class Profile(Protocol):
    """A usage profile."""

    @property
    def name(self) -> str: ...
    @property
    def hours(self) -> list[str]: ...


ProfileT = TypeVar("ProfileT", bound=Profile)


def framed(
    report: Report, subject: str, good: bool, body: Iterable[RenderableType]
) -> Iterator[RenderableType]:
    """Notice and @subject, verdict, @body, and remarks."""
    from rich.text import Text

    yield Text(f"{report.notice}: {subject}", style="bold")
    yield Text(f"  {report.verdict}", style="green" if good else "bold red")
    yield from body
    yield ""
    for remark in report.remarks:
        yield f"  {remark}"


def tested(report: Tested, body: Iterable[RenderableType]) -> Iterator[RenderableType]:
    """The report of a test of devices with @body, as texts and tables."""
    return framed(report, f"test of {names_of(report.targets)}", report.passed, body)


def names_of(targets: Sequence[TargetFacts]) -> str:
    """The devices of a report."""
    return " ".join(target.path for target in targets)


def grouped(value: Figure | None) -> str:
    """A figure with grouped thousands."""
    if value is None:
        return MISSING
    sign, digits = ("-", value.text[1:]) if value.text.startswith("-") else ("", value.text)
    whole, dot, decimals = digits.partition(".")
    return f"{sign}{int(whole):,}{dot}{decimals}"


def time_text(ns: float | None) -> str:
    """A response time."""
    return units.format_ns(ns) if ns is not None else MISSING


def watts_text(watts: str | float | None) -> str:
    """Measured power, without its unit."""
    return f"{float(watts):,.3f}" if watts is not None else MISSING


def annual(report: AnnualReport) -> Iterator[str]:
    """Energy and cost of a year, if they are known."""
    if report.annual_kwh is not None and report.annual_cost is not None:
        yield (
            f"\n  annual energy {grouped(report.annual_kwh)} kWh, at {report.price} each:"
            f" {grouped(report.annual_cost)}"
        )


def add_profiles(
    made: Table,
    rows: Sequence[ProfileT],
    figures: Sequence[Callable[[ProfileT], Figure | None]],
) -> Table:
    """Add usage profiles to a table: names, hours, and their figures."""
    for row in rows:
        made.add_row(
            row.name, "/".join(row.hours) or MISSING, *(grouped(one(row)) for one in figures)
        )
    return made

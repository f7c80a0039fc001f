# SPDX-License-Identifier: GPL-2.0-or-later
"""What the reports of all benchmarks have as text: head, remarks, cells, and annual figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from spekctl import units
from spekctl.documents.benchmark import AnnualReport, EnergyReport, Report, Site, SiteMinute
from spekctl.documents.device import TargetFacts
from spekctl.documents.exact import Figure

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

MISSING = "-"


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


def tested(report: Report, body: Iterable[RenderableType]) -> Iterator[RenderableType]:
    """The report of a test of devices with @body, as texts and tables."""
    return framed(report, f"test of {names_of(report.targets)}", report.passed, body)


def powered(
    report: EnergyReport, body: Iterable[RenderableType], what: str = ""
) -> Iterator[RenderableType]:
    """The report of a test with power, of devices (@what they underwent) or of a file."""
    devices = names_of(report.targets)
    subject = f"{what}{devices}" if devices else report.source
    return framed(report, subject, report.complete and report.passed, body)


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


def site_lines(site: Site | None) -> Iterator[str]:
    """The site, what is logged of its two minutes, and where each number is from."""
    if site is None:
        return
    words = {
        "mean RMS voltage": (site.volts, " V"),
        "power factor": (site.power_factor, ""),
        "air intake at first": (site.first_celsius, " °C"),
        "at last": (site.last_celsius, " °C"),
    }
    known = [f"{what} {value}{unit}" for what, (value, unit) in words.items() if value]
    if known:
        yield f"  {', '.join(known)}"
    for what, minute in (("first", site.first_minute), ("last", site.last_minute)):
        if minute is not None:
            yield (
                f"  {what} {units.format_duration(minute.end_ns - minute.start_ns)}: "
                + ", ".join(_logged(minute, name) for name in minute.readings)
            )
    sources = [f"{name} {source}" for name, source in site.sources.items()]
    if sources:
        yield f"  sources: {', '.join(sources)}"


_SITE_UNITS = {"volts": " V", "power_factor": " power factor", "celsius": " °C"}


def _logged(minute: SiteMinute, name: str) -> str:
    part = minute.readings[name]
    if part.mean is None:
        return f"no reading of {name}"
    return f"{part.mean}{_SITE_UNITS[name]} of {part.readings}"


def use(
    report: AnnualReport,
    make: Callable[..., Table],
    figures: Mapping[str, Callable[[Any], Figure | None]],
) -> Iterator[RenderableType]:
    """Usage profiles as a table by @make with their @figures; energy and cost of a year."""
    if report.composite is not None:
        yield "\nusage profiles"
        table = make("profile", "hours heavy/moderate/idle", *figures)
        for row in (*report.profiles, report.composite):
            hours = "/".join(row.hours) or MISSING
            table.add_row(
                row.name, hours, *(grouped(figure_of(row)) for figure_of in figures.values())
            )
        yield table
    if report.annual_kwh is not None and report.annual_cost is not None:
        yield (
            f"\n  annual energy {grouped(report.annual_kwh)} kWh, at {report.price} each:"
            f" {grouped(report.annual_cost)}"
        )

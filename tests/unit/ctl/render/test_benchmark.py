# SPDX-License-Identifier: GPL-2.0
"""What the reports of all benchmarks have as text."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import pytest
from rich.text import Text

from spekctl.documents.exact import Figure, figure
from spekctl.render import benchmark
from spekctl.render.tables import figures_table


@dataclass
class Report:
    notice: str = "LIST-like, unaudited"
    verdict: str = "passed"
    remarks: list[str] = field(default_factory=lambda: ["one", "two"])
    annual_kwh: Figure | None = None
    annual_cost: Figure | None = None
    price: str = "0.25"


@dataclass
class Profile:
    name: str
    hours: list[str]
    watts: Figure | None


@pytest.mark.parametrize("good", [True, False])
def test_a_report_begins_with_its_verdict_and_ends_with_remarks(good: bool) -> None:
    head, verdict, *body = benchmark.framed(Report(), "test of /dev/fake0", good, ["body"])
    assert isinstance(head, Text) and isinstance(verdict, Text)
    assert head.plain == "LIST-like, unaudited: test of /dev/fake0"
    assert verdict.plain == "  passed" and (verdict.style == "green") is good
    assert body == ["body", "", "  one", "  two"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(12345678, 100), "123,456.78"),
        (Fraction(-1234567, 100), "-12,345.67"),
        (Fraction(-1, 4), "-0.25"),
        (Fraction(5), "5.00"),
    ],  # grouped before the point only
)
def test_thousands_are_grouped(value: Fraction, text: str) -> None:
    assert benchmark.grouped(figure(value, 2)) == text


def test_what_was_not_measured_is_a_dash() -> None:
    assert benchmark.grouped(None) == benchmark.time_text(None) == benchmark.watts_text(None) == "-"
    assert benchmark.time_text(1_500_000) == "1.50 ms"
    assert benchmark.watts_text("1236.9654") == "1,236.965"


def test_a_year_is_told_once_its_power_is_known() -> None:
    assert list(benchmark.annual(Report())) == []
    kwh, cost = figure(Fraction(1234), 2), figure(Fraction(617, 2), 2)
    (line,) = benchmark.annual(Report(annual_kwh=kwh, annual_cost=cost))
    assert line == "\n  annual energy 1,234.00 kWh, at 0.25 each: 308.50"


def test_a_mean_day_has_no_hours() -> None:
    rows = [
        Profile("low", ["0", "8", "16"], figure(Fraction(3), 2)),
        Profile("composite", [], None),
    ]
    made = benchmark.add_profiles(
        figures_table("name", "hours", "W"), rows, [lambda row: row.watts]
    )
    cells = [list(column.cells) for column in made.columns]
    assert cells == [["low", "composite"], ["0/8/16", "-"], ["3.00", "-"]]
    assert [column.justify for column in made.columns] == ["left", "right", "right"]

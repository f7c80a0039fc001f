# SPDX-License-Identifier: GPL-2.0
"""What the reports of all benchmarks have as text."""

from __future__ import annotations

from fractions import Fraction

import pytest
from lib.ctl.benchmark_reports import ListAnnual, ListProfile, ListReport
from lib.fakes.machine import disk
from rich.table import Table
from rich.text import Text

from spekctl.documents.exact import figure
from spekctl.render import benchmark
from spekctl.render.tables import figures_table


@pytest.mark.parametrize("good", [True, False])
def test_a_report_begins_with_its_verdict_and_ends_with_remarks(good: bool) -> None:
    head, verdict, *body = benchmark.framed(ListReport(), "test of /dev/fake0", good, ["body"])
    assert isinstance(head, Text) and isinstance(verdict, Text)
    assert head.plain == "LIST-like, unaudited: test of /dev/fake0"
    assert verdict.plain == "  the outcome" and (verdict.style == "green") is good
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


@pytest.mark.parametrize("good", [True, False])
def test_a_test_of_devices_is_good_if_it_passed(good: bool) -> None:
    report = ListReport(good, targets=[disk().facts()])
    head, verdict, *_ = benchmark.tested(report, [])
    assert isinstance(head, Text) and isinstance(verdict, Text)
    assert head.plain == "LIST-like, unaudited: test of /dev/fake0"
    assert (verdict.style == "green") is good


@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize("passed", [True, False])
def test_a_test_with_power_is_good_if_it_is_complete_as_well(complete: bool, passed: bool) -> None:
    _, verdict, *_ = benchmark.powered(ListAnnual(passed, complete=complete), [])
    assert isinstance(verdict, Text)
    assert (verdict.style == "green") is (complete and passed)


def test_figures_from_a_file_name_it_in_place_of_devices() -> None:
    (head, *_) = benchmark.powered(ListAnnual(), [], "test of ")
    (head_of_file, *_) = benchmark.powered(ListAnnual(targets=[disk().facts()]), [], "test of ")
    assert isinstance(head, Text) and isinstance(head_of_file, Text)
    assert head.plain == "LIST-like, unaudited: list.toml"
    assert head_of_file.plain == "LIST-like, unaudited: test of /dev/fake0"


def use_of(report: ListAnnual) -> list[object]:
    return list(benchmark.use(report, figures_table, {"W": lambda row: row.watts}))


def test_a_year_is_told_once_its_power_is_known() -> None:
    assert use_of(ListAnnual()) == []
    kwh, cost = figure(Fraction(1234), 2), figure(Fraction(617, 2), 2)
    (line,) = use_of(ListAnnual(annual_kwh=kwh, annual_cost=cost))
    assert line == "\n  annual energy 1,234.00 kWh, at 0.25 each: 308.50"


def test_a_mean_day_has_no_hours() -> None:
    low = ListProfile("low", ["0", "8", "16"], figure(Fraction(3), 2))
    title, table = use_of(ListAnnual(profiles=[low], composite=ListProfile("composite", [], None)))
    assert title == "\nusage profiles" and isinstance(table, Table)
    cells = [list(column.cells) for column in table.columns]
    assert cells == [["low", "composite"], ["0/8/16", "-"], ["3.00", "-"]]
    assert [column.justify for column in table.columns] == ["left", "right", "right"]

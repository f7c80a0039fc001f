# SPDX-License-Identifier: GPL-2.0
"""What the sheets of all benchmarks have."""

from __future__ import annotations

import pytest
from lib.ctl.benchmark_reports import ListAnnual, ListReport
from lib.fakes.machine import disk

from spekctl.report import benchmark
from spekctl.report.sheet import Sheet

PRINTED = ["LIST-like, unaudited: the head", "  the outcome", "  a line", "", "  one", "  two"]


def of_devices(report: ListReport) -> Sheet:
    return benchmark.tested("list.json", "LIST-like test", report, PRINTED)


def with_power(report: ListAnnual) -> Sheet:
    return benchmark.powered("list.json", "LIST-like test", report, PRINTED)


@pytest.mark.parametrize("passed", [True, False])
def test_a_test_of_devices_is_good_if_it_passed(passed: bool) -> None:
    sheet = of_devices(ListReport(passed, targets=[disk().facts()]))
    assert (sheet.file, sheet.kind) == ("list.json", "LIST-like test")
    assert sheet.title == "LIST-like, unaudited: test of /dev/fake0"
    assert (sheet.verdict, sheet.good) == ("the outcome", passed)
    assert sheet.remarks == ["one", "two"]
    assert [name for name, _ in sheet.conditions] == ["/dev/fake0"]


def test_what_is_printed_is_not_told_twice() -> None:
    """The head, the verdict and the remarks have places of their own."""
    assert of_devices(ListReport()).notes == ["a line"]


@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize("passed", [True, False])
def test_a_test_with_power_is_good_if_it_is_complete_as_well(complete: bool, passed: bool) -> None:
    sheet = with_power(ListAnnual(passed, complete=complete, targets=[disk().facts()]))
    assert sheet.title == "LIST-like, unaudited: /dev/fake0"
    assert sheet.good is (complete and passed)
    assert [name for name, _ in sheet.conditions] == ["/dev/fake0", "source"]


def test_figures_from_a_file_name_it_in_place_of_devices() -> None:
    assert with_power(ListAnnual()).title == "LIST-like, unaudited: list.toml"
    assert with_power(ListAnnual()).conditions == [("source", "list.toml")]

# SPDX-License-Identifier: GPL-2.0
"""Verdicts: results against limits, one set of runs against another."""

from __future__ import annotations

from pathlib import Path

import pytest
from lib.ctl import report_files
from msgspec.structs import replace

from spekctl.documents import document
from spekctl.documents.verdict import (
    Change,
    CheckVerdict,
    Comparison,
    GateReport,
    GateVerdict,
)
from spekctl.report import verdicts


@pytest.fixture
def gate(tmp_path: Path) -> GateReport:
    return document.read(report_files.make(tmp_path, "gate"), GateReport)


@pytest.fixture
def comparison(tmp_path: Path) -> Comparison:
    return document.read(report_files.make(tmp_path, "comparison"), Comparison)


def test_only_what_has_a_limit_is_counted(gate: GateReport) -> None:
    limited = [one for one in gate.checks if one.least is not None or one.most is not None]
    kept = [one for one in limited if one.verdict is CheckVerdict.PASSED]
    assert 0 < len(kept) < len(limited)
    sheet = verdicts.gate_sheet("g", gate)
    assert ("limits kept", f"{len(kept)} of {len(limited)}") in sheet.figures
    assert len(sheet.verdicts) == len(limited)


@pytest.mark.parametrize(
    ("verdict", "good"),
    [(GateVerdict.PASSED, True), (GateVerdict.FAILED, False)],
)
def test_a_verdict_of_a_gate_is_good_or_bad(
    gate: GateReport, verdict: GateVerdict, good: bool
) -> None:
    assert verdicts.gate_sheet("g", replace(gate, verdict=verdict)).good is good


def test_what_was_not_judged_is_neither(gate: GateReport) -> None:
    unknown = [one for one in GateVerdict if one not in (GateVerdict.PASSED, GateVerdict.FAILED)]
    assert unknown
    for verdict in unknown:
        assert verdicts.gate_sheet("g", replace(gate, verdict=verdict)).good is None


def test_a_run_that_failed_is_named_first(gate: GateReport) -> None:
    first, *others = gate.runs
    bad = replace(first, ok=False, text="the device is gone")
    sheet = verdicts.gate_sheet("g", replace(gate, runs=[bad, *others]))
    assert (sheet.verdicts[0].what, sheet.verdicts[0].text) == (
        f"{first.name}: the run",
        "the device is gone",
    )
    assert ("runs that completed", f"{len(others)} of {len(gate.runs)}") in sheet.figures


def test_one_run_needs_no_name(gate: GateReport) -> None:
    checks = [one for one in gate.checks if one.run == 0]
    sheet = verdicts.gate_sheet("g", replace(gate, runs=gate.runs[:1], checks=checks))
    assert {one.what for one in sheet.verdicts} <= {one.metric for one in checks}


@pytest.mark.parametrize(
    ("change", "good"),
    [(Change.SAME, True), (Change.BETTER, True), (Change.WORSE, False), (Change.UNDECIDED, None)],
)
def test_a_comparison_is_good_bad_or_undecided(
    comparison: Comparison, change: Change, good: bool | None
) -> None:
    assert verdicts.comparison_sheet("c", replace(comparison, verdict=change)).good is good


def test_each_run_is_a_point_and_each_side_has_its_median(comparison: Comparison) -> None:
    sheet = verdicts.comparison_sheet("c", comparison)
    for figure, plot in zip(comparison.figures, sheet.plots, strict=True):
        size = 1 << 20 if plot.y.unit == "MiB/s" else 1
        medians, a, b = plot.strands
        assert [line.name for line in medians.lines] == ["median of A", "median of B"]
        assert list(a.lines[0].ys) == [one / size for one in figure.a]
        assert list(b.lines[0].ys) == [one / size for one in figure.b]
        assert list(a.xs) == [float(one) for one in range(1, len(figure.a) + 1)]


def test_the_median_of_one_run_is_no_line(comparison: Comparison) -> None:
    figures = [replace(one, a=one.a[:1], b=one.b[:1]) for one in comparison.figures]
    sheet = verdicts.comparison_sheet("c", replace(comparison, figures=figures))
    assert all(len(one.strands) == 2 for one in sheet.plots)

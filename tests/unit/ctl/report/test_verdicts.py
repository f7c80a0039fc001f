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
    Unjudged,
)
from spekctl.report import verdicts


@pytest.fixture
def gate(tmp_path: Path) -> GateReport:
    return document.read(report_files.make(tmp_path, "gate"), GateReport)


@pytest.fixture
def comparison(tmp_path: Path) -> Comparison:
    return document.read(report_files.make(tmp_path, "comparison"), Comparison)


def test_only_what_has_a_limit_is_counted(gate: GateReport) -> None:
    limited = [check for check in gate.checks if check.least is not None or check.most is not None]
    kept = [check for check in limited if check.verdict is CheckVerdict.PASSED]
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
    unknown = [
        verdict
        for verdict in GateVerdict
        if verdict not in (GateVerdict.PASSED, GateVerdict.FAILED)
    ]
    assert unknown
    for verdict in unknown:
        assert verdicts.gate_sheet("g", replace(gate, verdict=verdict)).good is None


def test_a_file_without_a_result_is_named_and_keeps_no_limit(gate: GateReport) -> None:
    run = gate.runs[0]
    checks = [
        replace(check, verdict=CheckVerdict.PASSED)
        for check in gate.checks
        if check.run == 0 and (check.least is not None or check.most is not None)
    ]
    lost = Unjudged("b.json", "b", "b.json is empty; expected a result of a run")
    report = replace(
        gate,
        runs=[run],
        checks=checks,
        unjudged=[lost],
        limited=[check.metric for check in checks],
    )
    sheet = verdicts.gate_sheet("g", report)
    assert sheet.title.startswith("2 runs against")
    assert (sheet.verdicts[0].what, sheet.verdicts[0].text, sheet.verdicts[0].passed) == (
        *("b: the result", lost.text),
        False,
    )
    assert [verdict.what for verdict in sheet.verdicts[1:]] == [
        f"{run.name}: {check.metric}" for check in checks
    ]
    assert sheet.figures == [
        ("limits kept", f"{len(checks)} of {2 * len(checks)}"),
        ("runs that completed", "1 of 2"),
    ]


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
    checks = [check for check in gate.checks if check.run == 0]
    sheet = verdicts.gate_sheet("g", replace(gate, runs=gate.runs[:1], checks=checks))
    assert {verdict.what for verdict in sheet.verdicts} <= {check.metric for check in checks}


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
        assert list(a.lines[0].ys) == [value / size for value in figure.a]
        assert list(b.lines[0].ys) == [value / size for value in figure.b]
        assert list(a.xs) == [float(number) for number in range(1, len(figure.a) + 1)]


def test_the_median_of_one_run_is_no_line(comparison: Comparison) -> None:
    figures = [replace(figure, a=figure.a[:1], b=figure.b[:1]) for figure in comparison.figures]
    sheet = verdicts.comparison_sheet("c", replace(comparison, figures=figures))
    assert all(len(plot.strands) == 2 for plot in sheet.plots)

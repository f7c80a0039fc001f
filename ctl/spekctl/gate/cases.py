# SPDX-License-Identifier: GPL-2.0-or-later
"""Verdicts as test cases, which is what most consumers know."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from spekctl.documents.verdict import (
    Change,
    Check,
    CheckVerdict,
    Comparison,
    Figure,
    GateReport,
    Judged,
)


class Status(StrEnum):
    """What became of a test case."""

    PASS = "pass"
    FAIL = "fail"
    ERROR = "error"  # there is no verdict: too few runs, or they scatter too much
    MISS = "miss"  # the figure is not there, and has a limit
    SKIP = "skip"  # the figure is not there, and was to be reported
    DONE = "done"  # the figure is reported; there is nothing to judge


@dataclass(frozen=True, slots=True)
class Case:
    """A figure that was judged.

    @path: words of letters, digits, _ and -, joined by dots
    @limits: its limits in its unit, as (name, value)
    """

    path: str
    status: Status
    text: str
    value: float | None = None
    unit: str = ""
    limits: tuple[tuple[str, float], ...] = ()
    run: Judged | None = None


@dataclass(frozen=True, slots=True)
class Suite:
    """All cases of a verdict."""

    name: str
    created: str
    verdict: str
    text: str
    cases: list[Case]
    remarks: tuple[str, ...] = ()


def suite_of(document: GateReport | Comparison) -> Suite:
    """A verdict as test cases."""
    return _gate(document) if isinstance(document, GateReport) else _comparison(document)


def path_of(metric: str) -> str:
    """The name of a metric as a path, whose dots separate levels: ``response.p99_9``."""
    return re.sub(r"(?<=[0-9])\.(?=[0-9])", "_", metric)


def _gate(report: GateReport) -> Suite:
    cases = []
    # One result needs no name, and its paths are those of all results.
    several = len(report.runs) + len(report.unjudged) > 1
    for file in report.unjudged:
        prefix = f"{file.name}." if several else ""
        cases.append(Case(f"{prefix}completed", Status.FAIL, file.text))
        for metric in report.limited:
            text = f"there is no {metric}: {file.text}"
            cases.append(Case(f"{prefix}{path_of(metric)}", Status.MISS, text))
    for index, run in enumerate(report.runs):
        prefix = f"{run.name}." if several else ""
        status = Status.PASS if run.ok else Status.FAIL
        cases.append(Case(f"{prefix}completed", status, run.text, run=run))
        for check in report.checks:
            if check.run == index:
                cases.append(_checked(prefix, check, run))
    return Suite("spek.gate", report.created, report.verdict, report.text, cases)


_CHECKED = {
    CheckVerdict.PASSED: Status.PASS,
    CheckVerdict.FAILED: Status.FAIL,
    CheckVerdict.MISSING: Status.MISS,
    CheckVerdict.REPORTED: Status.DONE,
}


def _checked(prefix: str, check: Check, run: Judged) -> Case:
    given = (("min", check.least), ("max", check.most))
    limits = tuple((name, value) for name, value in given if value is not None)
    status = _CHECKED[check.verdict]
    if status is Status.MISS and not limits:
        status = Status.SKIP
    path = f"{prefix}{path_of(check.metric)}"
    return Case(path, status, check.text, check.value, check.unit, limits, run)


def _comparison(comparison: Comparison) -> Suite:
    return Suite(
        "spek.compare",
        comparison.created,
        comparison.verdict,
        comparison.text,
        [_compared(figure) for figure in comparison.figures],
        tuple(comparison.remarks),
    )


_CHANGED = {
    Change.SAME: Status.PASS,
    Change.BETTER: Status.PASS,
    Change.WORSE: Status.FAIL,
    Change.UNDECIDED: Status.ERROR,
}


def _compared(figure: Figure) -> Case:
    """A figure's change in per cent. Only the primary one can fail, as it alone is the verdict."""
    status = _CHANGED[figure.verdict] if figure.primary else Status.DONE
    change = None if figure.shift is None else figure.shift * 100
    unit = "" if change is None else "%"
    return Case(path_of(figure.metric), status, figure.text, change, unit)

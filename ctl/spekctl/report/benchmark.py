# SPDX-License-Identifier: GPL-2.0-or-later
"""What the sheets of all benchmarks have: outcome, conditions, and what the command prints."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from spekctl.documents.benchmark import EnergyReport, Report
from spekctl.report import runs
from spekctl.report.sheet import Sheet, add_printed
from spekctl.report.words import few

if TYPE_CHECKING:
    from rich.console import RenderableType


def tested(file: str, kind: str, report: Report, printed: Iterable[RenderableType]) -> Sheet:
    """A test of devices, without figures, verdicts and plots yet."""
    subject = f"test of {_names_of(report)}"
    return _framed(file, kind, report, subject, report.passed, printed)


def powered(file: str, kind: str, report: EnergyReport, printed: Iterable[RenderableType]) -> Sheet:
    """A test with power, of devices or computed from a file; likewise."""
    subject = _names_of(report) or report.source
    good = report.complete and report.passed
    sheet = _framed(file, kind, report, subject, good, printed)
    sheet.conditions.append(("source", report.source))
    return sheet


def _names_of(report: Report) -> str:
    return few([target.path for target in report.targets])


def _framed(
    file: str,
    kind: str,
    report: Report,
    subject: str,
    good: bool,
    printed: Iterable[RenderableType],
) -> Sheet:
    sheet = Sheet(
        file,
        kind,
        f"{report.notice}: {subject}",
        verdict=report.verdict,
        good=good,
        conditions=[*runs.machine(report.environment), *runs.targets(report.targets)],
        remarks=list(report.remarks),
    )
    add_printed(sheet, printed)
    return sheet

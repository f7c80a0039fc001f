# SPDX-License-Identifier: GPL-2.0-or-later
"""Verdicts of `spekctl gate` and `spekctl compare` as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from spekctl.condition import format_value
from spekctl.documents.verdict import Check, Comparison, Figure, GateReport, Judged, Method
from spekctl.gate.values import format_share

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table


def gate_parts(report: GateReport) -> Iterator[RenderableType]:
    """A verdict of `spekctl gate`: every figure with its limits, and what was missed last."""
    yield checks_table(report)
    yield ""
    for file in report.unjudged:
        yield f"{file.name}: {file.text}"
    for run in report.runs:
        if not run.ok:
            yield f"{run.file}: {run.text}"
    for check in report.checks:
        missed = check.verdict in ("failed", "missing")
        if _has_limit(check) and (missed or check.set_by or check.remark):
            yield f"{'' if missed else 'note: '}{report.runs[check.run].file}: {check.text}"
    yield report.text


def checks_table(report: GateReport) -> Table:
    """Every figure with its limits; with its result, where there are several."""
    from spekctl.render import tables

    several = len(report.runs) > 1
    table = tables.table(
        *(("result",) if several else ()), "figure", "value", "at least", "at most", "verdict",
        right=("value", "at least", "at most"),
    )  # fmt: skip
    for check in report.checks:
        cells = [_told(number, check.unit) for number in (check.value, check.least, check.most)]
        name = (report.runs[check.run].name,) if several else ()
        table.add_row(*name, check.metric, *cells, check.verdict)
    return table


def comparison_parts(comparison: Comparison) -> Iterator[RenderableType]:
    """A verdict of `spekctl compare`: what was compared, every figure, the verdict last."""
    for name, side in (("A", comparison.a), ("B", comparison.b)):
        yield f"{name}: {described(side)}"
    for difference in comparison.differences:
        place = f"{difference.condition}, {difference.field}"
        yield f"{place}: {difference.a} in A, {difference.b} in B"
    for remark in comparison.remarks:
        yield f"note: {remark}"
    yield ""
    yield figures_table(comparison)
    yield ""
    for figure in comparison.figures[1:]:
        yield f"beside it, {figure.text}"
    if comparison.functions is not None:
        from spekctl.render.profile import change_parts

        yield from change_parts(comparison.functions)
        yield ""
    yield comparison.text


def figures_table(comparison: Comparison) -> Table:
    """Every figure of both sides, the primary one first."""
    from spekctl.render import tables

    is_runs = comparison.method is Method.RUNS
    table = tables.table(
        "figure", "A", "B", "change", "from", "to", *(("p",) if is_runs else ()), "verdict",
        right=("A", "B", "change", "from", "to", "p"),
    )  # fmt: skip
    for figure in comparison.figures:
        medians = (_told(median, figure.unit) for median in (figure.median_a, figure.median_b))
        shares = (
            "-" if share is None else format_share(share)
            for share in (figure.shift, figure.low, figure.high)
        )
        table.add_row(
            figure.metric, *medians, *shares, *((_p(figure),) if is_runs else ()), figure.verdict
        )
    return table


def _p(figure: Figure) -> str:
    p = figure.p if figure.p_adjusted is None else figure.p_adjusted
    return "-" if p is None else f"{p:.2g}"


def described(runs: Sequence[Judged]) -> str:
    """A side of a comparison."""
    first = runs[0]
    return (
        f"{len(runs)} run{'s' * (len(runs) != 1)} of {first.workload} on"
        f" {' '.join(first.devices)}, {first.hostname}, Linux {first.kernel}"
    )


def _has_limit(check: Check) -> bool:
    return check.least is not None or check.most is not None


def _told(value: float | None, unit: str) -> str:
    return "-" if value is None else format_value(value, unit)

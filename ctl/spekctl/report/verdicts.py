# SPDX-License-Identifier: GPL-2.0-or-later
"""Sheets of verdicts: results against limits, and one set of runs against another."""

from __future__ import annotations

from collections.abc import Sequence

from spekctl import units
from spekctl.condition import Unit
from spekctl.documents.verdict import (
    Change,
    Check,
    CheckVerdict,
    Comparison,
    Figure,
    GateReport,
    GateVerdict,
    Judged,
    Unjudged,
)
from spekctl.gate.values import format_share
from spekctl.render import verdict as render
from spekctl.report.sheet import (
    Axis,
    Grid,
    Line,
    Plot,
    Quantity,
    Sheet,
    Strand,
    Verdict,
    grid_of,
)

_PASSED = {CheckVerdict.PASSED: True, CheckVerdict.FAILED: False}
_GOOD = {Change.SAME: True, Change.BETTER: True, Change.WORSE: False}


def gate_sheet(file: str, report: GateReport) -> Sheet:
    """Whether results keep limits."""
    sheet = Sheet(
        file,
        "verdict of spekctl gate",
        f"{_count([*report.runs, *report.unjudged])} against the limits of {report.limits}",
        verdict=report.text,
        good={GateVerdict.PASSED: True, GateVerdict.FAILED: False}.get(report.verdict),
    )
    limited = [
        check for check in report.checks if check.least is not None or check.most is not None
    ]
    kept = sum(check.verdict is CheckVerdict.PASSED for check in limited)
    # A file without a result keeps none of the limits.
    given = len(limited) + len(report.unjudged) * len(report.limited)
    files = len(report.runs) + len(report.unjudged)
    sheet.figures = [
        ("limits kept", f"{kept} of {given}"),
        ("runs that completed", f"{sum(run.ok for run in report.runs)} of {files}"),
    ]
    sheet.verdicts = [
        Verdict(f"{file.name}: the result", file.text, False) for file in report.unjudged
    ]
    sheet.verdicts += [
        Verdict(f"{run.name}: the run", run.text, False) for run in report.runs if not run.ok
    ]
    sheet.verdicts += [
        Verdict(_what(report, check), check.text, _PASSED.get(check.verdict)) for check in limited
    ]
    sheet.grids.append(grid_of("figures and their limits", render.checks_table(report)))
    sheet.grids.append(_runs(report.runs))
    return sheet


def _what(report: GateReport, check: Check) -> str:
    name = report.runs[check.run].name
    several = len(report.runs) + len(report.unjudged) > 1
    return f"{name}: {check.metric}" if several else check.metric


def comparison_sheet(file: str, comparison: Comparison) -> Sheet:
    """Whether B is better than A."""
    sheet = Sheet(
        file,
        "verdict of spekctl compare",
        f"B ({_count(comparison.b)} of {comparison.b[0].workload})"
        f" against A ({_count(comparison.a)})",
        verdict=comparison.text,
        good=_GOOD.get(comparison.verdict),
        remarks=list(comparison.remarks),
    )
    for figure in comparison.figures:
        if figure.shift is not None:
            sheet.figures.append((f"change of {figure.metric}", format_share(figure.shift)))
    sheet.conditions = [
        ("A", render.described(comparison.a)),
        ("B", render.described(comparison.b)),
        *((f"{apart.condition}, {apart.field}", f"{apart.a} in A, {apart.b} in B")
          for apart in comparison.differences),
    ]  # fmt: skip
    sheet.grids.append(grid_of("figures of both sides", render.figures_table(comparison)))
    sheet.notes = [f"beside it, {figure.text}" for figure in comparison.figures[1:]]
    sheet.grids.append(_runs([*comparison.a, *comparison.b]))
    sheet.plots = [_values(figure) for figure in comparison.figures]
    return sheet


def _values(figure: Figure) -> Plot:
    """What each run measured, in the order of its side."""
    axis = {
        Unit.TIME: Axis(figure.metric, quantity=Quantity.TIME, log=None),
        Unit.BANDWIDTH: Axis(figure.metric, "MiB/s"),
    }.get(Unit(figure.unit), Axis(figure.metric, figure.unit))
    size = 1 << 20 if figure.unit == Unit.BANDWIDTH else 1
    sides = {"A": (figure.a, figure.median_a), "B": (figure.b, figure.median_b)}
    most = float(max(len(values) for values, _ in sides.values()))
    medians = [
        Line(f"median of {side}", [median / size] * 2, colour=number)
        for number, (side, (_, median)) in enumerate(sides.items())
        if median is not None
    ]
    strands = [Strand([1.0, most], medians)] if most > 1 else []
    for number, (side, (values, _)) in enumerate(sides.items()):
        ys = [value / size for value in values]
        line = Line(f"runs of {side}", ys, look="points", colour=number)
        strands.append(Strand([float(number) for number in range(1, len(values) + 1)], [line]))
    return Plot(
        f"compare-{figure.metric}",
        f"{figure.metric} of each run: {figure.verdict}",
        Axis("run of a side", quantity=Quantity.WHOLE),
        axis,
        strands,
    )


def _runs(runs: Sequence[Judged]) -> Grid:
    """What was judged."""
    rows = [
        [
            run.name,
            run.workload,
            " ".join(run.devices),
            run.hostname,
            run.kernel,
            run.started,
            units.format_duration(run.duration_ns),
            run.text,
        ]
        for run in runs
    ]
    columns = ["run", "workload", "devices", "host", "Linux", "started", "measured", "end"]
    return Grid("runs", columns, [False] * len(columns), rows)


def _count(runs: Sequence[Judged | Unjudged]) -> str:
    return f"{len(runs)} run{'s' * (len(runs) != 1)}"

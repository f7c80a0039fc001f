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
    made = Sheet(
        file,
        "verdict of spekctl gate",
        f"{_count(report.runs)} against the limits of {report.limits}",
        verdict=report.text,
        good={GateVerdict.PASSED: True, GateVerdict.FAILED: False}.get(report.verdict),
    )
    limited = [one for one in report.checks if one.least is not None or one.most is not None]
    kept = sum(one.verdict is CheckVerdict.PASSED for one in limited)
    made.figures = [
        ("limits kept", f"{kept} of {len(limited)}"),
        ("runs that completed", f"{sum(one.ok for one in report.runs)} of {len(report.runs)}"),
    ]
    made.verdicts = [
        Verdict(f"{one.name}: the run", one.text, False) for one in report.runs if not one.ok
    ]
    made.verdicts += [
        Verdict(_what(report, one), one.text, _PASSED.get(one.verdict)) for one in limited
    ]
    made.grids.append(grid_of("figures and their limits", render.checks_table(report)))
    made.grids.append(_runs(report.runs))
    return made


def _what(report: GateReport, check: Check) -> str:
    name = report.runs[check.run].name
    return f"{name}: {check.metric}" if len(report.runs) > 1 else check.metric


def comparison_sheet(file: str, found: Comparison) -> Sheet:
    """Whether B is better than A."""
    made = Sheet(
        file,
        "verdict of spekctl compare",
        f"B ({_count(found.b)} of {found.b[0].workload}) against A ({_count(found.a)})",
        verdict=found.text,
        good=_GOOD.get(found.verdict),
        remarks=list(found.remarks),
    )
    for one in found.figures:
        if one.shift is not None:
            made.figures.append((f"change of {one.metric}", format_share(one.shift)))
    made.conditions = [
        ("A", render.described(found.a)),
        ("B", render.described(found.b)),
        *((f"{one.condition}, {one.field}", f"{one.a} in A, {one.b} in B")
          for one in found.differences),
    ]  # fmt: skip
    made.grids.append(grid_of("figures of both sides", render.figures_table(found)))
    made.notes = [f"beside it, {one.text}" for one in found.figures[1:]]
    made.grids.append(_runs([*found.a, *found.b]))
    made.plots = [_values(one) for one in found.figures]
    return made


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
        ys = [one / size for one in values]
        line = Line(f"runs of {side}", ys, look="points", colour=number)
        strands.append(Strand([float(one) for one in range(1, len(values) + 1)], [line]))
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
            one.name,
            one.workload,
            " ".join(one.devices),
            one.hostname,
            one.kernel,
            one.started,
            units.format_duration(one.duration_ns),
            one.text,
        ]
        for one in runs
    ]
    columns = ["run", "workload", "devices", "host", "Linux", "started", "measured", "end"]
    return Grid("runs", columns, [False] * len(columns), rows)


def _count(runs: Sequence[Judged]) -> str:
    return f"{len(runs)} run{'s' * (len(runs) != 1)}"

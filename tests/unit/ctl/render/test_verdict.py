# SPDX-License-Identifier: GPL-2.0
"""Verdicts as people read them: what was missed, and the verdict, come last."""

from __future__ import annotations

from typing import Any

import pytest
from lib.ctl.shown import row_of, shown
from msgspec.structs import replace

from spekctl.documents.verdict import (
    Change,
    Check,
    CheckVerdict,
    Comparison,
    Difference,
    Figure,
    GateReport,
    GateVerdict,
    Judged,
    Method,
)
from spekctl.render import verdict
from spekctl.render.console import print_parts


def judged(name: str = "a", **changes: Any) -> Judged:
    base = Judged(
        f"{name}.json", name, 1, "2026-01-01T00:00:00Z", 10**9, "oltp", ["/dev/x", "/dev/y"],
        "host", "6.12", True, "the run completed",
    )  # fmt: skip
    return replace(base, **changes)


def check(run: int, metric: str, which: CheckVerdict, least: float | None = None) -> Check:
    value = None if which is CheckVerdict.MISSING else 1234.0
    return Check(run, metric, "1/s", value, least, None, which, f"{metric} is {which}")


def gate(runs: list[Judged], *checks: Check) -> str:
    report = GateReport(
        limits="l.toml", runs=runs, checks=list(checks), verdict=GateVerdict.FAILED,
        text="the verdict",
    )  # fmt: skip
    return shown(lambda contents, out: print_parts(verdict.gate_parts(contents), 160, out), report)


def test_only_figures_with_limits_are_complained_of() -> None:
    text = gate(
        [judged()],
        check(0, "iops", CheckVerdict.PASSED, 900.0),
        check(0, "p99", CheckVerdict.FAILED, 5000.0),
        check(0, "watts", CheckVerdict.MISSING, 1.0),
        check(0, "cpu", CheckVerdict.MISSING),
        check(0, "bw", CheckVerdict.REPORTED),
    )
    assert text.splitlines()[-3:] == [
        "a.json: p99 is failed",
        "a.json: watts is missing",
        "the verdict",
    ]
    assert row_of(text, "watts") == ["watts", "-", "1.00", "1/s", "-", "missing"]
    assert text.splitlines()[0].split()[0] == "figure"


def test_several_results_are_told_apart_and_failed_runs_come_first() -> None:
    runs = [judged("a"), judged("b", ok=False, text="the device was removed")]
    text = gate(runs, *(check(run, "iops", CheckVerdict.FAILED, 2000.0) for run in (0, 1)))
    assert text.splitlines()[0].split()[0] == "result"
    assert row_of(text, "b")[:2] == ["b", "iops"]
    assert text.splitlines()[-4:] == [
        "b.json: the device was removed",
        "a.json: iops is failed",
        "b.json: iops is failed",
        "the verdict",
    ]


def figure(metric: str, **changes: Any) -> Figure:
    base = Figure(
        metric, "1/s", "higher", True, [1000.0], [900.0], 1000.0, 900.0, -0.1, -0.12, None, 0.02,
        None, 0.0123, None, Change.WORSE, None, f"{metric} is worse",
    )  # fmt: skip
    return replace(base, **changes)


def comparison(method: Method, *figures: Figure, **changes: Any) -> str:
    base = Comparison(
        method=method, alpha=None, a=[judged()], b=[judged("b"), judged("c")], differences=[],
        figures=list(figures), remarks=[], verdict=Change.WORSE, text="the verdict",
    )  # fmt: skip
    return shown(
        lambda contents, out: print_parts(verdict.comparison_parts(contents), 160, out),
        replace(base, **changes),
    )


def test_sides_are_counted_and_what_differs_is_said() -> None:
    text = comparison(
        Method.RUNS,
        figure("iops"),
        differences=[Difference("kernel", "release", "6.1", "6.12")],
        remarks=["few runs"],
    )
    assert text.splitlines()[:4] == [
        "A: 1 run of oltp on /dev/x /dev/y, host, Linux 6.12",
        "B: 2 runs of oltp on /dev/x /dev/y, host, Linux 6.12",
        "kernel, release: 6.1 in A, 6.12 in B",
        "note: few runs",
    ]


@pytest.mark.parametrize(
    ("p", "adjusted", "cell"), [(0.0123, None, "0.012"), (0.01, 0.25, "0.25"), (None, None, "-")]
)
def test_an_adjusted_probability_goes_before_its_own(
    p: float | None, adjusted: float | None, cell: str
) -> None:
    text = comparison(Method.RUNS, figure("iops", p=p, p_adjusted=adjusted))
    row = row_of(text, "iops")
    assert row[-2:] == [cell, "worse"]
    assert row[-7:-2] == ["-10.00", "%", "-12.00", "%", "-"]


def test_counts_have_no_probability() -> None:
    assert "p" not in comparison(Method.COUNTS, figure("iops")).splitlines()[3].split()


def test_other_figures_are_beside_the_verdict() -> None:
    text = comparison(Method.RUNS, figure("iops"), figure("p99"), figure("watts"))
    assert text.splitlines()[-3:] == [
        "beside it, p99 is worse",
        "beside it, watts is worse",
        "the verdict",
    ]

# SPDX-License-Identifier: GPL-2.0
"""Verdicts as test cases."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from lib.ctl.verdicts import A, changed, measured, runs

from spekctl.documents.verdict import Method
from spekctl.gate import compare, limits
from spekctl.gate.cases import Status, Suite, path_of, suite_of
from spekctl.gate.compare import Rules
from spekctl.gate.judged import Run
from spekctl.gate.metrics import METRICS, find


def gate(text: str, *judged: Run) -> Suite:
    return suite_of(limits.judge(limits.parse(text, Path("limits.toml")), judged))


GOOD = Run(Path("good.json"), measured(1, 1000.0))
BROKEN = Run(Path("broken.json"), measured(2, 1000.0, ok=False))


def limit(metric: str, bounds: str) -> str:
    return f"[[limit]]\nmetric = '{metric}'\n{bounds}\n"


@pytest.mark.parametrize(
    ("text", "status", "value", "given"),
    [
        (limit("iops", "min = 900\nmax = 1100"), Status.PASS, 1000, (("min", 900), ("max", 1100))),
        (limit("iops", "max = 900"), Status.FAIL, 1000, (("max", 900),)),
        (limit("power", "max = '5W'"), Status.MISS, None, (("max", 5.0),)),
        ("[gate]\nreport = ['power']", Status.SKIP, None, ()),
        ("[gate]\nreport = ['iops']", Status.DONE, 1000, ()),
    ],
)
def test_a_figure_of_a_gate_is_a_case(
    text: str, status: Status, value: float | None, given: tuple[tuple[str, float], ...]
) -> None:
    case = gate(text, GOOD).cases[1]
    assert (case.status, case.value, case.limits) == (status, value, given)


def test_that_a_run_completed_is_a_case_of_its_own() -> None:
    cases = gate(limit("iops", "min = 1"), GOOD, BROKEN).cases
    assert [(case.path, case.status) for case in cases] == [
        ("good.completed", Status.PASS),
        ("good.iops", Status.PASS),
        ("broken.completed", Status.FAIL),
        ("broken.iops", Status.PASS),
    ]
    assert cases[2].text == "the device was removed"


def test_paths_of_one_result_are_those_of_all_results() -> None:
    assert [case.path for case in gate(limit("iops", "min = 1"), GOOD).cases] == [
        "completed",
        "iops",
    ]


def comparison(primary: str, others: tuple[str, ...], b: list[Run]) -> Suite:
    rules = Rules(
        primary=find(primary),
        others=[find(name) for name in others],
        tolerance=compare.TOLERANCE[Method.RUNS],
        alpha=compare.ALPHA,
    )
    return suite_of(compare.compare(runs(0, A), b, rules))


@pytest.mark.parametrize(
    ("factor", "status"), [(1.0, Status.PASS), (1.2, Status.PASS), (0.8, Status.FAIL)]
)
def test_only_the_primary_figure_is_judged(factor: float, status: Status) -> None:
    suite = comparison("iops", ("bandwidth",), runs(1, [iops * factor for iops in A]))
    assert [case.status for case in suite.cases] == [status, Status.DONE]
    assert [case.value for case in suite.cases] == [pytest.approx(factor * 100 - 100)] * 2
    assert {case.unit for case in suite.cases} == {"%"}


def test_a_change_that_is_unknown_has_neither_figure_nor_unit() -> None:
    b = [Run(run.path, changed(run.result, outcome={"errors": 3})) for run in runs(1, A)]
    (case,) = comparison("errors", (), b).cases
    assert (case.value, case.unit) == (None, "")


def test_dots_of_numbers_are_no_levels() -> None:
    assert path_of("read.response.p99.99") == "read.response.p99_99"
    assert path_of("iops") == "iops"


def test_paths_of_metrics_are_words_and_differ() -> None:
    paths = [path_of(metric) for metric in METRICS]
    assert len(set(paths)) == len(paths)
    assert all(re.fullmatch(r"[a-z0-9_]+(\.[a-z0-9_]+)*", path) for path in paths)

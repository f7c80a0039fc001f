# SPDX-License-Identifier: GPL-2.0
"""`key: value` lines, read as lkp-tests and mmtests read them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from lib.ctl.command_line import Spekctl
from lib.ctl.verdicts import IOPS_900, STRANGE_NAMES, measured, put

from spekctl.gate.cases import Case, Status, Suite
from spekctl.gate.formats import keyval


def parse(text: str) -> dict[str, float]:
    values = {}
    for line in text.splitlines():
        name, colon, value = line.partition(": ")
        assert colon and re.fullmatch(r"[\w.-]+", name), line
        assert name not in values
        values[name] = float(value)
    return values


def test_lines_are_numbers(gate: Callable[..., str]) -> None:
    values = parse(gate("keyval"))
    assert (values["slow.iops"], values["slow.iops.pass"], values["good.iops.pass"]) == (
        800.5,
        0,
        1,
    )
    assert "good.power" not in values and values["good.power.pass"] == 0
    assert "good.response.p99" in values and "good.response.p99.pass" not in values


def test_one_result_needs_no_name(spekctl: Spekctl, tmp_path: Path) -> None:
    (tmp_path / "limits.toml").write_text(IOPS_900)
    put(tmp_path / "good.json", measured(1, 1000.0))
    outcome = spekctl("gate", "limits.toml", "good.json", "--format", "keyval")
    assert parse(outcome.out)["iops"] == 1000


def test_a_change_is_in_per_cent(comparison: Callable[..., str]) -> None:
    values = parse(comparison("keyval"))
    assert values["iops"] == pytest.approx(-20) and values["iops.pass"] == 0
    assert values["bandwidth"] == pytest.approx(-20) and "bandwidth.pass" not in values


def test_undecided_is_not_a_pass(undecided: Callable[..., str]) -> None:
    assert parse(undecided("keyval")) == {"iops": 0}


def test_no_text_breaks_it(odd_suite: Suite, status: Status) -> None:
    values = parse(keyval.render(odd_suite))
    bad = {"case0.pass": 0.0}
    verdict = {Status.PASS: {"case0.pass": 1.0}, Status.FAIL: bad, Status.MISS: bad}
    assert values == {"case0": 5.5, **verdict.get(status, {})}


def test_no_file_name_breaks_it(gate_of_strange_names: Callable[..., str]) -> None:
    values = parse(gate_of_strange_names("keyval"))
    assert len([name for name in values if name.endswith(".completed.pass")]) == len(STRANGE_NAMES)


def test_a_case_with_neither_figure_nor_verdict_has_no_line() -> None:
    """A comparison of zeros, whose ratio is unknown: not an empty line, which is no pair."""
    case = Case("errors", Status.ERROR, "errors is 0 in some runs")
    assert keyval.render(Suite("spek.compare", "", "undecided", "", [case])) == ""

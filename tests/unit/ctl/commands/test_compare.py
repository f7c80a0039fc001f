# SPDX-License-Identifier: GPL-2.0
"""spekctl compare: two sides of results; wrong input, and the order of options."""

from __future__ import annotations

from pathlib import Path

import pytest
from lib.ctl.command_line import Spekctl
from lib.ctl.verdicts import A, sides

from spekctl.errors import ExitCode


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["a0.json"], "write the results of A, then --, then those of B"),
        (["a0.json", "--", "b0.json", "--", "b1.json"], "with one -- between"),
        (["--", "b0.json"], "there are no results before the --"),
        (["a0.json", "--"], "there are no results after the --"),
        (["a0.json", "--", "none.json"], "there is no file none.json"),
        (["a0.json", "--", "a0.json"], "a0.json and a0.json are results of the same run"),
        (["a0.json", "--", "b0.json", "--primary", "iopz"], "there is no metric 'iopz'; did you"),
        (["a0.json", "--", "b0.json", "--also", "iops"], "the metric iops is the primary one"),
        (
            ["a0.json", "--", "b0.json", "--also", "errors", "--also", "errors"],
            "the metric errors is given twice",
        ),
        (["a0.json", "--", "b0.json", "--primary", "power"], "a0.json does not have power"),
        (["a0.json", "--", "b0.json", "--tolerance", "2"], "'2' is not a percentage"),
        (["a0.json", "--", "b0.json", "--tolerance", "100%"], "tolerates everything"),
        (["a0.json", "--", "b0.json", "--alpha", "1%"], "'1%' is not a probability"),
        (["a0.json", "--", "b0.json", "--alpha", "0"], "0 is not between 0.000001 and 0.5"),
        (["a0.json", "--", "b0.json", "--vary", "weather"], "'weather' is not one of"),
    ],
)
def test_wrong_input_is_refused_with_a_sentence(
    spekctl: Spekctl, tmp_path: Path, words: list[str], sentence: str
) -> None:
    sides(tmp_path, A, A)
    outcome = spekctl("compare", *words)
    assert (outcome.code, outcome.out) == (ExitCode.USAGE, "")
    assert sentence in outcome.sentence


def test_alpha_is_not_for_counts(spekctl: Spekctl, tmp_path: Path) -> None:
    words = sides(tmp_path, A, A, counts=True)
    outcome = spekctl("compare", "--alpha", "0.05", *words)
    assert outcome.code == ExitCode.USAGE
    assert "instruction counts are compared by a bound" in outcome.sentence


def test_options_may_follow_the_results(spekctl: Spekctl, tmp_path: Path) -> None:
    words = sides(tmp_path, A, [iops * 0.95 for iops in A])
    assert spekctl("compare", *words, "--tolerance", "10%").code == ExitCode.OK
    assert spekctl("compare", *words).code == ExitCode.LIMIT_MISSED


SHEET = """
title = "a drive"
sources = ["its data sheet"]
[[claim]]
name = "reads"
iops = 500
"""


def test_a_data_sheet_stands_beside_both_sides(spekctl: Spekctl, tmp_path: Path) -> None:
    words = sides(tmp_path, A, [iops * 0.5 for iops in A])
    (tmp_path / "s.toml").write_text(SHEET)
    outcome = spekctl("compare", *words, "--data-sheet", str(tmp_path / "s.toml"))
    assert outcome.code == ExitCode.LIMIT_MISSED, outcome.err
    (row,) = [line for line in outcome.out.splitlines() if line.startswith("reads, IOPS")]
    # The median of A is 1000.5 IOPS, and that of B the half of it.
    assert row.split()[2:] == ["500", "1,000", "+100.1", "%", "500", "+0.0", "%"]


@pytest.mark.parametrize(
    ("sheet", "options", "sentence"),
    [
        (SHEET, ["--format", "json"], "--data-sheet adds a table to the text"),
        (SHEET + 'workloads = ["nothing-*"]', [], "has no figure that was measured here"),
        ("title = 1", [], "s.toml"),
    ],
)
def test_a_data_sheet_that_cannot_stand_there_is_refused(
    spekctl: Spekctl, tmp_path: Path, sheet: str, options: list[str], sentence: str
) -> None:
    words = sides(tmp_path, A, A)
    (tmp_path / "s.toml").write_text(sheet)
    outcome = spekctl("compare", *words, "--data-sheet", str(tmp_path / "s.toml"), *options)
    assert (outcome.code, outcome.out) == (ExitCode.USAGE, "")
    assert sentence in outcome.sentence

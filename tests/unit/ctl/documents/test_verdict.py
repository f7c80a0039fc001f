# SPDX-License-Identifier: GPL-2.0
"""Documents of verdicts, as written and read."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from lib.ctl.command_line import Spekctl
from lib.ctl.schemas import validator
from lib.ctl.verdicts import IOPS_900, A, results_to_judge, sides

from spekctl.documents import document, verdict
from spekctl.documents.verdict import Change
from spekctl.errors import UsageError


def test_a_gate_has_its_schema_and_reads_back(spekctl: Spekctl, tmp_path: Path) -> None:
    results_to_judge(tmp_path)
    (tmp_path / "limits.toml").write_text(
        IOPS_900 + "max = 2000\n[[limit]]\nmetric = 'power'\nmax = 1"
    )
    words = ("gate", "limits.toml", "good.json", "slow.json", "--format", "json")
    outcome = spekctl(*words, "-o", "gate.json")
    assert "failed: 1 of 4 limits missed, 2 limits without a figure" in outcome.out
    written = json.loads((tmp_path / "gate.json").read_text())
    validator(verdict.SCHEMA_FILE).validate(written)
    report = document.read(tmp_path / "gate.json", verdict.GateReport)
    assert [check.verdict for check in report.checks] == ["passed", "missing", "failed", "missing"]
    assert (report.checks[2].value, report.checks[2].least, report.checks[2].most) == (
        800,
        900,
        2000,
    )
    assert [run.name for run in report.runs] == ["good", "slow"]
    printed = spekctl(*words)
    assert json.loads(printed.out)["checks"] == written["checks"]


def test_a_comparison_has_its_schema_and_reads_back(spekctl: Spekctl, tmp_path: Path) -> None:
    words = sides(tmp_path, A, A[:2])
    outcome = spekctl("compare", *words, "--format", "json", "-o", "verdict.json")
    assert "undecided" in outcome.out
    validator(verdict.SCHEMA_FILE).validate(json.loads((tmp_path / "verdict.json").read_text()))
    read = document.read(tmp_path / "verdict.json", verdict.Comparison)
    assert (read.verdict, len(read.a), len(read.b)) == (Change.UNDECIDED, 6, 2)
    assert read.figures[0].more_runs == 3


def test_either_is_refused_where_the_other_is_expected(spekctl: Spekctl, tmp_path: Path) -> None:
    spekctl("compare", *sides(tmp_path, A, A), "--format", "json", "-o", "verdict.json")
    with pytest.raises(UsageError, match="expected a verdict of `spekctl gate`"):
        document.read(tmp_path / "verdict.json", verdict.GateReport)


@pytest.mark.parametrize("word", ["unchanged", "", None])
def test_a_verdict_is_one_of_its_words(spekctl: Spekctl, tmp_path: Path, word: object) -> None:
    path = tmp_path / "verdict.json"
    spekctl("compare", *sides(tmp_path, A, A), "--format", "json", "-o", "verdict.json")
    damaged = json.loads(path.read_text()) | {"verdict": word}
    path.write_text(json.dumps(damaged))
    with pytest.raises(jsonschema.ValidationError):
        validator(verdict.SCHEMA_FILE).validate(damaged)
    with pytest.raises(UsageError, match=r"verdict\.json"):
        document.read(path, verdict.Comparison)

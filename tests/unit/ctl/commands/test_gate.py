# SPDX-License-Identifier: GPL-2.0
"""spekctl gate: results against a file of limits."""

from __future__ import annotations

from pathlib import Path

import pytest
from lib.ctl.command_line import Spekctl
from lib.ctl.verdicts import IOPS_900, results_to_judge

from spekctl.errors import ExitCode

results = pytest.fixture(results_to_judge)


def gate(spekctl: Spekctl, tmp_path: Path, text: str, *words: str) -> tuple[int, str, str]:
    (tmp_path / "limits.toml").write_text(text)
    found = spekctl("gate", "limits.toml", *words)
    return found.code, found.out, found.err


@pytest.mark.usefixtures("results")
@pytest.mark.parametrize(
    ("text", "files", "code", "said"),
    [
        (IOPS_900, ["good.json"], ExitCode.OK, "passed: 1 limit kept"),
        (IOPS_900, ["good.json", "slow.json"], ExitCode.LIMIT_MISSED, "failed: 1 of 2 limits"),
        (IOPS_900, ["slow.json"], ExitCode.LIMIT_MISSED, "iops is 800 IOPS, less than 900 IOPS"),
        (IOPS_900, ["broken.json"], ExitCode.RUN_FAILED, "failed: 1 of 1 run failed"),
        (
            '[[limit]]\nmetric = "power"\nmax = "5W"',
            ["good.json"],
            ExitCode.UNDECIDED,
            "undecided: 1 limit without a figure",
        ),
        (
            '[[limit]]\nmetric = "power"\nmax = "5W"\n' + IOPS_900,
            ["slow.json"],
            ExitCode.LIMIT_MISSED,
            "failed: 1 of 2 limits missed, 1 limit without a figure",
        ),
        ('[gate]\nreport = ["power"]', ["good.json"], ExitCode.OK, "passed: every run completed"),
        (
            '[[limit]]\nmetric = "response.p99"\nmax = "1ms"',
            ["good.json"],
            ExitCode.OK,
            "passed",
        ),
        (
            '[[limit]]\nmetric = "response.p99"\nmax = "2999999ns"',
            ["slow.json"],
            ExitCode.LIMIT_MISSED,
            "response.p99 is 3000000 ns, more than 2999999 ns",
        ),
        (
            '[[limit]]\nmetric = "read.bandwidth"\nmin = "3MiB/s"\nmax = "4MiB/s"',
            ["good.json"],
            ExitCode.OK,
            "passed",
        ),
        (
            '[[limit]]\nmetric = "time_per_io"\nmax = "1900 instructions"',
            ["counts.json"],
            ExitCode.LIMIT_MISSED,
            "time_per_io is 2,000 instructions, more than 1,900 instructions",
        ),
    ],
)
def test_the_verdict_is_the_exit_code(
    spekctl: Spekctl, tmp_path: Path, text: str, files: list[str], code: ExitCode, said: str
) -> None:
    found, out, err = gate(spekctl, tmp_path, text, *files)
    assert (found, err) == (code, "")
    assert said in out


@pytest.mark.usefixtures("results")
def test_files_that_are_no_limits_or_results_are_refused(spekctl: Spekctl, tmp_path: Path) -> None:
    (tmp_path / "limits.toml").write_text(IOPS_900)
    (tmp_path / "latin1.toml").write_bytes(b"# \xe9\n")
    for words, sentence in (
        (["none.toml", "good.json"], "there is no file none.toml"),
        (["good.json", "good.json"], "good.json is a result of a run; limits are read from TOML"),
        (["latin1.toml", "good.json"], "cannot read latin1.toml: it is not UTF-8 text"),
        (["limits.toml", "none.json"], "there is no file none.json"),
        (["limits.toml", "limits.toml"], "limits.toml is not a spek file; expected a result of a"),
        (["limits.toml", "good.json", "good.json"], "are results of the same run"),
        (["limits.toml"], "missing argument 'RESULT...'"),
    ):
        found = spekctl("gate", *words)
        assert found.code == ExitCode.USAGE, words
        assert sentence in found.sentence


@pytest.mark.usefixtures("results")
def test_limits_may_be_those_of_one_workload(spekctl: Spekctl, tmp_path: Path) -> None:
    head = '[gate]\nworkload = "{}"\n' + IOPS_900
    assert gate(spekctl, tmp_path, head.format("random-read-4k"), "good.json")[0] == ExitCode.OK
    code, _, err = gate(spekctl, tmp_path, head.format("oltp"), "good.json")
    assert code == ExitCode.USAGE
    assert "good.json is a result of the workload random-read-4k; the limits of" in err


@pytest.mark.usefixtures("results")
@pytest.mark.parametrize(
    ("metric", "bound", "file"),
    [
        ("time_per_io", "max = '1us'", "counts.json"),
        ("iops", "min = 5", "counts.json"),
        ("time_per_io", "max = '900 instructions'", "good.json"),
    ],
)
def test_time_is_no_limit_of_instructions(
    spekctl: Spekctl, tmp_path: Path, metric: str, bound: str, file: str
) -> None:
    code, out, err = gate(spekctl, tmp_path, f"[[limit]]\nmetric = '{metric}'\n{bound}", file)
    assert (code, out) == (ExitCode.USAGE, "")
    assert f"the limit of {metric} is in" in err and f"{file} has it in" in err

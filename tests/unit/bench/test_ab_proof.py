# SPDX-License-Identifier: GPL-2.0
"""How the proof of vm --ab pairs its runs and counts its verdicts, on made-up results."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from bench import ab_proof
from lib.build import debug_kernel
from lib.ctl.verdicts import measured, put

from spekctl.campaigns import ab


class Jobs:
    """Stands for `spekctl vm --ab`: writes results by the instructions per I/O of each side."""

    def __init__(self, plain: float, longer: float) -> None:
        self.cost = {"a": plain, "b": longer}
        self.fails = False
        self.commands: list[list[str]] = []

    def __call__(self, command: list[str], **_options: object) -> Jobs:
        self.commands.append(command)
        place = Path(command[command.index("--folder") + 1])
        place.mkdir(exist_ok=True)
        repetitions = int(command[command.index("--repetitions") + 1])
        for side, name in ab.names(repetitions)[: 1 if self.fails else None]:
            number = 1000 * len(self.commands) + 10 * int(name[1:-5]) + (side == "b")
            put(place / name, measured(number, 1e9 / self.cost[side], counts=True))
        return self

    def wait(self) -> int:
        return 0

    def terminate(self) -> None:
        pass


def prove(monkeypatch: pytest.MonkeyPatch, out: Path, jobs: Jobs, *words: str) -> int:
    """The exit code of the proof."""
    monkeypatch.setattr(debug_kernel, "find", lambda variant: Path("/kernels", variant))
    monkeypatch.setattr(subprocess, "Popen", jobs)
    monkeypatch.setattr(sys, "argv", ["ab_proof", "--out", str(out), *words])
    return ab_proof.main()


def test_a_longer_path_is_counted_as_found(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    jobs = Jobs(1000.0, 1010.0)
    assert prove(monkeypatch, tmp_path, jobs, "--pairs", "6", "--jobs", "2") == 0
    assert "found 6 of 6; A/A false 0 of 6" in capsys.readouterr().out
    assert [command[command.index("--repetitions") + 1] for command in jobs.commands] == ["4", "2"]


@pytest.mark.parametrize("longer", [1000.0, 990.0])
def test_what_is_not_found_fails(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    longer: float,
) -> None:
    assert prove(monkeypatch, tmp_path, Jobs(1000.0, longer), "--pairs", "2") == 1
    assert "found 0 of 2; A/A false 0 of 2" in capsys.readouterr().out


def test_a_job_that_fails_leaves_no_verdict(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    jobs = Jobs(1000.0, 1010.0)
    jobs.fails = True
    assert prove(monkeypatch, tmp_path, jobs, "--pairs", "2", "--jobs", "1") == 1
    printed = capsys.readouterr()
    assert "part1 lacks b1.json" in printed.err and "found" not in printed.out


def test_no_run_serves_two_comparisons_of_a_sort(tmp_path: Path) -> None:
    for sort in (ab_proof.unlike, ab_proof.alike):
        pairs = list(sort(tmp_path, 4))
        runs = [run for pair in pairs for run in (*pair.a, *pair.b)]
        assert len(pairs) == 4
        assert len(set(runs)) == len(runs) == 16
        assert {run.name for run in runs} == {name for _side, name in ab.names(4)}


@pytest.mark.parametrize("words", [["--pairs", "3"], ["--pairs", "0"], ["--jobs", "0"]])
def test_wrong_numbers_are_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: list[str]
) -> None:
    with pytest.raises(SystemExit):
        prove(monkeypatch, tmp_path, Jobs(1.0, 1.0), *words)

# SPDX-License-Identifier: GPL-2.0
"""spekctl watch: a view of a run, up to its result."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest
from lib.ctl.command_line import Spekctl, run_ok
from lib.fakes.kernel import FakeKernel, other_run, without_io

from spekctl.documents.result import Result, load_result
from spekctl.errors import ExitCode, SpekError
from spekctl.exports import hdr
from spekctl.kernel.records import RunState
from spekctl.run import detached


def test_watch_can_keep_the_run(spekctl: Spekctl, kernel: FakeKernel) -> None:
    run_ok(spekctl, "--detach")
    first = spekctl("watch", "7", "--keep", "--progress", "none")
    assert first.code == ExitCode.OK and not kernel.deleted
    assert spekctl("watch", "7", "--progress", "none").out == first.out


def test_an_export_that_fails_costs_neither_result_nor_run(
    spekctl: Spekctl, kernel: FakeKernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(result: Result) -> None:
        raise SpekError("cannot encode")

    run_ok(spekctl, "--detach")
    with monkeypatch.context() as failing:
        failing.setattr(hdr, "encode", fail)
        path = tmp_path / "r.json"
        words = ("-o", str(path), "--hdr-log", str(tmp_path / "h"), "--progress", "none")
        outcome = spekctl("watch", "7", *words)
    assert outcome.code == ExitCode.RUN_FAILED
    assert outcome.err.splitlines()[-1] == "spekctl: cannot encode"
    assert load_result(path).workload.workload.name == "random-read-4k"
    assert not kernel.deleted
    assert spekctl("watch", "7", *words).code == ExitCode.OK


def test_a_run_without_io_leaves_no_empty_export_and_no_run(
    spekctl: Spekctl, kernel: FakeKernel, tmp_path: Path
) -> None:
    without_io(kernel)
    run_ok(spekctl, "--detach")
    Path("h").write_text("of yesterday")
    outcome = spekctl("watch", "7", "-o", "r.json", "--hdr-log", "h", "--progress", "none")
    assert outcome.code == ExitCode.RUN_FAILED
    assert outcome.err.splitlines()[-2:] == [
        "spekctl: no I/O completed in the measure phase",
        "spekctl: --hdr-log h: nothing to write: no I/O completed in the measure phase",
    ]
    assert load_result(Path("r.json")).totals.all.ios == 0
    assert sorted(path.name for path in tmp_path.glob("h*")) == ["h~"]
    assert kernel.deleted


def test_a_run_without_intervals_leaves_no_older_csv(spekctl: Spekctl, kernel: FakeKernel) -> None:
    run_ok(spekctl, "--detach", "--interval", "0")
    Path("o.csv").write_text("of yesterday")
    outcome = spekctl("watch", "7", "--csv", "o.csv", "--progress", "none")
    assert outcome.code == ExitCode.OK
    assert outcome.err.splitlines()[-1] == (
        "spekctl: --csv o.csv: nothing to write: the result has no report intervals (--interval 0)"
    )
    assert not Path("o.csv").exists() and Path("o.csv~").exists()
    assert kernel.deleted


def test_ctrl_c_only_leaves_the_view_of_watch(spekctl: Spekctl, kernel: FakeKernel) -> None:
    run_ok(spekctl, "--detach")
    kernel.on_wait = lambda second: os.kill(os.getpid(), signal.SIGINT)
    outcome = spekctl("watch", "--progress", "none")
    assert outcome.code == ExitCode.INTERRUPTED
    assert outcome.err == "spekctl: run 7 continues\n"
    assert "run-stop" not in kernel.calls and not kernel.deleted


def test_the_result_of_another_terminals_run_is_there(spekctl: Spekctl, kernel: FakeKernel) -> None:
    run_ok(spekctl, "--detach")
    detached.forget(7)
    outcome = spekctl("watch", "--progress", "none")
    assert outcome.code == ExitCode.RUN_FAILED
    assert "its plan is not in" in outcome.sentence


@pytest.mark.parametrize("how", ["deleted", "done"])
def test_the_end_of_another_terminals_run_is_a_view_not_a_result(
    how: str, spekctl: Spekctl, kernel: FakeKernel, tmp_path: Path
) -> None:
    running = other_run(3, 8, 0)

    def end(second: int) -> None:
        kernel.others = [replace(running, state=RunState.DONE)] if how == "done" else []

    kernel.on_wait = end
    sentence = "run 3 has ended; its result appears in the terminal that started it"
    for options, code in ([], ExitCode.OK), (["--json"], 1), (["-o", f"{tmp_path}/no.json"], 1):
        kernel.others = [running]
        outcome = spekctl("watch", "3", "--progress", "none", *options)
        assert (outcome.code, outcome.sentence, outcome.out) == (code, sentence, "")

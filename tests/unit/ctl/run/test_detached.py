# SPDX-License-Identifier: GPL-2.0
"""Detached runs, and runs of other terminals: run --detach, watch, stop."""

from __future__ import annotations

import errno
import json
import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest
from lib.ctl.command_line import Spekctl, run_ok
from lib.ctl.schemas import validator
from lib.fakes.kernel import FakeKernel, other_run
from lib.fakes.machine import disk

from spekctl.block import device
from spekctl.documents import result
from spekctl.documents.device import DiskCounters
from spekctl.errors import (
    ExitCode,
    error_from_errno,
)
from spekctl.kernel.records import RunState
from spekctl.run import detached


def test_a_detached_run_is_watched_to_its_result(spekctl: Spekctl, kernel: FakeKernel) -> None:
    started = run_ok(spekctl, "--detach", "--json")
    assert json.loads(started.out) == {"run": 7}
    assert kernel.config is not None and kernel.config.detached
    assert (kernel.seconds, kernel.deleted) == (0, False)

    (row,) = json.loads(spekctl("status", "--json").out)
    assert (row["id"], row["state"], row["name"]) == (7, "running", "random-read-4k")

    watched = spekctl("watch", "--json", "--progress", "none")
    assert watched.code == ExitCode.OK
    found = json.loads(watched.out)
    validator(result.SCHEMA_FILE).validate(found)
    assert found["totals"]["all"]["ios"] == 300
    assert kernel.deleted
    assert spekctl("status").err == "spekctl: no runs\n"


@pytest.mark.parametrize(
    ("option", "value", "instead"),
    [
        ("--output", "out.json", "; give it to spekctl watch"),
        ("--log", "log.parquet", ""),
        ("--prober-interval", "1s", ""),
        ("--power-feed", "board", ""),
        ("--power-baseline", "3", ""),
    ],
)
def test_what_needs_a_program_cannot_go_with_detach(
    option: str, value: str, instead: str, spekctl: Spekctl, kernel: FakeKernel
) -> None:
    outcome = run_ok(spekctl, "--detach", option, value)
    assert outcome.code == ExitCode.USAGE
    assert outcome.sentence == (
        f"{option} cannot be combined with --detach: nothing stays attached to the run{instead}"
    )
    assert kernel.calls == []


def test_watch_can_keep_the_run(spekctl: Spekctl, kernel: FakeKernel) -> None:
    run_ok(spekctl, "--detach")
    first = spekctl("watch", "7", "--keep", "--progress", "none")
    assert first.code == ExitCode.OK and not kernel.deleted
    assert spekctl("watch", "7", "--progress", "none").out == first.out


def test_what_a_disk_counted_is_read_when_the_run_ends_or_not_at_all(
    spekctl: Spekctl, kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = DiskCounters(0, 0, 0, 0)
    monkeypatch.setattr(device, "by_number", lambda *asked: disk())
    monkeypatch.setattr(device, "read_stat", lambda one: counted)
    run_ok(spekctl, "--detach")
    counted = DiskCounters(300, 2400, 0, 0)
    seen = spekctl("watch", "--keep", "--json", "--progress", "none")
    assert json.loads(seen.out)["targets"][0]["disk_agrees"] is True
    counted = DiskCounters(999, 9999, 0, 0)
    (target,) = json.loads(spekctl("watch", "--json", "--progress", "none").out)["targets"]
    assert (target["disk"], target["disk_agrees"]) == (None, None)


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


def test_stop_ends_a_run_and_keeps_its_result(spekctl: Spekctl, kernel: FakeKernel) -> None:
    run_ok(spekctl, "--detach")
    outcome = spekctl("stop")
    assert (outcome.code, outcome.sentence) == (ExitCode.OK, "run 7 has ended")
    assert not kernel.deleted
    watched = spekctl("watch", "--json", "--progress", "none")
    assert watched.code == ExitCode.RUN_FAILED
    assert json.loads(watched.out)["outcome"]["reason"] == "stopped"


def test_stop_can_delete(spekctl: Spekctl, kernel: FakeKernel) -> None:
    run_ok(spekctl, "--detach")
    assert spekctl("stop", "7", "--delete").sentence == "run 7 has ended and is deleted"
    assert kernel.deleted


def test_stop_does_not_delete_what_another_terminal_waits_for(
    spekctl: Spekctl, kernel: FakeKernel
) -> None:
    kernel.others = [replace(other_run(3, 8, 0), state=RunState.DONE)]
    outcome = spekctl("stop", "3", "--delete")
    assert outcome.code == ExitCode.OK
    assert outcome.sentence == "run 3 has ended; its result appears in the terminal that started it"
    assert "run-delete" not in kernel.calls


def test_stop_of_a_hung_device_returns(spekctl: Spekctl, kernel: FakeKernel) -> None:
    kernel.hangs = True
    run_ok(spekctl, "--detach")
    outcome = spekctl("stop", "--wait", "10ms")
    assert outcome.code == ExitCode.RUN_FAILED
    assert "3 I/Os are still outstanding, the oldest for 2.5 s" in outcome.sentence
    assert spekctl("stop", "--wait", "0").code == ExitCode.OK


def test_a_run_that_has_only_been_told_to_stop_has_not_ended(
    spekctl: Spekctl, kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_ok(spekctl, "--detach")
    monkeypatch.setattr(kernel, "run_stop", lambda run: kernel.calls.append("run-stop"))
    outcome = spekctl("stop", "--delete", "--wait", "0")
    assert (outcome.code, kernel.calls[-2:]) == (ExitCode.OK, ["run-stop", "run-get"])
    assert outcome.sentence.startswith("run 7 is stopping") and not kernel.deleted


@pytest.mark.parametrize("which", [["3"], ["--all"], ["--all", "--delete"]])
def test_a_run_whose_owner_was_faster_has_ended(
    which: list[str], spekctl: Spekctl, kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = replace(other_run(4, 8, 16), state=RunState.DONE, detached=1)
    kernel.others = [other_run(3, 8, 0), ended]
    # Its terminal takes the result at once, and deletes the run.
    monkeypatch.setattr(kernel, "run_stop", lambda run: kernel.others.pop(0))
    outcome = spekctl("stop", *which, "--json")
    assert outcome.code == ExitCode.OK
    first, *others = outcome.err.splitlines()
    where, deleted = "", ""
    if "--delete" in which:
        where = "; its result appears in the terminal that started it"
        deleted = " and is deleted"
    assert first == f"spekctl: run 3 has ended{where}"
    assert others == ([f"spekctl: run 4 has ended{deleted}"] if "--all" in which else [])
    row = json.loads(outcome.out)[0]
    assert (row["id"], row["state"], row["name"]) == (3, "done", "random-read-4k")


def test_a_run_that_was_gone_before_it_could_be_stopped_or_deleted_has_ended(
    spekctl: Spekctl, kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = error_from_errno(errno.ENOENT, "There is no run with this number.", "")
    kernel.refuse = {"run-stop": gone, "run-delete": gone}
    for state_seen, options in ((RunState.RUNNING, []), (RunState.DONE, ["--delete"])):
        seen = replace(other_run(3, 8, 0), state=state_seen, detached=1)
        monkeypatch.setattr(kernel, "runs", lambda seen=seen: [seen])
        assert spekctl("stop", *options).sentence == "run 3 has ended"


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


def test_a_detached_run_that_is_deleted_under_the_view_is_an_error(
    spekctl: Spekctl, kernel: FakeKernel
) -> None:
    run_ok(spekctl, "--detach")
    kernel.on_wait = lambda second: kernel.run_delete(7)
    outcome = spekctl("watch", "--progress", "none")
    assert outcome.code == ExitCode.RUN_FAILED
    assert outcome.sentence == "run 7 was deleted in the meantime, along with its result"


def test_several_runs_have_to_be_told_apart(spekctl: Spekctl, kernel: FakeKernel) -> None:
    kernel.others = [other_run(3, 8, 0), other_run(4, 8, 16)]
    for command in ("watch", "stop"):
        outcome = spekctl(command)
        assert outcome.code == ExitCode.USAGE
        assert "give the number of one: 3 (random-read-4k), 4 (random-read-4k)" in outcome.sentence
    assert "not both" in spekctl("stop", "3", "--all").sentence

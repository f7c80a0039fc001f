# SPDX-License-Identifier: GPL-2.0
"""spekctl stop: ends runs of this terminal and of others."""

from __future__ import annotations

import errno
import json
from dataclasses import replace

import pytest
from lib.ctl.command_line import Spekctl, run_ok
from lib.fakes.kernel import FakeKernel, other_run

from spekctl.errors import (
    ExitCode,
    error_from_errno,
)
from spekctl.kernel.records import RunState


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


def test_several_runs_have_to_be_told_apart(spekctl: Spekctl, kernel: FakeKernel) -> None:
    kernel.others = [other_run(3, 8, 0), other_run(4, 8, 16)]
    for command in ("watch", "stop"):
        outcome = spekctl(command)
        assert outcome.code == ExitCode.USAGE
        assert "give the number of one: 3 (random-read-4k), 4 (random-read-4k)" in outcome.sentence
    assert "not both" in spekctl("stop", "3", "--all").sentence

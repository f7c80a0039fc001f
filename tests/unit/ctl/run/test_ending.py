# SPDX-License-Identifier: GPL-2.0
"""The end of runs: waited for, given up, and left to the kernel when patience ends."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass, replace

import msgspec
import pytest
from lib.ctl.results import INFO, build
from lib.ctl.verified import config_of
from lib.fakes.kernel import FakeKernel

from spekctl.commands.deliver import deliver_alone
from spekctl.documents.result_parts import ReplayResult
from spekctl.documents.verification import VerifyCounts, VerifyResult
from spekctl.errors import ExitCode, SpekError
from spekctl.kernel.client import Patience, endless
from spekctl.kernel.records import Reason, RunState
from spekctl.render.result import parts
from spekctl.run import ending, job


@dataclass
class SlowKernel(FakeKernel):
    """A device that never lets go: a deletion asks for patience until that ends."""

    between: Callable[[], None] = lambda: None
    asked: int = 0

    def run_delete(self, run: int, patience: Patience = endless) -> None:
        self._called("run-delete")
        while True:
            self.asked += 1
            self.between()
            patience()


def running(kernel: FakeKernel) -> FakeKernel:
    kernel.run_new(config_of("random-write-4k", time_ns=3 * 10**9))
    kernel.run_start(7)
    return kernel


def test_a_run_is_waited_for_to_its_end() -> None:
    kernel = running(FakeKernel())
    assert ending.wait_done(kernel, 7, 30).state is RunState.DONE
    assert kernel.calls.count("wait") == 3


def test_the_wait_ends_with_its_time_and_with_the_pause() -> None:
    kernel = running(FakeKernel())
    assert ending.wait_done(kernel, 7, 0).state is RunState.RUNNING
    assert ending.wait_done(kernel, 7, 30, lambda: False).state is RunState.RUNNING
    assert "wait" not in kernel.calls


def test_a_run_that_has_not_started_is_deleted_at_once() -> None:
    kernel = FakeKernel()
    kernel.run_new(config_of("random-write-4k"))
    ending.abandon(kernel, 7)
    assert kernel.calls == ["run-new", "run-get", "run-delete"] and kernel.deleted


def test_a_run_under_way_is_stopped_first() -> None:
    kernel = running(FakeKernel())
    ending.abandon(kernel, 7)
    assert kernel.calls[-4:] == ["run-get", "run-stop", "run-get", "run-delete"]


@pytest.mark.parametrize("call", ["run-get", "run-stop", "run-delete"])
def test_a_second_failure_does_not_hide_the_first(call: str) -> None:
    ending.abandon(running(FakeKernel(refuse={call: SpekError("gone")})), 7)


def test_giving_up_does_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ending, "ABANDON_S", 0.0)
    kernel = SlowKernel()
    running(kernel)
    ending.abandon(kernel, 7)
    assert kernel.asked == 1


def test_what_is_outstanding_is_that_of_a_run_and_of_its_claim() -> None:
    kernel = running(FakeKernel(hangs=True))
    assert ending.outstanding(kernel, kernel.number) == 0
    kernel.run_stop(kernel.number)
    assert ending.outstanding(kernel, kernel.number) == 3
    kernel.others = [
        replace(INFO, id=90, claim=5, outstanding=4),
        replace(INFO, id=91, claim=0, outstanding=8),
    ]
    assert ending.outstanding(kernel, kernel.number) == 3
    assert ending.outstanding(kernel, kernel.number, 5) == 7
    kernel.deleted = True
    assert ending.outstanding(kernel, kernel.number, 5) == 4
    assert ending.outstanding(kernel, kernel.number) == 0


def test_only_another_interrupt_ends_the_wait_for_a_device() -> None:
    kernel = SlowKernel()
    running(kernel)

    def interrupt() -> None:
        if kernel.asked == 3:
            os.kill(os.getpid(), signal.SIGINT)

    kernel.between = interrupt
    with job.Interrupts() as interrupts:
        interrupts.count = 1  # the one that stopped the run
        ending.release(kernel, 7, interrupts)
    assert (kernel.asked, interrupts.count) == (3, 2)


@pytest.mark.parametrize(
    ("ok", "interrupted", "code"),
    [
        (True, False, ExitCode.OK),
        (False, False, ExitCode.RUN_FAILED),
        (True, True, ExitCode.TERMINATED),
        (False, True, ExitCode.TERMINATED),
    ],
)
def test_the_exit_code_of_a_result(ok: bool, interrupted: bool, code: ExitCode) -> None:
    interrupts = job.Interrupts()
    if interrupted:
        interrupts.interrupt(signal.SIGTERM)
    result = build() if ok else build(replace(INFO, reason=Reason.ERRORS))
    assert ending.exit_code_of(result, interrupts) is code


def test_a_run_without_any_io_has_failed_but_not_a_host_of_several(
    capsys: pytest.CaptureFixture[str],
) -> None:
    base = build()
    whole = msgspec.structs.replace(base.totals.all, ios=0)
    nothing = msgspec.structs.replace(base, totals=msgspec.structs.replace(base.totals, all=whole))
    assert ending.exit_code_of(nothing, job.Interrupts()) is ExitCode.RUN_FAILED
    assert ending.exit_code_of(nothing, job.Interrupts(), is_part=True) is ExitCode.OK
    for result, said in ((nothing, "spekctl: no I/O completed in the measure phase\n"), (base, "")):
        deliver_alone(result, None, as_json=True)
        assert capsys.readouterr().err == said


def test_a_replay_of_a_trace_that_was_not_read_whole_has_an_exit_code() -> None:
    fields: dict[str, object] = {
        "files": ["t"],
        "format": "csv",
        "pace": "closed",
        "depth": 1,
        "map": "wrap",
    }
    fields |= {"speed": None, "rate": None, "complete": True, "skipped": {}, "text": ""}
    fields |= dict.fromkeys(("records", "fed", "issued"), 9)
    fields |= dict.fromkeys(("shifted", "grown", "bad", "unordered", "dry_ns", "underruns"), 0)
    fields |= dict.fromkeys(("underrun_ns", "underrun_first_ns", "underrun_last_ns"), 0)
    replay = msgspec.convert(fields, ReplayResult)
    for defect, words in (
        ({}, ""),
        ({"bad": 2}, "2 could not be read"),
        ({"lost": 3}, "3 lost while it was recorded"),
        ({"reread": 4}, "changed since it was checked: 4 records when it was fed"),
    ):
        result = msgspec.structs.replace(build(), replay=msgspec.structs.replace(replay, **defect))
        code = ExitCode.RUN_FAILED if words else ExitCode.OK
        assert ending.exit_code_of(result, job.Interrupts()) is code
        shown = [str(part) for part in parts(result)]
        assert any(words in text for text in shown)
        assert any("could not be read" in text for text in shown) is ("bad" in defect)


@pytest.mark.parametrize(
    ("codes", "code"),
    [
        ([ExitCode.OK, ExitCode.OK], ExitCode.OK),
        ([ExitCode.OK, ExitCode.LIMIT_MISSED], ExitCode.LIMIT_MISSED),
        ([ExitCode.LIMIT_MISSED, ExitCode.RUN_FAILED], ExitCode.RUN_FAILED),
        ([ExitCode.RUN_FAILED, ExitCode.INTERRUPTED], ExitCode.INTERRUPTED),
        ([ExitCode.TERMINATED, ExitCode.DATA_ERRORS, ExitCode.OK], ExitCode.DATA_ERRORS),
        ([ExitCode.RUN_FAILED, ExitCode.HOST_LOST], ExitCode.HOST_LOST),
        ([ExitCode.INTERRUPTED, ExitCode.HOST_LOST], ExitCode.HOST_LOST),
        ([ExitCode.HOST_LOST, ExitCode.DATA_ERRORS], ExitCode.DATA_ERRORS),
    ],
)
def test_the_exit_code_of_runs_side_by_side(codes: list[ExitCode], code: ExitCode) -> None:
    assert ending.worst(codes) is code


def test_wrong_data_have_their_exit_code_even_if_interrupted() -> None:
    interrupts = job.Interrupts()
    interrupts.interrupt(signal.SIGTERM)
    wrong = VerifyResult(
        mismatches=1,
        complete=False,
        text="1 block is wrong",
        stamp_id=1,
        grain_bytes=4096,
        map_bytes=0,
        load=VerifyCounts(0, 0, 0, 1, {"corrupt": 1}, discarded=0),
        waits=0,
    )
    result = msgspec.structs.replace(build(), verify=wrong)
    assert ending.exit_code_of(result, interrupts) is ExitCode.DATA_ERRORS

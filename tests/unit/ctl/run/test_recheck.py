# SPDX-License-Identifier: GPL-2.0
"""Devices compared with the state of an earlier run: what is read, and how it is judged."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from lib.ctl.verified import STATES, saved
from lib.fakes.kernel import FakeKernel
from lib.fakes.machine import disk
from msgspec import structs

from spekctl.documents.verification import VerifyCounts
from spekctl.documents.verify import VerifyReport
from spekctl.errors import ExitCode, SpekError, UsageError
from spekctl.kernel.client import Patience, endless
from spekctl.kernel.records import RunInfo, VerifyInfo
from spekctl.render.progress import LineProgress
from spekctl.run import job, recheck
from spekctl.run.verify_state import SavedState


def check(kernel: FakeKernel, path: Path, state: SavedState) -> VerifyReport:
    with job.Interrupts() as interrupts:
        view = LineProgress(quiet=True)
        return recheck.check(kernel, path, state, [disk()], "auto", 0, view, interrupts)


def test_the_device_is_read_with_the_states_of_the_file(tmp_path: Path) -> None:
    path, kernel = tmp_path / "state", FakeKernel()
    report = check(kernel, path, saved(path))
    assert kernel.calls.index("map-set") < kernel.calls.index("run-start")
    assert kernel.written == [STATES]
    assert kernel.config is not None
    assert not kernel.config.writes and kernel.config.data == "stamped"
    assert kernel.deleted
    # The fake compares nothing: what was not read is not called right.
    assert not report.complete and not report.ok and report.grain_bytes == 4096


def test_all_runs_of_a_pass_are_under_one_claim(tmp_path: Path) -> None:
    class Keeping(FakeKernel):
        def run_delete(self, run: int, patience: Patience = endless) -> None:
            """The first of them is there until the last is over."""

    path, kernel = tmp_path / "state", Keeping()
    check(kernel, path, saved(path, size=(1 << 20) + 4096))
    assert kernel.calls.count("run-new") == 2
    assert kernel.claim_calls() == ["claim-new", "run-new", "claim-del"]
    assert kernel.claim is not None and not kernel.claimed


def test_a_failure_gives_the_device_back(tmp_path: Path) -> None:
    path = tmp_path / "state"
    kernel = FakeKernel(refuse={"map-set": SpekError("no memory")})
    with pytest.raises(SpekError, match="no memory"):
        check(kernel, path, saved(path))
    assert kernel.deleted and "run-start" not in kernel.calls
    assert not kernel.claimed


@pytest.mark.parametrize(("start", "size"), [(0, 0), ((1 << 30) - 512, 4096)])
def test_a_state_without_blocks_is_refused(start: int, size: int, tmp_path: Path) -> None:
    path, kernel = tmp_path / "state", FakeKernel()
    state = saved(path, start, size)
    with pytest.raises(UsageError, match="covers no writable block"):
        check(kernel, path, state)
    assert not kernel.calls


@pytest.mark.parametrize(
    ("mismatches", "ok", "interrupted", "code"),
    [
        (0, True, False, ExitCode.OK),
        (0, False, False, ExitCode.RUN_FAILED),
        (0, False, True, ExitCode.INTERRUPTED),
        (1, False, False, ExitCode.DATA_ERRORS),
        (1, False, True, ExitCode.DATA_ERRORS),
    ],
)
def test_wrong_data_matter_most(
    mismatches: int, ok: bool, interrupted: bool, code: ExitCode
) -> None:
    report = VerifyReport(
        written="2027-01-01T00:00:00Z",
        ok=ok,
        text="",
        stamp_id=1,
        grain_bytes=4096,
        targets=[],
        counts=VerifyCounts(1, 0, 0, mismatches, {}),
        complete=ok,
        first=[],
    )
    assert recheck.exit_code_of(report, job.Interrupts(count=int(interrupted))) is code


def test_a_log_of_acknowledged_writes_says_what_is_gone(tmp_path: Path) -> None:
    class Losing(FakeKernel):
        def run_get(self, run: int) -> RunInfo:
            verify = VerifyInfo(checked=250, mismatches=6, stale=2, unstamped=3, torn=1)
            return replace(super().run_get(run), verify=verify)

    path, kernel = tmp_path / "state", Losing()
    state = saved(path)
    assert "is gone" not in check(kernel, path, state).text
    cut = structs.replace(state, config=structs.replace(state.config, verify_newer=1))
    kernel = Losing()
    report = check(kernel, path, cut)
    assert report.text.endswith(
        "; a write that was acknowledged and flushed is gone from 5 of them"
    )
    assert kernel.config is not None and kernel.config.verify_newer == 1

# SPDX-License-Identifier: GPL-2.0-or-later
"""The end of runs: waiting, deletion, giving up after a failure, and the exit code."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence

from spekctl.documents.result import Result
from spekctl.errors import ExitCode, SpekError
from spekctl.kernel.client import Kernel
from spekctl.kernel.records import RunInfo, RunState
from spekctl.run.job import Interrupts

POLL_S = 1.0


ABANDON_S = 5.0


class _EnoughError(Exception):
    """The wait for a deletion timed out; the deletion continues."""


def release(kernel: Kernel, run: int, interrupts: Interrupts) -> None:
    """Delete a DONE run and wait for its devices, unless another Ctrl-C ends the wait."""
    with contextlib.suppress(_EnoughError):
        kernel.run_delete(run, _until_interrupted(interrupts))


def release_claim(kernel: Kernel, claim: int, interrupts: Interrupts) -> None:
    """Delete a claim and wait for its devices, unless another Ctrl-C ends the wait. One that a run
    still uses, because its I/O does not return, goes with the connection."""
    with contextlib.suppress(SpekError, _EnoughError):
        kernel.claim_del(claim, _until_interrupted(interrupts))


def outstanding(kernel: Kernel, run: int, claim: int = 0) -> int:
    """I/Os that have not completed, of a run and of all runs under @claim; 0 if they are gone."""
    return sum(
        info.outstanding
        for info in kernel.runs()
        if info.id == run or (claim and info.claim == claim)
    )


def _until_interrupted(interrupts: Interrupts) -> Callable[[], None]:
    """Ends a wait at the next Ctrl-C."""
    before = interrupts.count

    def patience() -> None:
        if interrupts.count > before:
            raise _EnoughError

    return patience


def abandon(kernel: Kernel, run: int) -> None:
    """After a failure: end the run and release its devices, as far as possible."""
    end_s = time.monotonic() + ABANDON_S

    def patience() -> None:
        if time.monotonic() > end_s:
            raise _EnoughError

    with contextlib.suppress(SpekError, _EnoughError):
        if kernel.run_get(run).state is not RunState.READY:
            kernel.run_stop(run)
            wait_done(kernel, run, ABANDON_S)
        kernel.run_delete(run, patience)


def wait_done(
    kernel: Kernel, run: int, timeout_s: float, pause: Callable[[], bool] = lambda: True
) -> RunInfo:
    """Wait until a run is DONE, the time is over, or @pause returns False."""
    deadline = time.monotonic() + timeout_s
    while True:
        info = kernel.run_get(run)
        left_s = deadline - time.monotonic()
        if info.state in (RunState.DONE, RunState.FAILED) or left_s <= 0 or not pause():
            return info
        kernel.wait(min(POLL_S, left_s))


def exit_code_of(result: Result, interrupts: Interrupts, is_part: bool = False) -> ExitCode:
    """The exit code of a result. @is_part: of several runs, of hosts or steps, of which some may
    send no I/O; else a run that measured nothing has failed."""
    if result.mismatches:
        return ExitCode.DATA_ERRORS
    if interrupts.count:
        return interrupts.exit_code
    if result.limit_missed:
        return ExitCode.LIMIT_MISSED
    is_whole = result.replay is None or not result.replay.lacking
    if not (is_part or result.totals.all.ios):
        return ExitCode.RUN_FAILED
    return ExitCode.OK if result.outcome.ok and is_whole else ExitCode.RUN_FAILED


def worst(codes: Sequence[ExitCode]) -> ExitCode:
    """The exit code of several runs: what is wrong with the data comes first, then a lost host, an
    interrupt, and a run that failed."""
    order = (
        ExitCode.DATA_ERRORS,
        ExitCode.HOST_LOST,
        ExitCode.INTERRUPTED,
        ExitCode.TERMINATED,
        ExitCode.RUN_FAILED,
    )
    first = next((code for code in order if code in codes), None)
    return first or next((code for code in codes if code != ExitCode.OK), ExitCode.OK)

# SPDX-License-Identifier: GPL-2.0
"""Replay with a starved worker: only a late feed counts as an underrun."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from lib.guest.netlink_raw import Socket
from lib.guest.replays import (
    MS,
    RING,
    completed,
    end,
    feed_all,
    finished,
    info,
    records,
    replay,
    replay_disk,
    start,
)
from lib.waiting import comes_true

from spekctl.kernel.gen.spek import Cmd, Reason

pytestmark = [pytest.mark.any_kernel, pytest.mark.debug_kernel_at_length]

CPU = 1
FIRST = RING // 2 + 1  # records that a run needs to start
# Shorter than the share of each second that the kernel leaves to realtime threads.
LONGEST_S = 0.9
HOLDER = f"""
import os, sys, time
os.sched_setaffinity(0, {{{CPU}}})
print("ready", flush=True)
sys.stdin.readline()
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
until = time.monotonic() + {LONGEST_S}
os.write(1, b"holds\\n")
os.set_blocking(0, False)
while time.monotonic() < until:
    try:
        if os.read(0, 1):
            break
    except BlockingIOError:
        pass
"""


@pytest.fixture(scope="module")
def disk(spek_module: Path) -> Iterator[str]:
    with replay_disk() as node:
        yield node


class Holder:
    """A process that keeps all others from CPU, for at most LONGEST_S."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.asks, self.tells = process.stdin, process.stdout
        assert self.asks and self.tells
        assert self.tells.readline() == "ready\n"

    def hold(self) -> None:
        """Return when it holds CPU."""
        self._ask()
        assert self.tells and self.tells.readline() == "holds\n"

    def release(self) -> None:
        """Let others run again."""
        assert self.process.poll() is None, "CPU was not held for long enough"
        self._ask()

    def _ask(self) -> None:
        assert self.asks
        self.asks.write("\n")
        self.asks.flush()


@contextmanager
def holder() -> Iterator[Holder]:
    """One that is ready to hold CPU."""
    others = sorted(os.sched_getaffinity(0) - {CPU})
    command = [sys.executable, "-c", HOLDER]
    pipe = subprocess.PIPE
    before = os.sched_getaffinity(0)
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        os.sched_setaffinity(0, others)
        try:
            yield Holder(process)
        finally:
            os.sched_setaffinity(0, before)
            process.kill()


def dry_run(nl: Socket, disk: str) -> tuple[int, int]:
    """A run that waits for records, of which none has come too late. Return: it, and its start."""
    run = replay(nl, disk, worker=[{"cpu": CPU}])
    feed_all(nl, run, records(FIRST))
    start(nl, run)
    assert comes_true(lambda: info(nl, run)["replay"]["issued"] == FIRST)
    return run, info(nl, run)["started_ns"]


def test_a_record_that_comes_in_time_is_no_underrun(nl: Socket, disk: str) -> None:
    """Guards 0e99589ad: a busy worker that found it after its time counted an underrun."""
    with holder() as cpu:
        run, start_ns = dry_run(nl, disk)
        cpu.hold()
        due_ns = time.monotonic_ns() - start_ns + 300 * MS
        feed_all(nl, run, records(1, at_ns=due_ns))
        assert time.monotonic_ns() < start_ns + due_ns
        while time.monotonic_ns() < start_ns + due_ns + 100 * MS:
            time.sleep(0.01)
        assert info(nl, run)["replay"]["issued"] == FIRST
        cpu.release()
        end(nl, run, FIRST + 1)

        counts = completed(nl, run)["replay"]

    assert (counts["underruns"], counts["underrun_ns"]) == (0, 0)


def test_an_underrun_ends_when_the_record_comes(nl: Socket, disk: str) -> None:
    """Guards 0e99589ad: it lasted until a busy worker looked again."""
    with holder() as cpu:
        run, start_ns = dry_run(nl, disk)
        due_ns = time.monotonic_ns() - start_ns
        cpu.hold()
        before_ns = time.monotonic_ns()
        feed_all(nl, run, records(1, at_ns=due_ns))
        after_ns = time.monotonic_ns()
        time.sleep(0.3)
        assert info(nl, run)["replay"]["issued"] == FIRST
        cpu.release()
        end(nl, run, FIRST + 1)

        counts = completed(nl, run)["replay"]

    assert counts["underruns"] == 1
    assert before_ns <= counts["underrun_last_ns"] <= after_ns
    assert counts["underrun_first_ns"] == start_ns + due_ns
    assert counts["underrun_ns"] == counts["underrun_last_ns"] - counts["underrun_first_ns"]


def test_records_that_a_stopped_worker_did_not_take_are_backlog(nl: Socket, disk: str) -> None:
    """Guards 0e99589ad: those that had come to a dry ring were in no backlog."""
    with holder() as cpu:
        run, start_ns = dry_run(nl, disk)
        due_ns = time.monotonic_ns() - start_ns
        cpu.hold()
        feed_all(nl, run, records(5, at_ns=due_ns))
        nl.ask(Cmd.RUN_STOP, id=run)
        cpu.release()

        ended = finished(nl, run)

    assert (ended["reason"], ended["replay"]["issued"]) == (Reason.STOPPED, FIRST)
    assert ended["backlog"] == 5

# SPDX-License-Identifier: GPL-2.0
"""Replay with a starved worker: only a late feed counts as an underrun."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from lib.guest import cpus
from lib.guest.netlink import remove
from lib.guest.netlink_raw import Socket
from lib.guest.replays import (
    AHEAD_NS,
    MS,
    RING,
    completed,
    end,
    feed_ahead,
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

no_throttling = pytest.fixture(autouse=True)(cpus.no_throttling)


@pytest.fixture(scope="module")
def disk(spek_module: Path) -> Iterator[str]:
    with replay_disk() as node:
        yield node


def dry_run(nl: Socket, disk: str) -> tuple[int, int]:
    """A run that waits for records, of which none has come too late. Return: it, and its start."""
    run = replay(nl, disk, worker=[{"cpu": CPU}])
    feed_all(nl, run, records(FIRST))
    start(nl, run)
    assert comes_true(lambda: info(nl, run)["replay"]["issued"] == FIRST)
    return run, info(nl, run)["started_ns"]


def test_a_record_that_comes_in_time_is_no_underrun(nl: Socket, disk: str) -> None:
    """Guards 0e99589ad: a busy worker that found it after its time counted an underrun."""
    for ahead_ns in AHEAD_NS:
        run, start_ns = dry_run(nl, disk)
        with cpus.second_cpu_held():
            due_ns, in_time = feed_ahead(nl, run, ahead_ns)
            while time.monotonic_ns() < start_ns + due_ns + 100 * MS:
                time.sleep(0.01)
            assert info(nl, run)["replay"]["issued"] == FIRST
        end(nl, run, FIRST + 1)

        counts = completed(nl, run)["replay"]
        remove(nl, run)
        if in_time:
            break
    else:
        pytest.fail("no record comes before its time")

    assert (counts["underruns"], counts["underrun_ns"]) == (0, 0)


def test_an_underrun_ends_when_the_record_comes(nl: Socket, disk: str) -> None:
    """Guards 0e99589ad: it lasted until a busy worker looked again."""
    run, start_ns = dry_run(nl, disk)
    due_ns = time.monotonic_ns() - start_ns
    with cpus.second_cpu_held():
        before_ns = time.monotonic_ns()
        feed_all(nl, run, records(1, at_ns=due_ns))
        after_ns = time.monotonic_ns()
        time.sleep(0.3)
        assert info(nl, run)["replay"]["issued"] == FIRST
    end(nl, run, FIRST + 1)

    counts = completed(nl, run)["replay"]

    assert counts["underruns"] == 1
    assert before_ns <= counts["underrun_last_ns"] <= after_ns
    assert counts["underrun_first_ns"] == start_ns + due_ns
    assert counts["underrun_ns"] == counts["underrun_last_ns"] - counts["underrun_first_ns"]


def test_records_that_a_stopped_worker_did_not_take_are_backlog(nl: Socket, disk: str) -> None:
    """Guards 0e99589ad: those that had come to a dry ring were in no backlog."""
    run, start_ns = dry_run(nl, disk)
    due_ns = time.monotonic_ns() - start_ns
    with cpus.second_cpu_held():
        feed_all(nl, run, records(5, at_ns=due_ns))
        nl.ask(Cmd.RUN_STOP, id=run)

    ended = finished(nl, run)

    assert (ended["reason"], ended["replay"]["issued"]) == (Reason.STOPPED, FIRST)
    assert ended["backlog"] == 5

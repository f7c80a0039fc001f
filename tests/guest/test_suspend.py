# SPDX-License-Identifier: GPL-2.0
"""Runs and the sleep of the machine: they end before the first task is frozen.

The kernel goes as far as freezing all tasks, waits, and thaws them (pm_test=freezer); to notifiers
that is a suspend like any other. How long it waits is up to a busy loop, which no emulated clock
has to agree with; when it begins to freeze tasks is in the function tracer's record.
"""

from __future__ import annotations

import errno
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from lib.guest.calls import times_of
from lib.guest.disks import held_disk, null_disk
from lib.guest.netlink import DISK_MIB, SECOND, delete, is_free, new, refused, state, stream
from lib.guest.netlink_raw import Socket
from lib.waiting import comes_true

from spekctl.kernel.gen.spek import Cmd, Data, Reason, RunState

POWER = Path("/sys/power")
DELAY = Path("/sys/module/suspend/parameters/pm_test_delay")  # seconds; hibernation has its own
WRITES: dict[str, Any] = {"write": 1, "stream": [stream(read_ppm=300_000)]}


@pytest.fixture(autouse=True)
def only_freezer() -> Iterator[None]:
    usual = DELAY.read_text()
    DELAY.write_text("1")
    (POWER / "pm_test").write_text("freezer")
    yield
    (POWER / "pm_test").write_text("none")
    DELAY.write_text(usual)


def sleep(kind: str) -> int:
    """Go to sleep and wake up. Return: CLOCK_MONOTONIC when the kernel began to freeze tasks."""
    with times_of("freeze_processes") as begun_ns, open(POWER / "state", "wb", buffering=0) as file:
        # Without a buffer: what was refused would be written once more when the file is closed.
        file.write(kind.encode())
    (freezing_ns,) = begun_ns
    return freezing_ns


def info_of(nl: Socket, run: int) -> dict[str, Any]:
    return nl.ask(Cmd.RUN_GET, id=run).values[0]


def running(nl: Socket, node: str, **changes: Any) -> int:
    run = new(nl, node, **changes)
    nl.ask(Cmd.RUN_START, id=run)
    assert comes_true(lambda: any_io(nl, run))
    return run


def any_io(nl: Socket, run: int) -> bool:
    (target,) = info_of(nl, run)["target"]
    return bool(target["reads"] + target["writes"])


# Suspend to idle is what every kernel has; hibernation has notifications of its own.
@pytest.mark.parametrize("kind", ["freeze", "disk"])
def test_a_writing_run_has_drained_before_tasks_are_frozen(
    nl: Socket, disks: list[str], kind: str
) -> None:
    run = running(nl, disks[0], **WRITES)

    freezing_ns = sleep(kind)

    info = info_of(nl, run)
    assert (info["state"], info["reason"]) == (RunState.DONE, Reason.SUSPENDED)
    assert (info["outstanding"], info["errors"]) == (0, 0)
    assert info["ended_ns"] <= freezing_ns
    assert is_free(disks[0])
    again = running(nl, disks[0], **WRITES)
    assert state(nl, again) == RunState.RUNNING


def test_what_was_written_before_a_suspend_can_be_verified(nl: Socket) -> None:
    stamped = {"data": int(Data.STAMPED)}
    with null_disk(DISK_MIB, memory_backed=1) as node:
        run = running(nl, node, **WRITES, **stamped)
        sleep("freeze")
        assert info_of(nl, run)["reason"] == Reason.SUSPENDED
        assert nl.dump(Cmd.MAP_GET, run=run).values

        reader = new(nl, node, **stamped, verify_from=run, time_ns=None, count=20_000)
        nl.ask(Cmd.RUN_START, id=reader)
        assert comes_true(lambda: state(nl, reader) == RunState.DONE)
        verify = info_of(nl, reader)["verify"]
        assert verify["checked"] > 0
        assert verify["mismatches"] == 0
        for number in (reader, run):
            delete(nl, number)


def test_runs_without_io_stay_and_armed_ones_end(nl: Socket, disks: list[str]) -> None:
    ready = new(nl, disks[0])
    armed = new(nl, disks[1])
    nl.ask(Cmd.RUN_START, id=armed, start_ns=time.monotonic_ns() + 600 * SECOND)

    sleep("freeze")

    assert state(nl, ready) == RunState.READY
    info = info_of(nl, armed)
    assert (info["state"], info["reason"], info["started_ns"]) == (
        RunState.DONE,
        Reason.SUSPENDED,
        0,
    )
    nl.ask(Cmd.RUN_START, id=ready)


def test_a_device_that_holds_io_keeps_the_system_awake(nl: Socket, disks: list[str]) -> None:
    """Nothing starts meanwhile; afterwards all is as before."""
    ready = new(nl, disks[1])
    with held_disk(disks[0]) as (node, answer), ThreadPoolExecutor(1) as threads:
        run = new(nl, node)
        nl.ask(Cmd.RUN_START, id=run)
        assert comes_true(lambda: info_of(nl, run)["outstanding"] == 4)

        sleeping = threads.submit(sleep, "freeze")
        assert comes_true(lambda: info_of(nl, run)["reason"] == Reason.SUSPENDED)
        no = refused(lambda: nl.ask(Cmd.RUN_START, id=ready))
        assert (no.errno, no.text) == (
            errno.EBUSY,
            "The system is about to suspend or to go down: start the run after it has resumed.",
        )
        with pytest.raises(OSError) as caught:
            sleeping.result()
        assert caught.value.errno == errno.EBUSY
        assert info_of(nl, run)["outstanding"] == 4

        nl.ask(Cmd.RUN_START, id=ready)
        answer()
        assert comes_true(lambda: state(nl, run) == RunState.DONE)
        assert info_of(nl, run)["reason"] == Reason.SUSPENDED
        delete(nl, run)


def test_a_suspend_waits_for_io_that_comes_back(nl: Socket, disks: list[str]) -> None:
    with held_disk(disks[0]) as (node, answer), ThreadPoolExecutor(1) as threads:
        run = new(nl, node)
        nl.ask(Cmd.RUN_START, id=run)
        assert comes_true(lambda: info_of(nl, run)["outstanding"] == 4)
        sleeping = threads.submit(sleep, "freeze")
        assert comes_true(lambda: info_of(nl, run)["reason"] == Reason.SUSPENDED)
        answer()
        freezing_ns = sleeping.result()
        info = info_of(nl, run)
        assert info["state"] == RunState.DONE
        assert info["ended_ns"] <= freezing_ns
        delete(nl, run)

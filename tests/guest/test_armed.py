# SPDX-License-Identifier: GPL-2.0
"""Runs that start at a given time."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import signal
import statistics
import struct
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from lib.ctl.command_line import Outcome
from lib.guest.disks import make_null, remove_null
from lib.guest.drive import Controller, one_stream
from lib.guest.netlink import SECOND, is_free, is_gone, new, refused, remove, state
from lib.guest.netlink_raw import Refusal, Socket
from lib.guest.spekctl import in_process
from lib.waiting import comes_true

from spekctl.errors import ExitCode, SpekError
from spekctl.kernel.gen import spek
from spekctl.kernel.gen.spek import Cmd, Phase, Reason, RunState

pytestmark = [pytest.mark.any_kernel, pytest.mark.debug_kernel_at_length]

PASSED = "The start time has passed: it must lie in the future of CLOCK_MONOTONIC."
MS = 10**6
FAR_NS = 600 * SECOND
RECORD = struct.Struct("=QQQ24x")  # at_ns, issue_ns, done_ns of a log record


def arm(nl: Socket, run: int, in_ns: int) -> int:
    """Return: time 0 of the run, which is later where this machine takes longer to ask for it."""
    for longer in (1, 10, 100):
        start_ns = time.monotonic_ns() + longer * in_ns
        try:
            nl.ask(Cmd.RUN_START, id=run, start_ns=start_ns)
        except Refusal as no:
            assert no.errno == errno.ETIME, no
        else:
            return start_ns
    pytest.fail("each start has passed when it is asked for")


def armed_together(
    nl: Socket, nodes: Sequence[str], **values: Any
) -> tuple[list[int], int, list[dict[str, Any]]]:
    """A run on each of these, armed for one time to come; that time, and what they say of
    themselves before it."""
    for ahead_ns in (3 * SECOND, 30 * SECOND):
        runs = [new(nl, node, worker=[{"cpu": cpu}], **values) for cpu, node in enumerate(nodes)]
        start_ns = time.monotonic_ns() + ahead_ns
        try:
            for run in runs:
                nl.ask(Cmd.RUN_START, id=run, start_ns=start_ns)
            told = [info_of(nl, run) for run in runs]
        except Refusal as no:
            assert no.errno == errno.ETIME, no
        else:
            if time.monotonic_ns() < start_ns:
                return runs, start_ns, told
        for run in runs:
            remove(nl, run)
    pytest.fail("no two runs can be armed in time")


def info_of(nl: Socket, run: int) -> dict[str, Any]:
    return nl.ask(Cmd.RUN_GET, id=run).values[0]


def assert_never_began(nl: Socket, run: int, reason: Reason) -> None:
    info = info_of(nl, run)
    assert (info["state"], info["reason"]) == (RunState.DONE, reason)
    assert (info["started_ns"], info["start_real_ns"]) == (0, 0)
    assert (info["measure_ns"], info["drain_ns"]) == (0, 0)
    assert not nl.dump(Cmd.INTERVAL_GET, run=run).values
    counts = [cell["ios"] for cell in nl.dump(Cmd.STATS_GET, run=run).values if "ios" in cell]
    assert not any(counts)


@pytest.mark.parametrize(
    ("start_ns", "code", "text"),
    [
        (
            1,
            errno.ETIME,
            "The start time has passed: it must lie in the future of CLOCK_MONOTONIC.",
        ),
        (
            (1 << 64) - 1,
            errno.ERANGE,
            "The start time is too far away: at most 366 days from now are allowed.",
        ),
    ],
)
def test_a_time_that_no_run_can_start_at(
    nl: Socket, disks: list[str], start_ns: int, code: int, text: str
) -> None:
    run = new(nl, disks[0])
    no = refused(lambda: nl.ask(Cmd.RUN_START, id=run, start_ns=start_ns))
    assert (no.errno, no.attr, no.text) == (code, "start_ns", text)
    assert state(nl, run) == RunState.READY
    nl.ask(Cmd.RUN_START, id=run)


def records_of(nl: Socket, run: int) -> list[tuple[int, int, int]]:
    """Times of each I/O of a run's only worker."""
    path = Path("/sys/kernel/debug", info_of(nl, run)["log_dir"], "worker0")
    log = b""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        # It gives whole records.
        with contextlib.suppress(BlockingIOError):
            while part := os.read(fd, 1024 * RECORD.size):
                log += part
    finally:
        os.close(fd)
    return [(at, issue, done) for at, issue, done in RECORD.iter_unpack(log)]


def test_runs_armed_for_the_same_time_start_together(nl: Socket, disks: list[str]) -> None:
    """Neither waits for the other: they end when both have done their work, however long two CPUs
    of a guest take turns on one of the machine."""
    pace = [{"law": 0, "depth": 4, "think_ns": MS}]
    # Room for half a minute of one of them, while the other waits for a CPU.
    sizes: dict[str, Any] = {"log_records": 1 << 17, "time_ns": FAR_NS, "arrival": pace}
    runs, start_ns, told = armed_together(nl, disks, **sizes)
    for info in told:
        assert (info["state"], info["started_ns"]) == (RunState.ARMED, start_ns)
        assert info["outstanding"] == 0
    assert comes_true(lambda: all(info_of(nl, run)["target"][0]["reads"] >= 1000 for run in runs))
    for run in runs:
        nl.ask(Cmd.RUN_STOP, id=run)
    assert comes_true(lambda: all(state(nl, run) == RunState.DONE for run in runs))

    logs = [records_of(nl, run) for run in runs]
    for run, log in zip(runs, logs, strict=True):
        info = info_of(nl, run)
        assert info["started_ns"] == start_ns
        assert info["reason"] == Reason.STOPPED
        assert len(log) >= 1000
        # The first I/Os of a closed loop arrive at time 0 itself.
        assert [at for at, _issue, _done in sorted(log)[:4]] == [start_ns] * 4
        assert min(issue for _at, issue, _done in log) >= start_ns
        # Of many pairs, as a guest may be away between the two clocks of one.
        offsets = [time.time_ns() - time.monotonic_ns() for _ in range(21)]
        wall_ns = statistics.median(offsets) + start_ns
        assert abs(info["start_real_ns"] - wall_ns) < SECOND // 10
    first = [min(issue for _at, issue, _done in log) for log in logs]
    last = [max(done for _at, _issue, done in log) for log in logs]
    assert max(first) < min(last), "one ended before the other began"


def test_news_of_an_armed_run(nl: Socket, disks: list[str]) -> None:
    with Socket(spek) as listener:
        listener.join(spek.GROUP_RUNS)
        run = new(nl, disks[0])
        start_ns = arm(nl, run, SECOND)
        told: list[dict[str, Any]] = []
        while not told or told[-1]["state"] != RunState.RUNNING:
            told.append(listener.notification().values)
    assert [event["state"] for event in told] == [RunState.READY, RunState.ARMED, RunState.RUNNING]
    assert [event["started_ns"] for event in told] == [0, start_ns, start_ns]
    # It has no ramp-up: this is known before the first interval ends.
    assert [event["phase"] for event in told] == [Phase.RAMP, Phase.RAMP, Phase.MEASURE]
    assert told[-1]["now_ns"] >= start_ns


@pytest.mark.debug_kernel
def test_an_armed_run_is_stopped(nl: Socket, disks: list[str]) -> None:
    run = new(nl, disks[0], worker=[{"cpu": 0}, {"cpu": 1}], interval_ns=SECOND)
    arm(nl, run, FAR_NS)
    no = refused(lambda: nl.ask(Cmd.RUN_DEL, id=run))
    assert no.errno == errno.EBUSY
    no = refused(lambda: nl.ask(Cmd.RUN_START, id=run))
    assert no.text == "Only a run that is READY can be started."

    nl.ask(Cmd.RUN_STOP, id=run)

    assert comes_true(lambda: state(nl, run) == RunState.DONE)
    assert_never_began(nl, run, Reason.STOPPED)
    assert is_free(disks[0])


def is_done(nl: Socket, run: int) -> bool:
    return bool(state(nl, run) == RunState.DONE)


def test_a_stop_at_the_start_time_ends_the_run_once(nl: Socket, disks: list[str]) -> None:
    """The stop, the timer of the worker and the one of the state race."""
    for number in range(40):
        run = new(nl, disks[0])
        start_ns = arm(nl, run, SECOND // 10)
        while time.monotonic_ns() < start_ns + (number - 20) * 100_000:
            pass
        nl.ask(Cmd.RUN_STOP, id=run)
        assert comes_true(partial(is_done, nl, run))
        info = info_of(nl, run)
        assert info["reason"] == Reason.STOPPED
        assert info["started_ns"] in (0, start_ns)
        assert info["ended_ns"] >= info["started_ns"]
        nl.ask(Cmd.RUN_DEL, id=run)
        assert comes_true(partial(is_gone, nl, run))


@pytest.mark.debug_kernel
@pytest.mark.parametrize("detached", [0, 1])
def test_an_armed_run_and_the_end_of_its_owner(nl: Socket, disks: list[str], detached: int) -> None:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            with Socket(spek) as mine:
                run = new(mine, disks[0], detached=detached)
                arm(mine, run, FAR_NS)
                os.write(writer, b"%d\n" % run)
                signal.pause()
        finally:
            os._exit(1)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        run = int(pipe.readline())
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    if not detached:
        assert comes_true(lambda: is_gone(nl, run))
        assert is_free(disks[0])
        return
    assert state(nl, run) == RunState.ARMED
    nl.ask(Cmd.RUN_STOP, id=run)
    assert comes_true(lambda: state(nl, run) == RunState.DONE)


@pytest.mark.debug_kernel
def test_a_device_that_goes_ends_an_armed_run(spek_module: Path) -> None:
    """At once where the kernel tells of it, else with the first I/O."""
    # However long it takes for a disk to go, one of these is longer.
    for ahead_ns in (2 * SECOND, 30 * SECOND):
        node, item = make_null()
        try:
            with Controller() as controller:
                run = controller.run_new(one_stream(node, time_ns=FAR_NS))
                start_ns = time.monotonic_ns() + ahead_ns
                try:
                    controller.run_start(run, start_ns)
                except SpekError as refusal:
                    assert refusal.errno == errno.ETIME, refusal
                    controller.run_delete(run)
                    continue
                (item / "power").write_text("0")
                is_in_time = time.monotonic_ns() < start_ns
                info = controller.wait_done(run)
                assert info.reason.name == "DEVICE_GONE"
                has_ios = any(cell.ios for cell in controller.stats(run))
                controller.run_delete(run)
        finally:
            remove_null(item)
        if is_in_time:
            break
    else:
        pytest.fail("no disk is gone before the start")
    assert not has_ios


def test_spekctl_starts_at_a_time(
    spek_module: Path, disks: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    command = ("run", "random-read-4k", "--device", disks[0], "--time", "1s", "--no-prober")
    with in_process(capfd) as spekctl:
        before_ns = time.monotonic_ns()
        after_2s = spekctl(*command, "--json", "--start-at", "+2s")
        assert assert_was_armed(after_2s) >= before_ns + 2 * SECOND
        # What spekctl takes until the run is armed was in that, and all that it imports: much
        # later than it will take this time.
        took_ns = time.monotonic_ns() - before_ns
        at_ns = time.monotonic_ns() + 10 * SECOND + took_ns
        assert assert_was_armed(spekctl(*command, "--json", "--start-at", f"mono:{at_ns}")) == at_ns

        late = spekctl(*command, "--start-at", "mono:1")
        assert (late.code, late.sentence) == (ExitCode.USAGE, PASSED)


def assert_was_armed(outcome: Outcome) -> int:
    """Of a run that started at a given time. Return: that time."""
    assert outcome.code == ExitCode.OK, outcome.err
    assert "spekctl: armed, starts in " in outcome.err
    result = json.loads(outcome.out)
    started_ns = int(result["start"]["monotonic_ns"])
    assert result["phases"][0]["start_ns"] == started_ns
    return started_ns

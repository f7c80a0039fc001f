# SPDX-License-Identifier: GPL-2.0
"""Whose a probe is, how the module unloads, and what is refused."""

from __future__ import annotations

import errno
import os
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lib.guest.modules import threads_end
from lib.guest.netlink_raw import Socket
from lib.guest.prober import (
    HOTPLUG_STATES,
    MS,
    SECOND,
    connected,
    fresh_module,
    in_child,
    is_loaded,
    load,
    reap,
    rmmod,
    sampler_threads,
    unload,
    wait_rows,
)
from lib.waiting import LONG_S, eventually

from spekctl.errors import SpekError
from spekctl.kernel.gen import spek_prober as uapi
from spekctl.kernel.gen.spek_prober_records import ProbeState, Reason
from spekctl.kernel.link import Link
from spekctl.kernel.prober import Prober

module = pytest.fixture(autouse=True)(fresh_module)
prober = pytest.fixture(connected)


# ---- one probe, and whose it is ----


def test_second_start_is_refused(prober: Prober) -> None:
    prober.start(100 * MS)
    with Prober() as second, pytest.raises(SpekError) as refusal:
        second.start(100 * MS)
    assert refusal.value.errno == errno.EBUSY
    assert refusal.value.message == (
        "The prober is already sampling: stop its probe and wait for the end."
    )
    info = prober.info()
    assert info.owner_pid == os.getpid()
    assert info.owner_name == Path("/proc/self/comm").read_text().strip()


@pytest.mark.debug_kernel
def test_start_replaces_a_probe_that_is_done(prober: Prober) -> None:
    first = prober.start(10 * MS)
    prober.stop(first)
    second = prober.start(10 * MS)
    assert second == first + 1
    assert_refused(lambda: prober.rows(first), errno.ENOENT, "There is no probe")
    prober.stop(second)


def start_in_child(detached: bool) -> int:
    """A child that owns a probe and sleeps. Return its pid."""

    def work(say: Callable[[str], object]) -> None:
        connection = Prober()
        say(f"started {connection.start(MS, detached=detached)}")
        signal.pause()

    pid, listen = in_child(work)
    assert listen().startswith("started")
    return pid


@pytest.mark.debug_kernel
def test_killed_owner_takes_the_probe_along(prober: Prober) -> None:
    for _ in range(10):
        pid = start_in_child(detached=False)
        assert prober.info().owner_pid == pid
        reap(pid, signal.SIGKILL)
        eventually(lambda: prober.info().state == ProbeState.IDLE, "the probe outlived its owner")
    threads_end("spek_prober")


@pytest.mark.debug_kernel
def test_owner_that_closes_takes_its_rows_along(prober: Prober) -> None:
    with Prober() as owner:
        probe = owner.start(10 * MS)
        owner.stop(probe)
        assert prober.info().state == ProbeState.DONE
    eventually(lambda: prober.info().state == ProbeState.IDLE, "rows outlived their owner")


@pytest.mark.debug_kernel
def test_detached_probe_outlives_its_owner(prober: Prober) -> None:
    pid = start_in_child(detached=True)
    reap(pid, signal.SIGKILL)
    # Its socket went with it: were the probe to end, it would have been asked to.
    info = prober.info()
    assert (info.state, info.detached, info.owner_pid) == (ProbeState.RUNNING, True, pid)
    wait_rows(prober, info.rows + 3)
    prober.stop(info.id)
    prober.delete(info.id)
    assert prober.info().state == ProbeState.IDLE


@pytest.mark.debug_kernel
def test_announcements_follow_the_states(prober: Prober) -> None:
    listener = Link(uapi, uapi.GROUP_PROBES, "no module")
    try:
        probe = prober.start(10 * MS)
        assert listener.wait(LONG_S)
        prober.request_stop(probe)
        assert listener.wait(LONG_S)
    finally:
        listener.close()
    prober.stop(probe)


@pytest.mark.debug_kernel
def test_many_stops_are_one(prober: Prober) -> None:
    probe = prober.start(MS)
    for _ in range(20):
        prober.request_stop(probe)
    info = prober.stop(probe)
    prober.request_stop(probe)
    assert sum(row.final for row in prober.rows(probe)[0]) == 1
    assert info.reason == Reason.STOPPED


@pytest.mark.debug_kernel
def test_a_probe_that_is_stopped_at_once_has_its_final_row(prober: Prober) -> None:
    """Also where its thread has not run before: the row may come with the first schedule."""
    for _ in range(50):
        probe = prober.start(SECOND)
        prober.stop(probe)
        finals = [row.final for row in prober.rows(probe)[0]]
        assert finals and finals[-1] and sum(finals) == 1


# ---- unloading ----


def test_idle_module_has_no_thread_and_no_callbacks(prober: Prober) -> None:
    assert prober.info().state == ProbeState.IDLE
    assert not sampler_threads()
    assert "spek_prober" not in HOTPLUG_STATES.read_text()
    probe = prober.start(10 * MS)
    assert sampler_threads()
    assert "spek_prober" in HOTPLUG_STATES.read_text()
    prober.stop(probe)
    threads_end("spek_prober")
    assert "spek_prober" not in HOTPLUG_STATES.read_text()


@pytest.mark.debug_kernel
def test_unload_ends_a_running_probe(prober: Prober) -> None:
    prober.start(MS, tasks=[os.getpid()])
    wait_rows(prober, 3)
    unload()
    threads_end("spek_prober")
    with pytest.raises(SpekError):
        prober.info()


@pytest.mark.debug_kernel
def test_load_sample_unload_loop() -> None:
    for turn in range(30):
        if not is_loaded():
            load()
        with Prober() as connection:
            connection.start(MS, detached=bool(turn % 2))
            if turn % 3:
                wait_rows(connection, turn % 3)
            if turn % 2:
                unload()
        unload()
    load()


def dump_request(family: int, command: int) -> bytes:
    """A dump request as bytes, for sockets that are not read as they should be."""
    flags = 0x001 | 0x300  # REQUEST | DUMP
    return struct.pack("=IHHIIBBH", 20, family, flags, 1, 0, command, 1, 0)


def family_number() -> int:
    with Socket(uapi) as sock:
        return sock.family


def open_dump() -> socket.socket:
    """A socket with an unread dump of rows in progress."""
    sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16)
    sock.bind((0, 0))
    sock.send(dump_request(family_number(), uapi.Cmd.SAMPLE_GET))
    return sock


@pytest.mark.debug_kernel
def test_open_dump_holds_the_module(prober: Prober) -> None:
    probe = prober.start(MS)
    wait_rows(prober, 300)
    sock = open_dump()
    assert not rmmod()
    prober.stop(probe)
    prober.delete(probe)
    # the rows are still there for the one who was promised them
    first = sock.recv(1 << 16)
    assert len(first) > 1000
    sock.close()
    unload()


@pytest.mark.debug_kernel
def test_killed_reader_leaves_nothing(prober: Prober) -> None:
    probe = prober.start(MS)
    wait_rows(prober, 300)

    def work(say: Callable[[str], object]) -> None:
        sock = open_dump()
        say("dumping")
        signal.pause()
        sock.close()

    for _ in range(5):
        pid, listen = in_child(work)
        assert listen() == "dumping"
        reap(pid, signal.SIGKILL)
    prober.stop(probe)


# ---- refusals ----


def assert_refused(call: Callable[[], Any], code: int, beginning: str) -> None:
    with pytest.raises(SpekError) as refusal:
        call()
    assert refusal.value.errno == code, refusal.value
    assert refusal.value.message.startswith(beginning), refusal.value.message
    assert refusal.value.message.endswith(".")


@pytest.mark.debug_kernel_at_length
@pytest.mark.parametrize(
    ("values", "code", "beginning"),
    [
        ({}, errno.EINVAL, "The request needs an interval"),
        ({"interval_ns": 0}, errno.ERANGE, "The interval must be from 1 ms to 1 h"),
        ({"interval_ns": MS - 1}, errno.ERANGE, "The interval must be from 1 ms to 1 h"),
        ({"interval_ns": 3600 * SECOND + 1}, errno.ERANGE, "The interval must be from"),
        ({"interval_ns": 2**64 - 1}, errno.ERANGE, "The interval must be from 1 ms to 1 h"),
        ({"interval_ns": MS, "ring_rows": 0}, errno.ERANGE, "The ring must keep from 2 to"),
        ({"interval_ns": MS, "ring_rows": 1}, errno.ERANGE, "The ring must keep from 2 to"),
        ({"interval_ns": MS, "ring_rows": 2**20 + 1}, errno.ERANGE, "The ring must keep from"),
        (
            {"interval_ns": MS, "ring_rows": 2**20},
            errno.ERANGE,
            "The rows need more than the 256 MiB",
        ),
        ({"interval_ns": MS, "task": [{"pid": 0}]}, errno.ESRCH, "There is no task with"),
        ({"interval_ns": MS, "task": [{"pid": 2**31}]}, errno.ESRCH, "There is no task with"),
        ({"interval_ns": MS, "task": [{"pid": 2**22 + 1}]}, errno.ESRCH, "There is no task"),
        ({"interval_ns": MS, "task": [{}]}, errno.EINVAL, "A task to watch needs its thread id"),
        (
            {"interval_ns": MS, "task": [{"pid": 1}, {"pid": 2}, {"pid": 1}]},
            errno.EINVAL,
            "The same task is to be watched twice",
        ),
        (
            {"interval_ns": MS, "task": [{"pid": 1}] * 1025},
            errno.ERANGE,
            "At most 1024 tasks can be watched",
        ),
    ],
)
def test_wrong_start_is_refused_with_a_sentence(
    values: dict[str, Any], code: int, beginning: str
) -> None:
    link = Link(uapi, None, "no module")
    try:
        assert_refused(lambda: link.ask(uapi.Cmd.PROBE_START, **values), code, beginning)
        assert link.ask(uapi.Cmd.PROBE_GET)["state"] == ProbeState.IDLE
    finally:
        link.close()


IN_PID_NAMESPACE = """
import os
from spekctl.kernel.prober import Prober
assert os.getpid() == 1
with Prober() as prober:
    probe = prober.start(10_000_000, tasks=[THREAD])
    while prober.info().rows < 2:
        pass
    prober.stop(probe)
    print(sorted(prober.rows(probe)[0][-1].tasks))
"""


def test_tasks_are_found_from_another_pid_namespace() -> None:
    """Kernel threads, which spek's workers are, have a number in the initial namespace only."""
    # Not by its name, which is that of each thread that it has just made, too.
    thread = 2
    assert Path(f"/proc/{thread}/comm").read_text() == "kthreadd\n"
    program = IN_PID_NAMESPACE.replace("THREAD", str(thread))
    command = ["unshare", "--pid", "--fork", "--mount-proc", sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"[{thread}]\n"), done.stderr


def test_wrong_numbers_are_refused_with_a_sentence(prober: Prober) -> None:
    link = Link(uapi, None, "no module")
    needs = "The request needs the number of a probe"
    none = "There is no probe: start one first"
    try:
        assert_refused(lambda: link.tell(uapi.Cmd.PROBE_STOP), errno.EINVAL, needs)
        assert_refused(lambda: link.tell(uapi.Cmd.PROBE_DEL), errno.EINVAL, needs)
    finally:
        link.close()
    assert_refused(lambda: prober.request_stop(1), errno.ENOENT, none)
    assert_refused(lambda: prober.delete(1), errno.ENOENT, none)
    assert_refused(lambda: prober.rows(1), errno.ENOENT, none)

    probe = prober.start(100 * MS)
    unknown = "There is no probe with this number"
    assert_refused(lambda: prober.request_stop(probe + 7), errno.ENOENT, unknown)
    assert_refused(lambda: prober.delete(probe + 7), errno.ENOENT, unknown)
    assert_refused(lambda: prober.rows(probe + 7), errno.ENOENT, unknown)
    assert_refused(lambda: prober.delete(probe), errno.EBUSY, "The probe has not ended: stop it")
    prober.stop(probe)

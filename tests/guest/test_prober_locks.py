# SPDX-License-Identifier: GPL-2.0
"""Which locks the prober takes, and that requests beside each other do no harm."""

from __future__ import annotations

import errno
import os
import signal
import socket
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from mmap import mmap
from pathlib import Path

import pytest
from lib.guest.calls import Stack, passes_module, stacks_of
from lib.guest.power import SECOND, W, fork, status_of
from lib.guest.prober import fresh_module, in_child, reap, wait_rows
from lib.waiting import LONG_S

from spekctl.errors import SpekError
from spekctl.kernel.feeds import PowerLink, PowerSample
from spekctl.kernel.prober import Prober

MS = 1_000_000
CPU1 = Path("/sys/devices/system/cpu/cpu1/online")
NETLINK_GENERIC = 16
OWNER_BUCKETS = 64  # of kmod/genl/family.h

two_cpus = pytest.mark.skipif(not CPU1.exists(), reason="needs a guest with a second CPU")
module = pytest.fixture(autouse=True)(fresh_module)


@contextmanager
def own_calls(function: str) -> Iterator[list[Stack]]:
    """Calls of this process that pass spek_prober."""
    ours: list[Stack] = []
    with stacks_of(function, os.getpid()) as stacks:
        yield ours
    ours += [stack for stack in stacks if passes_module(stack, "spek_prober")]


def bucket(portid: int) -> int:
    """hash_32() of a socket's number."""
    return (portid * 0x61C88647 & 0xFFFFFFFF) >> 26


def numbers_of_each_bucket() -> list[int]:
    numbers = {bucket(number): number for number in range(1 << 20, (1 << 20) + 4096)}
    assert len(numbers) == OWNER_BUCKETS
    return list(numbers.values())


def test_close_of_an_unrelated_socket_takes_no_lock() -> None:
    """The kernel says to us of every generic-netlink socket that it was closed. Two sockets here
    own something, so two of 64 buckets have to be looked at."""
    owner, link = Prober(), PowerLink()
    owner.start(SECOND)
    link.open_feed("board", "sim", ["5V"])
    unrelated = []
    for number in numbers_of_each_bucket():
        sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_GENERIC)
        sock.bind((number, 0))
        unrelated.append(sock)

    with own_calls("mutex_lock") as taken:
        for sock in unrelated:
            sock.close()
    closes = {stack for stack in taken if any("netlink_release" in frame for frame in stack)}
    assert len(taken) <= 2 * 2, closes

    # And the closes of the owners are seen.
    with own_calls("mutex_lock") as taken:
        link.close()
        owner.close()
    assert len(taken) >= 2


def test_energy_of_many_intervals_keeps_nobody_from_its_feed() -> None:
    """An interval may span millions of samples, and a request has thousands of intervals: the lock
    of the feeds, for which samples and rows wait, is given up after each."""
    intervals = [(i * MS, (i + 1) * MS) for i in range(100)]
    with PowerLink() as link:
        link.open_feed("board", "sim", ["5V"])
        with own_calls("mutex_lock") as taken:
            uses = link.energy(intervals)
    assert [len(rail.uses) for rail in uses] == [100]
    assert len(taken) >= 100


def test_requests_do_not_take_genetlinks_mutex() -> None:
    """Under genl_mutex, a slow request of any family delays those of spek, and vice versa."""
    with Prober() as prober, PowerLink() as link:
        probe = prober.start(MS)
        feed = link.open_feed("board", "sim", ["5V"])
        wait_rows(prober, 2)
        with stacks_of("mutex_lock", os.getpid()) as stacks:
            prober.info()
            prober.rows(probe)
            link.push(feed, [PowerSample(time.monotonic_ns(), W)])
            link.feeds()
            link.energy([(1, 2)])
            prober.stop(probe)
    # What takes genetlink's own mutex is genetlink, and not one of our functions that it calls.
    callers = [stack[0] for stack in stacks if stack]
    assert any("[spek_prober]" in caller for caller in callers)
    assert [caller for caller in callers if caller.startswith("genl_")] == []


@two_cpus
def test_hotplug_lock_is_taken_as_often_for_any_number_of_cpus() -> None:
    """Each time waits for a CPU that comes or goes; where there are many, for minutes."""

    def taken() -> int:
        with Prober() as prober, stacks_of("cpus_read_lock") as stacks:
            probe = prober.start(100 * MS)
            wait_rows(prober, 1)
            prober.stop(probe)
        return sum(passes_module(stack, "spek_prober") for stack in stacks)

    both = taken()
    try:
        CPU1.write_text("0")
        alone = taken()
    finally:
        CPU1.write_text("1")
    # None where the tracepoint has other users, as in our guests: nothing is patched then.
    assert both == alone


def counter() -> tuple[Callable[[], int], Callable[[], None]]:
    """One that a child shares: read it, count on."""
    memory = mmap(-1, 8)

    def read() -> int:
        return int(struct.unpack("=Q", memory[:8])[0])

    def count() -> None:
        memory[:8] = struct.pack("=Q", read() + 1)

    return read, count


@two_cpus
def test_start_and_stop_are_served_while_a_cpu_comes_and_goes() -> None:
    """Without any pause. What a start and a stop take is held above; here it must come in time:
    where the lock was taken once for each CPU, they took minutes of twenty changes a second."""
    changes, count = counter()

    def toggle(say: Callable[[str], object]) -> None:
        while True:
            for state in "01":
                CPU1.write_text(state)
                count()

    pid, _ = in_child(toggle)
    try:
        with Prober() as prober:
            turns, end_s = 0, time.monotonic() + LONG_S
            # However long it takes for the first change.
            while turns < 10 or changes() <= 10:
                assert time.monotonic() < end_s, "CPU 1 does not change"
                before = changes()
                prober.stop(prober.start(MS))
                assert changes() - before <= 400
                turns += 1
    finally:
        reap(pid, signal.SIGKILL)
        CPU1.write_text("1")


def until(end_s: float, act: Callable[[], object], *expected: int) -> None:
    """Again and again; what others do at the same time may refuse it by these errors."""
    while time.monotonic() < end_s:
        try:
            act()
        except SpekError as error:
            assert error.errno in expected, error


@pytest.mark.debug_kernel
def test_requests_beside_each_other() -> None:
    """Nothing serializes them but our own locks: lockdep and KASAN watch on the debug kernel."""
    end_s = time.monotonic() + 8

    def starts_and_stops() -> None:
        with Prober() as prober:

            def cycle() -> None:
                probe = prober.start(MS)
                prober.stop(probe)
                prober.delete(probe)

            until(end_s, cycle, errno.EBUSY, errno.ENOENT)

    def starts_and_dies() -> None:
        def cycle() -> None:
            with Prober() as prober:
                prober.start(MS)

        until(end_s, cycle, errno.EBUSY)

    def feeds() -> None:
        with PowerLink() as link:

            def cycle() -> None:
                feed = link.open_feed(f"board-{os.getpid()}", "sim", ["5V", "12V"])
                for rail in range(2):
                    link.push(feed, [PowerSample(time.monotonic_ns(), W, rail)])
                link.mark(feed, until_ns=time.monotonic_ns())
                link.close_feed(feed)

            until(end_s, cycle)

    def reads() -> None:
        with Prober() as prober, PowerLink() as link:

            def cycle() -> None:
                link.feeds()
                link.energy([(1, 2), (time.monotonic_ns() - SECOND, time.monotonic_ns())])
                prober.rows(prober.info().id)

            # Without an errno: the client gives up on a list that changes all the time.
            until(end_s, cycle, errno.ENOENT, 0)

    works = (*(starts_and_stops,) * 2, starts_and_dies, *(feeds,) * 2, *(reads,) * 2)
    children = [fork(work) for work in works]
    assert [status_of(child) for child in children] == [0] * len(children)

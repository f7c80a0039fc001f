# SPDX-License-Identifier: GPL-2.0
"""Scenarios: the machine changes under a run: CPUs, clocks, memory, modules, who feeds power."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from guest.faults.devices import off_and_on
from guest.faults.world import MIB, MS, SECOND, WAIT_S, World, endless, queue, scenario
from lib.guest import modules
from lib.guest.drive import one_stream
from lib.guest.netlink_raw import Refusal
from lib.waiting import eventually

from spekctl.errors import SpekError
from spekctl.kernel.feeds import PowerLink, PowerSample
from spekctl.kernel.prober import Prober
from spekctl.kernel.records import Reason, RunInfo, RunState

CPU1 = Path("/sys/devices/system/cpu/cpu1/online")
W = 1_000_000  # in microwatts


@contextlib.contextmanager
def cpu_offline() -> Iterator[None]:
    """CPU 1 is offline meanwhile."""
    try:
        CPU1.write_text("0")
        yield
    finally:
        CPU1.write_text("1")


def end_by_cpu(world: World, run: int) -> RunInfo:
    """The end of a run with a worker on CPU 1, which goes offline."""
    with cpu_offline():
        return world.done(run, Reason.CPU_OFFLINE)


@scenario("bio", "mq")
def cpu_goes_and_comes(world: World, backend: str) -> str:
    """A run with a worker on the CPU ends, on another CPU; a READY one does not start any more."""
    node = world.null().node
    with world.running(endless(node, backend)) as run:
        assert end_by_cpu(world, run).errors == 0
    ready = world.controller.run_new(endless(node, backend))
    try:
        with cpu_offline():
            pass
        with pytest.raises(Refusal, match="The CPU of a worker was taken offline") as caught:
            world.controller.run_start(ready)
        assert caught.value.errno == errno.ENODEV
    finally:
        world.controller.run_delete(ready)
    # on the CPU that is back
    with world.running(endless(node, backend)) as run:
        assert world.stop(run).errors == 0
    return node


@scenario("bio", "mq")
def cpu_goes_while_it_polls(world: World, backend: str) -> str:
    """What the worker has sent through a hardware queue of its old CPU comes back because it is
    polled for, not because its time is over."""
    node = world.polled_nvme()
    timeout_ns = int(queue(node, "io_timeout").read_text()) * MS
    config = endless(node, backend, depth=32, batch=4, workers=1, polled=True)
    with world.running(msgspec.structs.replace(config, cpus=[1])) as run:
        assert end_by_cpu(world, run).errors == 0
        rows = world.controller.intervals(run, 0)
    longest_ns = max(max(row.read.response_max_ns, row.write.response_max_ns) for row in rows)
    assert longest_ns < timeout_ns
    return node


@contextlib.contextmanager
def clock_steps(*hours: int) -> Iterator[Callable[[], None]]:
    """Yields a function that sets the wall clock forward by the next number of hours; at the end
    the clock is right again."""
    offset_ns = -time.monotonic_ns() + time.time_ns()

    def step() -> None:
        for hour in hours:
            time.clock_settime_ns(time.CLOCK_REALTIME, time.time_ns() + hour * 3600 * SECOND)

    try:
        yield step
    finally:
        time.clock_settime_ns(time.CLOCK_REALTIME, time.monotonic_ns() + offset_ns)


@scenario()
def clock_is_set(world: World) -> str:
    """An hour forward, a day back: a run lasts as long as it was told to, by a clock that nobody
    sets; the wall clock of its end is the one that was set."""
    node = world.null().node
    # However long the emulated processors take to set a clock, one of these outlasts it.
    for time_ns in (SECOND // 2, 8 * SECOND, 60 * SECOND):
        run = world.controller.run_new(endless(node, time_ns=time_ns, interval_ns=100 * MS))
        with clock_steps(1, -24) as step:
            world.controller.run_start(run)
            step()
            in_time = world.get(run).state is RunState.RUNNING
            info = world.done(run, Reason.COMPLETED)
            rows = world.controller.intervals(run, 0)
        world.controller.run_delete(run)
        if in_time:
            break
    else:
        pytest.fail("no clock can be set in a minute")
    assert info.drain_ns - info.measure_ns == time_ns
    stepped_ns = info.end_real_ns - info.start_real_ns - (info.ended_ns - info.started_ns)
    assert abs(stepped_ns + 23 * 3600 * SECOND) < 600 * SECOND
    starts = [row.start_ns for row in rows]
    assert starts == sorted(starts) and starts[0] >= info.started_ns
    return node


@scenario()
def memory_runs_out(world: World) -> str:
    """A run has all it needs before it starts; one that does not fit is refused, in a sentence."""
    node = world.null().node
    with world.running(endless(node)) as run, hog(world, leave=256 * MIB):
        world.moves(run, 100)
        greedy = one_stream(world.null(irqmode=0).node, sizes=[(MIB, 1)], depth=600, count=1)
        with pytest.raises(Refusal) as caught:
            world.controller.run_new(greedy)
        assert caught.value.errno == errno.ENOMEM
        assert "not enough memory" in caught.value.text
        world.moves(run, 100)
        assert world.stop(run).errors == 0
    return node


@contextlib.contextmanager
def hog(world: World, leave: int) -> Iterator[None]:
    """Nearly all of the memory is in use: by a run that never starts, whose buffers are a quick way
    to have so much."""
    slots = max((available() - leave) // MIB, 1)
    node = world.null(irqmode=0, hw_queue_depth=16).node
    run = world.controller.run_new(one_stream(node, sizes=[(MIB, 1)], depth=slots, count=1))
    try:
        yield
    finally:
        world.controller.run_delete(run)


def available() -> int:
    """Bytes that could still be had."""
    return modules.meminfo()["MemAvailable"] << 10


@scenario()
def modules_are_held_by_a_run(world: World) -> str:
    """rmmod of spek and of the disk's driver is refused, and does no harm."""
    node = world.null().node
    with world.running(endless(node)) as run:
        for module in ("spek", "null_blk"):
            assert not modules.unload(module)
        world.moves(run)
        assert world.stop(run).errors == 0
    return node


@scenario()
def module_is_loaded_anew(world: World) -> str:
    """With a run that is left READY, one that is left running, and one that is over."""
    disks = [world.null().node, world.null(irqmode=0).node]
    world.controller.run_new(endless(disks[0]))
    world.controller.run_start(world.controller.run_new(endless(disks[1])))
    world.results["gone with its owner"] += 2
    world.reload()
    return disks[0]


@contextlib.contextmanager
def prober_module(world: World) -> Iterator[None]:
    """spek_prober.ko is loaded, if it was not."""
    if not modules.is_loaded("spek_prober"):
        modules.load(world.modules / "spek_prober.ko")
    try:
        yield
    finally:
        if modules.is_loaded("spek_prober"):
            world.unload("spek_prober")


@scenario()
def prober_is_unloaded_and_loaded(world: World) -> str:
    """It watches the workers, goes without being asked to stop, and comes back; the run never
    knew of it."""
    node = world.null().node
    with world.running(endless(node)) as run, prober_module(world):
        pids = [worker.pid for worker in world.get(run).workers]
        prober = Prober()
        prober.start(10 * MS, tasks=pids)
        eventually(lambda: prober.info().rows > 3, "no rows", WAIT_S)
        world.unload("spek_prober")
        with pytest.raises(SpekError):
            prober.info()
        prober.close()
        world.moves(run)
        modules.load(world.modules / "spek_prober.ko")
        with Prober() as fresh:
            fresh.start(10 * MS, tasks=pids)
            eventually(lambda: fresh.info().rows > 3, "no rows", WAIT_S)
            assert world.stop(run).errors == 0
    modules.threads_end("spek_prober")
    return node


def bring_power() -> None:
    """What spek-daq does: 4 W, for ever."""
    link = PowerLink()
    feed = link.open_feed("board", "sim", ["5V"])
    while True:
        link.push(feed, [PowerSample(time.monotonic_ns(), 4 * W, 0)])
        time.sleep(0.01)


@scenario()
def daq_is_killed(world: World) -> str:
    """Its feed ends; earlier samples can be read, later power is unknown; the run continues."""
    node = world.null().node
    with world.running(endless(node)) as run, prober_module(world), PowerLink() as link:
        pid = os.fork()
        if pid == 0:
            with contextlib.suppress(BaseException):
                bring_power()
            os._exit(1)
        try:
            eventually(
                lambda: any(feed.is_open and feed.batches > 3 for feed in link.feeds()),
                "no power",
                WAIT_S,
            )
        finally:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        eventually(lambda: not any(feed.is_open for feed in link.feeds()), "open", WAIT_S)
        world.moves(run)
        assert world.stop(run).errors == 0
        (feed,) = link.feeds()
        now = time.monotonic_ns()
        (rail,) = link.energy([(feed.opened_ns, now)])
        (use,) = rail.uses
        assert use.known_ns > 0
        times = use.known_ns + use.gap_ns + use.lost_ns + use.pending_ns
        assert times == now - feed.opened_ns and use.gap_ns > 0
    return node


@scenario(without_run=off_and_on)
def everything_at_once(world: World) -> str:
    """A CPU goes and the clock is set while the disk is switched off and the module is asked to
    leave: the run's result names the disk."""
    disk = world.null()
    # Without a worker on the CPU, which would end the run first.
    config = endless(disk.node, "mq", workers=1)
    with world.running(config) as run, clock_steps(1) as step:
        remover = threading.Thread(target=disk.power, args=(False,))
        try:
            CPU1.write_text("0")
            remover.start()
            step()
            assert not modules.unload("spek")
        finally:
            CPU1.write_text("1")
        world.done(run, Reason.DEVICE_GONE)
        remover.join(WAIT_S)
        assert not remover.is_alive(), "the disk is still held"
    disk.power(True)
    return disk.node

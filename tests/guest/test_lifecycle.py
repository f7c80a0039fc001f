# SPDX-License-Identifier: GPL-2.0
"""Runs that end in every way there is: nothing stays behind, and the device is free again."""

from __future__ import annotations

import gc
import os
import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
from lib.guest.disks import (
    disk_of_kind,
    held_disk,
    make_null,
    null_disk,
    remove_null,
)
from lib.guest.drive import Controller, assert_completed, one_stream
from lib.guest.modules import (
    NETLINK_KOBJECT_UEVENT,
    idle_meminfo,
    is_loaded,
    load,
    orphaned_vmalloc_bytes,
    references,
    slab_objects,
    threads_end,
    unload,
    unload_soon,
    unread_uevents,
    vmalloc_bytes,
)
from lib.guest.owner import controller_process
from lib.harness.kernels import repeated
from lib.waiting import LONG_S, eventually

from spekctl.kernel.records import Reason, RunState
from spekctl.workload.config import RunConfig

pytestmark = pytest.mark.debug_kernel

KIB, MIB = 1 << 10, 1 << 20
MS, SECOND = 1_000_000, 1_000_000_000
CYCLES = repeated(60, 100)
KILLED = repeated(20, 40)
BATCHES = 5
UNREAD = 20
ENDINGS = 4
BACKENDS = ("bio", "mq")
LONG_NS = 600 * SECOND
FROM_KERNEL = 1  # group of events that udev has not seen


@pytest.fixture(scope="module")
def spek_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy in the guest's own memory: reading through 9p leaves memory behind for a while."""
    original = Path(os.environ["SPEK_MODULES"], "spek.ko")
    return Path(shutil.copy(original, tmp_path_factory.mktemp("modules")))


def can_be_claimed(node: str) -> bool:
    """True if the device is not claimed."""
    try:
        os.close(os.open(node, os.O_RDWR | os.O_EXCL | os.O_CLOEXEC))
    except OSError:
        return False
    return True


@pytest.fixture
def module(spek_path: Path) -> Iterator[None]:
    """The module, for a test that also sees it off."""
    load(spek_path)
    yield
    if is_loaded("spek"):
        unload_soon("spek")


def lost(before: dict[str, int], after: dict[str, int]) -> dict[str, int]:
    """What memory is used for now, if there are 16 MiB less of it; else nothing."""
    free = [memory["MemAvailable"] + memory["PerCpuLists"] for memory in (before, after)]
    if (free[0] - free[1]) * KIB < 16 * MIB:
        return {}
    changes = {name: value - before.get(name, 0) for name, value in after.items()}
    return {name: change for name, change in changes.items() if abs(change) > 1024}


@contextmanager
def nothing_lost(cycles: int) -> Iterator[Callable[[], None]]:
    """Memory afterwards is what it was before; the caller calls what this gives after each batch.

    @cycles: those of a batch that lose something, if any do

    What other parts of the guest keep meanwhile is noise: a hundred times starting a process
    that does nothing moves kmalloc-96 by 128 objects. But noise comes and goes, and a leak comes
    with every cycle: so no cache may have grown in each of the batches. vmalloc has no such
    noise. Pages have: udev's workers, woken by each device that is closed, live for seconds after.
    But they go, and 16 MiB is what four forgotten runs would keep for ever.
    """
    gc.collect()
    memory, orphaned = idle_meminfo(), orphaned_vmalloc_bytes()
    marks = [slab_objects()]

    def mark() -> None:
        gc.collect()
        marks.append(slab_objects())

    yield mark
    assert len(marks) > BATCHES
    assert orphaned_vmalloc_bytes() == orphaned
    growth = {
        name: [after.get(name, 0) - before.get(name, 0) for before, after in pairwise(marks)]
        for name in marks[0]
    }
    leaking = {name: steps for name, steps in growth.items() if min(steps) >= cycles}
    assert not leaking
    end_s = time.monotonic() + LONG_S
    while changes := lost(memory, idle_meminfo()):
        assert time.monotonic() < end_s, f"memory has not come back, KiB: {changes}"
        time.sleep(0.1)


def busy(node: str, backend: str = "auto", **fields: object) -> RunConfig:
    """Load until it is stopped, with 4 MiB of buffers: 64 of 64 KiB."""
    config = one_stream(
        node,
        sizes=[(64 * KIB, 1)],
        read_ppm=500_000,
        depth=64,
        workers=2,
        backend=backend,
        time_ns=LONG_NS,
        interval_ns=SECOND,
    )
    return msgspec.structs.replace(config, **fields)


# ---- load, run, unload ----


@pytest.mark.any_kernel
@pytest.mark.debug_kernel_at_length
def test_load_run_unload(spek_path: Path, spek_gone: None) -> None:
    """Again and again, leaving the run in another state each time."""
    with null_disk(irqmode=2, completion_nsec=MS) as node:
        short = msgspec.structs.replace(busy(node), time_ns=0, count=200)
        endings = (complete_and_delete, complete_only, leave_running, leave_ready)
        # Once for what is allocated the first time and kept.
        for end in endings:
            cycle(spek_path, node, short, end)

        with nothing_lost(CYCLES // BATCHES // ENDINGS) as mark:
            for number in range(CYCLES):
                cycle(spek_path, node, short, endings[number % len(endings)])
                if (number + 1) % (CYCLES // BATCHES) == 0:
                    mark()

    threads_end("spek")


@pytest.fixture
def spek_gone() -> Iterator[None]:
    """These tests load the module themselves."""
    assert not is_loaded("spek")
    yield
    if is_loaded("spek"):
        unload_soon("spek")


def test_unread_events_are_no_leak(spek_path: Path, spek_gone: None) -> None:
    """What udev has not read yet holds memory: slab_objects() waits for that."""
    load(spek_path)
    unload_soon("spek")
    before = slab_objects()
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_KOBJECT_UEVENT) as events:
        events.bind((0, FROM_KERNEL))
        for _ in range(UNREAD):
            load(spek_path)
            unload_soon("spek")
        assert unread_uevents() > 0
        late = threading.Timer(2, events.close)
        late.start()
        after = slab_objects()
        late.join()
    growth = {name: after[name] - before[name] for name in ("kmalloc-512", "kmalloc-1k")}
    assert max(growth.values()) < UNREAD, growth


Ending = Callable[[Controller, RunConfig], None]


def cycle(path: Path, node: str, config: RunConfig, end: Ending) -> None:
    load(path)
    with Controller() as controller:
        end(controller, config)
    unload_soon("spek")
    assert can_be_claimed(node)


def complete_and_delete(controller: Controller, config: RunConfig) -> None:
    outcome = controller.complete(config)
    assert outcome.ios() == config.count


def complete_only(controller: Controller, config: RunConfig) -> None:
    """The run is DONE when its socket goes."""
    assert_completed(controller.finish(controller.run_new(config)))


def leave_running(controller: Controller, config: RunConfig) -> None:
    long = msgspec.structs.replace(config, count=0, time_ns=LONG_NS)
    controller.run_start(controller.run_new(long))


def leave_ready(controller: Controller, config: RunConfig) -> None:
    controller.run_new(config)


def test_a_run_keeps_the_module(module: None) -> None:
    with null_disk() as node, Controller() as controller:
        run = controller.run_new(busy(node))
        assert not unload("spek")
        controller.run_start(run)
        assert not unload("spek")
        controller.run_stop(run)
        assert controller.wait_done(run).reason is Reason.STOPPED
        assert not unload("spek")
        # A run that is over has given its device back; its numbers are still there.
        assert can_be_claimed(node)
        controller.run_delete(run)
        unload_soon("spek")


# ---- controllers that die ----


def kill_one(config: RunConfig, after_s: float) -> int:
    """Start a controller, kill it in mid-run. Return: the number of its run."""
    with controller_process(config) as (_, run):
        time.sleep(after_s)
    return run


def test_controllers_killed_in_mid_run(module: None) -> None:
    """Forty, each some other time after its start, with both back ends."""
    with null_disk(irqmode=2, completion_nsec=MS) as node, Controller() as observer:
        configs = [busy(node, backend) for backend in BACKENDS]

        def kill(number: int) -> None:
            run = kill_one(configs[number % 2], after_s=number % 20 / 1000)
            # Announced once it has given the device back.
            info = observer.wait_done_unless_gone(run)
            assert info is None or info.reason is Reason.OWNER_GONE
            eventually(lambda: not observer.runs(), "the run is still there")
            # Not to be found any more is not all given back.
            eventually(lambda: references("spek") == 0, "the run holds the module")
            assert can_be_claimed(node)

        for number in range(4):
            kill(number)
        held = vmalloc_bytes("spek")

        with nothing_lost(KILLED // BATCHES) as mark:
            for number in range(KILLED):
                kill(number)
                if (number + 1) % (KILLED // BATCHES) == 0:
                    mark()
            assert vmalloc_bytes("spek") == held

        threads_end("spek/")
    unload_soon("spek")
    threads_end("spek")


def test_a_detached_run_outlives_its_controller(module: None) -> None:
    """Conversely, only the next controller stops it."""
    with null_disk() as node, Controller() as observer:
        run = kill_one(busy(node, detached=True), after_s=0.02)

        assert observer.run_get(run).state is RunState.RUNNING
        assert not can_be_claimed(node)
        observer.run_stop(run)
        assert observer.wait_done(run).reason is Reason.STOPPED
        observer.run_delete(run)


def test_stop_returns_while_the_device_works(module: None) -> None:
    with (
        null_disk() as below,
        held_disk(below) as (node, answer),
        Controller() as controller,
    ):
        run = controller.run_new(busy(node))
        controller.run_start(run)
        eventually(lambda: controller.run_get(run).outstanding > 0, "nothing was issued")
        controller.run_stop(run)
        info = controller.run_get(run)
        assert info.state in (RunState.RUNNING, RunState.DRAINING)
        answer()
        done = controller.wait_done(run)
        assert (done.reason, done.outstanding) == (Reason.STOPPED, 0)
        controller.run_delete(run)


# ---- devices that go ----


def test_device_removed_while_the_run_is_ready(module: None) -> None:
    node, item = make_null()
    try:
        with Controller() as controller:
            run = controller.run_new(busy(node))
            (item / "power").write_text("0")
            with pytest.raises(OSError):
                os.open(node, os.O_RDONLY)
            controller.run_delete(run)
        unload_soon("spek")
    finally:
        remove_null(item)


@pytest.mark.parametrize("kind", ["null_blk", "scsi_debug"])
def test_the_driver_of_a_target_stays(module: None, kind: str) -> None:
    """rmmod of the disk's driver is refused as long as the run has the disk."""
    with disk_of_kind(kind, 512) as node, Controller() as controller, controller.ready(busy(node)):
        assert not unload(kind)

# SPDX-License-Identifier: GPL-2.0
"""Faults in mid-run: the mechanism that every scenario shares.

A scenario is a function of a World. It starts a run, lets something go wrong under it, and says
what the run must have reported; then it puts right what it broke and gives the device that the
next run is to work on. play() does that once and looks at what must hold after any fault: no run,
thread, claim or memory stays behind, and the next run works.

Scenarios can be played any number of times in one guest, in any order: disks stay between them,
and what a scenario takes away it brings back. They wait for states, never for times.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
from lib.guest import modules as guest_modules
from lib.guest.disks import (
    emulated,
    make_disk,
    make_null,
    mapped_disk,
    nvme_with_poll_queues,
    remove_null,
    settle,
)
from lib.guest.drive import Controller, Outcome, capacity, one_stream, sysfs
from lib.guest.netlink_raw import Refusal
from lib.waiting import LONG_S, eventually

from spekctl.kernel.records import Reason, RunInfo, RunState
from spekctl.workload.config import RunConfig

MIB = 1 << 20
MS, SECOND = 1_000_000, 1_000_000_000
FOREVER_NS = 3600 * SECOND
WAIT_S = LONG_S  # until something that must happen counts as never; a debug kernel is slow
SIZE_MB = 64

Scenario = Callable[["World"], str]
SCENARIOS: dict[str, Scenario] = {}
# What lockdep finds in other people's code on the way; it reports once and is silent for good.
NOT_WITH_LOCKDEP: set[str] = set()
# What is done to a device without a run, where the device's driver loses memory of its own by that.
WITHOUT_RUN: dict[str, Callable[[World], object]] = {}


def scenario(
    *cases: str, lockdep: bool = True, without_run: Callable[..., object] | None = None
) -> Callable[[Callable[..., str]], Callable[..., str]]:
    """Enter a function into SCENARIOS, once for each case, which it gets as its second argument."""

    def enter(function: Callable[..., str]) -> Callable[..., str]:
        for case in cases or ("",):
            name = f"{function.__name__}-{case}" if case else function.__name__
            arguments = (case,) if case else ()
            SCENARIOS[name] = with_arguments(function, arguments)
            if without_run:
                WITHOUT_RUN[name] = with_arguments(without_run, arguments)
            if not lockdep:
                NOT_WITH_LOCKDEP.add(name)
        return function

    return enter


def with_arguments(
    function: Callable[..., Any], arguments: tuple[str, ...]
) -> Callable[[World], Any]:
    """The function of a world alone."""
    return lambda world: function(world, *arguments)


def can_be_claimed(node: str) -> bool:
    """True if the device is not claimed."""
    try:
        os.close(os.open(node, os.O_RDWR | os.O_EXCL | os.O_CLOEXEC))
    except OSError as no:
        if no.errno != errno.EBUSY:
            raise
        return False
    return True


def endless(node: str, backend: str = "auto", **fields: Any) -> RunConfig:
    """Reads and writes until something happens, on both CPUs."""
    options: dict[str, Any] = {"read_ppm": 700_000, "depth": 8, "workers": 2}
    options.update({"time_ns": FOREVER_NS, "interval_ns": SECOND}, **fields)
    return one_stream(node, backend=backend, **options)


def can_be_opened(node: str) -> bool:
    """True if there is a device. Its name comes a moment before the device does."""
    try:
        os.close(os.open(node, os.O_RDONLY | os.O_CLOEXEC))
    except OSError:
        return False
    return True


class NullDisk:
    """A null_blk disk that can be switched off and on."""

    def __init__(self, **attributes: int) -> None:
        self.node, self.item = make_null(SIZE_MB, **attributes)

    def power(self, on: bool) -> None:
        """Take the disk away, or bring it back."""
        before = set(os.listdir("/sys/block"))
        (self.item / "power").write_text("1" if on else "0")
        if on:
            (name,) = set(os.listdir("/sys/block")) - before
            self.node = f"/dev/{name}"
            eventually(lambda: can_be_opened(self.node), f"{self.node} did not appear", WAIT_S)

    def remove(self) -> None:
        """Take it away for good."""
        remove_null(self.item)


class World:
    """A guest in which faults are played: the modules, a controller, disks that stay."""

    def __init__(self, modules: Path) -> None:
        self.modules = modules
        self.results: Counter[str] = Counter()
        self._null: dict[tuple[tuple[str, int], ...], NullDisk] = {}
        self._has_scsi = False
        self._kept = contextlib.ExitStack()
        guest_modules.load(modules / "spek.ko")
        self.controller = Controller(hears=False)
        self.held = guest_modules.vmalloc_bytes("spek")

    def close(self) -> None:
        """Give everything back; the module unloads."""
        self.controller.close()
        self._kept.close()
        for disk in self._null.values():
            disk.remove()
        if self._has_scsi:
            settle()
            self.unload("scsi_debug")
        self.unload("spek")
        guest_modules.threads_end("spek")

    # ---- modules ----

    def unload(self, name: str) -> None:
        """The module goes."""
        guest_modules.unload_soon(name, WAIT_S)

    def reload(self) -> None:
        """A fresh spek.ko, and a controller that knows it."""
        self.controller.close()
        self.unload("spek")
        guest_modules.load(self.modules / "spek.ko")
        self.controller = Controller(hears=False)

    # ---- disks ----

    def null(self, **attributes: int) -> NullDisk:
        """A null_blk disk with these attributes, the same one each time; 0.2 ms for each I/O."""
        options = {"irqmode": 2, "completion_nsec": MS // 5, **attributes}
        key = tuple(sorted(options.items()))
        if key not in self._null:
            self._null[key] = NullDisk(**options)
        return self._null[key]

    def scsi(self) -> str:
        """The scsi_debug disk; found again if it was deleted."""
        if not self._has_scsi:
            self._has_scsi = True
            options = {"ndelay": "200000", "lbpu": "1", "lbpws": "1"}
            disk = {"kind": "scsi_debug", "bytes": SIZE_MB * MIB, "block_size": 512}
            return make_disk({**disk, "options": options})
        # udev opens the device after each writer closes it: keep that out of the next fault.
        settle()
        pattern = "bus/pseudo/drivers/scsi_debug/adapter*/host*"
        (host,) = Path("/sys").glob(pattern)
        if not list(host.glob("target*/*/block/*")):
            Path("/sys/class/scsi_host", host.name, "scan").write_text("- - -")
        eventually(lambda: list(host.glob("target*/*/block/*")), "no scsi_debug disk", WAIT_S)
        (block,) = host.glob("target*/*/block/*")
        node = f"/dev/{block.name}"
        eventually(lambda: can_be_opened(node), f"{node} did not appear", WAIT_S)
        settle()
        return node

    def nvme(self) -> str:
        """QEMU's NVMe disk; found again if it was taken off its bus."""
        return emulated("nvme", 512)

    def polled_nvme(self) -> str:
        """The same disk; its driver has poll queues until it is unloaded."""
        if queue(self.nvme(), "io_poll").read_text() != "1\n":
            self._kept.enter_context(nvme_with_poll_queues(2))
        return self.nvme()

    @contextlib.contextmanager
    def mapped(self, node: str) -> Iterator[str]:
        """A device-mapper volume 'fault' on the whole of a disk."""
        with mapped_disk("fault", f"0 {capacity(node) // 512} linear {node} 0") as top:
            yield top

    # ---- runs ----

    def get(self, run: int) -> RunInfo:
        """State and progress of a run."""
        return self.controller.run_get(run)

    def wait(self, run: int, what: str, reached: Callable[[RunInfo], bool]) -> RunInfo:
        """Poll a run until it is as wanted; announcements are another scenario's business."""
        info = self.get(run)

        def look() -> bool:
            nonlocal info
            info = self.get(run)
            return reached(info)

        with contextlib.suppress(AssertionError):
            eventually(look, what, WAIT_S)
            return info
        raise AssertionError(f"{what}: {info}")

    def done(self, run: int, *reasons: Reason) -> RunInfo:
        """A run that ends by itself, for one of these reasons."""
        info = self.wait(run, "the run does not end", lambda info: info.state is RunState.DONE)
        assert info.reason in reasons, info
        assert info.outstanding == 0, info
        self.note(info)
        return info

    def stop(self, run: int) -> RunInfo:
        """A run that continues until it is stopped."""
        assert self.get(run).state is RunState.RUNNING, self.get(run)
        self.controller.run_stop(run)
        return self.done(run, Reason.STOPPED)

    def note(self, info: RunInfo) -> None:
        """Count what a run's result says, for the report of a campaign."""
        self.results[info.reason.name.lower() + (" with errors" if info.errors else "")] += 1

    def moves(self, run: int, ios: int = 20) -> None:
        """I/Os are coming back now."""
        before = requests(self.get(run))
        self.wait(run, "the run stands still", lambda info: requests(info) >= before + ios)

    @contextlib.contextmanager
    def running(self, config: RunConfig) -> Iterator[int]:
        """A run that has begun to send; it is deleted afterwards, whatever became of it."""
        run = self.controller.run_new(config)
        try:
            self.controller.run_start(run)
            self.moves(run)
            yield run
        finally:
            if self.get(run).state not in (RunState.DONE, RunState.READY):
                self.controller.run_stop(run)
                self.wait(run, "the run does not end", lambda info: info.state is RunState.DONE)
            self.controller.run_delete(run)

    def finished(self, config: RunConfig) -> Outcome:
        """A run that comes to its end by itself."""
        run = self.controller.run_new(config)
        try:
            self.controller.run_start(run)
            info = self.wait(run, "the run does not end", lambda info: info.state is RunState.DONE)
            return Outcome(info, self.controller.stats(run))
        finally:
            self.controller.run_delete(run)

    # ---- afterwards ----

    def give_up_runs(self) -> None:
        """After a fault that was not met as it should be: the next one does not wait for its
        runs."""
        for run in self.controller.runs():
            with contextlib.suppress(Refusal):
                self.controller.run_stop(run.id)
            with contextlib.suppress(Refusal, AssertionError):
                self.wait(
                    run.id,
                    "it does not end",
                    lambda info: info.state in (RunState.READY, RunState.DONE),
                )
                self.controller.run_delete(run.id)

    def nothing_left(self, node: str) -> None:
        """What holds after any fault."""
        eventually(lambda: not self.controller.runs(), "a run is left", WAIT_S)
        eventually(lambda: guest_modules.references("spek") == 0, "the module is held", WAIT_S)
        guest_modules.threads_end("spek/")
        assert guest_modules.vmalloc_bytes("spek") == self.held
        assert can_be_claimed(node), f"{node} is still claimed"
        outcome = self.finished(one_stream(node, depth=4, count=50))
        assert (outcome.info.reason, outcome.info.errors) == (Reason.COMPLETED, 0), outcome.info
        assert outcome.ios() == 50


def requests(info: RunInfo) -> int:
    """Requests sent so far."""
    return sum(target.reads + target.writes for target in info.targets)


def queue(node: str, name: str) -> Path:
    """An attribute of a disk's queue."""
    return sysfs(node) / "queue" / name


def with_size(config: RunConfig, size: int) -> RunConfig:
    """The same load with other blocks."""
    (stream,) = config.streams
    sizes = [msgspec.structs.replace(stream.sizes[0], bytes=size)]
    changed = msgspec.structs.replace(stream, sizes=sizes, align_bytes=size)
    return msgspec.structs.replace(config, streams=[changed])


def play(world: World, name: str) -> Counter[str]:
    """One round of a scenario; what the runs in it reported."""
    world.results = Counter()
    try:
        node = SCENARIOS[name](world)
    except BaseException:
        world.give_up_runs()
        raise
    world.nothing_left(node)
    return world.results

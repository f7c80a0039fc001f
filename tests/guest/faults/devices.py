# SPDX-License-Identifier: GPL-2.0
"""Scenarios: the device fails, hangs, goes, or changes under a run."""

from __future__ import annotations

import contextlib
import errno
import threading
import time
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import pytest
from guest.faults.nvmet import disk_over_tcp
from guest.faults.world import (
    MS,
    SECOND,
    WAIT_S,
    NullDisk,
    World,
    can_be_opened,
    endless,
    queue,
    requests,
    scenario,
    with_size,
)
from lib.guest import device_mapper, modules, scsi
from lib.guest.disks import (
    add_partition,
    format_nvme,
    partition,
    resize_partition,
    settle,
)
from lib.guest.drive import capacity, sysfs
from lib.guest.netlink_raw import Refusal
from lib.guest.scsi import faults
from lib.waiting import eventually

from spekctl.kernel.records import Reason, RunInfo, RunState
from spekctl.vm import guest_side
from spekctl.workload.config import ResolvedArrival

BACKENDS = ("bio", "mq")
SCSI_BACKENDS = ("bio", "mq", "scsi")
SD = Path("/sys/bus/scsi/drivers/sd")
SCSI_DEVICES = Path("/sys/bus/scsi/devices")
SCSI_PARAMETERS = Path("/sys/module/scsi_debug/parameters")
ENOUGH = 30  # errors
RESETS = 3
# For what fails at once: without pauses a run would do nothing but count.
PAUSES = ResolvedArrival("main", "closed", depth=8, think_ns=MS)


def errors_are_told(world: World, run: int, code: int) -> RunInfo:
    """Errors come, are counted one by one, and the first one is kept in words."""
    world.wait(run, "no errors were reported", lambda info: info.errors >= ENOUGH)
    info = world.stop(run)
    assert info.first_error.endswith(f"failed: errno {code}"), info.first_error
    cells = world.controller.stats(run)
    assert sum(cell.errors for cell in cells) == info.errors
    assert {abs(number) for cell in cells for number in cell.errors_by_errno} == {code}
    return info


# ---- I/O errors ----


@scenario(*BACKENDS)
def io_errors_of_null_blk(world: World, backend: str) -> str:
    """An eighth of it goes bad, and is well again."""
    disk = world.null()
    # Piece by piece: before v6.7 the kernel gets the order of a longer range's pieces wrong.
    pieces = [f"{at}-{at + 511}" for at in range(0, capacity(disk.node) // 512 // 8, 512)]
    bad = disk.item / "badblocks"
    with world.running(endless(disk.node, backend)) as run:
        for piece in pieces:
            bad.write_text(f"+{piece}")
        try:
            world.wait(run, "no errors were reported", lambda info: info.errors >= ENOUGH)
        finally:
            for piece in pieces:
                bad.write_text(f"-{piece}")
        world.moves(run)
        errors_are_told(world, run, errno.EIO)
    return disk.node


@scenario(*SCSI_BACKENDS)
def medium_errors_of_scsi(world: World, backend: str) -> str:
    """The device says of every block that it can't be read, and with scsi its sense data say so."""
    node = world.scsi()
    count = SCSI_PARAMETERS / "medium_error_count"
    start = SCSI_PARAMETERS / "medium_error_start"
    usual = start.read_text(), count.read_text()
    start.write_text("0")
    count.write_text(str(capacity(node) // 512))
    try:
        with world.running(endless(node, backend, read_ppm=1_000_000)) as run:
            with faults(scsi.MEDIUM):
                world.wait(run, "no errors were reported", lambda info: info.errors >= ENOUGH)
            info = errors_are_told(world, run, errno.ENODATA)
        assert bool(info.first_sense) == (backend == "scsi")
    finally:
        start.write_text(usual[0])
        count.write_text(usual[1])
    return node


@scenario("error", "flakey")
def table_of_dm_turns_bad(world: World, kind: str) -> str:
    """A volume's table is replaced by a failing one: the run counts errors, and recovers."""
    disk = world.null()
    sectors = capacity(disk.node) // 512
    if kind == "flakey":
        guest_side.load("dm_flakey")
    tables = {
        "error": f"0 {sectors} error",
        "flakey": f"0 {sectors} flakey {disk.node} 0 0 1",  # always down
    }
    with world.mapped(disk.node) as top, world.running(endless(top, arrival=PAUSES)) as run:
        device_mapper.replace("fault", tables[kind])
        world.wait(run, "no errors were reported", lambda info: info.errors >= ENOUGH)
        device_mapper.replace("fault", f"0 {sectors} linear {disk.node} 0")
        world.moves(run)
        errors_are_told(world, run, errno.EIO)
    return disk.node


# ---- no answer ----


@scenario("bio", "scsi")
def commands_without_answer(world: World, backend: str) -> str:
    """Each fiftieth command is ignored. With bio the disk's driver cures that by trying again,
    with scsi it is an error of its own; either way the run comes to its end."""
    node = world.scsi()
    limit = sysfs(node) / "device/timeout"
    usual = limit.read_text()
    limit.write_text("1")
    try:
        with faults(scsi.IGNORE, every_nth=50):
            outcome = world.finished(endless(node, backend, time_ns=0, count=120))
    finally:
        limit.write_text(usual)
    info = outcome.info
    world.note(info)
    assert info.reason is Reason.COMPLETED, info
    assert outcome.ios() + info.errors == 120
    if backend == "scsi":
        assert info.errors >= 1 and info.first_error.endswith(f"errno {errno.ETIMEDOUT}")
    else:
        assert info.errors == 0
    busy = sysfs(node) / "device/device_busy"
    eventually(lambda: int(busy.read_text()) == 0, "a command is left", WAIT_S)
    return node


@scenario(*SCSI_BACKENDS)
def disk_that_sleeps(world: World, backend: str) -> str:
    """A disk that was sent to sleep, as power management does, is woken by the first I/O."""
    node = world.scsi()
    power = sysfs(node) / "device/power"
    delay = (power / "autosuspend_delay_ms").read_text()
    (power / "autosuspend_delay_ms").write_text("10")
    (power / "control").write_text("auto")
    try:
        status = power / "runtime_status"
        run = world.controller.run_new(endless(node, backend, time_ns=0, count=50))
        eventually(lambda: status.read_text() == "suspended\n", "the disk does not sleep", WAIT_S)
        world.controller.run_start(run)
        info = world.done(run, Reason.COMPLETED)
        assert info.errors == 0
        world.controller.run_delete(run)
    finally:
        (power / "control").write_text("on")
        (power / "autosuspend_delay_ms").write_text(delay)
    return node


@scenario("answers", "removed")
def device_that_hangs(world: World, ending: str) -> str:
    """Stop returns and reports the age of the oldest I/O, whose memory stays;
    the run ends when the device answers, or when it is gone."""
    disk = world.null()
    with world.mapped(disk.node) as top, world.running(endless(top, arrival=PAUSES)) as run:
        device_mapper.suspend("fault")
        try:
            info = world.wait(run, "not all I/Os are held", lambda info: info.outstanding == 8)
            assert info.oldest_ns == 0
            time.sleep(0.5)
            world.controller.run_stop(run)
            info = world.wait(run, "no drain", lambda info: info.state is RunState.DRAINING)
            assert info.outstanding == 8 and info.oldest_ns >= SECOND // 2
            with pytest.raises(Refusal) as caught:
                world.controller.run_delete(run)
            assert caught.value.errno == errno.EBUSY
            assert not modules.unload("spek")
            assert world.get(run).state is RunState.DRAINING
        finally:
            if ending == "answers":
                device_mapper.resume("fault")
            else:
                # Removal of a volume in use: its table becomes one that fails everything.
                device_mapper.replace("fault", f"0 {capacity(top) // 512} error")
        done = world.done(run, Reason.STOPPED)
        assert done.errors == (0 if ending == "answers" else 8)
    return disk.node


# ---- the device goes ----


@contextlib.contextmanager
def taken_away(world: World, run: int, remove: Callable[[], object]) -> Iterator[None]:
    """Remove a device: its driver may wait for the run to let go, so in a thread."""
    remover = threading.Thread(target=remove)
    remover.start()
    info = world.done(run, Reason.DEVICE_GONE)
    yield
    assert info.outstanding == 0
    remover.join(WAIT_S)
    assert not remover.is_alive(), "the disk is still held"


def disk_for(world: World, case: str) -> NullDisk:
    """Inline: the driver completes in the submitter's context."""
    return world.null(irqmode=0) if case.endswith("inline") else world.null()


def off_and_on(world: World, case: str = "") -> None:
    """Each time 6.1's null_blk loses a dozen objects."""
    disk = disk_for(world, case)
    disk.power(False)
    disk.power(True)


@scenario("bio", "mq", "bio-inline", "mq-inline", without_run=off_and_on)
def null_blk_switched_off(world: World, case: str) -> str:
    backend, disk = case.partition("-")[0], disk_for(world, case)
    with (
        world.running(endless(disk.node, backend)) as run,
        taken_away(world, run, lambda: disk.power(False)),
    ):
        pass
    disk.power(True)
    return disk.node


@scenario(*SCSI_BACKENDS)
def scsi_disk_deleted(world: World, backend: str) -> str:
    node = world.scsi()
    device = (sysfs(node) / "device").resolve()
    with (
        world.running(endless(node, backend)) as run,
        taken_away(world, run, lambda: (device / "delete").write_text("1")),
    ):
        pass
    return world.scsi()


# Of the partition of a disk whose driver goes.
FIRST, SECTORS = 2048, 65536
SLOW = ResolvedArrival("main", "constant", rate_milli=500)


def driver_lets_go(node: str) -> None:
    """sd gives up a disk that stays on its bus: the partition that a run has open stays, too."""
    address = (sysfs(node) / "device").resolve().name
    (SD / "unbind").write_text(address)


@scenario(*(f"{backend}-{when}" for backend in SCSI_BACKENDS for when in ("ready", "slow")))
def partition_outlives_its_disk(world: World, case: str) -> str:
    """The disk goes while no I/O is outstanding: before the start, or between two I/Os.

    The queue accepts requests again after that, for other drivers, and the partition keeps its
    size. Nothing may be sent: without sd the SCSI layer calls a driver that is not there, and with
    another disk on the same device the claim no longer holds.
    """
    backend, when = case.split("-")
    node = world.scsi()
    address = (sysfs(node) / "device").resolve().name
    add_partition(node, 1, FIRST, SECTORS)
    eventually(lambda: can_be_opened(f"{node}1"), f"{node}1 did not appear", WAIT_S)
    settle()
    arrival = SLOW if when == "slow" else None
    config = endless(f"{node}1", backend, arrival=arrival)
    run = world.controller.run_new(config)
    try:
        with scsi.command_log(node) as log:
            if when == "slow":
                world.controller.run_start(run)
                world.wait(run, "nothing is sent", lambda info: requests(info) > 0)
            driver_lets_go(node)
            before = log.read()
            assert bool(reads_and_writes(before)) == (when == "slow")
            if when == "slow" or starts_although_gone(world, run):
                world.done(run, Reason.DEVICE_GONE)
            assert log.read() == before
    finally:
        world.controller.run_delete(run)
        # A disk of its own for who comes next: sd has left this one in use, so it never sleeps.
        (SCSI_DEVICES / address / "delete").write_text("1")
    return world.scsi()


def starts_although_gone(world: World, run: int) -> bool:
    """Start a run whose disk is gone. Kernels tell holders of that since 6.5, and it is refused."""
    try:
        world.controller.run_start(run)
    except Refusal as refusal:
        assert (refusal.errno, refusal.text) == (errno.ENODEV, "A target of the run was removed.")
        return False
    return True


def reads_and_writes(commands: list[scsi.Command]) -> list[scsi.Command]:
    """Commands that transfer data, as sd or back end scsi make them."""
    return [command for command in commands if command.cdb[0] & 0x1F in (0x08, 0x0A)]


def pci_device(node: str) -> Path:
    """The PCI function behind a disk."""
    device = sysfs(node).resolve()
    while not (device / "config").exists():
        device = device.parent
    return device


@scenario("bio", "mq", "bio-surprise")
def nvme_unplugged(world: World, case: str) -> str:
    """Taken off its bus. As a surprise: its registers read as all ones before anybody knows."""
    backend, _, surprise = case.partition("-")
    node = world.nvme()
    device = pci_device(node)

    def unplug() -> None:
        if surprise:
            queue(node, "io_timeout").write_text("1000")
            with open(device / "config", "r+b", buffering=0) as config:
                config.seek(4)
                config.write(bytes(2))  # neither answers nor masters the bus any more
        (device / "remove").write_text("1")

    try:
        with (
            world.running(endless(node, backend)) as run,
            taken_away(world, run, unplug),
        ):
            pass
    finally:
        Path("/sys/bus/pci/rescan").write_text("1")
    if surprise:
        # 6.1's driver locks in one order after a timeout and in another in a reset, and lockdep
        # falls silent for good when it sees both. It forgets what a module did that goes.
        world.nvme()
        settle()
        world.unload("nvme")
        world.unload("nvme_core")
    return world.nvme()


@scenario(*BACKENDS, lockdep=False)
def nvme_controller_reset(world: World, backend: str) -> str:
    """The driver returns every outstanding command and resends it: the run does not notice.

    6.1's target over TCP waits for the queue that it runs on when it gets a connection
    (nvmet_tcp_install_queue()).
    """
    backing = world.null().node
    with disk_over_tcp(backing) as (node, controller):
        with world.running(endless(node, backend)) as run:
            for _ in range(RESETS):
                (controller / "reset_controller").write_text("1")
                world.moves(run)
            info = world.stop(run)
        assert info.errors == 0, info.first_error
        world.nothing_left(node)
    return backing


# ---- the device changes ----


@scenario()
def dm_volume_shrinks(world: World) -> str:
    """What lies beyond the new end fails, what lies before it doesn't; then it grows again."""
    disk = world.null()
    sectors = capacity(disk.node) // 512
    with world.mapped(disk.node) as top, world.running(endless(top, arrival=PAUSES)) as run:
        device_mapper.replace("fault", f"0 {sectors // 2} linear {disk.node} 0")
        world.wait(run, "no errors were reported", lambda info: info.errors >= ENOUGH)
        device_mapper.replace("fault", f"0 {sectors} linear {disk.node} 0")
        world.moves(run)
        info = world.stop(run)
    assert int(info.first_error.split(" at byte ")[1].split()[0]) >= sectors * 256
    return disk.node


@scenario("bio", "mq", "scsi")
def partition_shrinks(world: World, backend: str) -> str:
    """Nothing is sent beyond its end: requests could, bios can't."""
    node = world.scsi() if backend == "scsi" else world.null().node
    with (
        partition(node, 1, 2048, 65536) as part,
        world.running(endless(part, backend, arrival=PAUSES)) as run,
    ):
        assert world.get(run).errors == 0
        resize_partition(node, 1, 2048, 4096)
        info = world.wait(run, "no errors were reported", lambda info: info.errors >= ENOUGH)
        world.stop(run)
    assert int(info.first_error.split(" at byte ")[1].split()[0]) >= 4096 * 512
    return node


@scenario("mq")
def logical_block_grows(world: World, backend: str) -> str:
    """A driver divides addresses by the block that it has now: requests made of smaller ones fail.
    When it is restored, the run continues."""
    node = world.nvme()
    with world.running(endless(node, backend)) as run:
        assert world.get(run).errors == 0
        try:
            format_nvme(node, 4096)
            # So many come while the disk is being formatted.
            before = world.get(run).errors
            world.wait(run, "no errors were reported", lambda info: info.errors >= before + 50)
        finally:
            format_nvme(node, 512)
        world.moves(run)
        errors = world.get(run).errors
        world.moves(run, 50)
        assert world.stop(run).errors == errors
    return node


@scenario(*BACKENDS)
def limit_of_requests_sinks(world: World, backend: str) -> str:
    """What is too large now is cut smaller, into more parts than slots were made for."""
    node = world.null().node
    limit = queue(node, "max_sectors_kb")
    usual = limit.read_text()
    try:
        with world.running(with_size(endless(node, backend), 64 << 10)) as run:
            limit.write_text("8")
            world.moves(run, 50)
            assert world.stop(run).errors == 0
    finally:
        limit.write_text(usual)
    return node


def changed_queues(disk: NullDisk) -> Generator[None, None, None]:
    """Depth, number of hardware queues, affinity: each change empties and freezes the queue."""
    depth, affinity = queue(disk.node, "nr_requests"), queue(disk.node, "rq_affinity")
    usual = depth.read_text()
    try:
        for step in range(4):
            depth.write_text("4" if step % 2 == 0 else usual)
            affinity.write_text(str(step % 3))
            (disk.item / "submit_queues").write_text(str(1 + step % 2))
            yield
    finally:
        depth.write_text(usual)


def two_queues(world: World) -> NullDisk:
    return world.null(submit_queues=2, hw_queue_depth=64)


def change_queues(world: World, _backend: str) -> None:
    """6.1 loses some small objects at each change."""
    for _ in changed_queues(two_queues(world)):
        pass


@scenario(*BACKENDS, without_run=change_queues)
def queue_frozen_again_and_again(world: World, backend: str) -> str:
    disk = two_queues(world)
    with (
        world.running(endless(disk.node, backend, depth=32)) as run,
        contextlib.closing(changed_queues(disk)) as changes,
    ):
        for _ in changes:
            world.moves(run)
        assert world.stop(run).errors == 0
    return disk.node


@scenario(*BACKENDS)
def queue_frozen_under_polling(world: World, backend: str) -> str:
    """Few tags, and a queue that is frozen again and again: the only one who polls does not wait
    for what it polls for."""
    node = world.null(poll_queues=1, hw_queue_depth=8).node
    depth = queue(node, "nr_requests")
    usual = depth.read_text()
    config = endless(node, backend, depth=32, batch=32, workers=1, polled=True)
    try:
        with world.running(config) as run:
            for value in ("4", usual) * 2:
                depth.write_text(value)
                world.moves(run)
            assert world.stop(run).errors == 0
    finally:
        depth.write_text(usual)
    return node


@scenario(*BACKENDS)
def elevator_switched(world: World, backend: str) -> str:
    """Through all that the kernel has, and the counters stay exact."""
    for module in ("mq_deadline", "kyber_iosched", "bfq"):
        guest_side.load(module)
    node = world.null().node
    scheduler = queue(node, "scheduler")
    offered = scheduler.read_text()
    usual = offered.split("[")[1].split("]")[0]
    before = disk_ios(node)
    try:
        with world.running(endless(node, backend)) as run:
            for name in offered.replace("[", "").replace("]", "").split():
                scheduler.write_text(name)
                world.moves(run)
            info = world.stop(run)
    finally:
        scheduler.write_text(usual)
    (target,) = info.targets
    seen = disk_ios(node) - before
    assert requests(info) + target.refused >= seen >= requests(info) > 0
    assert info.errors == 0
    return node


def disk_ios(node: str) -> int:
    """Requests that a disk has counted."""
    fields = (sysfs(node) / "stat").read_text().split()
    return int(fields[0]) + int(fields[4])

# SPDX-License-Identifier: GPL-2.0
"""Back end scsi: the commands that reach the device, and whom it suits.

The device is scsi_debug. What it is sent is read from the SCSI layer's own tracepoint; what it
keeps is read through the block device.
"""

from __future__ import annotations

import subprocess
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
import pytest
from lib.guest import scsi
from lib.guest.agree import target_sums
from lib.guest.disks import (
    disk_of_kind,
    mapped_disk,
    null_disk,
    partition,
    scsi_disk,
    udev_at_rest,
)
from lib.guest.drive import (
    Controller,
    Outcome,
    assert_completed,
    edges_of,
    one_stream,
    operations_of,
    queue_of,
    requests_for,
    sysfs,
    tally,
)
from lib.guest.modules import is_loaded, unload
from lib.guest.netlink_raw import Refusal
from lib.guest.scsi import Command, command_for, command_log, faults, pool_objects
from lib.guest.trace import disk_stat, sums
from lib.waiting import eventually

from spekctl.kernel.records import Reason
from spekctl.workload.config import RunConfig

KIB, MIB = 1 << 10, 1 << 20
SECOND = 10**9


def run_and_trace(
    controller: Controller, config: RunConfig, node: str, disk: str = ""
) -> tuple[Outcome, list[Command], list[list[Any]]]:
    """Run to the end; the outcome, the commands seen by the disk, the requests of each worker."""
    with controller.ready(config) as run, command_log(disk or node) as log:
        before = disk_stat(node)
        outcome = controller.finish(run)
        after = disk_stat(node)
        commands = log.read()
        operations = operations_of(controller, run, config)
    assert after == before, "the disk's statistics are not to know of commands"
    targets, edges = outcome.info.targets, [edges_of(node)]
    sent = [
        list(
            chain.from_iterable(
                requests_for(operation, config, targets, edges) for operation in flow
            )
        )
        for flow in operations
    ]
    return outcome, commands, sent


def key(command: Command) -> bytes:
    return command.cdb


# ---- what is sent ----


@pytest.mark.parametrize("bs", [512, 4096])
def test_commands_are_those_of_the_operations(controller: Controller, bs: int) -> None:
    """One at a time, so in their order: every size, cut at the queue's limit."""
    sizes = [(bs, 4), (3 * bs, 2), (64 * KIB, 2), (64 * KIB + bs, 2), (200 * KIB, 1), (MIB, 1)]
    with scsi_disk(bs=bs, delay=0) as node:
        (queue_of(node) / "max_sectors_kb").write_text("512")
        config = one_stream(
            node, sizes=sizes, read_ppm=500_000, backend="scsi", count=150, align_bytes=bs
        )
        outcome, commands, (sent,) = run_and_trace(controller, config, node)

    assert_completed(outcome)
    assert commands == [command_for(request, bs) for request in sent]
    assert (outcome.target.backend, outcome.target.refused) == ("scsi", 0)
    assert target_sums(outcome.target) == sums(tally(sent, 1)[0])
    assert outcome.requests() == len(sent) > 150


@pytest.mark.parametrize("workers", [1, 2])
def test_many_commands_are_outstanding_at_once(controller: Controller, workers: int) -> None:
    with scsi_disk(ndelay=20_000_000, max_queue=128) as node:
        # Longer than it takes a slow machine to send so many; probing is done with.
        scsi.set_parameter("ndelay", SECOND // 2)
        busy = sysfs(node) / "device/device_busy"
        (sysfs(node) / "device/queue_depth").write_text("128")
        config = one_stream(node, depth=128, workers=workers, backend="scsi", time_ns=3600 * SECOND)
        with controller.ready(config) as run:
            controller.run_start(run)
            eventually(lambda: int(busy.read_text()) == 128, "the device's queue is not full")
            controller.run_stop(run)
            info = controller.wait_done(run)

    assert (info.reason, info.errors, info.outstanding) == (Reason.STOPPED, 0, 0)


def test_what_the_device_has_no_room_for_is_sent_again(controller: Controller) -> None:
    with scsi_disk(ndelay=5_000_000) as node:
        (sysfs(node) / "device/queue_depth").write_text("4")
        config = one_stream(
            node, read_ppm=500_000, depth=32, workers=2, backend="scsi", count=400, align_bytes=512
        )
        outcome, commands, sent = run_and_trace(controller, config, node)

    assert_completed(outcome)
    assert outcome.target.refused > 0, "the device took everything: nothing was put to the test"
    wanted = [command_for(request, 512) for request in chain.from_iterable(sent)]
    assert sorted(commands, key=key) == sorted(wanted, key=key)


@pytest.mark.parametrize("backend", ["mq", "scsi"])
def test_what_a_busy_host_refuses_leaves_nothing_behind(
    controller: Controller, backend: str
) -> None:
    """It returns with an allocated scatter list, which spek has to free."""
    with scsi_disk(ndelay=50_000) as node, faults(scsi.HOST_BUSY, every_nth=3):
        before = pool_objects()
        config = one_stream(node, sizes=[(512 * KIB, 1)], depth=8, backend=backend, count=400)
        with controller.ready(config) as run:
            outcome = controller.finish(run)
        left = pool_objects() - before

    assert_completed(outcome)
    if backend == "mq":
        # The block layer keeps what the driver refuses, and sends it again.
        assert outcome.target.refused == 0
        refusals = 400 // 3
    else:
        refusals = outcome.target.refused
        assert refusals > 100
    assert left < refusals / 2


def test_partition_gets_what_is_meant_for_it(controller: Controller) -> None:
    with scsi_disk(delay=0) as disk, partition(disk, 1, 2064, 4096) as node:
        config = one_stream(
            node, sizes=[(512, 1), (8 * KIB, 1)], read_ppm=500_000, backend="scsi", count=100
        )
        outcome, commands, (sent,) = run_and_trace(controller, config, node, disk)

    assert_completed(outcome)
    assert commands == [command_for(request, 512, start_sector=2064) for request in sent]
    assert all(
        command.block >= 2064 and command.block + command.blocks <= 2064 + 4096
        for command in commands
    )


@pytest.mark.parametrize("bs", [512, 4096])
def test_what_is_written_is_what_bios_write(controller: Controller, bs: int) -> None:
    """The same run by both ways, on a fresh disk each: the disks are equal, and not empty."""
    sizes = [(bs, 3), (20 * KIB, 2), (64 * KIB + bs, 2), (MIB, 1)]
    kept = []
    for backend in ("bio", "scsi"):
        with scsi_disk(size_mb=16, bs=bs, delay=0) as node:
            config = one_stream(
                node, sizes=sizes, read_ppm=300_000, backend=backend, count=60, align_bytes=bs
            )
            controller.complete(msgspec.structs.replace(config, data="random"))
            copy = ["dd", f"if={node}", "bs=1M", "iflag=direct", "status=none"]
            kept.append(subprocess.run(copy, check=True, capture_output=True).stdout)

    assert len(kept[0]) == 16 * MIB
    assert kept[0] == kept[1]
    assert 0.1 < kept[0].count(0) / len(kept[0]) < 0.9


# ---- whom it suits ----


def assert_refused(controller: Controller, node: str, why: str) -> None:
    with pytest.raises(Refusal, match=why) as refusal:
        controller.run_new(one_stream(node, backend="scsi", count=1))
    assert refusal.value.attr.startswith("target[0]")


@pytest.mark.parametrize("kind", ["null_blk", "nvme", "virtio"])
def test_only_scsi_disks_can_be_had(controller: Controller, kind: str) -> None:
    with disk_of_kind(kind, 512) as node:
        assert_refused(controller, node, "not a SCSI disk")


def test_a_device_on_a_scsi_disk_is_none(controller: Controller) -> None:
    with (
        scsi_disk(size_mb=64, delay=0) as node,
        mapped_disk("spek-on-scsi", f"0 65536 linear {node} 0") as top,
    ):
        assert_refused(controller, top, "not a SCSI disk")


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"zbc": "managed", "zone_size_mb": 8}, "zoned"),
        ({"dif": 1, "dix": 1}, "protection information"),
        ({"ptype": 7}, "not a disk"),
    ],
    ids=["zoned", "protected", "optical"],
)
def test_scsi_disks_that_need_more_are_refused(
    controller: Controller, options: dict[str, Any], why: str
) -> None:
    with scsi_disk(size_mb=64, **options) as node:
        assert_refused(controller, node, why)


def test_auto_never_takes_it(controller: Controller) -> None:
    with scsi_disk(size_mb=64, delay=0) as node:
        assert controller.complete(one_stream(node, count=10)).target.backend == "mq"


def unload_with_users(module: str) -> bool:
    """Unload a module, before it those that are linked to it. Return: False if one is held."""
    users = [user.name for user in Path("/sys/module", module, "holders").iterdir()]
    # A module may be the user of several that are linked to this one.
    return all(unload_with_users(user) for user in users if is_loaded(user)) and unload(module)


def test_spek_needs_no_scsi(controller: Controller) -> None:
    """While spek is loaded the SCSI layer can go, though it was used, and come again."""
    for _ in range(2):
        with scsi_disk(size_mb=64, delay=0) as node:
            controller.complete(one_stream(node, backend="scsi", count=10))
        with udev_at_rest():
            eventually(lambda: unload_with_users("scsi_mod"), "the SCSI layer is held")
        with null_disk() as node:
            assert_refused(controller, node, "not a SCSI disk")


# ---- polled ----


def test_completions_can_be_polled_for(controller: Controller) -> None:
    with scsi_disk(size_mb=64, ndelay=50_000, submit_queues=2, poll_queues=1) as node:
        config = one_stream(node, depth=8, backend="scsi", polled=True, count=300)
        target = controller.complete(config).target

    assert (target.polled, target.backend, target.reads) == (1, "scsi", 300)

# SPDX-License-Identifier: GPL-2.0
"""Scenarios: the device goes, or the controller dies, under operations beside reads and writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from guest.faults.devices import taken_away
from guest.faults.world import MIB, WAIT_S, World, can_be_claimed, endless, scenario
from lib.guest.drive import sysfs
from lib.guest.owner import controller_process
from lib.waiting import eventually

from spekctl.workload.config import ResolvedArrival, RunConfig
from spekctl.workload.values import Operation

ZONE_MIB = 4
DISKS = ("null", "scsi", "zoned")
ZONED = {"zoned": 1, "zone_size": ZONE_MIB, "memory_backed": 1}
CACHED = {"cache_size": 1, "discard": 1, "memory_backed": 1}


def mixed(node: str, *operations: Operation, data: Any = "zero") -> RunConfig:
    """Reads, writes, writes with FUA and @operations."""
    config = endless(node, "bio", depth=32)
    (main,) = config.streams
    writes = msgspec.structs.replace(main, name="fua", read_ppm=0, fua=1)
    others = [
        msgspec.structs.replace(main, name=operation, operation=operation, read_ppm=0)
        for operation in operations
    ]
    streams = [msgspec.structs.replace(main, weight=5), writes, *others]
    return msgspec.structs.replace(config, streams=streams, data=data)


def on_zones(node: str) -> RunConfig:
    """Writes, appends, resets and reads at the write pointers of two workers."""
    config = endless(node, "bio", arrival=ResolvedArrival("main", "closed", depth=16))
    (asu,), (main,) = config.asus, config.streams
    asu = msgspec.structs.replace(asu, zone_bytes=ZONE_MIB * MIB, open_zones=4)
    # Every few hundred of them fill a zone, which is reset when its turn comes again.
    sizes = [msgspec.structs.replace(main.sizes[0], bytes=64 << 10)]
    main = msgspec.structs.replace(main, pattern="write-pointer", sizes=sizes, weight=4)
    operations: tuple[Operation, ...] = ("zone-append", "zone-reset", "zone-finish")
    others = [
        msgspec.structs.replace(
            main, name=operation, operation=operation, read_ppm=0, weight=weight
        )
        for operation, weight in zip(operations, (4, 1, 1), strict=True)
    ]
    return msgspec.structs.replace(config, asus=[asu], streams=[main, *others], data="stamped")


def load_of(world: World, disk: str) -> tuple[str, RunConfig]:
    """A disk that has operations, and a run that uses all of them."""
    if disk == "zoned":
        node = world.null(**ZONED).node
        return node, on_zones(node)
    if disk == "scsi":
        node = world.scsi()
        return node, mixed(node, "discard", "write-zeroes", data="stamped")
    node = world.null(**CACHED).node
    return node, mixed(node, "flush", "discard")


def removal_of(
    world: World, disk: str, node: str
) -> tuple[Callable[[], object], Callable[[], str]]:
    """What takes the disk away, and what brings it back and gives its node."""
    if disk == "scsi":
        device = (sysfs(node) / "device").resolve()
        return lambda: (device / "delete").write_text("1"), world.scsi
    null = world.null(**(ZONED if disk == "zoned" else CACHED))

    def back() -> str:
        null.power(True)
        return null.node

    return lambda: null.power(False), back


def assert_all_were_sent(world: World, run: int, config: RunConfig) -> None:
    """Each stream has had I/Os: what is to be interrupted is under way."""

    def sent() -> bool:
        streams = {cell.stream for cell in world.controller.stats(run) if cell.ios}
        return streams == set(range(len(config.streams)))

    eventually(sent, "a stream has no I/Os", WAIT_S)


@scenario(*DISKS)
def device_gone_under_operations(world: World, disk: str) -> str:
    node, config = load_of(world, disk)
    remove, back = removal_of(world, disk, node)
    with world.running(config) as run:
        assert_all_were_sent(world, run, config)
        with taken_away(world, run, remove):
            pass
    assert can_be_claimed(back())
    return world.null().node


@scenario(*DISKS)
def controller_killed_under_operations(world: World, disk: str) -> str:
    node, config = load_of(world, disk)
    with controller_process(config) as (_pid, run):
        assert_all_were_sent(world, run, config)
    eventually(lambda: not world.controller.runs(), "the run is still there", WAIT_S)
    world.results["gone with its owner"] += 1
    assert can_be_claimed(node)
    return world.null().node

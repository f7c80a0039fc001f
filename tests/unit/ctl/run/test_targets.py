# SPDX-License-Identifier: GPL-2.0
"""What resolving a workload needs to know of devices."""

from __future__ import annotations

import msgspec
import pytest
from lib.fakes.machine import disk

from spekctl.errors import UsageError
from spekctl.run.request import Subject, build, configured
from spekctl.run.targets import Room, check_paths, moved, targets_of
from spekctl.workload import file
from spekctl.workload.layout import Target
from spekctl.workload.options import Options

MIB = 1 << 20


def test_targets_are_the_devices_in_their_order() -> None:
    devices = [
        disk("/dev/fake1", diskseq=7, bytes=1 << 31, logical_block=4096),
        disk("/dev/fake0", zone_bytes=8 << 20, open_zones_max=14),
    ]
    assert targets_of(devices) == [
        Target("/dev/fake1", 250, 1, 1 << 31, 4096, 7, 4 << 20, 0),
        Target("/dev/fake0", 250, 0, 1 << 30, 512, 0, 8 << 20, 14),
    ]


def test_a_disk_and_its_partition_are_refused() -> None:
    with pytest.raises(UsageError, match="/dev/fake0 and /dev/fake1 lie on the same bytes"):
        targets_of([disk("/dev/fake0"), disk("/dev/fake1", disk="fake0", partition=1)])


@pytest.mark.parametrize("workload", ["random-read-4k", "random-write-4k"])
@pytest.mark.parametrize("partition", [0, 1])
def test_only_reads_go_by_two_paths(workload: str, partition: int) -> None:
    """Stripes of two paths to a unit overwrite each other."""
    paths = [disk("/dev/fake0"), disk("/dev/fake1", other_paths=("fake0",), partition=partition)]
    options = Options(available_cpus=[0], write=True)
    subject = Subject(file.load(workload), paths)
    if workload == "random-read-4k":
        assert len(build(subject, options).config.targets) == 2
        return
    with pytest.raises(
        UsageError, match="/dev/fake0 and /dev/fake1 lie on the same bytes, by two paths: only"
    ):
        build(subject, options)


def test_a_path_that_is_only_read_beside_one_that_is_written_is_refused() -> None:
    options = Options(available_cpus=[0], write=True)
    devices = [disk("/dev/fake0"), disk("/dev/fake1", other_paths=("fake0",)), disk("/dev/fake2")]
    targets = targets_of(devices)
    config = configured(file.load("random-write-4k"), options, targets)[0]
    only_read = [
        msgspec.structs.replace(target, read_only=place != 1)
        for place, target in enumerate(config.targets)
    ]
    with pytest.raises(UsageError, match="fake0 and /dev/fake1 lie on the same bytes"):
        check_paths(devices, msgspec.structs.replace(config, targets=only_read))
    nothing = [msgspec.structs.replace(target, read_only=True) for target in only_read]
    check_paths(devices, msgspec.structs.replace(config, targets=nothing))


def test_two_partitions_of_a_disk_are_apart_by_whatever_path() -> None:
    left = disk("/dev/fake1", disk="fake0", partition=1)
    for right in (
        disk("/dev/fake2", disk="fake0", partition=2),
        disk("/dev/fake2", disk="fake9", other_paths=("fake0",), partition=2),
    ):
        assert len(targets_of([left, right])) == 2


def test_devices_of_another_machine_are_apart_by_their_numbers() -> None:
    """The controller of a fleet does not know their disks; the machine itself does."""
    assert len(targets_of([disk("/dev/fake0", disk=""), disk("/dev/fake1", disk="")])) == 2


def test_a_run_in_rooms_is_that_of_smaller_devices_moved_there() -> None:
    devices = [disk("/dev/fake0"), disk("/dev/fake1")]
    rooms = [Room(128 * MIB, 256 * MIB), Room(512 * MIB, 256 * MIB)]
    targets = targets_of(devices, rooms)
    assert [target.bytes for target in targets] == [256 * MIB, 256 * MIB]
    workload, options = file.load("random-read-4k"), Options(available_cpus=[0])
    (asu,) = configured(workload, options, targets, rooms)[0].asus
    assert asu.bytes == 512 * MIB
    assert [(part.target, part.start) for part in asu.extents] == [(0, 128 * MIB), (1, 512 * MIB)]
    (whole,) = configured(workload, options, targets)[0].asus
    assert [part.start for part in whole.extents] == [0, 0]


def test_without_rooms_nothing_moves() -> None:
    options = Options(available_cpus=[0])
    config = configured(file.load("random-read-4k"), options, targets_of([disk()]))[0]
    assert moved(config, []) is config


@pytest.mark.parametrize(
    "room", [Room(0, 0), Room(-1, MIB), Room(1024 * MIB, MIB), Room(0, 1 << 31)]
)
def test_a_room_has_to_be_on_its_device(room: Room) -> None:
    with pytest.raises(UsageError, match="is not on /dev/fake0, which has 1073741824"):
        targets_of([disk()], [room])

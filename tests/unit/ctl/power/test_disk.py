# SPDX-License-Identifier: GPL-2.0
"""What sysfs tells of a disk's power, and how the disk is asked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from lib.fakes.power_disk import SG, FakeDisk

from spekctl.block import device as devices
from spekctl.block.device import Roots
from spekctl.errors import UsageError
from spekctl.power import disk
from spekctl.power.disk import Counters, Protocol
from spekctl.power.passthrough import Place


@pytest.fixture
def fake(tmp_path: Path) -> FakeDisk:
    return FakeDisk(tmp_path)


@pytest.fixture
def roots(tmp_path: Path) -> Roots:
    (tmp_path / "dev").mkdir()
    return Roots(tmp_path, tmp_path, tmp_path / "dev", tmp_path)


def test_a_scsi_disk_is_asked_through_its_generic_node(fake: FakeDisk, roots: Roots) -> None:
    """Opening that sends nothing; without one it is the disk's own node."""
    target = disk.of_device(fake.device, roots=roots)
    assert (target.protocol, target.place) == (
        Protocol.SCSI,
        Place("/dev/sda", (8, 0), is_character=False),
    )
    fake.write("device/scsi_generic/sg3/dev", f"{SG[0]}:{SG[1]}")
    assert disk.of_device(fake.device, roots=roots).place == target.place
    (roots.dev / "sg3").touch()
    place = disk.of_device(fake.device, roots=roots).place
    assert place == Place(str(roots.dev / "sg3"), SG, is_character=True)


def test_a_partition_means_its_disk(
    fake: FakeDisk, roots: Roots, monkeypatch: pytest.MonkeyPatch
) -> None:
    partition = msgspec.structs.replace(fake.device, name="sda1", partition=1, node="/dev/sda1")
    monkeypatch.setattr(devices, "find", lambda path, roots: partition)
    with pytest.raises(UsageError, match="/dev/x is a partition of sda, which is gone"):
        disk.find("/dev/x", roots=roots)
    fake.write("dev", "8:0")
    for folder, name in (("class/block", "sda"), ("dev/block", "8:0")):
        (roots.sys / folder).mkdir(parents=True)
        (roots.sys / folder / name).symlink_to(fake.sysfs)
    target = disk.find("/dev/x", roots=roots)
    assert (target.device.name, target.node) == ("sda", str(roots.dev / "sda"))


def test_the_node_of_a_removable_disk_is_not_opened(fake: FakeDisk, roots: Roots) -> None:
    """That sends TEST UNIT READY and PREVENT MEDIUM REMOVAL."""
    fake.write("removable", "1")
    target = disk.of_device(fake.device, roots=roots)
    assert target.place is None
    assert target.obstacle.endswith("load the module sg")


@pytest.mark.parametrize(
    ("place", "text", "protocol"),
    [
        ("device/vendor", "ATA     ", Protocol.ATA),
        ("device/vpd_pg89", "page", Protocol.ATA),
        ("device/vendor", "SEAGATE", Protocol.SCSI),
    ],
)
def test_a_translation_layer_is_recognized(
    fake: FakeDisk, roots: Roots, place: str, text: str, protocol: Protocol
) -> None:
    fake.write(place, text)
    assert disk.of_device(fake.device, roots=roots).protocol is protocol
    assert disk.of_device(fake.device, Protocol.SCSI, roots).protocol is Protocol.SCSI


def test_what_lies_on_disks_is_none(fake: FakeDisk, roots: Roots) -> None:
    for name in ("sdc", "cciss!c0d0"):
        (fake.sysfs / "slaves" / name).mkdir(parents=True)
    with pytest.raises(UsageError, match=r"lies on .*/cciss/c0d0, .*/sdc: name those"):
        disk.of_device(fake.device, roots=roots)


def test_a_raid_means_the_disks_below(fake: FakeDisk, roots: Roots) -> None:
    """Also by way of a partition and of another RAID; each disk once."""
    (roots.sys / "dev/block").mkdir(parents=True)
    fake.write("dev", "8:0")
    fake.write("sda1/dev", "8:1")
    fake.write("sda1/partition", "1")
    for name, number, members in (
        ("md0", "9:0", ("sda", "sda/sda1")),
        ("md1", "9:1", ("md0", "sda")),
    ):
        fake.write(f"../{name}/dev", number)
        for member in members:
            link = roots.sys / "block" / name / "slaves" / Path(member).name
            link.parent.mkdir(exist_ok=True)
            link.symlink_to(roots.sys / "block" / member)
        (roots.sys / "dev/block" / number).symlink_to(roots.sys / "block" / name)
    (roots.sys / "dev/block/8:0").symlink_to(fake.sysfs)
    (roots.sys / "dev/block/8:1").symlink_to(fake.sysfs / "sda1")
    (roots.sys / "class/block").mkdir(parents=True)
    for number in ("9:1", "9:0", "8:1", "8:0"):
        major, minor = map(int, number.split(":"))
        device = devices.by_number(major, minor, roots=roots)
        assert device is not None
        assert [member.device.name for member in disk.below(device, roots)] == ["sda"]


def test_a_namespace_is_asked_through_its_own_node(fake: FakeDisk, roots: Roots) -> None:
    fake.write("nsid", "1")
    device = msgspec.structs.replace(fake.device, name="nvme0n1", node="/dev/nvme0n1")
    target = disk.of_device(device, roots=roots)
    assert (target.protocol, target.place) == (
        Protocol.NVME,
        Place("/dev/nvme0n1", (8, 0), is_character=False),
    )
    with pytest.raises(UsageError, match="an NVMe disk, which knows no ata commands"):
        disk.of_device(device, Protocol.ATA, roots)


def test_a_disk_without_commands_says_so(fake: FakeDisk, roots: Roots) -> None:
    (fake.scsi / "scsi_level").unlink()
    target = disk.of_device(fake.device, roots=roots)
    assert (target.protocol, target.place) == (Protocol.NONE, None)
    assert target.obstacle == "the driver sd has no command for power states"
    with pytest.raises(UsageError, match="is not a SCSI disk"):
        disk.of_device(fake.device, Protocol.ATA, roots)


@pytest.mark.parametrize("status", ["suspended", "suspending", "resuming", "active", "unsupported"])
def test_the_status_is_the_disks(fake: FakeDisk, status: str) -> None:
    fake.write("device/power/runtime_status", status)
    assert disk.runtime_status(fake.disk) == status


def test_a_controller_that_sleeps_counts_up_to_its_bus(fake: FakeDisk) -> None:
    """What is above, as the bridge of a PCI bus, is not looked at."""
    host = fake.scsi.parent
    (host / "uevent").touch()
    (host / "power").mkdir()
    above = host.parent
    (above / "uevent").touch()
    (above / "power").mkdir()
    (above / "power/runtime_status").write_text("suspended\n")
    pci = fake.root / "bus" / "pci"
    pci.mkdir(parents=True)
    (host / "subsystem").symlink_to(pci)
    assert disk.runtime_status(fake.disk) == "active"
    (host / "power/runtime_status").write_text("suspended\n")
    assert disk.runtime_status(fake.disk) == "suspended"


def test_commands_may_wake_nvme_disks_and_those_behind_usb_bridges(
    fake: FakeDisk, tmp_path: Path
) -> None:
    assert disk.risk_of_commands(fake.disk) == ""
    assert "autonomous" in disk.risk_of_commands(replace(fake.disk, protocol=Protocol.NVME))
    for kind, risk in (("pci", ""), ("usb", "USB bridges")):
        (tmp_path / "bus" / kind).mkdir(parents=True)
        subsystem = fake.scsi.parent / "subsystem"
        subsystem.unlink(missing_ok=True)
        subsystem.symlink_to(tmp_path / "bus" / kind)
        assert risk in disk.risk_of_commands(fake.disk)
        assert bool(risk) == bool(disk.risk_of_commands(fake.disk))
    # It has gone.
    fake.sysfs.rename(fake.sysfs.with_name("gone"))
    assert disk.risk_of_commands(fake.disk) == ""


@pytest.mark.parametrize(
    ("control", "status", "managed"),
    [("auto", "active", True), ("on", "active", False), ("auto", "unsupported", False)],
)
def test_who_suspends_the_disk(fake: FakeDisk, control: str, status: str, managed: bool) -> None:
    fake.write("device/power/control", control)
    fake.write("device/power/runtime_status", status)
    assert disk.is_kernel_managed(fake.disk) is managed


@pytest.mark.parametrize(
    ("attributes", "stops"),
    [
        ({}, False),
        ({"manage_start_stop": "1"}, True),
        ({"manage_start_stop": "1", "manage_runtime_start_stop": "0"}, False),
        ({"manage_runtime_start_stop": "1"}, True),
    ],
)
def test_whether_suspend_stops_the_spindle(
    fake: FakeDisk, attributes: dict[str, str], stops: bool
) -> None:
    for name, text in attributes.items():
        fake.write(f"device/scsi_disk/0:0:0:0/{name}", text)
    assert disk.stops_on_suspend(fake.disk) is stops


def test_reads_writes_and_discards_count_and_flushes_do_not(fake: FakeDisk) -> None:
    fake.write("stat", "100 1 2 3 20 4 5 6 7 8 9 3 10 11 12 50 13")
    assert disk.counters_of(fake.disk) == Counters(123, 7)
    fake.write("stat", "100 1 2 3 20 4 5 6 7 8 9")
    assert disk.counters_of(fake.disk) == Counters(120, 7)
    fake.write("stat", "100 1 2")
    assert disk.counters_of(fake.disk) is None
    fake.io(5)
    fake.write("queue/iostats", "0")
    assert disk.counters_of(fake.disk) is None


def test_commands_are_counted_in_hexadecimal(fake: FakeDisk) -> None:
    assert disk.requests_of(fake.disk) == 16
    fake.write("device/iorequest_cnt", "")
    assert disk.requests_of(fake.disk) is None


def test_only_scsi_disks_have_a_state(fake: FakeDisk) -> None:
    assert disk.scsi_state(fake.disk) == "running"
    assert disk.scsi_state(replace(fake.disk, protocol=Protocol.NVME)) == ""


def test_namespaces_of_a_controller_are_neighbours(fake: FakeDisk, roots: Roots) -> None:
    fake.write("nsid", "1")
    fake.write("../sdb/nsid", "2")
    fake.write("../sdb/dev", "259:1")
    fake.write("../sdc/dev", "8:32")
    (roots.sys / "dev/block").mkdir(parents=True)
    (roots.sys / "dev/block/259:1").symlink_to(fake.sysfs.parent / "sdb")
    (roots.sys / "class/block").mkdir(parents=True)
    assert disk.neighbours(fake.disk, roots) == []
    own = replace(fake.disk, protocol=Protocol.NVME)
    assert [device.name for device in disk.neighbours(own, roots)] == ["sdb"]

# SPDX-License-Identifier: GPL-2.0
"""Which devices lose power or their cache together: those on the same drive, whatever is on it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from spekctl.block import drives
from spekctl.block.device import Device, Roots, by_number


class Machine:
    """sysfs as directories: disks, and what lies on them."""

    def __init__(self, root: Path) -> None:
        self.roots = Roots(*(root / name for name in ("sys", "proc", "dev", "udev")))
        self.numbers: dict[str, str] = {}

    def write(self, path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")

    def folder(self, name: str) -> Path:
        return self.roots.sys / "class/block" / name

    def add(self, name: str, *below: str, disk: str = "", **files: str) -> None:
        """A device; @below: what it lies on; @disk: it is a partition of that."""
        number = self.numbers[name] = f"8:{len(self.numbers)}"
        folder = self.roots.sys / "devices" / disk / name
        self.write(folder / "dev", number)
        self.write(folder / "size", "2048")
        if disk:
            self.write(folder / "partition", name.removeprefix(disk))
        for path, text in files.items():
            self.write(folder / path.replace("__", "/"), text)
        for link in (self.folder(name), self.roots.sys / "dev/block" / number):
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(folder)
        for lower in below:
            (folder / "slaves").mkdir(exist_ok=True)
            (folder / "slaves" / lower).symlink_to(self.folder(lower).resolve())

    def get(self, name: str) -> Device:
        major, minor = map(int, self.numbers[name].split(":"))
        device = by_number(major, minor, roots=self.roots)
        assert device is not None
        return device

    def common(self, left: str, right: str) -> list[drives.Name]:
        return drives.in_common(self.get(left), self.get(right), self.roots)

    def together(self, left: str, right: str) -> bool:
        return bool(self.common(left, right))


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    machine = Machine(tmp_path)
    for name in ("sda", "sdb", "sdc"):
        machine.add(name)
    for name in ("sda1", "sda3"):
        machine.add(name, disk="sda")
    machine.add("sdb1", disk="sdb")
    machine.add("dm-1", "sda1")
    machine.add("dm-2", "sda1")
    machine.add("dm-3", "sdc")
    machine.add("md0", "sda1", "sdb1")
    machine.add("dm-4", "md0")
    return machine


@pytest.mark.parametrize(
    ("left", "right", "together"),
    [
        ("sda", "sda", True),
        ("sda", "sda3", True),
        ("sda", "sdb", False),
        ("dm-1", "dm-2", True),
        ("dm-1", "dm-3", False),
        ("md0", "sda3", True),
        ("dm-4", "sdb", True),
        ("dm-4", "dm-2", True),
        ("md0", "sdc", False),
    ],
)
def test_devices_are_on_the_drives_at_their_bottom(
    machine: Machine, left: str, right: str, together: bool
) -> None:
    assert machine.together(left, right) is together
    assert machine.together(right, left) is together


def test_namespaces_are_on_their_drive(machine: Machine) -> None:
    """Each has a WWN of its own; the controllers of a drive have one subsystem."""
    for name, nqn in (("nvme0n1", "nqn.a"), ("nvme0n2", "nqn.a"), ("nvme2n1", "nqn.b")):
        machine.add(name, device__subsysnqn=nqn, wwid=f"eui.{name}")
    assert machine.common("nvme0n1", "nvme0n2") == [("NVMe subsystem nqn.a", False)]
    assert machine.common("nvme0n1", "nvme0n1")[0] == ("nvme0n1", True)
    assert not machine.together("nvme0n1", "nvme2n1")


def test_units_with_one_serial_number_are_on_one_drive(machine: Machine) -> None:
    """As the two actuators of a disk, which are units of one target."""
    for name, serial in (("sdd", "S1"), ("sde", "S1"), ("sdf", "S2")):
        machine.add(name, device__serial=serial, wwid=f"naa.{name}")
    assert machine.common("sdd", "sde") == [("serial number S1", False)]
    assert not machine.together("sdd", "sdf")


def test_paths_to_a_unit_are_on_its_drive(machine: Machine) -> None:
    for name in ("sdd", "sde"):
        machine.add(name, wwid="naa.5")
    assert machine.together("sdd", "sde")


def test_a_loop_device_is_on_the_drive_of_its_file(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    image = tmp_path / "image"
    image.write_bytes(b"")
    machine.add("loop0", loop__backing_file=str(image))
    machine.add("loop1", loop__backing_file="/gone (deleted)")
    major, minor = map(int, machine.numbers["sda1"].split(":"))
    real, status = os.stat, os.stat(image)
    here = os.stat_result((*status[:2], os.makedev(major, minor), *status[3:10]))

    def stat(path: str, **how: Any) -> os.stat_result:
        return here if path == str(image) else real(path, **how)

    monkeypatch.setattr(os, "stat", stat)
    assert machine.together("loop0", "sda3")
    assert not machine.together("loop0", "sdb")
    monkeypatch.undo()
    assert not machine.together("loop1", "sda")

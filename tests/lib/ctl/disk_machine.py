# SPDX-License-Identifier: GPL-2.0
"""A machine made of files, whose disks and partitions the safety check looks at."""

from __future__ import annotations

from pathlib import Path

from spekctl.block import device, safety
from spekctl.block.device import Device, Roots

NUMBERS = {
    "sda": "8:0",
    "sda1": "8:1",
    "sda2": "8:2",
    "sda10": "8:10",
    "sdb": "8:16",
    "sdc": "8:32",
    "sdc1": "8:33",
    "dm-0": "253:0",
    "md0": "9:0",
}


class Machine:
    """sysfs, procfs and udev as directories."""

    def __init__(self, root: Path) -> None:
        self.roots = Roots(root / "sys", root / "proc", Path("/dev"), root / "udev")
        for place in ("sys/dev/block", "sys/class/block", "proc/self", "proc/1", "udev"):
            (root / place).mkdir(parents=True)
        for name in ("sda", "sdb", "dm-0", "md0"):
            self.disk(name)
        self.partition("sda", 1)
        self.partition("sda", 2)

    def second_path(self, wwn: str = "naa.5000c500a1b2c3d4") -> None:
        """sdc, with a partition, is another path to the disk sda."""
        self.disk("sdc")
        self.partition("sdc", 1)
        for name in ("sda", "sdc"):
            self.write(self.roots.sys / "devices" / name / "wwid", wwn + "\n")

    def write(self, path: Path, text: str | bytes) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)

    def _register(self, name: str, directory: Path) -> None:
        self.write(directory / "dev", NUMBERS[name] + "\n")
        self.write(directory / "size", "2097152\n")
        self.write(directory / "ro", "0\n")
        self.write(directory / "stat", "  10 0 80 5 20 0 160 7 0 9 12 0 0 0 0 0 0\n")
        (self.roots.sys / "class/block" / name).symlink_to(directory)
        (self.roots.sys / "dev/block" / NUMBERS[name]).symlink_to(directory)

    def disk(self, name: str) -> Path:
        directory = self.roots.sys / "devices" / name
        self._register(name, directory)
        self.write(directory / "diskseq", "42\n")
        for key, value in {
            "logical_block_size": "512",
            "physical_block_size": "4096",
            "rotational": "1",
            "zoned": "none",
            "scheduler": "mq-deadline [none]",
            "iostats": "1",
            "nomerges": "0",
            "io_poll": "0",
        }.items():
            self.write(directory / "queue" / key, value + "\n")
        return directory

    def partition(self, disk: str, number: int) -> Path:
        directory = self.roots.sys / "devices" / disk / f"{disk}{number}"
        self._register(f"{disk}{number}", directory)
        self.write(directory / "partition", f"{number}\n")
        return directory

    def place(self, name: str, start: int, sectors: int) -> None:
        """Where a partition is on its disk, in sectors of 512 bytes."""
        directory = self.roots.sys / "class/block" / name
        self.write(directory / "start", f"{start}\n")
        self.write(directory / "size", f"{sectors}\n")

    def get(self, name: str) -> Device:
        major, minor = NUMBERS[name].split(":")
        disk = device.by_number(int(major), int(minor), roots=self.roots)
        assert disk is not None
        return disk

    def mount(self, number: str, point: str, source: str, process: str = "self") -> None:
        with (self.roots.proc / process / "mountinfo").open("a") as file:
            file.write(f"36 35 {number} / {point} rw,relatime shared:1 - ext4 {source} rw\n")

    def hold(self, name: str, holder: str) -> None:
        (self.roots.sys / "class/block" / name / "holders" / holder).mkdir(parents=True)

    def holders(self, name: str) -> list[str]:
        return [holder.text for holder in safety.holders(self.get(name), self.roots)]


def check(
    machine: Machine, disk: Device, destroy: tuple[str, ...] = (), write_allowed: bool = True
) -> str | None:
    return safety.check_write(disk, 42, destroy, write_allowed, machine.roots)

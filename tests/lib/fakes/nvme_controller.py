# SPDX-License-Identifier: GPL-2.0
"""An NVMe controller that answers with the pages of the specification, built byte by byte, and its
disk in a sysfs of its own."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from spekctl.block.device import Device, Roots, by_number
from spekctl.documents.nvme import NvmeDrive
from spekctl.power.nvme_log import Asked, Readings
from spekctl.power.passthrough import NvmeReply, Place

PLACE = Place("/dev/nvme0", (240, 0), is_character=True)
INVALID_LOG_PAGE = 0x4109


def put(page: bytearray, at: int, size: int, value: int) -> None:
    """A field of the specification: first byte, bytes, little-endian."""
    page[at : at + size] = value.to_bytes(size, "little")


def identify(measures_power: bool = False, apsta: int = 1, version: int = 0x010400) -> bytes:
    """Identify Controller with three power states."""
    page = bytearray(4096)
    page[64:72] = b"FW1.2   "
    put(page, 80, 4, version)
    put(page, 96, 4, measures_power << 21)
    page[263], page[265] = 2, apsta
    put(page, 266, 2, 343)
    put(page, 268, 2, 353)
    # Maximum power, its scale and whether it is non-operational, latencies.
    for index, (power, flags, entry_us, exit_us) in enumerate(
        [(900, 0, 0, 0), (0, 0, 10, 20), (50, 3, 5000, 65536)]
    ):
        at = 2048 + 32 * index
        put(page, at, 2, power)
        page[at + 3] = flags
        put(page, at + 4, 4, entry_us)
        put(page, at + 8, 4, exit_us)
    return bytes(page)


def health(**fields: int) -> bytes:
    """The SMART / Health Information log; counters that are not given are 0."""
    places = {
        "critical_warning": (0, 1),
        "temperature": (1, 2),
        "spare": (3, 1),
        "threshold": (4, 1),
        "used": (5, 1),
        "units_read": (32, 16),
        "units_written": (48, 16),
        "reads": (64, 16),
        "writes": (80, 16),
        "busy": (96, 16),
        "power_cycles": (112, 16),
        "hours": (128, 16),
        "unsafe": (144, 16),
        "media_errors": (160, 16),
        "error_entries": (176, 16),
        "warning_minutes": (192, 4),
        "critical_minutes": (196, 4),
        "sensor_1": (200, 2),
        "sensor_8": (214, 2),
        "light": (216, 4),
        "heavy": (220, 4),
        "light_s": (224, 4),
        "heavy_s": (228, 4),
        "energy": (232, 8),
        "interval": (240, 4),
    }
    page = bytearray(512)
    for name, value in fields.items():
        put(page, *places[name], value)
    return bytes(page)


def power(bins: int = 2, attributes: int = 1) -> bytes:
    """The Power Measurement log: 7.25 W on average, 12 W at most."""
    page = bytearray(4096)
    page[1] = 3
    put(page, 2, 2, attributes)
    put(page, 8, 4, 1000)
    put(page, 12, 2, bins)
    put(page, 24, 2, 8)
    put(page, 26, 2, 250)
    put(page, 32, 4, 4)
    put(page, 40, 4, 2 << 16 | 725)
    put(page, 44, 4, 1 << 16 | 60_000)
    page[56] = 5
    for index in range(min(bins, 504)):
        put(page, 64 + 8 * index, 4, 10 + index)
        put(page, 68 + 8 * index, 4, 2 << 16 | 25 * index)
    return bytes(page)


def logs(*pages: int) -> bytes:
    """The Supported Log Pages log."""
    page = bytearray(1024)
    for number in pages:
        # Supported; index offsets are not.
        page[4 * number] = 1
    return bytes(page)


def extended(version: int = 3, **fields: int) -> bytes:
    """The SMART / Health Information Extended log of OCP."""
    places = {
        "written": (0, 16),
        "read": (16, 16),
        "events": (96, 1),
        "throttling": (97, 1),
        "incomplete": (112, 4),
        "free": (120, 1),
        "states": (200, 8),
    }
    page = bytearray(512)
    for name, value in fields.items():
        put(page, *places[name], value)
    put(page, 494, 2, version)
    put(page, 496, 16, 0xAFD514C97C6F4F9CA4F2BFEA2810AFC5)
    return bytes(page)


@dataclass
class FakeController:
    """Answers what it is asked; the tests change its pages, its state and its statuses."""

    state: int = 0
    autonomous: int = 1
    identity_page: bytes = field(default_factory=identify)
    health_page: bytes = field(default_factory=lambda: health(temperature=310, units_written=7))
    power_page: bytes = field(default_factory=power)
    logs_page: bytes = field(default_factory=lambda: logs(0x00, 0x02, 0xC0))
    extended_page: bytes = field(default_factory=extended)
    statuses: dict[Asked, int] = field(default_factory=dict)
    spent_ns: int = 1000
    asked: list[Asked] = field(default_factory=list)

    def ask(self, asked: Asked) -> NvmeReply:
        self.asked.append(asked)
        if asked in self.statuses:
            return NvmeReply(self.statuses[asked], 0, b"", self.spent_ns)
        pages = {
            Asked.IDENTITY: self.identity_page,
            Asked.HEALTH: self.health_page,
            Asked.POWER: self.power_page,
            Asked.LOGS: self.logs_page,
            Asked.EXTENDED: self.extended_page,
        }
        results = {Asked.STATE: 3 << 5 | self.state, Asked.AUTONOMOUS: self.autonomous}
        return NvmeReply(0, results.get(asked, 0), pages.get(asked, b""), self.spent_ns)


@dataclass
class Machine:
    """/sys and /dev with an NVMe disk, its controller and a partition."""

    root: Path
    multipath: bool = False

    def __post_init__(self) -> None:
        self.roots = Roots(*(self.root / name for name in ("sys", "proc", "dev", "udev")))
        parent = self._subsystem
        parent.mkdir(parents=True)
        controller = self.connect(0)
        disk = (parent if self.multipath else controller) / "nvme0n1"
        self._write(disk / "nsid", "1")
        self._disk(disk, "259:0")
        (disk / "device").symlink_to(parent if self.multipath else controller)
        self._write(disk / "nvme0n1p1/partition", "1")
        self._disk(disk / "nvme0n1p1", "259:1")

    @property
    def _subsystem(self) -> Path:
        return self.roots.sys / "devices/virtual/nvme-subsystem/nvme-subsys0"

    def connect(self, number: int) -> Path:
        """A controller; with multipath one more of the disk."""
        folder = self.roots.sys / f"devices/pci0/nvme/nvme{number}"
        for path, text in (("dev", f"240:{number}"), ("cntlid", str(number + 1))):
            self._write(folder / path, text)
        (self._subsystem / folder.name).symlink_to(folder)
        return folder

    def disconnect(self, number: int) -> None:
        """Take a controller away."""
        (self._subsystem / f"nvme{number}").unlink()

    def _disk(self, folder: Path, number: str) -> None:
        self._write(folder / "dev", number)
        self._write(folder / "size", "2048")
        link = self.roots.sys / "dev/block" / number
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(folder)

    def _write(self, path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n", encoding="utf-8")

    def volume(self) -> Device:
        """A volume on the partition."""
        folder = self.roots.sys / "devices/virtual/block/dm-0"
        self._disk(folder, "253:0")
        (folder / "slaves").mkdir()
        partition = self.roots.sys / "dev/block/259:1"
        (folder / "slaves/nvme0n1p1").symlink_to(partition.resolve())
        return self.device(253, 0)

    def device(self, major: int = 259, minor: int = 0) -> Device:
        device = by_number(major, minor, roots=self.roots)
        assert device is not None
        return device


def drive(machine: Machine, controller: FakeController | None = None, count: int = 2) -> NvmeDrive:
    """What @count readings of a controller add up to, a second apart."""
    clock = iter(range(10**9, 10**12, 10**6))
    answering = controller or FakeController(
        identity_page=identify(measures_power=True),
        health_page=health(temperature=310, units_written=7, energy=9, interval=2 << 16 | 500),
    )
    interval_ns = 10 * 10**9
    readings = Readings(
        PLACE, [machine.device()], answering.ask, interval_ns, clock=lambda: next(clock)
    )
    for _ in range(count):
        readings.take()
    part = readings.part("", is_complete=True)
    return msgspec.structs.replace(part, disks=["/dev/nvme0n1"])

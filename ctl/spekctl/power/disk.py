# SPDX-License-Identifier: GPL-2.0-or-later
"""What sysfs says of a disk's power without a command to it, and how the disk can be asked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from spekctl.block import device as devices
from spekctl.block.device import ROOTS, Device, Roots
from spekctl.errors import UsageError
from spekctl.power.passthrough import Place


class Protocol(StrEnum):
    """How a disk is asked."""

    ATA = "ata"
    SCSI = "scsi"
    NVME = "nvme"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Counters:
    """Completed reads, writes and discards of a disk, and requests in flight."""

    completed: int
    in_flight: int


@dataclass(frozen=True, slots=True)
class Disk:
    """A whole disk whose power is looked at."""

    device: Device
    protocol: Protocol
    place: Place | None  # of commands; None: there is none that can be opened without effects
    obstacle: str = ""  # why not

    @property
    def node(self) -> str:
        """The device node."""
        return self.device.node


def find(path: str, wanted: Protocol | None = None, roots: Roots = ROOTS) -> Disk:
    """The disk at @path, or that of the partition there; @wanted: how a SCSI disk is asked."""
    device = devices.find(path, roots)
    if device.partition:
        whole = _at(roots.sys / "class" / "block" / device.disk.replace("/", "!"), roots)
        if whole is None:
            raise UsageError(f"{path} is a partition of {device.disk}, which is gone")
        device = whole
    return of_device(device, wanted, roots)


def below(device: Device, roots: Roots = ROOTS) -> list[Disk]:
    """The disk of a device, or those that a RAID, a volume and the like lies on."""
    if device.partition:
        whole = _at(device.sysfs.parent, roots)
        return [] if whole is None else below(whole, roots)
    members = _entries(device.sysfs / "slaves")
    if not members:
        return [of_device(device, roots=roots)]
    lower = [_at(entry, roots) for entry in members]
    disks = [disk for device in lower if device is not None for disk in below(device, roots)]
    return list({disk.node: disk for disk in disks}.values())


def of_device(device: Device, wanted: Protocol | None = None, roots: Roots = ROOTS) -> Disk:
    """As find(), of a device that is known."""
    members = sorted(entry.name.replace("!", "/") for entry in _entries(device.sysfs / "slaves"))
    if members:
        nodes = ", ".join(str(roots.dev / name) for name in members)
        raise UsageError(f"{device.path} is not a disk but lies on {nodes}: name those")
    if _is_nvme(device):
        if wanted is not None:
            raise UsageError(f"{device.path} is an NVMe disk, which knows no {wanted} commands")
        number = (device.major, device.minor)
        return Disk(device, Protocol.NVME, Place(device.node, number, is_character=False))
    if (device.sysfs / "device" / "scsi_level").exists():
        return _scsi_disk(device, wanted, roots)
    if wanted is not None:
        raise UsageError(f"{device.path} is not a SCSI disk, and knows no {wanted} commands")
    return Disk(
        device, Protocol.NONE, None, f"the driver {device.driver} has no command for power states"
    )


def _is_nvme(device: Device) -> bool:
    """A namespace: its device is the controller, or with multipath the subsystem."""
    return device.name.startswith("nvme") and (device.sysfs / "nsid").exists()


def _scsi_disk(device: Device, wanted: Protocol | None, roots: Roots) -> Disk:
    protocol = wanted or (Protocol.ATA if _is_ata(device) else Protocol.SCSI)
    for entry in _entries(device.sysfs / "device" / "scsi_generic"):
        major, _, minor = _text(entry / "dev").partition(":")
        node = roots.dev / entry.name
        if minor and node.exists():
            return Disk(
                device, protocol, Place(str(node), (int(major), int(minor)), is_character=True)
            )
    if _text(device.sysfs / "removable") == "1":
        return Disk(
            device,
            protocol,
            None,
            "it calls itself removable, so that opening it sends commands: load the module sg",
        )
    place = Place(device.node, (device.major, device.minor), is_character=False)
    return Disk(device, protocol, place)


def _is_ata(device: Device) -> bool:
    """SAT: a translation layer answers INQUIRY with the vendor ATA, or has the VPD page ATA
    Information (89h), as USB bridges that keep their own vendor."""
    folder = device.sysfs / "device"
    return _text(folder / "vendor") == "ATA" or (folder / "vpd_pg89").exists()


# --- what the kernel knows -----------------------------------------------------------------------


def runtime_status(disk: Disk) -> str:
    """Of the disk, or of the controller or bridge that it hangs on, if that sleeps: suspended,
    suspending, resuming, active, or unsupported."""
    own = ""
    for folder in _power_folders(disk):
        status = _text(folder / "runtime_status")
        own = own or status
        if status in ("suspended", "suspending", "resuming"):
            return status
    return own or "unsupported"


def is_kernel_managed(disk: Disk) -> bool:
    """The kernel suspends the disk when it is idle. A command to it counts as use, and would put
    that off: who asks every 5 s keeps the disk awake."""
    folder = disk.device.sysfs / "device" / "power"
    status = _text(folder / "runtime_status")
    return _text(folder / "control") == "auto" and status not in ("", "unsupported")


def risk_of_commands(disk: Disk) -> str:
    """Why a command may change the power that a disk draws, or wake it, although its standard says
    that it does not; empty if nothing is known of its kind. A sentence for people."""
    if disk.protocol is Protocol.NVME:
        return "not asked in mid-run, as a command may end an autonomous power state"
    if _is_on_usb(disk):
        return "not asked in mid-run, as USB bridges are known that wake a disk for it"
    return ""


def _is_on_usb(disk: Disk) -> bool:
    try:
        place = (disk.device.sysfs / "device").resolve(strict=True)
        return any(
            (folder / "subsystem").exists() and (folder / "subsystem").resolve().name == "usb"
            for folder in place.parents
        )
    except OSError:
        return False


def stops_on_suspend(disk: Disk) -> bool:
    """The kernel stops the spindle on runtime suspend. Before 6.6 one attribute said so for all
    kinds of suspend."""
    for entry in _entries(disk.device.sysfs / "device" / "scsi_disk"):
        for name in ("manage_runtime_start_stop", "manage_start_stop"):
            text = _text(entry / name)
            if text:
                return text == "1"
    return False


def counters_of(disk: Disk) -> Counters | None:
    """The kernel's count of I/O; None if it is off. Flushes do not count: a disk may answer them
    without its spindle."""
    if devices.queue_attribute(disk.device, "iostats") == "0":
        return None
    fields = _text(disk.device.sysfs / "stat").split()
    if len(fields) < 11:
        return None
    completed = int(fields[0]) + int(fields[4]) + (int(fields[11]) if len(fields) > 11 else 0)
    return Counters(completed, int(fields[8]))


def requests_of(disk: Disk) -> int | None:
    """How many commands of any kind and from anyone the kernel has sent to a SCSI disk."""
    text = _text(disk.device.sysfs / "device" / "iorequest_cnt")
    try:
        return int(text, 16)
    except ValueError:
        return None


def scsi_state(disk: Disk) -> str:
    """running, blocked, offline and the like; empty for other disks."""
    return _text(disk.device.sysfs / "device" / "state") if disk.protocol in _SCSI else ""


def neighbours(disk: Disk, roots: Roots = ROOTS) -> list[Device]:
    """Other namespaces of an NVMe disk's controller: a power state is the controller's."""
    if disk.protocol is not Protocol.NVME:
        return []
    namespaces = []
    for entry in _entries(disk.device.sysfs.parent):
        if entry.name == disk.device.sysfs.name or not (entry / "nsid").exists():
            continue
        device = _at(entry, roots)
        if device is not None:
            namespaces.append(device)
    return namespaces


_SCSI = (Protocol.ATA, Protocol.SCSI)


def _power_folders(disk: Disk) -> Iterator[Path]:
    """power/ of the disk and of what it hangs on, up to the first device of a bus such as PCI. An
    NVMe disk with multipath has its controllers besides."""
    try:
        place = (disk.device.sysfs / "device").resolve(strict=True)
    except OSError:
        return
    starts = [place]
    if place.name.startswith("nvme-subsys"):
        starts = [entry.resolve() for entry in _entries(place) if (entry / "cntlid").exists()]
    for start in starts:
        here = start
        while here.name not in ("devices", "") and (here / "uevent").exists():
            yield here / "power"
            if (here / "subsystem").exists() and (here / "subsystem").resolve().name in _BUSES:
                break
            here = here.parent


_BUSES = ("pci", "platform", "virtio", "usb", "vmbus", "xen")


def _at(folder: Path, roots: Roots) -> Device | None:
    """The block device with this folder in sysfs."""
    major, _, minor = _text(folder / "dev").partition(":")
    return devices.by_number(int(major), int(minor), roots=roots) if minor else None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []

# SPDX-License-Identifier: GPL-2.0-or-later
"""Block devices as sysfs and udev describe them."""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from spekctl import namespaces, recorded
from spekctl.documents.device import DeviceFacts, DiskCounters, TargetFacts
from spekctl.errors import UsageError
from spekctl.suggest import did_you_mean

# Never useful to test, and numerous: only listed on request.
_UNINTERESTING = re.compile(r"(ram|zram|fd|sr)\d+$|loop\d+$|nbd\d+$")


# Links and directories on the way to a device; the kernel follows 40 links.
_MAX_STEPS = 100


@dataclass(frozen=True, slots=True)
class Roots:
    """Mount points of the kernel's file systems; tests provide their own."""

    sys: Path = Path("/sys")
    proc: Path = Path("/proc")
    dev: Path = Path("/dev")
    udev: Path = Path("/run/udev/data")


ROOTS = Roots()


@dataclass(frozen=True, slots=True)
class Partition:
    """A partition that the kernel knows: its kernel name and number, and its bytes on the disk."""

    name: str
    number: int
    place: range  # empty if sysfs does not say


class Device(DeviceFacts, frozen=True, kw_only=True):
    """A block device: its properties in results, and its location."""

    node: str
    read_only: bool
    disk: str
    partition: int
    poll_queues: bool
    zone_bytes: int = 0  # 0: not zoned
    open_zones_max: int = 0  # 0: no limit
    sysfs: Path
    # Serial or WWN, if another disk has the same: namespaces of one controller share a serial, as
    # may the units of one SCSI target; paths to one unit share a WWN.
    shared: frozenset[str] = frozenset()
    # Kernel names of other disks that are paths to the same unit, or to the one with the partition.
    # A multipath device is no other path than the disks it is made of: it holds these itself.
    other_paths: tuple[str, ...] = ()

    def facts(self, diskseq: int = 0, before: DiskCounters | None = None) -> TargetFacts:
        """The device as documents describe it; @before: what it had counted before the run."""
        known = {name: getattr(self, name) for name in DeviceFacts.__struct_fields__}
        known["path"] = recorded.text(self.path)
        known["diskseq"] = diskseq or self.diskseq
        return TargetFacts(**known, disk_before=before, start_bytes=start_sector(self) * 512)

    @property
    def identity(self) -> str:
        """What --destroy has to name: serial, else WWN, else a number that is unique until the
        next boot; the first that no other disk has. Partitions carry their number."""
        return self._names()[0]

    def is_named_by(self, text: str) -> bool:
        """True if @text is a serial, a WWN or the unique number of this device, and of no other."""
        return text.strip() in self._names()

    def shares(self, text: str) -> bool:
        """True if @text is the serial or WWN of this device and of another one."""
        return text.strip() in {name + self._part() for name in self.shared}

    def _names(self) -> list[str]:
        names = [name for name in (self.serial, self.wwn) if name and name not in self.shared]
        number = f"{self.major}:{self.minor}/{self.diskseq}"
        return [*(name + self._part() for name in names), number]

    def _part(self) -> str:
        return f"-part{self.partition}" if self.partition else ""


def find(path: str, roots: Roots = ROOTS, root: Path = Path("/")) -> Device:
    """The block device that @path means; symlinks such as /dev/disk/by-id/... are followed. @root:
    of the machine, to see whether this is a container."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        name = path or "''"
        raise UsageError(f"there is no device {name}{_hint(path, roots, root)}") from None
    except OSError as error:
        raise UsageError(f"cannot access {path}: {error.strerror}") from error
    if not stat.S_ISBLK(status.st_mode):
        kind = "directory" if stat.S_ISDIR(status.st_mode) else "file"
        if stat.S_ISCHR(status.st_mode):
            kind = "character device"
        raise UsageError(f"{path} is a {kind}, not a block device")
    device = by_number(os.major(status.st_rdev), os.minor(status.st_rdev), path, roots)
    if device is None:
        raise UsageError(f"{path} is a device node without a device")
    return device


def stays_in(path: str, dev: Path = ROOTS.dev) -> bool:
    """True if @path, an absolute one, leads to an entry of @dev through directories of @dev that
    only the owner of @dev may write. The entry need not be there."""
    owner = os.lstat(dev).st_uid
    here = list(dev.parts)
    parts = list(reversed(Path(os.path.normpath(path)).parts))
    for _ in range(_MAX_STEPS):
        if not parts:
            return True
        part = parts.pop()
        if part == "/":
            # An absolute path, the first one or a link's target: it must begin with @dev.
            if list(reversed(parts))[: len(dev.parts) - 1] != list(dev.parts[1:]):
                return False
            del parts[len(parts) - (len(dev.parts) - 1) :]
            here = list(dev.parts)
            continue
        if part == "..":
            here.pop()
            if len(here) < len(dev.parts):
                return False
            continue
        folder, entry = Path(*here), Path(*here, part)
        try:
            status = os.lstat(folder)
            if status.st_uid != owner or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                return False
            if stat.S_ISLNK(os.lstat(entry).st_mode):
                parts += reversed(Path(os.readlink(entry)).parts)
                continue
        except FileNotFoundError:
            return True
        except OSError:
            return False
        here.append(part)
    return False


def targets(paths: Sequence[str]) -> list[Device]:
    """The devices to test; UsageError for one without a capacity."""
    devices = [find(path) for path in paths]
    for device in devices:
        if not device.bytes:
            raise UsageError(f"{device.path} has no capacity (no medium, or nothing behind it)")
    return devices


def _hint(path: str, roots: Roots, root: Path) -> str:
    """Suggest a device: one with that kernel name, else one with a similar name, else to look.

    The directory does not count: all names share it.
    """
    from spekctl.workload.imported import is_windows_disk

    if is_windows_disk(path):
        return ": this is how Windows names a disk; spekctl devices lists those of this machine"
    folder, name = os.path.split(path)
    names = _names(roots)
    if name in names and path == str(roots.dev / name):
        text = f": the kernel has the disk {name}, but this {roots.dev} has no node of it"
        if namespaces.around(root).container:
            text += f"; {namespaces.device_remedy(path)}"
        return text
    if not folder and name in names:
        return f"; did you mean '{roots.dev / name}'?"
    near = did_you_mean(name, names)
    return near.replace("'", f"'{roots.dev}/", 1) or "; spekctl devices lists those that exist"


def by_number(
    major: int,
    minor: int,
    path: str = "",
    roots: Roots = ROOTS,
    owners: Mapping[str, Set[str]] | None = None,
) -> Device | None:
    """The block device with this number; None if there is none. @owners: who asks for many gives
    serial_owners()."""
    link = roots.sys / "dev" / "block" / f"{major}:{minor}"
    try:
        sysfs = link.resolve(strict=True)
    except OSError:
        return None
    name = sysfs.name.replace("!", "/")
    partition = _number(sysfs / "partition")
    disk = sysfs.parent if partition else sysfs
    queue = disk / "queue"
    udev = _udev(roots.udev / f"b{_text(disk / 'dev')}")
    node = str(roots.dev / name)
    serial, wwn = _serial(disk, udev), _wwn(disk, udev)
    if owners is None:
        owners = serial_owners(roots)
    return Device(
        path=path or node,
        node=node,
        name=name,
        major=major,
        minor=minor,
        bytes=_number(sysfs / "size") * 512,
        logical_block=_number(queue / "logical_block_size") or 512,
        physical_block=_number(queue / "physical_block_size") or 512,
        read_only=_number(sysfs / "ro") != 0,
        diskseq=_number(disk / "diskseq"),
        disk=disk.name.replace("!", "/"),
        partition=partition,
        model=_first(_text(disk / "device" / "model"), udev.get("ID_MODEL", "")),
        serial=serial,
        wwn=wwn,
        driver=_driver(disk),
        rotational=_number(queue / "rotational") != 0,
        zoned=_text(queue / "zoned") or "none",
        scheduler=_chosen(_text(queue / "scheduler")),
        iostats=_text(queue / "iostats"),
        nomerges=_text(queue / "nomerges"),
        poll_queues=_text(queue / "io_poll") == "1",
        **_zone_facts(queue),
        sysfs=sysfs,
        shared=frozenset(text for text in (serial, wwn) if owners.get(text, set()) - {disk.name}),
        # Not by the serial: units of one target and namespaces of one controller share that.
        other_paths=_other_paths(disk, owners.get(wwn, set())) if wwn else (),
    )


def same_bytes(left: Device, right: Device) -> bool:
    """Whether two devices have bytes in common: they are the same, a disk and its partition,
    partitions that overlap, or paths to the same unit. Of devices of other machines only these know
    their disks."""
    disks = {left.disk, *left.other_paths} - {""}
    if disks.isdisjoint({right.disk, *right.other_paths}):
        return False
    if not (left.partition and right.partition) or left.partition == right.partition:
        return True
    return _overlap(_place(left.sysfs), _place(right.sysfs))


def _overlap(left: range, right: range) -> bool:
    return max(left.start, right.start) < min(left.stop, right.stop)


def _is_inside(inner: range, outer: range) -> bool:
    return outer.start <= inner.start and inner.stop <= outer.stop


def _other_paths(disk: Path, same: Set[str]) -> tuple[str, ...]:
    others = same - {disk.name}
    return tuple(sorted(others - _below(disk))) if others else ()


def _below(disk: Path) -> set[str]:
    """Kernel names of what a stacked device is made of, at all levels."""
    names: set[str] = set()
    with contextlib.suppress(OSError):
        for entry in (disk / "slaves").iterdir():
            names |= {entry.name, *_below(entry)}
    return names


def is_there(device: Device) -> bool:
    """Whether sysfs still has the device that was read from it."""
    disk = device.sysfs.parent if device.partition else device.sysfs
    number = f"{device.major}:{device.minor}"
    return _text(device.sysfs / "dev") == number and _number(disk / "diskseq") == device.diskseq


def _zone_facts(queue: Path) -> dict[str, int]:
    """Size of the zones of a zoned disk, and how many can be open at once."""
    if _text(queue / "zoned") in ("", "none"):
        return {}
    limits = [_number(queue / name) for name in ("max_open_zones", "max_active_zones")]
    return {
        "zone_bytes": _number(queue / "chunk_sectors") * 512,
        "open_zones_max": min([limit for limit in limits if limit], default=0),
    }


def queue_attribute(device: Device, name: str) -> str:
    """An attribute of the queue of a device or its disk, as text; empty without it."""
    disk = device.sysfs.parent if device.partition else device.sysfs
    return _text(disk / "queue" / name)


def start_sector(device: Device) -> int:
    """Where a partition begins on its disk, in sectors of 512 bytes; 0 for a disk."""
    return _number(device.sysfs / "start") if device.partition else 0


def atomic_units(device: Device) -> tuple[int, int]:
    """Bytes of the smallest and of the largest atomic write; 0 and 0 if it has none, or if it
    is a partition whose start would misalign them."""
    disk = device.sysfs.parent if device.partition else device.sysfs
    names = ("atomic_write_unit_min_bytes", "atomic_write_unit_max_bytes")
    least, most, boundary = (
        _number(disk / "queue" / name) for name in (*names, "atomic_write_boundary_bytes")
    )
    if not least or start_sector(device) * 512 % max(least, boundary):
        return 0, 0
    return least, most


def serial_owners(roots: Roots = ROOTS) -> dict[str, set[str]]:
    """Serials and WWNs of this machine's disks, and which disks have them."""
    owners: dict[str, set[str]] = {}
    for name in _names(roots):
        disk = roots.sys / "class" / "block" / name.replace("/", "!")
        number = _text(disk / "dev")
        # A path that the NVMe driver has made part of a multipath disk has no number.
        if not number or _number(disk / "partition"):
            continue
        udev = _udev(roots.udev / f"b{number}")
        for text in (_serial(disk, udev), _wwn(disk, udev)):
            if text:
                owners.setdefault(text, set()).add(disk.name)
    return owners


def every(roots: Roots = ROOTS, everything: bool = False) -> Iterator[Device]:
    """All block devices with a capacity, partitions after their disks."""
    owners = serial_owners(roots)
    for name in _names(roots):
        directory = roots.sys / "class" / "block" / name.replace("/", "!")
        number = _text(directory / "dev")
        if not number or (not everything and _is_uninteresting(name, directory)):
            continue
        major, minor = number.split(":")
        device = by_number(int(major), int(minor), roots=roots, owners=owners)
        if device is not None and (device.bytes or everything):
            yield device


def read_stat(device: Device) -> DiskCounters | None:
    """The device's own counters; None if it keeps none."""
    if device.iostats == "0":
        return None
    fields = _text(device.sysfs / "stat").split()
    if len(fields) < 8:
        return None
    read_ms: int | None
    write_ms: int | None
    reads, _, read_sectors, read_ms, writes, _, write_sectors, write_ms = map(int, fields[:8])
    disk = device.sysfs.parent if device.partition else device.sysfs
    discard_sectors = int(fields[13]) if len(fields) > 13 else None
    if not (disk / "mq").is_dir():
        read_ms = write_ms = None
    return DiskCounters(
        reads, read_sectors, writes, write_sectors, read_ms, write_ms, discard_sectors
    )


def related_names(device: Device, roots: Roots = ROOTS) -> list[str]:
    """Kernel names of the device itself and, for a disk, of its partitions."""
    partitions = [] if device.partition else _partitions(device.sysfs)
    return [device.name, *(each.name for each in partitions)]


def partitions_on(device: Device, roots: Roots = ROOTS) -> list[Partition]:
    """Partitions on the bytes of the device, by whatever path the kernel knows them: all of a disk,
    and of a partition those that are nested in it, as slices are. Their places are from the first
    byte of the device on, and end with it. Two at the same place are listed once."""
    own = _place_on_disk(device)
    nested: list[Partition] = []
    for each in _partitions_by_any_path(device, roots):
        place = range(each.place.start - own.start, min(each.place.stop, own.stop) - own.start)
        # On a disk that has shrunk, partitions end with it.
        if place and (not device.partition or (_is_inside(each.place, own) and each.place != own)):
            nested.append(Partition(each.name, each.number, place))
    return nested


def partitions_across(device: Device, roots: Roots = ROOTS) -> list[Partition]:
    """Partitions that overlap a partition and have bytes outside of it, by whatever path the kernel
    knows them; none of a disk. Their places are from the first byte of the disk on, and end with
    it."""
    if not device.partition:
        return []
    own = _place_on_disk(device)
    end = _number(device.sysfs.parent / "size") * 512
    return [
        Partition(each.name, each.number, range(each.place.start, min(each.place.stop, end)))
        for each in _partitions_by_any_path(device, roots)
        if _overlap(each.place, own) and not _is_inside(each.place, own)
    ]


def _partitions_by_any_path(device: Device, roots: Roots) -> list[Partition]:
    """Partitions of the disk of the device, without the device itself, and those that other paths
    have at other places."""
    disk = device.sysfs.parent if device.partition else device.sysfs
    folders = [disk, *(roots.sys / "class" / "block" / name for name in device.other_paths)]
    known: dict[range, Partition] = {}
    for each in (each for folder in folders for each in _partitions(folder)):
        if each.number != device.partition:
            known.setdefault(each.place, each)
    return list(known.values())


def _place_on_disk(device: Device) -> range:
    first = start_sector(device) * 512
    return range(first, first + device.bytes)


def disk_node(device: Device) -> tuple[str, tuple[int, int]]:
    """Path and number of the disk that a partition is on."""
    major, _, minor = _text(device.sysfs.parent / "dev").partition(":")
    return device.node.removesuffix(device.name) + device.disk, (int(major or 0), int(minor or 0))


def overlapping(device: Device) -> list[str]:
    """Kernel names of the partitions, besides a partition itself, that have bytes of it, as slices
    have that are nested in it. The kernel lets different users claim them."""
    if not device.partition:
        return []
    shared = _sharing(device, _partitions(device.sysfs.parent))
    return [each.name for each in shared if each.number != device.partition]


def _sharing(device: Device, partitions: Sequence[Partition]) -> list[Partition]:
    """Those of the @partitions of its disk, by any path, that have bytes of the device."""
    if not device.partition:
        return list(partitions)
    place = _place(device.sysfs)
    return [
        each
        for each in partitions
        if each.number == device.partition or _overlap(each.place, place)
    ]


def names_on_other_paths(device: Device, roots: Roots = ROOTS) -> list[str]:
    """Kernel names of what other paths call the same bytes: of a disk, the disk and its
    partitions; of a partition, the disk, the partition of the same number, and those that overlap
    it."""
    names: list[str] = []
    for disk in device.other_paths:
        partitions = _partitions(roots.sys / "class" / "block" / disk)
        wanted = [each.name for each in _sharing(device, partitions)]
        names += [disk.replace("!", "/"), *wanted]
    return names


def claims_beside(device: Device, roots: Roots = ROOTS) -> list[Device]:
    """What can be claimed only if nobody has claimed the same bytes, and what the claim of the
    device itself leaves free: on each other path to a disk, the disk, which the kernel also refuses
    while a partition is claimed; of a partition, those there that have bytes of it, or the disk
    where that path has none; and those of its own disk that overlap it."""
    blocks = roots.sys / "class" / "block"
    wanted: list[Device] = []
    names = overlapping(device)
    for disk in device.other_paths:
        there = _sharing(device, _partitions(blocks / disk)) if device.partition else []
        names += [each.name for each in there] or [disk]
    for name in names:
        major, _, minor = _text(blocks / name.replace("/", "!") / "dev").partition(":")
        # Who holds that path is asked, and not who holds the unit: the claim of @device is ours.
        if minor and (path := by_number(int(major), int(minor), roots=roots, owners={})):
            wanted.append(path)
    return wanted


def _partitions(disk: Path) -> list[Partition]:
    """The partitions of the disk whose folder in sysfs is @disk."""
    with contextlib.suppress(OSError):
        partitions = [
            Partition(entry.name.replace("!", "/"), number, _place(entry))
            for entry in disk.iterdir()
            if (number := _number(entry / "partition"))
        ]
        return sorted(partitions, key=lambda each: each.name)
    return []


def _place(partition: Path) -> range:
    """The bytes of a disk that the partition has whose folder in sysfs is @partition."""
    start, sectors = _text(partition / "start"), _number(partition / "size")
    if not start.isdigit():
        return range(0)
    return range(int(start) * 512, (int(start) + sectors) * 512)


def _is_uninteresting(name: str, directory: Path) -> bool:
    """RAM disks, floppies and the like; loop and nbd devices only while nothing is behind them."""
    if not _UNINTERESTING.match(name):
        return False
    return not (name.startswith(("loop", "nbd")) and _number(directory / "size"))


def _names(roots: Roots) -> list[str]:
    try:
        names = [path.name.replace("!", "/") for path in (roots.sys / "class" / "block").iterdir()]
    except OSError:
        return []
    return sorted(names, key=_natural)


def _natural(name: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name)]


def _serial(disk: Path, udev: dict[str, str]) -> str:
    """Serial number as printed on the drive: NVMe and virtio attribute, SCSI VPD page 0x80. Of what
    is made of other disks its UUID."""
    for place in (disk / "device" / "serial", disk / "serial"):
        if text := _text(place):
            return text
    with contextlib.suppress(OSError):
        page = (disk / "device" / "vpd_pg80").read_bytes()
        length = int.from_bytes(page[2:4], "big")
        text = page[4 : 4 + length].decode("ascii", "replace").strip("\0 ")
        if text and text.isprintable():
            return text
    return udev.get("ID_SERIAL_SHORT", "") or _text(disk / "dm" / "uuid") or _md_uuid(disk, udev)


def _md_uuid(disk: Path, udev: dict[str, str]) -> str:
    """UUID of an array of md, as mdadm prints it. The kernel has the bytes of 0.90 metadata in
    another order, and none of arrays whose metadata it does not manage."""
    if text := udev.get("MD_UUID", ""):
        return text
    digits = _text(disk / "md" / "uuid").replace("-", "")
    if not _text(disk / "md" / "metadata_version").startswith("1.") or not digits.strip("0"):
        return ""
    return ":".join(digits[place : place + 8] for place in range(0, 32, 8))


def _wwn(disk: Path, udev: dict[str, str]) -> str:
    return _first(_text(disk / "wwid"), _text(disk / "device" / "wwid"), udev.get("ID_WWN", ""))


def _driver(disk: Path) -> str:
    with contextlib.suppress(OSError):
        return (disk / "device" / "driver").resolve(strict=True).name
    return re.sub(r"[-_]?\d+.*$", "", disk.name)


def _udev(path: Path) -> dict[str, str]:
    """Properties from udev's data base."""
    properties: dict[str, str] = {}
    for line in _text(path).splitlines():
        if line.startswith("E:") and "=" in line:
            key, _, value = line[2:].partition("=")
            properties[key] = value.strip()
    return properties


def _chosen(text: str) -> str:
    """``mq-deadline [none]`` -> ``none``."""
    match = re.search(r"\[([^\]]+)\]", text)
    return match.group(1) if match else text


def _first(*texts: str) -> str:
    return next((" ".join(text.split()) for text in texts if text.strip()), "")


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _number(path: Path) -> int:
    text = _text(path)
    return int(text) if text.isdigit() else 0

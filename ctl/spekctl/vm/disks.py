# SPDX-License-Identifier: GPL-2.0-or-later
"""Disks of a guest: `type[,option=value]...`, checked on the host, created for the guest."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from spekctl.errors import UsageError
from spekctl.suggest import did_you_mean

MIB = 1 << 20

# Options of each kind that keep their own names.
# fmt: off
_NULL_BLK = frozenset(
    {
        "completion_nsec", "irqmode", "queue_mode", "submit_queues", "poll_queues",
        "hw_queue_depth", "memory_backed", "discard", "mbps", "cache_size", "blocking",
        "max_sectors", "no_sched", "virt_boundary", "home_node", "shared_tags", "zoned",
        "zone_size", "zone_capacity", "zone_nr_conv", "zone_max_open", "zone_max_active",
    }
)
_SCSI_DEBUG = frozenset(
    {
        "delay", "ndelay", "max_queue", "submit_queues", "poll_queues", "dif", "dix",
        "dsense", "every_nth", "fake_rw", "host_max_queue", "lbpu", "lbpws", "lbpws10",
        "lbprz", "medium_error_count", "medium_error_start", "opts", "opt_blks",
        "opt_xferlen_exp", "physblk_exp", "random", "removable", "scsi_level",
        "unmap_alignment", "unmap_granularity", "virtual_gb", "wp", "write_same_length",
        "zbc", "zone_size_mb", "zone_nr_conv", "zone_max_open", "per_host_store", "num_parts",
    }
)
# fmt: on
_QEMU = frozenset({"queues"})

# Options of `spekctl drive new`, and set.FIELD for its --set.
_DRIVE = frozenset(
    {
        *("model", "arms", "channels", "rpm", "profile", "schedule", "queue_depth", "max_wait"),
        *("serial", "store", "store_size", "seed", "spin"),
    }
)
_SET = "set."

OPTIONS: dict[str, frozenset[str]] = {
    "null_blk": _NULL_BLK | {"size", "bs"},
    "scsi_debug": _SCSI_DEBUG | {"size", "bs", "dev_size_mb", "sector_size"},
    "nvme": _QEMU | {"size", "bs"},
    "virtio": _QEMU | {"size", "bs"},
    "drive": _DRIVE,
}
DEFAULT_BYTES = {
    "null_blk": 16 << 30,
    "scsi_debug": 256 * MIB,
    "nvme": 1 << 30,
    "virtio": 1 << 30,
    "drive": 0,
}
_VALUE = r"[0-9a-zA-Z_:-]+"
BLOCK_SIZES = (512, 1024, 2048, 4096)
# More abort QEMU for virtio (VIRTIO_QUEUE_MAX).
QUEUES_MAX = 1024

HELP = """Disk of the guest; repeatable. Types: null_blk, scsi_debug and drive (created in the
guest), nvme and virtio (emulated by QEMU on an empty sparse file). A drive is a modelled one:
drive,model=barracuda-es with the options of `spekctl drive new` (arms=4, max_wait=50ms, but
set.FIELD=VALUE for --set). All others take size=2G (a bare number means MiB; default: null_blk 16G,
nvme and virtio 1G, scsi_debug 256M) and bs=512|1024|2048|4096 (logical block size); nvme and virtio
also queues=N, null_blk its configfs attributes (completion_nsec=1000000, irqmode=2, poll_queues=1),
scsi_debug its module parameters (delay=1, ndelay=100000). {disk1}, {disk2}... in COMMAND stand for
the names of the disks; SPEK_DISK1, SPEK_DISK2... in its environment are the same."""


@dataclass(frozen=True, slots=True)
class Disk:
    """One disk of a guest."""

    kind: str
    bytes: int
    block_size: int = 512
    options: dict[str, str] = field(default_factory=dict)

    def plan(self, number: int) -> dict[str, Any]:
        """Data that the guest needs to create or find disk @number."""
        return {
            "kind": self.kind,
            "bytes": self.bytes,
            "block_size": self.block_size,
            "options": self.options,
            "serial": serial(number),
            "words": self.drive_words() if self.kind == "drive" else [],
        }

    def settings(self) -> list[str]:
        """What a modelled drive sets of its model: FIELD=VALUE."""
        return [
            f"{name.removeprefix(_SET)}={value}"
            for name, value in self.options.items()
            if name.startswith(_SET)
        ]

    def drive_words(self) -> list[str]:
        """Arguments of `spekctl drive new`."""
        words = [self.options["model"]]
        for name, value in self.options.items():
            if name != "model" and not name.startswith(_SET):
                words += [f"--{name.replace('_', '-')}", value]
        for setting in self.settings():
            words += ["--set", setting]
        return words

    def qemu_arguments(self, number: int, folder: Path) -> list[str]:
        """QEMU's part of disk @number; its contents are a sparse file in @folder."""
        if self.kind not in ("nvme", "virtio"):
            return []
        image = folder / f"disk{number}.img"
        with open(image, "wb") as file:
            file.truncate(self.bytes)
        path = str(image).replace(",", ",,")
        drive = f"if=none,id=spekdrive{number},file={path},format=raw,cache=unsafe"
        blocks = f"logical_block_size={self.block_size},physical_block_size={self.block_size}"
        common = f"drive=spekdrive{number},serial={serial(number)},{blocks}"
        queues = self.options.get("queues")
        if self.kind == "nvme":
            extra = f",max_ioqpairs={queues}" if queues else ""
            device = f"nvme,{common}{extra}"
        else:
            extra = f",num-queues={queues}" if queues else ""
            device = f"virtio-blk-pci,{common}{extra}"
        return ["-drive", drive, "-device", device]


def serial(number: int) -> str:
    """Serial number of an emulated disk, by which the guest finds it."""
    return f"spekdisk{number}"


def parse_disk(text: str) -> Disk:
    """`null_blk,size=1024,completion_nsec=1000000` as a Disk."""
    kind, *pairs = text.split(",")
    if kind not in OPTIONS:
        raise UsageError(
            f"there is no disk type '{kind}'{did_you_mean(kind, OPTIONS)} "
            f"(types: {', '.join(OPTIONS)})"
        )
    size_bytes, block_size = DEFAULT_BYTES[kind], 512
    options: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not value:
            raise UsageError(f"disk option '{pair}' must have the form name=value")
        if name not in OPTIONS[kind] and not (kind == "drive" and name.startswith(_SET)):
            raise UsageError(
                f"{kind} has no option '{name}'{did_you_mean(name, OPTIONS[kind])} "
                f"(options: {', '.join(sorted(OPTIONS[kind]))})"
            )
        if name in ("size", "dev_size_mb"):
            size_bytes = _parse_size(kind, value)
        elif name in ("bs", "sector_size"):
            block_size = _parse_block_size(value)
        elif not re.fullmatch(r"[0-9a-zA-Z_:./-]+" if kind == "drive" else _VALUE, value):
            raise UsageError(f"'{value}' is not a valid value of the disk option {name}")
        else:
            options[name] = value
    queues = options.get("queues", "1")
    if kind in ("nvme", "virtio") and not (queues.isdigit() and 1 <= int(queues) <= QUEUES_MAX):
        raise UsageError(f"queues={queues} is not a number of queues from 1 to {QUEUES_MAX}")
    if kind == "drive" and "model" not in options:
        raise UsageError("a drive needs a model: drive,model=barracuda-es (`spekctl drive models`)")
    return Disk(kind, size_bytes, block_size, options)


def parse_disks(texts: list[str]) -> list[Disk]:
    """All --disk options of a command line."""
    disks = [parse_disk(text) for text in texts]
    if sum(disk.kind == "scsi_debug" for disk in disks) > 1:
        raise UsageError("only one scsi_debug disk can be given: the driver exists once in a guest")
    return disks


def _parse_size(kind: str, value: str) -> int:
    match = re.fullmatch(r"(\d+)([KMGT]?)(?:i?B)?", value, re.IGNORECASE)
    if not match:
        raise UsageError(f"disk size '{value}' is not a size; write for example 256M or 4G")
    unit = {"": MIB, "K": 1 << 10, "M": MIB, "G": 1 << 30, "T": 1 << 40}[match.group(2).upper()]
    size_bytes = int(match.group(1)) * unit
    if size_bytes == 0 or size_bytes % MIB:
        raise UsageError(f"disk size '{value}' of {kind} is not a positive number of MiB")
    return size_bytes


def _parse_block_size(value: str) -> int:
    if not value.isdigit() or int(value) not in BLOCK_SIZES:
        sizes = ", ".join(str(size) for size in BLOCK_SIZES)
        raise UsageError(f"logical block size '{value}' is not one of {sizes}")
    return int(value)

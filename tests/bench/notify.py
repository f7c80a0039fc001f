# SPDX-License-Identifier: GPL-2.0
"""Notifications per I/O: doorbell writes of QEMU's NVMe, kicks of its virtio-blk.

QEMU traces them to a file of the host, which the guest sees as well: the guest reads how many
there were before and after a run. Without ioeventfd each kick is handled, and traced, at once;
with it several may be taken for one.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bench import raw
from bench.cases import DEEP, ROWS, Point
from bench.drivers import Drivers

from spekctl.vm.disks import Disk

KINDS = ("nvme", "virtio")
DISKS = [Disk(kind, 256 << 20, options={"queues": "1"}) for kind in KINDS]
KEYS = ("spek-auto", "spek-mq", "spek-bio", "fio-uring", "fio-uring-tuned")
SHORT, LONG = 2_000, 10_000

DOORBELL = "pci_nvme_mmio_doorbell_sq"
KICK, READ = "virtio_queue_notify", "virtio_blk_handle_read"


def qemu_arguments(log: Path) -> list[str]:
    """Trace to @log."""
    events = [word for event in (DOORBELL, KICK, READ) for word in ("-trace", event)]
    return [*events, "-D", str(log), "-global", "virtio-blk-pci.ioeventfd=off"]


def doorbells(text: str) -> int:
    """Writes to the doorbells of submission queues; queue 0 is for administration."""
    lines = (line for line in text.splitlines() if f"{DOORBELL} " in line)
    return sum(1 for line in lines if _word_after(line, "sqid") != "0")


def kicks(text: str) -> int:
    """Kicks of the device that reads blocks; every virtio device of the guest is traced."""
    lines = text.splitlines()
    disks = {_word_after(line, "vdev") for line in lines if f"{READ} " in line}
    return sum(1 for line in lines if f"{KICK} " in line and _word_after(line, "vdev") in disks)


def _word_after(line: str, name: str) -> str:
    words = line.replace(",", " ").split()
    return words[words.index(name) + 1]


COUNTERS = {"nvme": doorbells, "virtio": kicks}


def measure(tools: Path, fio: list[str], nodes: dict[str, str], log: Path) -> Iterator[raw.Kicks]:
    """In the guest: each way to each disk, at two run lengths."""
    for kind, node in nodes.items():
        drivers = Drivers(tools, {"plain": node}, fio)
        drivers.connect()
        for row in (row for row in ROWS if row.key in KEYS):
            for count in (SHORT, LONG):
                before = COUNTERS[kind](log.read_text(errors="replace"))
                drivers.time(Point(row, DEEP), count)
                after = COUNTERS[kind](log.read_text(errors="replace"))
                yield raw.Kicks(disk=kind, row=row.key, count=count, kicks=after - before)

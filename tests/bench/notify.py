# SPDX-License-Identifier: GPL-2.0
"""Notifications per I/O: doorbell writes of QEMU's NVMe, kicks of its virtio-blk.

QEMU traces them to a file of the host, which the guest sees as well: the guest reads how many
there were before and after a run. Without ioeventfd each kick is handled, and traced, at once;
with it several may be taken for one.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from bench import raw
from bench.cases import DEEP, EMULATED, ROWS, DiskKind, Point
from bench.drivers import Drivers

from spekctl.vm.disks import Disk

DISKS = [Disk(kind, 256 << 20, options={"queues": "1"}) for kind in EMULATED]
KEYS = ("spek-auto", "spek-mq", "spek-bio", "fio-uring", "fio-uring-tuned")
SHORT, LONG = 2_000, 10_000

DOORBELL = "pci_nvme_mmio_doorbell_sq"
KICK, READ = "virtio_queue_notify", "virtio_blk_handle_read"


def qemu_arguments(log: Path) -> list[str]:
    """Trace to @log."""
    events = [word for event in (DOORBELL, KICK, READ) for word in ("-trace", event)]
    return [*events, "-D", str(log), "-global", "virtio-blk-pci.ioeventfd=off"]


class Notifications:
    """Those of the disks that QEMU has traced to a file so far.

    The file also has the kicks of the guest's root file system, by which it is read: it grows with
    each read, so that reading to its end would have none. A look reads what was new when it began.
    """

    def __init__(self, log: Path) -> None:
        self._log = log
        self._offset = 0
        self._doorbells = 0
        self._kicks: Counter[str] = Counter()
        self._disks: set[str] = set()

    def count(self, kind: str) -> int:
        """Writes to doorbells, or kicks, since QEMU started."""
        self._look()
        if kind == "nvme":
            return self._doorbells
        return sum(self._kicks[device] for device in self._disks)

    def _look(self) -> None:
        with open(self._log, "rb") as log:
            size = os.fstat(log.fileno()).st_size
            log.seek(self._offset)
            # The last line may not be complete.
            text, newline, _rest = log.read(size - self._offset).rpartition(b"\n")
        self._offset += len(text) + len(newline)
        for line in text.decode(errors="replace").splitlines():
            self._add(line)

    def _add(self, line: str) -> None:
        if f"{DOORBELL} " in line:
            # Queue 0 is for administration.
            self._doorbells += _word_after(line, "sqid") != "0"
        elif f"{KICK} " in line:
            self._kicks[_word_after(line, "vdev")] += 1
        elif f"{READ} " in line:
            # Every virtio device of the guest is traced; the disk is the one that reads blocks.
            self._disks.add(_word_after(line, "vdev"))


def _word_after(line: str, name: str) -> str:
    words = line.replace(",", " ").split()
    return words[words.index(name) + 1]


def measure(
    tools: Path, fio: list[str], nodes: dict[DiskKind, str], log: Path
) -> Iterator[raw.Kicks]:
    """In the guest: each way to each disk, at two run lengths."""
    notifications = Notifications(log)
    for kind, node in nodes.items():
        drivers = Drivers(tools, {"plain": node}, fio)
        drivers.connect()
        for row in (row for row in ROWS if row.key in KEYS):
            for count in (SHORT, LONG):
                before = notifications.count(kind)
                drivers.time(Point(row, DEEP), count)
                after = notifications.count(kind)
                yield raw.Kicks(disk=kind, row=row.key, count=count, kicks=after - before)

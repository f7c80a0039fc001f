# SPDX-License-Identifier: GPL-2.0
"""spekctl augment on a machine of files: a RAID, an SSD and spare areas, and a fake dmsetup."""

from __future__ import annotations

import errno
import itertools
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from lib.core.augment_images import BLOCK, Images
from lib.fakes.dmsetup import CLEAN, FakeDm
from lib.fakes.kernel import FakeKernel

from spekctl import cli
from spekctl.augment import mapper
from spekctl.block import device as devices
from spekctl.block import opening, safety
from spekctl.block.device import Device
from spekctl.documents.augment import (
    AugmentCheck,
    AugmentStatus,
    Cache,
    CacheDevice,
    CheckedBreak,
    CheckedDevice,
    CheckedLog,
    Mode,
    Wakes,
)
from spekctl.errors import UsageError
from spekctl.kernel import client
from spekctl.run import candidates

MIB = 1 << 20
UUID_TEXT = "6b1f0c52-84b1-4f6b-9d57-0a3c5f6e7d80"
STATUS = AugmentStatus(
    hostname="box",
    caches=[
        Cache(
            name="nas", node="/dev/mapper/nas", uuid=UUID_TEXT, raid="/dev/md0", mode=Mode.NORMAL,
            generation=3,
            devices=[
                CacheDevice(None, "/dev/sdz", True, None),
                CacheDevice(0, "/dev/sda2", True, True),
                CacheDevice(1, "/dev/sdb2", True, False),
                CacheDevice(2, "", False, False),
                CacheDevice(3, "/dev/sdd2", False, False),
            ],
            mirror=0, dirty_blocks=12, log_used=20, log_blocks=256, oldest_dirty_ms=65000, hits=90,
            misses=10, copies=5, prefetched=4, prefetch_hits=3, records=20, destaged=8, flushes=3,
            errors=0, wakes=Wakes(1, 1, 0, 0, 0), lost_blocks=0,
        )
    ],
)  # fmt: skip
CHECK = AugmentCheck(
    uuid=UUID_TEXT,
    generation=3,
    log_blocks=256,
    ssd_blocks=600,
    members=2,
    devices=[
        CheckedDevice(None, "/dev/sdz", 2, 3, 17, False),
        CheckedDevice(0, "/dev/sda2", 1, 2, 5, True),
    ],
    missing=["member:1"],
    log=CheckedLog(
        tail=7, tail_seq=40, records=1000, used_blocks=1006, dirty_blocks=6, single=2,
        ranges=[(100, 106)],
        broken=CheckedBreak(
            1040,
            30,
            ["the header on the SSD is damaged", "record 1041 is there instead on member 0"],
        ),
        scattered=3,
    ),
)  # fmt: skip


def make_unreadable(
    monkeypatch: pytest.MonkeyPatch, *blocks: tuple[str, int], times: int | None = None
) -> None:
    """Have reads of blocks fail, each of a file. @times: number of reads that fail; None: all."""
    real = os.preadv
    bad = {(os.path.realpath(path), block) for path, block in blocks}
    failures = itertools.count(1)

    def preadv(fd: int, buffers: Sequence[memoryview], offset: int) -> int:
        path = os.readlink(f"/proc/self/fd/{fd}")
        end = offset + sum(map(len, buffers))
        is_bad = any((path, block) in bad for block in range(offset // BLOCK, -(-end // BLOCK)))
        if is_bad and (times is None or next(failures) <= times):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return real(fd, buffers, offset)

    monkeypatch.setattr(os, "preadv", preadv)


class Machine:
    """md0, sdz (the SSD), sda2 and sdb2 (spare areas) as files; numbers are 9:0, 8:0, 8:1 and 8:2.

    Nobody uses them unless the test says so by @users.
    """

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = root
        self.dm = FakeDm(root / "dm")
        self.devices: dict[str, Device] = {}
        self.users: dict[str, str] = {}
        self.opened: list[tuple[str, int]] = []
        self.add("md0", 64 * MIB, 9, 0)
        self.add("sdz", 8 * MIB, 8, 0)
        self.add("sda2", 3 * MIB, 8, 1)
        self.add("sdb2", 3 * MIB, 8, 2)
        monkeypatch.setenv("PATH", f"{self.dm.folder}{os.pathsep}{os.environ['PATH']}")
        monkeypatch.setattr(mapper, "check_rights", lambda: None)
        monkeypatch.setattr(
            mapper.Mapper, "node", lambda _, name: str(self.dm.folder / "mapper" / name)
        )
        monkeypatch.setattr(devices, "find", self.find)
        monkeypatch.setattr(devices, "every", lambda *given, **_: iter(self.devices.values()))
        monkeypatch.setattr(devices, "by_number", self.by_number)
        monkeypatch.setattr(opening, "open_block_device", self.open)
        monkeypatch.setattr(safety, "_drop_cache", lambda path, fd: None)
        monkeypatch.setattr(safety, "refuse_users", lambda *_: None)
        monkeypatch.setattr(safety, "users", lambda device, *given, **_: self.texts(device))
        monkeypatch.setattr(safety, "verdict", lambda device, *_, **__: "".join(self.texts(device)))
        monkeypatch.setattr(safety, "explain_busy", lambda device, *_: self.texts(device)[0])
        monkeypatch.setattr(candidates, "runs_and_claims", lambda: ([], []))
        self.kernel = FakeKernel()
        monkeypatch.setattr(client, "connect", lambda: self.kernel)

    def add(self, name: str, size: int, major: int, minor: int) -> Device:
        path = self.root / name
        with path.open("ab") as file:
            file.truncate(size)
        sysfs = self.root / "sys" / name
        (sysfs / "queue").mkdir(parents=True)
        self.devices[str(path)] = Device(
            path=str(path), node=str(path), name=name, disk=name, major=major, minor=minor,
            diskseq=0, bytes=size, logical_block=512, physical_block=4096, read_only=False,
            partition=0, model="M", serial=f"SERIAL-{name}", wwn="", driver="sd", rotational=True,
            zoned="none", scheduler="none", iostats="1", nomerges="0", poll_queues=False,
            sysfs=sysfs,
        )  # fmt: skip
        return self.devices[str(path)]

    def path(self, name: str) -> str:
        return str(self.root / name)

    def change(self, name: str, **fields: object) -> None:
        """Change facts of a device."""
        path = self.path(name)
        self.devices[path] = msgspec.structs.replace(self.devices[path], **fields)

    def texts(self, device: Device) -> list[str]:
        return [self.users[device.name]] if device.name in self.users else []

    def find(self, path: str, *given: object) -> Device:
        try:
            return self.devices[path]
        except KeyError:
            raise UsageError(f"there is no device {path}") from None

    def by_number(self, major: int, minor: int, path: str = "", **_: object) -> Device | None:
        for device in self.devices.values():
            if (device.major, device.minor) == (major, minor):
                return device
        if (major, minor) == (253, 0):
            return msgspec.structs.replace(self.devices[self.path("md0")], name="dm-0", path=path)
        return None

    def open(self, path: str, flags: int, number: object = None) -> int:
        device = self.find(path)
        assert number in (None, (device.major, device.minor))
        assert flags & os.O_ACCMODE == os.O_RDONLY
        self.opened.append((device.name, flags))
        if flags & os.O_EXCL and device.name in self.users:
            raise OSError(16, "Device or resource busy")
        return os.open(path, os.O_RDONLY)

    def set(self, **changes: Any) -> Images:
        """Make the SSD and the spare areas a set of md0, as create has left it."""
        images = Images(self.root / "set", **{"raid": "serial=SERIAL-md0"} | changes)
        for number, name in enumerate(("sdz", "sda2", "sdb2")):
            os.replace(images.path(number), self.path(name))
            os.symlink(self.path(name), images.path(number))
        return images

    def attached(self, status: str | list[str] = CLEAN, opens: int = 0) -> None:
        """Have the set attached as nas."""
        table = "0 131072 spek-augment 9:0 8:0 2 8:1 8:2 256 0"
        self.dm.map("nas", table, status, f"SPEK_AUGMENT-{UUID_TEXT}", opens)

    def augment(self, *words: str) -> int:
        """spekctl augment; names of devices stand for their paths."""
        names = {device.name for device in self.devices.values()}
        return cli.run(["augment", *(self.path(word) if word in names else word for word in words)])

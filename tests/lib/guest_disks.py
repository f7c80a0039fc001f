# SPDX-License-Identifier: GPL-2.0
"""Disks that live as long as a with block, for tests that share one among many cases."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from lib.guest_modules import unload_soon
from lib.waiting import eventually

from spekctl.vm import guest_side
from spekctl.vm.disks import serial


def settle() -> None:
    """Wait until udev has looked at what has come or gone: its reads count as I/O, too."""
    subprocess.run(["udevadm", "settle"], check=False)


@contextlib.contextmanager
def udev_at_rest() -> Iterator[None]:
    """Nothing is looked at and no module is loaded because a device has come or gone. Whoever waits
    for udev meanwhile waits in vain."""
    settle()
    subprocess.run(["udevadm", "control", "--stop-exec-queue"], check=False)
    try:
        yield
    finally:
        subprocess.run(["udevadm", "control", "--start-exec-queue"], check=False)


@contextlib.contextmanager
def mapped_disk(name: str, table: str) -> Iterator[str]:
    """A device-mapper disk; gives its device node."""
    subprocess.run(["modprobe", "dm_mod"], check=True)
    _dmsetup("create", "--noudevsync", name, stdin=table)
    try:
        node = Path("/dev", _dmsetup("info", "-c", "--noheadings", "-o", "blkdevname", name))
        eventually(node.exists, f"{node} did not appear")
        settle()
        yield str(node)
    finally:
        settle()
        _dmsetup("remove", "--noudevsync", "--retry", name)


@contextlib.contextmanager
def held_disk(below: str) -> Iterator[tuple[str, Callable[[], None]]]:
    """A disk on @below that answers nothing until the function is called; gives its device node and
    the function."""
    sectors = Path("/sys/class/block", Path(below).name, "size").read_text().strip()

    def answer() -> None:
        _dmsetup("resume", "--noudevsync", "spek-held")

    with mapped_disk("spek-held", f"0 {sectors} linear {below} 0") as node:
        _dmsetup("suspend", "--noudevsync", "--noflush", "--nolockfs", "spek-held")
        try:
            yield node, answer
        finally:
            answer()


def _dmsetup(*words: str, stdin: str = "") -> str:
    command = ["dmsetup", *words]
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr}"
    return done.stdout.strip()


def make_null(size_mb: int = 1024, bs: int = 512, **attributes: int) -> tuple[str, Path]:
    """A null_blk disk and its directory in configfs."""
    before = set(guest_side.CONFIGFS.glob("nullb*"))
    options = {name: str(value) for name, value in attributes.items()}
    node = guest_side.make_disk(
        {"kind": "null_blk", "bytes": size_mb << 20, "block_size": bs, "options": options}
    )
    (item,) = set(guest_side.CONFIGFS.glob("nullb*")) - before
    return node, item


def remove_null(item: Path) -> None:
    """Take a null_blk disk away."""
    if (item / "power").read_text().strip() == "1":
        (item / "power").write_text("0")
    item.rmdir()


@contextlib.contextmanager
def null_disk(size_mb: int = 1024, bs: int = 512, **attributes: int) -> Iterator[str]:
    """A null_blk disk; gives its device node."""
    node, item = make_null(size_mb, bs, **attributes)
    try:
        yield node
    finally:
        remove_null(item)


@contextlib.contextmanager
def scsi_disk(size_mb: int = 256, bs: int = 512, **parameters: int) -> Iterator[str]:
    """The scsi_debug disk; gives its device node."""
    options = {name: str(value) for name, value in parameters.items()}
    node = guest_side.make_disk(
        {"kind": "scsi_debug", "bytes": size_mb << 20, "block_size": bs, "options": options}
    )
    try:
        yield node
    finally:
        settle()
        unload_soon("scsi_debug")


# The emulated disks of every guest: number by kind and logical block.
EMULATED = {("nvme", 512): 1, ("nvme", 4096): 2, ("virtio", 512): 3, ("virtio", 4096): 4}


def emulated(kind: str, bs: int) -> str:
    """Device node of one of QEMU's disks, waited for. Names change when a driver comes again: NVMe
    controllers are probed side by side."""
    return guest_side.make_disk({"kind": kind, "serial": serial(EMULATED[kind, bs])})


@contextlib.contextmanager
def disk_of_kind(kind: str, bs: int) -> Iterator[str]:
    """A disk of a kind: null_blk, scsi_debug, nvme or virtio."""
    if kind == "null_blk":
        with null_disk(bs=bs) as node:
            yield node
    elif kind == "scsi_debug":
        # Commands take 50 us, so that some are outstanding.
        with scsi_disk(bs=bs, ndelay=50_000) as node:
            yield node
    else:
        yield emulated(kind, bs)

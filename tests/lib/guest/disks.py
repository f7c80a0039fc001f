# SPDX-License-Identifier: GPL-2.0
"""Disks that live as long as a with block, for tests that share one among many cases."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import platform
import socket
import struct
import subprocess
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from lib.guest import device_mapper, udev
from lib.guest.modules import NETLINK_KOBJECT_UEVENT, unload_soon
from lib.waiting import comes_true, eventually

from spekctl.vm import guest_side
from spekctl.vm.disks import serial

FROM_UDEV = 2
TRIGGER = Path("/sys/devices/virtual/mem/null/uevent")
UDEV_S = 300.0  # udev gives an event up after 180 s, and may be silent until then
SLOW_NS = 100_000_000  # of a disk that udev need not look at: it reads twenty blocks and more


def do_without_udev() -> None:
    """settle() returns at once from now on: the caller waits for udev, or ends it, by itself."""
    udev.State.rests = True


def settle() -> None:
    """Wait until udev has looked at what has come or gone: its reads count as I/O, too.

    As `udevadm settle`, whose start alone takes half a second under emulation. udev takes events in
    their order: when it has told of one that was made now, it knows of all that came before.
    """
    if udev.State.rests:
        return
    mark = str(uuid.uuid4())
    kind = socket.SOCK_RAW | socket.SOCK_CLOEXEC
    with socket.socket(socket.AF_NETLINK, kind, NETLINK_KOBJECT_UEVENT) as events:
        events.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        events.bind((0, FROM_UDEV))
        events.settimeout(UDEV_S)
        TRIGGER.write_text(f"change {mark}")
        try:
            while mark.encode() not in events.recv(1 << 16):
                pass
        except TimeoutError:
            raise AssertionError(f"udev is silent:\n{udev_processes()}") from None
    if not comes_true(udev.has_handled_all, UDEV_S):
        raise AssertionError(f"udev does not come to rest:\n{udev_processes()}")


def udev_processes() -> str:
    """What each process of udev waits for, and the devices it has open."""
    processes = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if "udev" not in (name := (process / "comm").read_text().strip()):
                continue
            fds = {os.readlink(fd) for fd in (process / "fd").iterdir()}
            devices = sorted(fd for fd in fds if fd.startswith(("/dev/", "/sys/")))
            stack = (process / "stack").read_text()
            processes.append(f"{process.name} {name} {' '.join(devices)}\n{stack}")
    return "\n".join(processes)


@contextlib.contextmanager
def udev_at_rest() -> Iterator[None]:
    """Nothing is looked at and no module is loaded because a device has come or gone, and settle()
    has nothing to wait for."""
    if udev.State.rests:
        yield
        return
    settle()
    subprocess.run(["udevadm", "control", "--stop-exec-queue"], check=True)
    udev.State.rests = True
    try:
        yield
    finally:
        udev.State.rests = False
        subprocess.run(["udevadm", "control", "--start-exec-queue"], check=True)


def udev_for(**attributes: int) -> contextlib.AbstractContextManager[None]:
    """udev while there is a null_blk disk with these attributes: at rest if each of its reads takes
    SLOW_NS or more."""
    is_slow = attributes.get("completion_nsec", 0) >= SLOW_NS
    return udev_at_rest() if is_slow else contextlib.nullcontext()


def make_disk(plan: dict[str, Any]) -> str:
    """A disk as guest_side has it, and udev has looked at it. Return: its device node."""
    node = guest_side.find_disk(plan)
    settle()
    return node


@contextlib.contextmanager
def mapped_disk(name: str, table: str) -> Iterator[str]:
    """A device-mapper disk; gives its device node."""
    node = Path("/dev", device_mapper.create(name, table))
    try:
        eventually(node.exists, f"{node} did not appear")
        settle()
        yield str(node)
    finally:
        settle()
        device_mapper.remove(name)


@contextlib.contextmanager
def array_disk(level: int, chunk_bytes: int, *nodes: str) -> Iterator[str]:
    """An md array without superblocks, whose disks are taken to agree; gives its device node."""
    node = Path("/dev/md77")
    words = ["mdadm", "--build", str(node), f"--level={level}", f"--raid-devices={len(nodes)}"]
    words += [f"--chunk={chunk_bytes >> 10}"] if level == 0 else ["--assume-clean"]
    done = subprocess.run([*words, *nodes], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    try:
        eventually(node.exists, f"{node} did not appear")
        settle()
        yield str(node)
    finally:
        settle()
        subprocess.run(["mdadm", "--stop", str(node)], check=True, capture_output=True)


@contextlib.contextmanager
def held_disk(below: str) -> Iterator[tuple[str, Callable[[], None]]]:
    """A disk on @below that answers nothing until the function is called; gives its device node and
    the function."""
    sectors = Path("/sys/class/block", Path(below).name, "size").read_text().strip()

    def answer() -> None:
        device_mapper.resume("spek-held")

    with mapped_disk("spek-held", f"0 {sectors} linear {below} 0") as node:
        device_mapper.suspend("spek-held")
        try:
            yield node, answer
        finally:
            answer()


# linux/blkpg.h
BLKPG, ADD_PARTITION, DEL_PARTITION, RESIZE_PARTITION = 0x1269, 1, 2, 3


def add_partition(node: str, number: int, start: int, sectors: int) -> None:
    """The kernel gets to know of a partition; nothing is written."""
    _partition(ADD_PARTITION, node, number, start, sectors)


def resize_partition(node: str, number: int, start: int, sectors: int) -> None:
    """The partition at @start ends elsewhere."""
    _partition(RESIZE_PARTITION, node, number, start, sectors)


def delete_partition(node: str, number: int) -> None:
    """The kernel forgets a partition."""
    _partition(DEL_PARTITION, node, number, 0, 0)


@contextlib.contextmanager
def partition(node: str, number: int, start: int, sectors: int) -> Iterator[str]:
    """A partition that the kernel knows and no table on the disk has; gives its node."""
    add_partition(node, number, start, sectors)
    part = f"{node}p{number}" if node[-1].isdigit() else f"{node}{number}"
    try:
        eventually(lambda: Path(part).exists(), f"{part} did not appear")
        settle()
        yield part
    finally:
        settle()
        delete_partition(node, number)


def _partition(operation: int, node: str, number: int, start: int, sectors: int) -> None:
    partition = struct.pack("@qqi64s64s0q", start * 512, sectors * 512, number, b"", b"")
    buffer = ctypes.create_string_buffer(partition, len(partition))
    order = struct.pack("@iiiP", operation, 0, len(partition), ctypes.addressof(buffer))
    with open(node, "rb", buffering=0) as file:
        fcntl.ioctl(file, BLKPG, order)


def make_null(size_mb: int = 1024, bs: int = 512, **attributes: int) -> tuple[str, Path]:
    """A null_blk disk and its directory in configfs."""
    before = set(guest_side.CONFIGFS.glob("nullb*"))
    options = {name: str(value) for name, value in attributes.items()}
    node = make_disk(
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
    """A null_blk disk; gives its device node. udev rests beside a slow one."""
    with udev_for(**attributes):
        node, item = make_null(size_mb, bs, **attributes)
        try:
            yield node
        finally:
            remove_null(item)


def skip_without_scsi_debug() -> None:
    """Debian's kernels for arm64 have no scsi_debug."""
    if platform.machine() == "aarch64":
        pytest.skip("this kernel has no scsi_debug")


@contextlib.contextmanager
def scsi_disk(size_mb: int = 256, bs: int = 512, **parameters: int) -> Iterator[str]:
    """The scsi_debug disk; gives its device node. Skips where the kernel has none, as Debian's for
    arm64."""
    skip_without_scsi_debug()
    options = {name: str(value) for name, value in parameters.items()}
    node = make_disk(
        {"kind": "scsi_debug", "bytes": size_mb << 20, "block_size": bs, "options": options}
    )
    try:
        yield node
    finally:
        settle()
        unload_soon("scsi_debug")


@contextlib.contextmanager
def limited_disks(disks: int = 1, **limits: int) -> Iterator[list[str]]:
    """Disks that hold nothing (tests/disks/limits.c), with these limits; gives their nodes."""
    module = Path(os.environ["SPEK_DISKS"], "spek_limits.ko")
    options = [f"{name}={value}" for name, value in limits.items()]
    subprocess.run(["insmod", module, f"disks={disks}", *options], check=True)
    try:
        settle()
        yield [f"/dev/spek_limits{number}" for number in range(disks)]
    finally:
        settle()
        unload_soon("spek_limits")


# The emulated disks of every guest: number by kind and logical block.
EMULATED = {("nvme", 512): 1, ("nvme", 4096): 2, ("virtio", 512): 3, ("virtio", 4096): 4}


def emulated(kind: str, bs: int) -> str:
    """Device node of one of QEMU's disks, waited for. Names change when a driver comes again: NVMe
    controllers are probed side by side."""
    return make_disk({"kind": kind, "serial": serial(EMULATED[kind, bs])})


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


@contextlib.contextmanager
def nvme_with_poll_queues(number: int) -> Iterator[str]:
    """The first NVMe disk while the driver has poll queues."""

    def reload(queues: int) -> None:
        settle()
        unload_soon("nvme")
        subprocess.run(["modprobe", "nvme", f"poll_queues={queues}"], check=True)

    reload(number)
    try:
        yield emulated("nvme", 512)
    finally:
        reload(0)


# linux/nvme_ioctl.h, NVM Express Base Specification, Format NVM
NVME_IOCTL_ADMIN_CMD, NVME_FORMAT = 0xC0484E41, 0x80
NVME_FORMATS = {512: 0, 4096: 4}  # QEMU's, those without metadata; the next has 8 bytes


def format_nvme(node: str, block: int, metadata: bool = False, protection: int = 0) -> None:
    """Another logical block for an emulated NVMe disk, behind the back of whoever uses it. It does
    not hold what it held.

    @metadata: 8 bytes for each block, in a buffer of their own
    @protection: type of protection information that they are; 0: none
    """
    controller = (Path("/sys/class/block", Path(node).name) / "device").resolve().name
    how = NVME_FORMATS[block] + metadata | protection << 5
    command = struct.pack("=B3xI32xI28x", NVME_FORMAT, 1, how)
    with open(f"/dev/{controller}", "rb", buffering=0) as device:
        fcntl.ioctl(device, NVME_IOCTL_ADMIN_CMD, bytearray(command))

# SPDX-License-Identifier: GPL-2.0
"""An NVMe disk that this machine serves to itself over TCP: its controller can be reset under load.

QEMU's own NVMe disk can't: the driver uses the shadow doorbells, which its controller offers, from
the moment a queue is made again, and tells the controller about them later. A command that is sent
in between leaves an event index of 0 behind, so no doorbell of that queue is rung any more, and its
commands time out for ever. fio finds that within 200 resets.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

from lib.guest import modules as guest_modules
from lib.guest.disks import settle
from lib.waiting import eventually

from spekctl.vm import guest_side

TARGET = Path("/sys/kernel/config/nvmet")
NAME = "nqn.2014-08.org.nvmexpress:spek"
ADDRESS, PORT = "127.0.0.1", 4420
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1


@contextlib.contextmanager
def disk_over_tcp(backing: str) -> Iterator[tuple[str, Path]]:
    """@backing as an NVMe disk. Yields its device node, and its controller's folder in sysfs.

    Without native multipath, whose disk would take bios only. NVMe disks of other kinds go and come
    again meanwhile.
    """
    loopback_up()
    with driver_without_multipath(), served(backing), connected() as controller:
        name = f"{controller.name}n1"
        node = Path("/dev", name)
        eventually(lambda: node.exists() and (controller / name).exists(), f"no {node}")
        settle()
        yield str(node), controller
        settle()


def loopback_up() -> None:
    """Nobody has asked for a network in a guest."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
        request = fcntl.ioctl(link, SIOCGIFFLAGS, struct.pack("16sH14x", b"lo", 0))
        (flags,) = struct.unpack_from("H", request, 16)
        fcntl.ioctl(link, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", flags | IFF_UP))


@contextlib.contextmanager
def driver_without_multipath() -> Iterator[None]:
    """The parameter is read when a controller appears and can't be written."""
    unload("nvme", "nvme_core")
    guest_side.call("modprobe", "nvme_core", "multipath=N")
    guest_side.call("modprobe", "nvme_tcp")
    guest_side.call("modprobe", "nvmet_tcp")
    try:
        yield
    finally:
        # The target can pass commands through to NVMe disks: where it does, it holds the core.
        unload("nvmet_tcp", "nvmet", "nvme_tcp", "nvme_fabrics", "nvme_core")
        guest_side.call("modprobe", "nvme")


def unload(*modules: str) -> None:
    """In this order; what was just used may be held a little longer."""
    settle()
    for module in modules:
        if guest_modules.is_loaded(module):
            guest_modules.unload_soon(module)


@contextlib.contextmanager
def served(backing: str) -> Iterator[None]:
    """A subsystem with one namespace, on one port."""
    with contextlib.ExitStack() as stack:

        def folder(*parts: str) -> Path:
            path = TARGET.joinpath(*parts)
            path.mkdir()
            stack.callback(path.rmdir)
            return path

        subsystem = folder("subsystems", NAME)
        (subsystem / "attr_allow_any_host").write_text("1")
        namespace = folder("subsystems", NAME, "namespaces", "1")
        (namespace / "device_path").write_text(backing)
        (namespace / "enable").write_text("1")
        port = folder("ports", "1")
        for attribute, value in {
            "addr_trtype": "tcp",
            "addr_adrfam": "ipv4",
            "addr_traddr": ADDRESS,
            "addr_trsvcid": str(PORT),
        }.items():
            (port / attribute).write_text(value)
        link = port / "subsystems" / NAME
        link.symlink_to(subsystem)
        stack.callback(link.unlink)
        yield


@contextlib.contextmanager
def connected() -> Iterator[Path]:
    """A controller of the subsystem. Yields its folder in sysfs."""
    fd = os.open("/dev/nvme-fabrics", os.O_RDWR | os.O_CLOEXEC)
    try:
        os.write(fd, f"nqn={NAME},transport=tcp,traddr={ADDRESS},trsvcid={PORT}".encode())
        answer = dict(word.split("=") for word in os.read(fd, 256).decode().strip().split(","))
    finally:
        os.close(fd)
    controller = Path("/sys/class/nvme", f"nvme{answer['instance']}").resolve()
    try:
        yield controller
    finally:
        (controller / "delete_controller").write_text("1")

# SPDX-License-Identifier: GPL-2.0
"""Everybody who can have a disk: each really has it for as long as its block lasts.

What each gives is how the user has to be told of it, with the disk's name filled in later.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from lib.guest import device_mapper, disk_images
from lib.guest.disks import delete_partition, settle
from lib.waiting import eventually

BLKRRPART = 0x125F
Holder = Callable[[str], contextlib.AbstractContextManager[str]]
HOLDERS: dict[str, Holder] = {}
# They don't claim the device: the kernel alone can't know of them.
WITHOUT_CLAIM = {"loop", "nvmet", "open for writing"}


def holder(name: str) -> Callable[[Callable[[str], Iterator[str]]], None]:
    def enter(function: Callable[[str], Iterator[str]]) -> None:
        HOLDERS[name] = contextlib.contextmanager(function)

    return enter


def tool(*command: str) -> str:
    """A tool's output; its complaint if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr}"
    return done.stdout.strip()


@contextlib.contextmanager
def mounted(node: str, point: Path) -> Iterator[None]:
    """A file system; read-only and without its journal, so that mounting writes nothing."""
    point.mkdir(exist_ok=True)
    tool("mount", "-o", "ro,noload", node, str(point))
    try:
        yield
    finally:
        tool("umount", str(point))


@contextlib.contextmanager
def mapped(name: str, table: str, uuid: str = "") -> Iterator[str]:
    """A device-mapper volume; gives its kernel name."""
    kernel_name = device_mapper.create(name, table, uuid)
    try:
        yield kernel_name
    finally:
        settle()
        device_mapper.remove(name)


@contextlib.contextmanager
def partitioned(node: str, table: Callable[[str], None] = disk_images.mbr) -> Iterator[str]:
    """One partition; gives its node."""
    table(node)
    with open(node, "rb") as file:
        fcntl.ioctl(file, BLKRRPART)
    part = f"{node}p1"
    eventually(lambda: Path(part).exists(), f"{part} did not appear")
    settle()
    try:
        yield part
    finally:
        settle()
        delete_partition(node, 1)


def sectors(node: str) -> int:
    return int(Path("/sys/class/block", Path(node).name, "size").read_text())


@holder("mounted")
def _mounted(node: str) -> Iterator[str]:
    tool("mkfs.ext4", "-q", node)
    with mounted(node, Path("/tmp/spek-mounted")):
        yield "{name} is mounted on /tmp/spek-mounted"


@holder("partition mounted")
def _partition_mounted(node: str) -> Iterator[str]:
    with partitioned(node) as part:
        tool("mkfs.ext4", "-q", part)
        with mounted(part, Path("/tmp/spek-mounted")):
            yield "{name}p1 is mounted on /tmp/spek-mounted"


@holder("swap")
def _swap(node: str) -> Iterator[str]:
    tool("mkswap", node)
    tool("swapon", node)
    try:
        yield "{name} is active swap"
    finally:
        tool("swapoff", node)


@holder("md")
def _md(node: str) -> Iterator[str]:
    create = ["mdadm", "--create", "/dev/md78", "--level=1", "--raid-devices=1", "--force"]
    tool(*create, "--run", "--assume-clean", "--metadata=1.2", node)
    try:
        settle()
        yield "{name} is used by md array md78 (raid1)"
    finally:
        settle()
        tool("mdadm", "--stop", "/dev/md78")


@holder("device mapper")
def _device_mapper(node: str) -> Iterator[str]:
    with mapped("plain", f"0 8192 linear {node} 0") as name:
        yield f"{{name}} is used by device mapper volume plain ({name})"


@holder("LVM")
def _lvm(node: str) -> Iterator[str]:
    disk_images.lvm_member(node)
    with mapped("vg-data", f"0 8192 linear {node} 2048", "LVM-spektest") as name:
        yield f"{{name}} is used by LVM volume vg-data ({name})"


@holder("LUKS")
def _luks(node: str) -> Iterator[str]:
    disk_images.luks(node)
    key = "00" * 32
    table = f"0 8192 crypt aes-xts-plain64 {key} 0 {node} 2048"
    with mapped("secret", table, "CRYPT-LUKS1-spektest") as name:
        yield f"{{name}} is used by encrypted volume secret ({name})"


@holder("multipath")
def _multipath(node: str) -> Iterator[str]:
    tool("modprobe", "-a", "dm-multipath", "dm-round-robin")
    table = f"0 {sectors(node)} multipath 0 0 1 1 round-robin 0 1 1 {node} 100"
    with mapped("mpatha", table, "mpath-spektest") as name:
        yield f"{{name}} is used by multipath device mpatha ({name})"


@holder("bcache")
def _bcache(node: str) -> Iterator[str]:
    tool("modprobe", "bcache")
    disk_images.bcache_member(node)
    Path("/sys/fs/bcache/register").write_text(node)
    member = Path("/sys/class/block", Path(node).name, "bcache")
    try:
        eventually(member.exists, "bcache did not take the disk")
        settle()
        yield "{name} is used by bcache device bcache0; {name} belongs to bcache"
    finally:
        settle()
        (member / "stop").write_text("1")
        eventually(lambda: not member.exists(), "bcache does not let go")


@holder("loop")
def _loop(node: str) -> Iterator[str]:
    tool("modprobe", "loop")
    loop = tool("losetup", "--find", "--show", node)
    try:
        settle()
        yield f"{Path(loop).name} is a loop device on {{name}}"
    finally:
        tool("losetup", "--detach", loop)
        backing = Path("/sys/class/block", Path(loop).name, "loop")
        eventually(lambda: not backing.exists(), f"{loop} does not let go")


@holder("nvmet")
def _nvmet(node: str) -> Iterator[str]:
    tool("modprobe", "nvmet")
    subsystem = Path("/sys/kernel/config/nvmet/subsystems/nqn.2026-01.example:spek")
    namespace = subsystem / "namespaces/7"
    subsystem.mkdir()
    namespace.mkdir()
    try:
        (namespace / "device_path").write_text(node)
        (namespace / "enable").write_text("1")
        yield f"{{name}} is exported by nvmet as namespace 7 of {subsystem.name}"
        (namespace / "enable").write_text("0")
    finally:
        namespace.rmdir()
        subsystem.rmdir()


@contextlib.contextmanager
def opened(node: str, flags: int) -> Iterator[int]:
    """A process that has the disk open, as a virtual machine has; its number."""
    ready, say = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            Path("/proc/self/comm").write_text("qemu-test")
            os.open(node, flags)
            os.write(say, b"1")
            while True:
                signal.pause()
        finally:
            os._exit(1)
    os.close(say)
    try:
        assert os.read(ready, 1) == b"1", "the process could not open the disk"
        yield pid
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(ready)


@holder("open exclusively")
def _open_exclusively(node: str) -> Iterator[str]:
    with opened(node, os.O_RDWR | os.O_EXCL) as pid:
        yield (f"process {pid} (qemu-test) has it open (possibly with an exclusive claim)")


@holder("open for writing")
def _open_for_writing(node: str) -> Iterator[str]:
    with opened(node, os.O_RDWR) as pid:
        yield f"process {pid} (qemu-test) has it open for writing"

# SPDX-License-Identifier: GPL-2.0
"""Fixtures of tests that run in a guest, as root, with a kernel of their own.

Every fixture leaves nothing behind, and says so if it cannot: a module that does not unload or
a device that stays claimed fails the test that used it.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from guest.allocations import failures_prepared, sites_known
from lib.guest.disks import (
    emulated,
    make_disk,
    settle,
    skip_without_scsi_debug,
    udev_at_rest,
    udev_for,
)
from lib.guest.drive import Controller
from lib.guest.modules import is_loaded, references, unload_soon
from lib.guest.netlink import DISK_MIB, MIB, remove
from lib.guest.netlink_raw import Socket
from lib.guest.trace import RequestCounts
from lib.harness.kernels import DEBUG_KERNELS
from lib.waiting import LONG_S, eventually

from spekctl.kernel.drives import Drives
from spekctl.kernel.gen import spek
from spekctl.kernel.gen.spek import Cmd
from spekctl.vm import guest_side


def threads_named(prefix: str) -> list[str]:
    """Kernel threads whose name begins with @prefix."""
    names = []
    for path in Path("/proc").glob("[0-9]*/comm"):
        with contextlib.suppress(OSError):  # it has ended
            name = path.read_text().strip()
            if name.startswith(prefix) and not (path.parent / "cmdline").read_bytes():
                names.append(name)
    return names


def _module(name: str) -> Iterator[Path]:
    path = Path(os.environ["SPEK_MODULES"], f"{name}.ko")
    subprocess.run(["insmod", path], check=True)
    yield path
    if is_loaded(name):
        unload_soon(name)
    # One that was stopped has said its last word before it is gone from the list.
    eventually(lambda: not threads_named(name), f"{name} left threads behind")


# Rules that start programs for each disk, for what no test has: parameters in hdparm.conf, and
# arrays with superblocks.
IDLE_RULES = ("63-md-raid-arrays", "64-md-raid-assembly", "85-hdparm")


@pytest.fixture(scope="session", autouse=True)
def udev_without_idle_programs() -> None:
    """Under emulation these programs take a quarter of the processor."""
    folder = Path("/run/udev/rules.d")
    folder.mkdir(exist_ok=True)
    for name in IDLE_RULES:
        (folder / f"{name}.rules").symlink_to(os.devnull)
    subprocess.run(["udevadm", "control", "--reload"], check=True)


@pytest.fixture(scope="session", autouse=True)
def udev_of_debug_kernels(guest_kernel: str) -> Iterator[None]:
    """On a debug kernel udev's programs take ten times as long as most of the tests, and none of
    those needs them."""
    with udev_at_rest() if guest_kernel in DEBUG_KERNELS else contextlib.nullcontext():
        yield


@pytest.fixture(scope="module")
def spek_module() -> Iterator[Path]:
    """spek.ko is loaded for the tests of this file; gives its path."""
    yield from _module("spek")


@pytest.fixture(scope="module")
def prober_module() -> Iterator[Path]:
    """spek_prober.ko is loaded for the tests of this file; gives its path."""
    yield from _module("spek_prober")


@pytest.fixture(scope="module")
def drive_module() -> Iterator[Path]:
    """spek_drive.ko and the disk driver are loaded for the tests of this file; gives its path."""
    subprocess.run(["modprobe", "sd_mod"], check=True)
    yield from _module("spek_drive")


@pytest.fixture(scope="module")
def augment_module() -> Iterator[Path]:
    """spek_augment.ko is loaded for the tests of this file; gives its path."""
    subprocess.run(["modprobe", "dm_mod"], check=True)
    # Newer kernels have it built in.
    subprocess.run(["modprobe", "-q", "libcrc32c"], check=False)
    yield from _module("spek_augment")


@pytest.fixture
def drives(drive_module: Path) -> Iterator[Drives]:
    """A connection to spek_drive; afterwards no drive of the test is left."""
    with Drives() as connection:
        yield connection
        assert connection.drives() == []
    eventually(lambda: references("spek_drive") == 0, "the module is held")


@pytest.fixture(scope="module")
def controller(spek_module: Path) -> Iterator[Controller]:
    """A connection to spek."""
    with Controller() as connection:
        yield connection


@pytest.fixture(scope="module")
def counts() -> Iterator[RequestCounts]:
    """What the kernel's tracepoints count for each device."""
    counting = RequestCounts()
    yield counting
    counting.close()


@pytest.fixture
def null_blk() -> Iterator[Callable[..., str]]:
    """null_blk(size_mb=1024, bs=512, **attributes) makes a disk and gives its device node. udev
    rests beside a slow one."""
    items: list[Path] = []
    rest = contextlib.ExitStack()

    def make(size_mb: int = 1024, bs: int = 512, **attributes: int) -> str:
        before = set(guest_side.CONFIGFS.glob("nullb*"))
        options = {name: str(value) for name, value in attributes.items()}
        disk = {"bytes": size_mb << 20, "block_size": bs, "options": options, "kind": "null_blk"}
        rest.enter_context(udev_for(**attributes))
        try:
            return make_disk(disk)
        finally:
            items.extend(set(guest_side.CONFIGFS.glob("nullb*")) - before)

    with rest:
        yield make
        for item in reversed(items):
            if (item / "power").read_text().strip() == "1":
                (item / "power").write_text("0")
            item.rmdir()


@pytest.fixture
def scsi_debug() -> Iterator[Callable[..., str]]:
    """scsi_debug(size_mb=256, bs=512, **parameters) makes the disk and gives its device node."""
    skip_without_scsi_debug()

    def make(size_mb: int = 256, bs: int = 512, **parameters: int) -> str:
        options = {name: str(value) for name, value in parameters.items()}
        disk = {"bytes": size_mb << 20, "block_size": bs, "options": options, "kind": "scsi_debug"}
        return make_disk(disk)

    yield make
    if is_loaded("scsi_debug"):
        settle()
        unload_soon("scsi_debug")


@pytest.fixture
def nvme_disk() -> str:
    """QEMU's NVMe disk, 1 GiB, 512-byte blocks."""
    return emulated("nvme", 512)


@pytest.fixture
def nvme_disk_4k() -> str:
    """QEMU's NVMe disk, 1 GiB, 4096-byte blocks."""
    return emulated("nvme", 4096)


@pytest.fixture
def virtio_disk() -> str:
    """QEMU's virtio-blk disk, 1 GiB, 512-byte blocks."""
    return emulated("virtio", 512)


@pytest.fixture
def virtio_disk_4k() -> str:
    """QEMU's virtio-blk disk, 1 GiB, 4096-byte blocks."""
    return emulated("virtio", 4096)


@pytest.fixture
def spekctl() -> Callable[..., subprocess.CompletedProcess[str]]:
    """spekctl("run", ...) runs the controller and gives its exit code and output."""

    def run(*arguments: str, timeout: float = LONG_S) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "spekctl", *arguments],
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    return run


@pytest.fixture(scope="module")
def disks(spek_module: Path) -> Iterator[list[str]]:
    """Two null_blk disks of 64 MiB for the whole file."""
    before = set(guest_side.CONFIGFS.glob("nullb*")) if guest_side.CONFIGFS.exists() else set()
    disk = {"bytes": DISK_MIB * MIB, "block_size": 512, "options": {}, "kind": "null_blk"}
    nodes = [make_disk(disk) for _ in range(2)]
    yield nodes
    for item in set(guest_side.CONFIGFS.glob("nullb*")) - before:
        (item / "power").write_text("0")
        item.rmdir()


@pytest.fixture
def nl(spek_module: Path) -> Iterator[Socket]:
    """A socket; afterwards nothing of the test is left in the kernel."""
    with Socket(spek) as link:
        yield link
    with Socket(spek) as cleaner:
        # The runs of the socket that was closed go meanwhile, which interrupts a dump.
        while (left := cleaner.dump(Cmd.RUN_GET)).interrupted:
            pass
        for run in left.values:
            remove(cleaner, run["id"])
    # each run holds the module until its devices are free
    eventually(lambda: references("spek") == 0, "the module is held")


@pytest.fixture(scope="module")
def allocation_sites() -> Iterator[None]:
    """Allocations can be failed by place."""
    with sites_known():
        yield


@pytest.fixture
def failing_allocations(allocation_sites: None) -> Iterator[None]:
    """Allocations can be failed by place and by number."""
    with failures_prepared():
        yield

# SPDX-License-Identifier: GPL-2.0
"""An NVMe/TCP target and its client, by configfs and /dev/nvme-fabrics alone.

What is made is taken away in the reverse order, which the kernel insists on.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from fleet.undo import CONFIG, Undo, mount_configfs
from lib.waiting import eventually

FABRICS = Path("/dev/nvme-fabrics")
KERNEL_LOG = Path("/dev/kmsg")
SUBSYSTEM = "nqn.2026-01.spek:rig"
PORT = 4420


def modprobe(*words: str) -> None:
    subprocess.run(["modprobe", *words], check=True)


@contextlib.contextmanager
def exported(node: str, address: str, host_nqns: list[str]) -> Iterator[None]:
    """Offer @node at @address to these hosts, and to no other."""
    modprobe("nvmet-tcp")
    mount_configfs()
    root = CONFIG / "nvmet"
    with Undo() as undo:
        subsystem = undo.mkdir(root / "subsystems" / SUBSYSTEM)
        (subsystem / "attr_allow_any_host").write_text("0")
        for nqn in host_nqns:
            undo.link(subsystem / "allowed_hosts" / nqn, undo.mkdir(root / "hosts" / nqn))
        namespace = undo.mkdir(subsystem / "namespaces" / "1")
        (namespace / "device_path").write_text(node)
        (namespace / "enable").write_text("1")
        undo.callback((namespace / "enable").write_text, "0")
        port = undo.mkdir(root / "ports" / "1")
        for name, value in (
            ("addr_trtype", "tcp"),
            ("addr_adrfam", "ipv4"),
            ("addr_traddr", address),
            ("addr_trsvcid", str(PORT)),
        ):
            (port / name).write_text(value)
        undo.link(port / "subsystems" / SUBSYSTEM, subsystem)
        yield


def messages(log: int) -> str:
    """What the kernel has said since @log was at its end."""
    text = b""
    with contextlib.suppress(BlockingIOError):
        while record := os.read(log, 8192):
            text += record
    return text.decode(errors="replace")


@contextlib.contextmanager
def _refusals(host_nqn: str) -> Iterator[None]:
    """PermissionError if it is this host that the target does not take: the error of a connect is
    EIO then as for much else, and only the kernel's log has the status of the target's answer."""
    log = os.open(KERNEL_LOG, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        os.lseek(log, 0, os.SEEK_END)
        yield
    except OSError as error:
        if f"{SUBSYSTEM} is not allowed, hostnqn: {host_nqn}" in messages(log):
            raise PermissionError(f"{SUBSYSTEM} does not allow {host_nqn}") from error
        raise
    finally:
        os.close(log)


@contextlib.contextmanager
def connected(address: str, host_nqn: str, host_id: str) -> Iterator[str]:
    """The node of the target's disk. Without multi-path, whose disks take bios alone.
    PermissionError if the target does not take this host."""
    modprobe("nvme_core", "multipath=N")
    modprobe("nvme-tcp")
    eventually(FABRICS.exists, f"{FABRICS} did not appear")
    options = {
        "transport": "tcp",
        "traddr": address,
        "trsvcid": str(PORT),
        "nqn": SUBSYSTEM,
        "hostnqn": host_nqn,
        "hostid": host_id,
        "nr_io_queues": "1",
    }
    # One file: the answer is that of its own request.
    fabrics = os.open(FABRICS, os.O_RDWR | os.O_CLOEXEC)
    request = ",".join(f"{name}={value}" for name, value in options.items())
    try:
        with _refusals(host_nqn):
            os.write(fabrics, request.encode())
        answer = os.read(fabrics, 4096).decode()
    finally:
        os.close(fabrics)
    instance = dict(pair.split("=") for pair in answer.strip().split(","))["instance"]
    controller = Path(f"/sys/class/nvme/nvme{instance}")
    try:
        disk = f"nvme{instance}n1"
        node = Path("/dev", disk)
        eventually((controller / disk).is_dir, "the namespace did not come")
        eventually(node.exists, f"{node} did not appear")
        subprocess.run(["udevadm", "settle"], check=True)
        yield str(node)
    finally:
        if controller.exists():
            (controller / "delete_controller").write_text("1")
    eventually(lambda: not controller.exists(), f"{controller} did not go")

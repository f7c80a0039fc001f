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

from lib.waiting import eventually

CONFIG = Path("/sys/kernel/config")
FABRICS = Path("/dev/nvme-fabrics")
SUBSYSTEM = "nqn.2026-01.spek:rig"
PORT = 4420


def modprobe(*words: str) -> None:
    subprocess.run(["modprobe", *words], check=True)


@contextlib.contextmanager
def exported(node: str, address: str, host_nqns: list[str]) -> Iterator[None]:
    """Offer @node at @address to these hosts, and to no other."""
    modprobe("nvmet-tcp")
    if not os.path.ismount(CONFIG):
        subprocess.run(["mount", "-t", "configfs", "configfs", CONFIG], check=True)
    root = CONFIG / "nvmet"
    with contextlib.ExitStack() as undo:

        def make(path: Path) -> Path:
            path.mkdir()
            undo.callback(path.rmdir)
            return path

        def link(path: Path, to: Path) -> None:
            path.symlink_to(to)
            undo.callback(path.unlink)

        subsystem = make(root / "subsystems" / SUBSYSTEM)
        (subsystem / "attr_allow_any_host").write_text("0")
        for nqn in host_nqns:
            link(subsystem / "allowed_hosts" / nqn, make(root / "hosts" / nqn))
        namespace = make(subsystem / "namespaces" / "1")
        (namespace / "device_path").write_text(node)
        (namespace / "enable").write_text("1")
        undo.callback((namespace / "enable").write_text, "0")
        port = make(root / "ports" / "1")
        for name, value in (
            ("addr_trtype", "tcp"),
            ("addr_adrfam", "ipv4"),
            ("addr_traddr", address),
            ("addr_trsvcid", str(PORT)),
        ):
            (port / name).write_text(value)
        link(port / "subsystems" / SUBSYSTEM, subsystem)
        yield


@contextlib.contextmanager
def connected(address: str, host_nqn: str, host_id: str) -> Iterator[str]:
    """The node of the target's disk. Without multi-path, whose disks take bios alone."""
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
    try:
        os.write(fabrics, ",".join(f"{name}={value}" for name, value in options.items()).encode())
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

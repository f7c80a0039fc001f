# SPDX-License-Identifier: GPL-2.0-or-later
"""The namespaces that keep this process from the kernel's modules, disks and programs, and the
option of docker and podman that helps."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

# include/linux/proc_ns.h: the initial namespaces have fixed numbers, but that of the network only
# in new kernels.
PID_INIT, USER_INIT, IPC_INIT = 0xEFFFFFFC, 0xEFFFFFFD, 0xEFFFFFFF
# Of all kernels' settings, those of the whole machine are shown in the initial network namespace
# alone, as is this one; the directory is in each.
NET_SETTINGS = Path("proc/sys/net/core")
NET_INIT_ONLY = NET_SETTINGS / "netdev_max_backlog"

NETWORK_REMEDY = (
    "start the container with --network host (docker, podman); outside of one: nsenter"
    " --net=/proc/1/ns/net"
)
PID_REMEDY = "start the container with --pid host (docker, podman)"
USER_REMEDY = (
    "start the container as root (sudo podman run, docker without userns-remap) with --privileged"
)
RIGHTS_REMEDY = "start the container with --privileged or --cap-add SYS_ADMIN (docker, podman)"
# Modules belong to the machine's kernel, whose headers and module directory no image has.
MODULE_REMEDY = "outside of the container: modprobe {module}, after make install there"
SYSFS_REMEDY = (
    "start the container with --privileged (docker, podman), or change settings outside of it"
)
DEBUGFS_REMEDY = "start the container with -v /sys/kernel/debug:/sys/kernel/debug (docker, podman)"


def device_remedy(node: str) -> str:
    """How a container gets at a disk."""
    return (
        f"start the container with --device {node}, or --privileged -v /dev:/dev (docker, podman)"
    )


@dataclass(frozen=True, slots=True)
class Namespaces:
    """Where a process is: True where it is known to be in another namespace than the initial one.

    @container: any of these, or the IPC namespace, which a container with the host's network and
        PIDs has of its own. Files such as /.dockerenv prove nothing: images and guests have them.
    """

    network: bool
    pid: bool
    user: bool
    container: bool


def around(root: Path = Path("/")) -> Namespaces:
    """Those of this process, as the files below @root show them."""
    network = (root / NET_SETTINGS).is_dir() and not (root / NET_INIT_ONLY).exists()
    pid = _is_other(root, "pid", PID_INIT)
    user = _is_other(root, "user", USER_INIT)
    ipc = _is_other(root, "ipc", IPC_INIT)
    return Namespaces(network, pid, user, network or pid or user or ipc)


def _is_other(root: Path, kind: str, initial: int) -> bool:
    """Whether the namespace has a number, and not the initial one's."""
    try:
        link = os.readlink(root / "proc/self/ns" / kind)
    except OSError:
        return False
    number = link.removeprefix(f"{kind}:[").removesuffix("]")
    return number.isdecimal() and int(number) != initial

# SPDX-License-Identifier: GPL-2.0-or-later
"""The command of this machine's distribution that installs what is missing."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Literal

Family = Literal["debian", "ubuntu", "fedora", "rhel", "suse", "arch"]

# The files that os-release(5) names, in its order.
OS_RELEASE = ("etc/os-release", "usr/lib/os-release")

INSTALL: dict[Family, str] = {
    "debian": "apt-get install",
    "ubuntu": "apt-get install",
    "fedora": "dnf install",
    "rhel": "dnf install",
    "suse": "zypper install",
    "arch": "pacman -S",
}

# ID or a word of ID_LIKE. Enterprise Linux is like Fedora but has fewer packages.
FAMILIES: dict[str, Family] = {
    "debian": "debian",
    "ubuntu": "ubuntu",
    "fedora": "fedora",
    "rhel": "rhel",
    "centos": "rhel",
    "suse": "suse",
    "opensuse": "suse",
    "sles": "suse",
    "arch": "arch",
}


class Missing(Enum):
    """What may be missing: its description, if no package is known."""

    HEADERS = "the headers of the running kernel"
    COMPILER = "a C compiler and the headers of the C library"
    MAKE = "make"
    QEMU = "QEMU for x86_64 (qemu-system-x86_64)"
    QEMU_ARM64 = "QEMU for arm64 (qemu-system-aarch64)"
    COMPILER_ARM64 = "a cross compiler for arm64 (aarch64-linux-gnu-gcc)"
    BUSYBOX = "a statically linked busybox"
    FILE = "file"
    KMOD = "kmod"
    UDEV = "udevadm"
    UTIL_LINUX = "util-linux"
    LIBBLKID = "libblkid"
    CPUPOWER = "cpupower"
    DKMS = "dkms"
    MOKUTIL = "mokutil"
    DMSETUP = "dmsetup"


# Packages, separated by spaces; a function of the kernel's release; None: there is none.
_Name = str | Callable[[str], str] | None


@dataclass(frozen=True, slots=True)
class _Names:
    """Packages by family."""

    debian: _Name
    ubuntu: _Name
    fedora: _Name
    rhel: _Name
    suse: _Name
    arch: _Name


def _same(name: str) -> _Names:
    return _Names(name, name, name, name, name, name)


def _suse_headers(release: str) -> str:
    """6.4.0-150600.21-default is of kernel-default-devel, which provides 6.4.0-150600.21."""
    version, _, flavour = release.rpartition("-")
    return f"kernel-{flavour}-devel={version}" if version else "kernel-default-devel"


def _arch_headers(release: str) -> str:
    """6.12.1-arch1-1 is of the package linux, 6.12.1-1-lts of linux-lts."""
    flavour = release.rpartition("-")[2]
    return f"linux-{flavour}-headers" if flavour.isalpha() else "linux-headers"


def _debian_headers(release: str) -> str:
    """Proxmox has its own kernels on Debian."""
    return f"{'proxmox' if release.endswith('-pve') else 'linux'}-headers-{release}"


_DEVEL = "kernel-devel-{}".format
_HEADERS = "linux-headers-{}".format
PACKAGES: dict[Missing, _Names] = {
    Missing.HEADERS: _Names(
        _debian_headers, _HEADERS, _DEVEL, _DEVEL, _suse_headers, _arch_headers
    ),
    Missing.COMPILER: _Names(
        "gcc libc6-dev", "gcc libc6-dev", "gcc glibc-devel", "gcc glibc-devel", "gcc glibc-devel",
        "gcc",
    ),
    Missing.MAKE: _same("make"),
    # Enterprise Linux has qemu-kvm, without the program of this name.
    Missing.QEMU: _Names(
        "qemu-system-x86", "qemu-system-x86", "qemu-system-x86", None, "qemu-x86",
        "qemu-system-x86",
    ),
    Missing.QEMU_ARM64: _Names(
        "qemu-system-arm", "qemu-system-arm", "qemu-system-aarch64", None, "qemu-arm",
        "qemu-system-aarch64",
    ),
    Missing.COMPILER_ARM64: _Names(
        "gcc-aarch64-linux-gnu", "gcc-aarch64-linux-gnu", "gcc-aarch64-linux-gnu", None,
        "cross-aarch64-gcc14", "aarch64-linux-gnu-gcc",
    ),
    Missing.BUSYBOX: _Names(
        "busybox-static", "busybox-static", "busybox", None, "busybox-static", "busybox"
    ),
    Missing.FILE: _same("file"),
    Missing.KMOD: _same("kmod"),
    Missing.UDEV: _Names("udev", "udev", "systemd-udev", "systemd-udev", "udev", "systemd"),
    Missing.UTIL_LINUX: _same("util-linux"),
    Missing.LIBBLKID: _Names(
        "libblkid1", "libblkid1", "libblkid", "libblkid", "libblkid1", "util-linux-libs"
    ),
    Missing.CPUPOWER: _Names(
        "linux-cpupower", "linux-tools-{}".format, "kernel-tools", "kernel-tools", "cpupower",
        "cpupower",
    ),
    # Enterprise Linux has it in EPEL, SUSE in repositories that are not enabled, if at all.
    Missing.DKMS: _Names("dkms", "dkms", "dkms", None, None, "dkms"),
    Missing.MOKUTIL: _Names("mokutil", "mokutil", "mokutil", "mokutil", "mokutil", None),
    Missing.DMSETUP: _Names(
        "dmsetup", "dmsetup", "device-mapper", "device-mapper", "device-mapper", "device-mapper"
    ),
}  # fmt: skip


def family(root: Path = Path("/")) -> Family | None:
    """The family of the distribution below @root; None: not known here."""
    fields = _os_release(root)
    for name in (fields.get("ID", ""), *fields.get("ID_LIKE", "").split()):
        # opensuse-leap, opensuse-tumbleweed, sles_sap
        for word in (name, re.split("[-_]", name)[0]):
            if word in FAMILIES:
                return FAMILIES[word]
    return None


def _os_release(root: Path) -> dict[str, str]:
    for name in OS_RELEASE:
        try:
            text = (root / name).read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        return {
            key: value.strip("\"'") for key, value in re.findall(r"(?m)^([A-Z_]+)=(.*?)\s*$", text)
        }
    return {}


def install(missing: Iterable[Missing], root: Path = Path("/"), release: str | None = None) -> str:
    """How to install @missing on the distribution below @root: its command, or a phrase for what it
    has no package for.

    @release: of the kernel whose packages are meant; None: the running one
    """
    release = os.uname().release if release is None else release
    kind = family(root)
    packages: dict[str, None] = {}
    described: dict[str, None] = {}
    for what in missing:
        name = getattr(PACKAGES[what], kind) if kind else None
        if name is None:
            described[_described(what, release)] = None
        else:
            packages.update(
                dict.fromkeys((name if isinstance(name, str) else name(release)).split())
            )
    steps = [f"{INSTALL[kind]} {' '.join(packages)}"] if kind and packages else []
    steps += [f"install {', '.join(described)}"] if described else []
    return "; ".join(steps)


def _described(what: Missing, release: str) -> str:
    return f"the headers of kernel {release}" if what is Missing.HEADERS else what.value

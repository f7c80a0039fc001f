# SPDX-License-Identifier: GPL-2.0
"""What installs a missing package on each distribution."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from spekctl import distribution
from spekctl.distribution import INSTALL, PACKAGES, Missing

# Lines of the os-release that each ships, and what installs headers and a compiler there.
MACHINES: dict[str, tuple[str, str, str]] = {
    "debian": (
        'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nID=debian',
        "6.1.0-28-amd64",
        "apt-get install linux-headers-6.1.0-28-amd64 gcc libc6-dev",
    ),
    "proxmox": (
        "ID=debian", "6.8.12-4-pve", "apt-get install proxmox-headers-6.8.12-4-pve gcc libc6-dev",
    ),
    "ubuntu": (
        "ID=ubuntu\nID_LIKE=debian",
        "6.8.0-49-generic",
        "apt-get install linux-headers-6.8.0-49-generic gcc libc6-dev",
    ),
    "mint": (
        'ID=linuxmint\nID_LIKE="ubuntu debian"', "6.8.0-49-generic",
        "apt-get install linux-headers-6.8.0-49-generic gcc libc6-dev",
    ),
    "fedora": (
        "ID=fedora", "6.11.10-300.fc41.x86_64",
        "dnf install kernel-devel-6.11.10-300.fc41.x86_64 gcc glibc-devel",
    ),
    "rhel": (
        'ID="rhel"\nID_LIKE="fedora"', "5.14.0-503.el9.x86_64",
        "dnf install kernel-devel-5.14.0-503.el9.x86_64 gcc glibc-devel",
    ),
    "rocky": (
        'ID="rocky"\nID_LIKE="rhel centos fedora"', "5.14.0-503.el9.x86_64",
        "dnf install kernel-devel-5.14.0-503.el9.x86_64 gcc glibc-devel",
    ),
    "leap": (
        'ID="opensuse-leap"\nID_LIKE="suse opensuse"', "6.4.0-150600.23.25-default",
        "zypper install kernel-default-devel=6.4.0-150600.23.25 gcc glibc-devel",
    ),
    "sles": (
        'ID="sles"', "6.4.0-150600.23.25-azure",
        "zypper install kernel-azure-devel=6.4.0-150600.23.25 gcc glibc-devel",
    ),
    "arch": ("ID=arch", "6.12.1-arch1-1", "pacman -S linux-headers gcc"),
    "arch lts": ("ID=arch", "6.6.63-1-lts", "pacman -S linux-lts-headers gcc"),
    "manjaro": ("ID=manjaro\nID_LIKE='arch'", "6.12.1-arch1-1", "pacman -S linux-headers gcc"),
    "unknown": (
        "ID=gentoo", "6.12.1",
        "install the headers of kernel 6.12.1, a C compiler and the headers of the C library",
    ),
    "broken": (
        "\xff\x00 ID", "6.12.1",
        "install the headers of kernel 6.12.1, a C compiler and the headers of the C library",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MACHINES)
def test_the_command_is_that_of_the_distribution(name: str, tmp_path: Path) -> None:
    os_release, release, command = MACHINES[name]
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/os-release").write_text(os_release + "\nVERSION_ID=1\n", encoding="latin-1")
    missing = (Missing.HEADERS, Missing.COMPILER)
    assert distribution.install(missing, tmp_path, release) == command


def test_without_etc_the_file_below_usr_counts(tmp_path: Path) -> None:
    assert distribution.family(tmp_path) is None
    assert distribution.install([Missing.MAKE], tmp_path) == "install make"
    (tmp_path / "usr/lib").mkdir(parents=True)
    (tmp_path / "usr/lib/os-release").write_text("ID=fedora\n")
    assert distribution.install([Missing.MAKE], tmp_path) == "dnf install make"
    # The administrator's goes first.
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/os-release").write_text("ID=debian\n")
    assert distribution.install([Missing.MAKE], tmp_path) == "apt-get install make"


def test_a_program_without_a_package_is_described(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/os-release").write_text('ID=almalinux\nID_LIKE="rhel centos fedora"\n')
    missing = (Missing.KMOD, Missing.QEMU, Missing.KMOD, Missing.FILE)
    assert distribution.install(missing, tmp_path) == (
        "dnf install kmod file; install QEMU for x86_64 (qemu-system-x86_64)"
    )


def test_every_package_has_a_name_in_every_family_or_none() -> None:
    assert set(PACKAGES) == set(Missing)
    for names in PACKAGES.values():
        assert {field.name for field in dataclasses.fields(names)} == set(INSTALL)
        assert names.debian and names.ubuntu

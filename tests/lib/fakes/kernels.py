# SPDX-License-Identifier: GPL-2.0
"""Kernels that are no more than their names and files."""

from __future__ import annotations

from pathlib import Path

from spekctl.vm.kernels import Kernel


def some_kernel() -> Kernel:
    return Kernel("6.77.1-test", Path("/vmlinuz"), Path("/headers"), None, "test")


def unpacked(root: Path, release: str, *, headers: bool = True) -> Path:
    """A tree as dpkg-deb leaves it: links and includes point to where packages are installed."""
    (root / "boot").mkdir(parents=True)
    (root / "boot" / f"vmlinuz-{release}").touch()
    module_folder = root / "lib/modules" / release
    (module_folder / "kernel").mkdir(parents=True)
    (module_folder / "build").symlink_to(f"/usr/src/linux-headers-{release}")
    for name in (release, "common"):
        (root / f"usr/src/linux-headers-{name}").mkdir(parents=True)
    if headers:
        makefile = root / f"usr/src/linux-headers-{release}/Makefile"
        makefile.write_text("include /usr/src/linux-headers-common/Makefile\n")
        common = root / "usr/src/linux-headers-common/Makefile"
        common.write_text("all:\n\t@echo common makefile found\n")
    return root

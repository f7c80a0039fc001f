# SPDX-License-Identifier: GPL-2.0
"""The disks of tests/disks as modules for a guest's kernel, built once and kept in the cache."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from spekctl.errors import SpekError
from spekctl.vm.cache import cache_dir, cached, digest_of
from spekctl.vm.kernels import Kernel
from spekctl.vm.modules import identity_of, make_command

HERE = Path(__file__).resolve().parents[2] / "disks"
SOURCES = tuple(
    HERE / name for name in ("Kbuild", "corrupt.c", "limits.c", "probing.c", "volatile.c")
)
MODULES = ("spek_corrupt.ko", "spek_limits.ko", "spek_probing.ko", "spek_volatile.ko")


def build_disks(kernel: Kernel) -> Path:
    """A directory with the modules; built now, or earlier from the same sources."""

    def make(done: Path) -> None:
        build = done.with_name("build")
        build.mkdir()
        for path in SOURCES:
            shutil.copy2(path, build)
        completed = subprocess.run(
            make_command(kernel, build, "W=1"),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if completed.returncode:
            raise SpekError(f"{HERE} can't be built: {completed.stdout}")
        done.mkdir()
        for name in MODULES:
            shutil.move(build / name, done)

    name = digest_of(HERE, SOURCES, identity_of(kernel))
    return cached(cache_dir("disks", kernel.release) / name, make)

# SPDX-License-Identifier: GPL-2.0
"""The disks of tests/disks as modules for a guest's kernel, built once and kept in the cache."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from spekctl.errors import SpekError
from spekctl.vm.cache import cache_dir, locked
from spekctl.vm.kernels import Kernel
from spekctl.vm.modules import make_command

HERE = Path(__file__).resolve().parents[2] / "disks"
SOURCES = tuple(HERE / name for name in ("Kbuild", "corrupt.c", "limits.c"))
MODULES = ("spek_corrupt.ko", "spek_limits.ko")


def build_disks(kernel: Kernel) -> Path:
    """A directory with the modules; built now, or earlier from the same sources."""
    digest = hashlib.sha256()
    for path in (kernel.headers / "Module.symvers", kernel.headers / ".config", *SOURCES):
        digest.update(path.read_bytes() if path.exists() else b"")
    home = cache_dir("disks", kernel.release)
    done = home / digest.hexdigest()[:16]
    with locked(f"disks-{kernel.release}"):
        if not done.exists():
            _build(kernel, done)
    return done


def _build(kernel: Kernel, done: Path) -> None:
    with tempfile.TemporaryDirectory(prefix=".build-", dir=done.parent) as scratch:
        for path in SOURCES:
            shutil.copy2(path, Path(scratch, path.name))
        made = subprocess.run(
            make_command(kernel, Path(scratch), "W=1"),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if made.returncode:
            raise SpekError(f"{HERE} can't be built: {made.stdout}")
        result = Path(scratch, "result")
        result.mkdir()
        for name in MODULES:
            shutil.move(Path(scratch, name), result)
        os.replace(result, done)

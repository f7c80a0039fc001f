# SPDX-License-Identifier: GPL-2.0
"""The programs of the floors and the profiler, built once and kept in the cache."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from spekctl.errors import SpekError
from spekctl.vm.cache import cache_dir, locked
from spekctl.vm.kernels import Kernel
from spekctl.vm.modules import make_command

HERE = Path(__file__).parent
FLOOR = (HERE / "floor" / "Kbuild", HERE / "floor" / "floor.c")
URING = HERE / "uring.c"
PROFILE = HERE / "profile.c"
COMMAND = ("gcc", "-O2", "-Wall", "-Wextra", "-Werror")


def build_tools(kernel: Kernel) -> Path:
    """A directory with spek_floor.ko for @kernel, uring and profile.so; built now or earlier."""
    done = cache_dir("bench", kernel.release) / _digest(kernel)
    with locked(f"bench-{kernel.release}"):
        if not done.is_dir():
            print(f"bench: building the floors for {kernel.release}", file=sys.stderr, flush=True)
            with tempfile.TemporaryDirectory(prefix=".build-", dir=done.parent) as scratch:
                _build(kernel, Path(scratch), done)
    return done


def _digest(kernel: Kernel) -> str:
    digest = hashlib.sha256(" ".join(COMMAND).encode())
    for identity in ("Module.symvers", ".config", "include/generated/utsrelease.h"):
        path = kernel.headers / identity
        digest.update(path.read_bytes() if path.exists() else b"")
    for path in (*FLOOR, URING, PROFILE):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def _build(kernel: Kernel, scratch: Path, done: Path) -> None:
    build, result = scratch / "build", scratch / "result"
    build.mkdir()
    result.mkdir()
    for path in FLOOR:
        shutil.copy2(path, build / path.name)
    _run(make_command(kernel, build), f"the floor module does not build for {kernel.release}")
    shutil.move(build / "spek_floor.ko", result / "spek_floor.ko")
    uring = [*COMMAND, "-o", str(result / "uring"), str(URING), "-luring"]
    _run(uring, "the io_uring floor does not build")
    plugin = [*COMMAND, "-shared", "-fPIC", "-o", str(result / "profile.so"), str(PROFILE)]
    _run(plugin, "the profiler does not build")
    os.rename(result, done)


def _run(command: list[str], failure: str) -> None:
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode:
        errors = [line for line in done.stdout.splitlines() if "error" in line.lower()]
        raise SpekError(f"{failure}: {errors[0] if errors else done.stdout.strip()}")

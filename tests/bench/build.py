# SPDX-License-Identifier: GPL-2.0
"""The programs of the floors and a plugin of QEMU, built once and kept in the cache."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from spekctl.errors import SpekError
from spekctl.vm import profiler
from spekctl.vm.cache import cache_dir, cached, digest_of
from spekctl.vm.kernels import Kernel
from spekctl.vm.modules import identity_of, make_command

HERE = Path(__file__).parent
FLOOR = (HERE / "floor" / "Kbuild", HERE / "floor" / "floor.c")
URING = HERE / "uring.c"
PLUGIN = HERE / "sharing.c"
HEADER = profiler.HEADER
COMMAND = ("gcc", "-O2", "-Wall", "-Wextra", "-Werror")


def build_tools(kernel: Kernel) -> Path:
    """A directory with spek_floor.ko for @kernel and uring; built now or earlier."""

    def make(result: Path) -> None:
        print(f"bench: building the floors for {kernel.release}", file=sys.stderr, flush=True)
        build = result.with_name("build")
        build.mkdir()
        result.mkdir()
        for path in FLOOR:
            shutil.copy2(path, build / path.name)
        _run(make_command(kernel, build), f"the floor module does not build for {kernel.release}")
        shutil.move(build / "spek_floor.ko", result / "spek_floor.ko")
        uring = [*COMMAND, "-o", str(result / "uring"), str(URING), "-luring"]
        _run(uring, "the io_uring floor does not build")

    name = digest_of(HERE, (*FLOOR, URING), *COMMAND, identity_of(kernel))
    return cached(cache_dir("bench", kernel.release) / name, make)


def build_plugin() -> Path:
    """The plugin that counts shared cache lines, for this machine's QEMU; built now or earlier."""
    interface = profiler.interface_option()

    def make(result: Path) -> None:
        result.mkdir()
        command = [*COMMAND, "-shared", "-fPIC", interface, f"-I{HEADER.parent}"]
        command += ["-o", str(result / PLUGIN.with_suffix(".so").name), str(PLUGIN)]
        _run(command, f"{PLUGIN.name} does not build")

    name = digest_of(HERE, (PLUGIN,), *COMMAND, interface, HEADER.read_text())
    return cached(cache_dir("bench") / f"plugin-{name}", make) / PLUGIN.with_suffix(".so").name


def _run(command: list[str], failure: str) -> None:
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode:
        errors = [line for line in done.stdout.splitlines() if "error" in line.lower()]
        raise SpekError(f"{failure}: {errors[0] if errors else done.stdout.strip()}")

# SPDX-License-Identifier: GPL-2.0
"""Plugins of QEMU, compiled to programs with QEMU's side of their interface by hand (qemu.h)."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from spekctl.vm import profiler

HERE = Path(__file__).parent
# Each that plugin.h tells apart, and what lies between.
VERSIONS = (1, 2, 3, 4, 6, 7)
_FLAGS = ("-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-fsanitize=address,undefined")


def compile_driver(driver: Path, folders: Sequence[Path], version: int, program: Path) -> None:
    """Compile @driver, which includes a plugin from @folders, for a @version of the interface."""
    command = ["gcc", *_FLAGS, f"-DQEMU_PLUGIN_VERSION={version}", "-o", str(program)]
    command += [f"-I{folder}" for folder in (HERE, profiler.HEADER.parent, *folders)]
    done = subprocess.run([*command, str(driver)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

# SPDX-License-Identifier: GPL-2.0-or-later
"""This machine's C compiler, for libraries that are compiled when they are first needed."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from spekctl import distribution
from spekctl.distribution import Missing
from spekctl.errors import SpekError

FLAGS = ("-std=gnu11", "-O2", "-shared", "-fPIC")


def words() -> list[str]:
    """The compiler and its first arguments: $CC, or cc."""
    return shlex.split(os.environ.get("CC", "")) or ["cc"]


def compile_library(
    path: Path,
    code: Sequence[Path],
    folders: Sequence[Path],
    name: str,
    options: Sequence[str] = (),
) -> None:
    """Compile @code to the shared library @path, with headers from @folders.

    @name: of the library in sentences
    @options: further options of the compiler
    SpekError: there is no compiler, or it failed.
    """
    command = words()
    if shutil.which(command[0]) is None:
        raise SpekError(
            f"{name} needs a C compiler, but {command[0]} is not installed:"
            f" {distribution.install([Missing.COMPILER])}, or name it in the variable CC"
        )
    includes = [word for folder in folders for word in ("-I", str(folder))]
    command += [*FLAGS, *options, *includes, "-o", str(path), *map(str, code)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if "error:" in line]
        first = (errors or done.stderr.splitlines() or ["no message"])[0]
        raise SpekError(f"{command[0]} failed to compile {name}: {first}")

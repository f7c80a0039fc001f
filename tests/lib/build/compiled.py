# SPDX-License-Identifier: GPL-2.0
"""What compilers make, kept until a source or the compiler is another one."""

from __future__ import annotations

import functools
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path

from lib.build.sources import ROOT
from lib.kept import kept

from spekctl.vm.cache import digest_of


@functools.cache
def version(compiler: str) -> str:
    done = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True)
    return done.stdout


def compiled(
    folder: str,
    name: str,
    compiler: str,
    files: Iterable[Path],
    words: Iterable[str],
    make: Callable[[Path], object],
) -> Path:
    """What @make makes of @files with @compiler and @words, as @name with a suffix in
    this folder of the cache.

    Another version of a compiler has warnings and libraries of sanitizers of its own.
    """
    digest = digest_of(ROOT, files, version(compiler), compiler, *words)
    return kept(folder, f"{name}-{digest}", make)

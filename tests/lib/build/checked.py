# SPDX-License-Identifier: GPL-2.0
"""The modules built with all warnings and checked by sparse, once for each kernel: tests of the
build look at the tree, and guests load the modules in it."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from lib.build.sources import copy_sources
from lib.harness.kernels import NEWEST

from spekctl.vm.cache import cache_dir, cached, digest_of
from spekctl.vm.kernels import Kernel
from spekctl.vm.modules import NAMES, WHERE_POSSIBLE, identity_of, key_of, source_tree, sources_of

KEEP = 3  # trees kept for each kernel
ALL_WARNINGS = ("W=1", "C=1", "CF=-Wsparse-error")


@dataclass(frozen=True)
class Checked:
    """@tree: the sources and what was built of them; @output: all that make printed."""

    tree: Path
    code: int
    output: str


def warnings_for(label: str) -> tuple[str, ...]:
    """Without sparse for the newest kernel: its headers lack the script that tells kbuild whether
    there is one."""
    return ("W=1",) if label == NEWEST else ALL_WARNINGS


def rules_of(makefile: str) -> str:
    """What of a @makefile's text builds the modules: all down to the end of the section "modules",
    or the whole where there is none, without comments and the help of goals."""
    before, heading, rest = makefile.partition("# ---- modules ----\n")
    text = before + rest.partition("\n# ---- ")[0] if heading else makefile
    return re.sub(r"^#.*\n|[ \t]+## .*", "", text, flags=re.MULTILINE)


def build(kernel: Kernel, label: str) -> Checked:
    """The tree for @kernel; built now, or earlier from the same sources.

    It is built where it stays, since its commands have that path, and is whole once there is a
    file with the exit code beside it. One process builds while others wait."""
    words = warnings_for(label)
    trees = cache_dir("checked", kernel.release)
    with open(trees / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        shutil.rmtree(trees / ".sources", ignore_errors=True)
        sources = copy_sources(trees / ".sources")
        files = [sources / name for name in sources_of(sources)]
        rules = rules_of((sources / "Makefile").read_text())
        folder = trees / digest_of(sources, files, identity_of(kernel), rules, *words)
        tree, output, code = folder / "tree", folder / "output", folder / "code"
        if not code.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            sources.rename(tree)
            make = subprocess.run(
                ("make", f"KDIR={kernel.headers}", *words),
                cwd=tree,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            output.write_text(make.stdout)
            code.write_text(str(make.returncode))
        os.utime(folder)
        kept = [path for path in trees.iterdir() if not path.name.startswith(".")]
        kept.sort(key=lambda path: path.stat().st_mtime, reverse=True)
        for old in kept[KEEP:]:
            shutil.rmtree(old, ignore_errors=True)
    return Checked(tree, int(code.read_text()), output.read_text())


def build_for_guests(kernel: Kernel, label: str) -> None:
    """Build the tree unless guests have modules of these sources, and give them those in it. A tree
    that cannot be built is for the tests of the build to tell."""
    sources = source_tree()
    key = key_of(sources, sources_of(sources), kernel)

    def take(done: Path) -> None:
        done.mkdir()
        for name in (*NAMES, *WHERE_POSSIBLE):
            shutil.copy2(checked.tree / name, done / name)

    place = cache_dir("modules", kernel.release) / key
    if not place.exists():
        checked = build(kernel, label)
        if checked.code == 0:
            cached(place, take)

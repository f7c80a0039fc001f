# SPDX-License-Identifier: GPL-2.0
"""Every core compiles everywhere, needs nothing, and keeps no state of its own."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from lib.build.compiled import compiled as kept
from lib.core.build import CORES, HOST, ROOT, SHARED, WARNINGS, included

FOLDERS = {core.folder for core in CORES}
FILES = [path for core in CORES for path in core.own]
CODE = [path for path in FILES if path.suffix == ".c"]
STRICT = (
    *(*WARNINGS, "-Wmissing-prototypes", "-Wvla", "-Wframe-larger-than=1024"),
    *("-Wdeclaration-after-statement", "-mgeneral-regs-only", "-std=gnu11", "-O2", "-fno-pie"),
)
# Functions that every kernel has.
KERNEL_HAS = {"memset", "memcpy", "memmove", "__stack_chk_fail"}
FORBIDDEN = re.compile(
    r"\b(float|double|malloc|\w*alloc|printk|pr_\w+|ktime_\w+|jiffies|spin_lock|mutex\w*"
    r"|EXPORT_\w+)\b"
)


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def without_comments(path: Path) -> str:
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text(), flags=re.S)


def test_every_folder_of_that_name_is_a_core() -> None:
    folders = {path for top in ("kmod", "prober") for path in (ROOT / top).rglob("core")}

    assert folders <= FOLDERS
    assert len(folders) >= 4


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_only_spek_host_includes_foreign_headers(path: Path) -> None:
    names = re.findall(r"^\s*#\s*include\s*(\S+)", path.read_text(), re.M)
    if path == HOST:
        assert all(name.startswith("<") for name in names)
        return
    headers = included(path)
    assert len(headers) == len(names)
    for header in headers:
        assert header.exists()
        # or the contract of its own module, which is generated
        contract = header.parent.name == "uapi" and header.parents[1] in path.parents
        assert header.parent in (path.parent, SHARED) or contract


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_nothing_that_a_core_must_not_know(path: Path) -> None:
    assert FORBIDDEN.findall(without_comments(path)) == []


def compiled(compiler: str, path: Path) -> Path:
    """The object of a file of a core, which is made again after a change of any of them."""
    files = next(core.files for core in CORES if core.folder == path.parent)

    def compile_to(scratch: Path) -> None:
        subprocess.run([compiler, *STRICT, "-c", path, "-o", scratch], check=True)

    return kept("core", f"{path.stem}.o", compiler, [path, *files], STRICT, compile_to)


@pytest.mark.parametrize("path", CODE, ids=name_of)
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_compiles_without_floating_point_and_state(compiler: str, path: Path) -> None:
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    out = compiled(compiler, path)
    symbols = subprocess.run(["nm", out], check=True, capture_output=True, text=True).stdout
    # neither initialised nor zeroed nor common data
    assert re.findall(r" [dDbBC] (\w+)$", symbols, re.M) == []
    # no foreign function, and no division for which the kernel has none
    assert set(re.findall(r" U (?!spek_)(\w+)$", symbols, re.M)) <= KERNEL_HAS

"""The drive's core compiles everywhere, needs nothing, and is clean under sanitizers."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from lib.core.drivecore import CORE, SANITIZERS, SHARED, compile_drive
from lib.core.spekcore import KERNEL_LIKE, WARNINGS

FILES = sorted(CORE.glob("*.[ch]"))
CODE = [path for path in FILES if path.suffix == ".c"]
DRIVER = Path(__file__).with_name("drive_driver.c")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_includes_only_the_core(path: Path) -> None:
    included = re.findall(r'^\s*#\s*include\s*"?([^"\n]*)', path.read_text(), re.M)
    files = [(path.parent / name).resolve() for name in included]
    assert all(file.parent in (CORE, SHARED) and file.exists() for file in files)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_nothing_that_the_core_must_not_know(path: Path) -> None:
    words = (
        r"\b(float|double|malloc|kmalloc|printk|pr_\w+|ktime_\w+|jiffies|spin_lock|EXPORT_\w+)\b"
    )
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text(), flags=re.S)
    assert re.findall(words, text) == []


@pytest.mark.parametrize("path", CODE, ids=lambda path: path.name)
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_compiles_without_floating_point_and_state(
    compiler: str, path: Path, tmp_path: Path
) -> None:
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    flags = [*WARNINGS, "-Wmissing-prototypes", "-Wvla", "-Wframe-larger-than=1024", "-fno-pie"]
    flags += ["-Wdeclaration-after-statement", "-mgeneral-regs-only", "-std=gnu11", "-O2"]
    out = tmp_path / "x.o"
    subprocess.run([compiler, *flags, "-c", path, "-o", out], check=True)
    symbols = subprocess.run(["nm", out], check=True, capture_output=True, text=True).stdout
    # neither initialised nor zeroed nor common data
    assert re.findall(r" [dDbBC] (\w+)$", symbols, re.M) == []
    # and of foreign functions those that every kernel has
    assert set(re.findall(r" U (?!spek_)(\w+)$", symbols, re.M)) <= {
        *("memset", "memcpy", "memmove", "__stack_chk_fail"),
    }


def test_any_description_and_any_call_under_sanitizers(tmp_path: Path) -> None:
    """Clean, and the same times and energies as compiled for the kernel and without 128 bits."""
    printed = set()
    for name, flags in {
        "sanitized": SANITIZERS,
        "kernel-like": KERNEL_LIKE,
        "no-int128": ("-O2", "-U__SIZEOF_INT128__"),
    }.items():
        binary = compile_drive(tmp_path / name, flags, [DRIVER])
        done = subprocess.run([binary, "1", "2000"], capture_output=True, text=True, timeout=200)
        assert done.returncode == 0, done.stderr
        printed.add(done.stdout)
    assert len(printed) == 1
    accepted = int(printed.pop().split()[0])
    assert 500 < accepted < 2000

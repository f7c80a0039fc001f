# SPDX-License-Identifier: GPL-2.0
"""A unit at work (events.c, serve.c, faults.c), in userspace, with a clock and other processors
that chance plays."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from lib.build.compiled import compiled
from lib.core.build import DRIVE as CORE
from lib.core.build import ROOT, SANITIZERS, SCSI, WARNINGS
from lib.core.stand_ins import stand_ins
from lib.waiting import LONG_S

DRIVE = ROOT / "kmod/drive"
HERE = Path(__file__).parent
CALLED = sorted({*CORE.sources, *SCSI.sources})
UNIT = tuple(DRIVE / name for name in ("data.c", "events.c", "faults.c", "serve.c"))
HEADERS = (*DRIVE.glob("*.h"), ROOT / "kmod/compat/drive.h")


def compile_to(scratch: Path) -> None:
    """The program. Sanitizers take twenty times as long to compile as it takes to run."""
    headers = scratch.with_name("include")
    include = stand_ins(headers, (*UNIT, *HEADERS), HERE / "serve_kernel.h")
    folders = (include, ROOT, DRIVE)
    command = ["gcc", "-std=gnu11", "-g", *WARNINGS, *SANITIZERS]
    command += [f"-I{folder}" for folder in folders]
    command += ["-o", str(scratch), str(HERE / "serve_driver.c"), *map(str, UNIT)]
    subprocess.run([*command, *map(str, CALLED)], check=True)


def test_every_command_ends_once_whatever_happens() -> None:
    # Whatever these files include.
    makers = [Path(__file__), ROOT / "tests/lib/core/stand_ins.py"]
    inputs = [*(ROOT / "kmod").rglob("*.[ch]"), *HERE.glob("serve_*.[ch]"), *makers]
    words = (*WARNINGS, *SANITIZERS)
    binary = compiled("core", "serve", "gcc", sorted(inputs), words, compile_to)
    done = subprocess.run([binary, "1", "400"], capture_output=True, text=True, timeout=LONG_S)
    assert done.returncode == 0, done.stderr
    ended, busy, removed, cuts, power_ons, flushed = map(int, re.findall(r"\d+", done.stdout))
    assert ended > 20_000
    assert busy > 500
    assert removed > 100
    assert cuts > 100
    assert power_ons > 50
    assert flushed > 500

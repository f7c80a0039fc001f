# SPDX-License-Identifier: GPL-2.0
"""A unit at work (events.c, serve.c, faults.c), in userspace, with a clock and other processors
that chance plays."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from lib.core.build import DRIVE as CORE
from lib.core.build import ROOT, SANITIZERS, SCSI, WARNINGS

from spekctl.vm.cache import cache_dir, cached, digest_of

DRIVE = ROOT / "kmod/drive"
HERE = Path(__file__).parent
CALLED = sorted({*CORE.sources, *SCSI.sources})
UNIT = tuple(DRIVE / name for name in ("data.c", "events.c", "faults.c", "serve.c"))
HEADERS = (*DRIVE.glob("*.h"), ROOT / "kmod/compat/drive.h")
KERNEL = re.compile(r"^#include <((?:linux|scsi|trace)/\S+)>", re.M)


def stand_ins(folder: Path) -> Path:
    """A folder with every header of the kernel that these include; all of them are
    serve_kernel.h."""
    names = {name for file in (*UNIT, *HEADERS) for name in KERNEL.findall(file.read_text())}
    for name in (*names, "spek_have.h"):
        header = folder / name
        header.parent.mkdir(parents=True, exist_ok=True)
        header.write_text(f'#include "{HERE / "serve_kernel.h"}"\n')
    return folder


def compiled(scratch: Path) -> None:
    """The program. Sanitizers take twenty times as long to compile as it takes to run."""
    folders = (stand_ins(scratch.with_name("include")), ROOT, DRIVE)
    command = ["gcc", "-std=gnu11", "-g", *WARNINGS, *SANITIZERS]
    command += [f"-I{folder}" for folder in folders]
    command += ["-o", str(scratch), str(HERE / "serve_driver.c"), *map(str, UNIT)]
    subprocess.run([*command, *map(str, CALLED)], check=True)


def test_every_command_ends_once_whatever_happens() -> None:
    # Whatever these files include.
    inputs = [*(ROOT / "kmod").rglob("*.[ch]"), *HERE.glob("serve_*.[ch]"), Path(__file__)]
    digest = digest_of(ROOT, sorted(inputs), *WARNINGS, *SANITIZERS)
    binary = cached(cache_dir("core") / f"serve-{digest}", compiled)
    done = subprocess.run([binary, "1", "400"], capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    ended, busy, removed, cuts, power_ons, flushed = map(int, re.findall(r"\d+", done.stdout))
    assert ended > 20_000
    assert busy > 500
    assert removed > 100
    assert cuts > 100
    assert power_ons > 50
    assert flushed > 500

# SPDX-License-Identifier: GPL-2.0
"""The data of drives (store.c), in userspace: the memory that all drives share."""

from __future__ import annotations

import subprocess
from pathlib import Path

from lib.core.build import ROOT, SANITIZERS, WARNINGS
from lib.core.stand_ins import stand_ins
from lib.waiting import LONG_S

HERE = Path(__file__).parent
STORE = (ROOT / "kmod/drive/store.c", ROOT / "kmod/drive/store.h")


def test_memory_counts_until_it_is_free(tmp_path: Path) -> None:
    binary = tmp_path / "store"
    folder = stand_ins(tmp_path / "include", STORE, HERE / "store_kernel.h")
    # The kernel does not compare signs either.
    command = ["gcc", "-std=gnu11", "-g", *WARNINGS, "-Wno-sign-compare", *SANITIZERS]
    command.append(f"-I{folder}")
    sources = (HERE / "store_driver.c", STORE[0])
    subprocess.run([*command, "-o", str(binary), *map(str, sources)], check=True)
    done = subprocess.run([binary], capture_output=True, text=True, timeout=LONG_S)
    assert done.returncode == 0, done.stderr

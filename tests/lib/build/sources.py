# SPDX-License-Identifier: GPL-2.0
"""Copies of the modules' sources to build in."""

from __future__ import annotations

import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def copy_sources(to: Path) -> Path:
    """The sources of the modules, without anything that was built from them."""
    ignored = shutil.ignore_patterns(
        "*.o", "*.cmd", ".*.d", "*.mod*", "*.answer", "*.log", "spek_have.h", "__pycache__"
    )
    for folder in ("kmod", "prober"):
        shutil.copytree(ROOT / folder, to / folder, ignore=ignored)
    for file in ("Kbuild", "Makefile", "dkms.conf"):
        shutil.copy2(ROOT / file, to / file)
    return to

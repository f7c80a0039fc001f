# SPDX-License-Identifier: GPL-2.0
"""Programs that the host builds for guests: a compiler takes a minute there."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from lib.build.sources import ROOT

SHARED = ROOT / "out" / "cache"  # where both sides see it


def for_guests(name: str, make: Callable[[], Path]) -> Path:
    """What @make makes, as @name where guests see it.

    A guest takes what the host has put there before it booted, whatever becomes of the sources
    meanwhile.
    """
    shared = SHARED / name
    if "SPEK_GUEST" not in os.environ:
        SHARED.mkdir(parents=True, exist_ok=True)
        scratch = SHARED / f"{name}.{os.getpid()}"
        shutil.copy2(make(), scratch)
        scratch.replace(shared)
    return shared

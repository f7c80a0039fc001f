# SPDX-License-Identifier: GPL-2.0
"""Programs that the host builds for guests: a compiler takes a minute there."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from lib.build.sources import ROOT

# Of the guests that programs are built for, where it is not the host's.
ARCHITECTURE = "SPEK_ARCHITECTURE"
SHARED = ROOT / "out" / "cache"  # where both sides see it


def for_guests(name: str, make: Callable[[], Path]) -> Path:
    """What @make makes, as @name where guests see it.

    A guest takes what the host has put there before it booted, whatever becomes of the sources
    meanwhile. Those of another architecture, in $SPEK_ARCHITECTURE, have their own.
    """
    shared = SHARED / os.environ.get(ARCHITECTURE, "") / name
    if "SPEK_GUEST" not in os.environ:
        shared.parent.mkdir(parents=True, exist_ok=True)
        scratch = shared.with_name(f"{name}.{os.getpid()}")
        shutil.copy2(make(), scratch)
        scratch.replace(shared)
    return shared

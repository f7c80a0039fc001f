# SPDX-License-Identifier: GPL-2.0
"""Headers of the kernel for sources of a module that a test compiles for userspace."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

_KERNEL = re.compile(r"^#include <((?:linux|scsi|trace)/\S+)>", re.M)


def stand_ins(folder: Path, files: Iterable[Path], header: Path) -> Path:
    """A folder with every header of the kernel that @files include; all of them are @header."""
    names = {name for file in files for name in _KERNEL.findall(file.read_text())}
    for name in (*names, "spek_have.h"):
        stand_in = folder / name
        stand_in.parent.mkdir(parents=True, exist_ok=True)
        stand_in.write_text(f'#include "{header}"\n')
    return folder

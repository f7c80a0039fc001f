# SPDX-License-Identifier: GPL-2.0-or-later
"""Python's bytecode is made here, not in the guest.

A guest reads these files, but may not be able to write beside them, and a compiler takes twenty
times as long under TCG: without this, each start of spekctl in a guest would compile it again.
"""

from __future__ import annotations

import compileall
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]


def compile_ahead(*folders: Path) -> None:
    """Compile spekctl and the Python files below @folders, as far as that has not been done.

    Where these directories can't be written, the guest compiles what it needs: that is only slow.
    """
    for folder in (PACKAGE, *folders):
        compileall.compile_dir(folder, quiet=2)

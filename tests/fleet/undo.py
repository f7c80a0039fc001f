# SPDX-License-Identifier: GPL-2.0
"""Things of configfs, which go in the reverse order of their coming."""

from __future__ import annotations

import contextlib
import os
import subprocess
from pathlib import Path

CONFIG = Path("/sys/kernel/config")


def mount_configfs() -> None:
    if not os.path.ismount(CONFIG):
        subprocess.run(["mount", "-t", "configfs", "configfs", CONFIG], check=True)


class Undo(contextlib.ExitStack):
    """What is made by it goes with it."""

    def mkdir(self, path: Path) -> Path:
        path.mkdir()
        self.callback(path.rmdir)
        return path

    def link(self, path: Path, to: Path) -> None:
        path.symlink_to(to)
        self.callback(path.unlink)

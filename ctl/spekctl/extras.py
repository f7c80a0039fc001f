# SPDX-License-Identifier: GPL-2.0-or-later
"""Libraries that spekctl does without until they are needed (extras of pyproject.toml)."""

from __future__ import annotations

import shlex
import sys


def install(extra: str) -> str:
    """The command that installs an extra for this Python, which `pip` alone may not be part of."""
    return f"{shlex.quote(sys.executable)} -m pip install 'spekctl[{extra}]'"

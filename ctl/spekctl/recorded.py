# SPDX-License-Identifier: GPL-2.0-or-later
"""What the user typed, as a file of ours can hold it: JSON is UTF-8, and a name need not be."""

from __future__ import annotations

import sys


def command() -> list[str]:
    """The command line, without the program."""
    return [text(one) for one in sys.argv[1:]]


def text(typed: str) -> str:
    """@typed, or a sentence with it, with a sign for each byte that is not UTF-8."""
    return typed.encode("utf-8", "surrogateescape").decode("utf-8", "replace")

# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line in a form that JSON can hold: JSON is UTF-8, and a file name need not be."""

from __future__ import annotations

import sys


def command() -> list[str]:
    """The command line, without the program."""
    return [text(word) for word in sys.argv[1:]]


def text(typed: str) -> str:
    """@typed, or a sentence that quotes it, with a replacement for each byte that is not UTF-8."""
    return typed.encode("utf-8", "surrogateescape").decode("utf-8", "replace")

# SPDX-License-Identifier: GPL-2.0-or-later
"""Texts from devices, workloads and file names: escaped, and short where they are many."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Sequence

_KEPT = "\n\t"
# Names that a heading has room for.
_FEW = 3
# Unassigned and private characters stay: they are only shown as boxes.
_ACTIVE = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def clean(text: str) -> str:
    """The text with characters that are invisible or that reorder others written as escapes."""
    return "".join(
        char
        if char in _KEPT or (char.isascii() and char.isprintable())
        or unicodedata.category(char) not in _ACTIVE
        else f"\\u{ord(char):04x}"
        for char in text
    )  # fmt: skip


def few(names: Sequence[str]) -> str:
    """Names for a heading: all of them, or the first and how many others there are."""
    if len(names) <= _FEW:
        return ", ".join(names)
    return f"{names[0]} and {len(names) - 1} more"


def data_text(value: object) -> str:
    """JSON for a script element: nothing in it can end or begin an element."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")

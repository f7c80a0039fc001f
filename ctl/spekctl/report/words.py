# SPDX-License-Identifier: GPL-2.0-or-later
"""Escaping of text from devices, workloads and file names."""

from __future__ import annotations

import json
import unicodedata

_KEPT = "\n\t"
# Unassigned and private characters stay: they are only shown as boxes.
_ACTIVE = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def clean(text: str) -> str:
    """The text with characters that are invisible or that reorder others written as escapes."""
    return "".join(
        one
        if one in _KEPT or (one.isascii() and one.isprintable())
        or unicodedata.category(one) not in _ACTIVE
        else f"\\u{ord(one):04x}"
        for one in text
    )  # fmt: skip


def data_text(value: object) -> str:
    """JSON for a script element: nothing in it can end or begin an element."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")

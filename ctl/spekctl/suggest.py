# SPDX-License-Identifier: GPL-2.0-or-later
"""The nearest valid name for a misspelt one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(wrong: str, names: Iterable[str], likeness: float = 0.6) -> str | None:
    """The valid name that is nearest, or None if none is near. @likeness: of equal names 1."""
    near = difflib.get_close_matches(wrong, list(names), n=1, cutoff=likeness)
    return near[0] if near else None


def did_you_mean(wrong: str, names: Iterable[str]) -> str:
    """Text to append to a sentence: a question, or nothing if no name is near."""
    near = nearest(wrong, names)
    return f"; did you mean '{near}'?" if near is not None else ""

# SPDX-License-Identifier: GPL-2.0-or-later
"""The nearest valid name for a misspelt one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def did_you_mean(wrong: str, names: Iterable[str]) -> str:
    """Text to append to a sentence: a question, or nothing if no name is near."""
    near = difflib.get_close_matches(wrong, list(names), n=1, cutoff=0.6)
    return f"; did you mean '{near[0]}'?" if near else ""

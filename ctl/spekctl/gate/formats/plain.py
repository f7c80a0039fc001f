# SPDX-License-Identifier: GPL-2.0-or-later
"""Text that fits into one line of any format: names of files in it may hold any characters."""

from __future__ import annotations


def one_line(text: str) -> str:
    """@text without control characters and surrogates: each is a question mark, a break a space."""
    spaced = text.replace("\n", " ").replace("\t", " ")
    return "".join(character if character.isprintable() else "?" for character in spaced)

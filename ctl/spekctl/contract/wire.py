# SPDX-License-Identifier: GPL-2.0-or-later
"""What the generated records of requests are made with."""

from __future__ import annotations

from typing import Any, get_args


def code(words: Any, word: str) -> int:
    """Number of a word on the wire; @words: a Literal of all of them, in order."""
    return get_args(words).index(word)


def given(*attributes: tuple[str, Any, tuple[Any, ...]]) -> dict[str, Any]:
    """Attributes by name, from their names, values and values that mean the same as none."""
    return {name: value for name, value, unsent in attributes if value not in unsent}


def filled(data: bytes, room: int) -> bytes:
    """Entries of an array that has room for @room bytes."""
    if len(data) > room:
        raise ValueError(f"{len(data)} bytes do not fit into {room}")
    return data

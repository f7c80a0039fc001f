# SPDX-License-Identifier: GPL-2.0-or-later
"""Blocks of a cache that no device can read any more: which they are, and giving them up."""

from __future__ import annotations

from spekctl.augment.mapper import Mapper
from spekctl.augment.table import State
from spekctl.documents.augment import Mode
from spekctl.errors import RefusedError, UsageError


def ranges(mapper: Mapper, name: str, state: State) -> list[tuple[int, int]]:
    """In order: the first block of a range of 4 KiB blocks, and the one after its last."""
    if not state.lost_blocks or not mapper.lists_lost():
        return []
    parts: list[tuple[int, int]] = []
    place = "0"
    while place != "-":
        *listed, place = mapper.ask(name, "lost", place).split()
        parts += (_range(text) for text in listed)
    merged: list[tuple[int, int]] = []
    for first, last in sorted(parts):
        if merged and merged[-1][1] == first:
            merged[-1] = (merged[-1][0], last)
        else:
            merged.append((first, last))
    return merged


def _range(text: str) -> tuple[int, int]:
    first, _, blocks = text.partition("+")
    return int(first), int(first) + int(blocks)


def forget(mapper: Mapper, name: str, blocks: int) -> None:
    """Give up @blocks, which has to be the number of all that are lost; RefusedError if nothing
    is."""
    state = mapper.state(name)
    if state.mode is not Mode.FAILED or not state.lost_blocks:
        raise RefusedError(f"{name} has lost nothing: it is {state.mode}")
    if blocks != state.lost_blocks:
        raise UsageError(
            f"{name} has lost {state.lost_blocks} blocks: look which they are by `spekctl augment"
            f" status {name}`, and confirm them by --lost {state.lost_blocks}"
        )
    mapper.message(name, "forget", str(blocks))

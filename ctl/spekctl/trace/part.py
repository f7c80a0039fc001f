# SPDX-License-Identifier: GPL-2.0-or-later
"""The part of a trace that one of several machines replays: pure functions of columns.

A trace is mapped onto the targets of all machines, so that each of them gives a record the same
place and the same time. A machine then keeps the records that start on its own pieces of these
targets. Between machines, only their times keep records in order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from spekctl.errors import UsageError
from spekctl.trace.mapping import Target
from spekctl.trace.schedule import Block


@dataclass(frozen=True, slots=True)
class Piece:
    """What a machine has of a target, bytes."""

    target: int
    start: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Part:
    """@targets: those of all machines; @own: the pieces of this one, a device each."""

    targets: Sequence[Target]
    own: Sequence[Piece]

    def of(self, block: Block) -> Block:
        """The records on the own pieces; their targets are numbers of own devices."""
        device = np.full(len(block), -1, np.int64)
        for number, piece in enumerate(self.own):
            begins = block.offset_bytes - np.uint64(piece.start)
            # What starts before the piece is far beyond it, modulo 2^64.
            inside = (block.target == piece.target) & (begins < np.uint64(piece.bytes))
            device[inside] = number
        kept = device >= 0
        own = block.take(kept)
        return Block(
            *(own.at_ns, own.offset_bytes, own.bytes, own.op, own.flags),
            device[kept].astype(np.uint32),
            own.index,
        )

    def check(self, target_of: Sequence[int]) -> None:
        """UsageError if no device of the trace is on an own piece. @target_of: by device."""
        if not {piece.target for piece in self.own} & set(target_of):
            count = len(target_of)
            raise UsageError(
                f"the trace has {count} device{'s' if count > 1 else ''}, the fleet"
                f" {len(self.targets)}, and this host would have none of the trace; with share ="
                ' "overlap" each host replays all of it'
            )

    def check_records(self, blocks: Iterable[Block]) -> None:
        """UsageError if no record starts on an own piece. @blocks: what of() has kept; read up to
        the first record."""
        if not any(len(block) for block in blocks):
            raise UsageError(
                "no record of the trace starts on this host's part of the devices; leave the host"
                ' out of the plan, or give it another weight; with share = "overlap" each host'
                " replays all of the trace"
            )

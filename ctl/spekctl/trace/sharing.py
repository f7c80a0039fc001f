# SPDX-License-Identifier: GPL-2.0-or-later
"""Which worker replays a record, where several share a trace.

Workers do not wait for each other, so only the records of one worker keep their order. Requests
that overlap, whether directly or by others between them, form a group, and a group has one worker:
what touches the same bytes stays in order. Requests that only touch are not of one group.

    by address  a group goes to the part of the device, one of equal size per worker, in which it
                begins: neighbours stay together, and hot addresses are one worker's
    by time     groups go to the workers in turn, in the order of their first requests: every worker
                has its share of any time, and sequences are torn

Groups are those of the whole trace, so it is read before. If its requests overlap all the way,
it is one group, and one worker has it all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np

from spekctl.ranges import Ranges
from spekctl.trace.columns import Array
from spekctl.trace.schedule import Block
from spekctl.workload.values import Share

# Ends of ranges are moved down by half a byte, so that ranges that touch are not joined.
_HALVES = np.uint64(2)


class Sharing(Protocol):
    """A way to share a trace; asked for its blocks in order, each once."""

    def workers(self, block: Block) -> Array:
        """The worker of each record."""


class Alone:
    """One worker."""

    def workers(self, block: Block) -> Array:
        """See Sharing."""
        return np.zeros(len(block), np.intp)


class Groups:
    """Groups of overlapping requests, numbered by target and address."""

    def __init__(self, blocks: Iterable[Block], targets: int) -> None:
        ranges = [Ranges() for _ in range(targets)]
        for block in blocks:
            for index, touched in enumerate(ranges):
                mine = block.take(block.target == index)
                first = mine.offset_bytes * _HALVES
                touched.add(first, np.maximum(first + mine.bytes * _HALVES, 1) - np.uint64(1))
        self._starts = [touched.ranges()[0] // _HALVES for touched in ranges]
        self._first = np.cumsum([0, *(len(starts) for starts in self._starts)])

    def __len__(self) -> int:
        return int(self._first[-1])

    def starts(self, target: int) -> Array:
        """First bytes of the groups of a target, ascending."""
        return self._starts[target]

    def of(self, block: Block) -> Array:
        """The group of each record."""
        group: Array = np.zeros(len(block), np.intp)
        for index, starts in enumerate(self._starts):
            mine = block.target == index
            place = np.searchsorted(starts, block.offset_bytes[mine], side="right") - 1
            # A flush, which has no address, goes with the first group.
            group[mine] = self._first[index] + np.maximum(place, 0)
        return np.minimum(group, len(self) - 1)


class ByAddress:
    """A group goes to the part of its target in which it begins."""

    def __init__(self, groups: Groups, workers: int, capacities: Sequence[int]) -> None:
        self._groups = groups
        self._of_group = np.concatenate(
            [
                groups.starts(index) // np.uint64(-(-capacity // workers))
                for index, capacity in enumerate(capacities)
            ]
        ).astype(np.intp)

    def workers(self, block: Block) -> Array:
        """See Sharing."""
        return self._of_group[self._groups.of(block)]


class ByTime:
    """Groups go to the workers in turn as they come."""

    def __init__(self, groups: Groups, workers: int) -> None:
        self._groups, self._workers = groups, workers
        self._of_group = np.full(len(groups), -1, np.intp)
        self._seen = 0

    def workers(self, block: Block) -> Array:
        """See Sharing."""
        group = self._groups.of(block)
        new, first = np.unique(group, return_index=True)
        new = new[np.argsort(first)]
        new = new[self._of_group[new] < 0]
        self._of_group[new] = (self._seen + np.arange(len(new))) % self._workers
        self._seen += len(new)
        return self._of_group[group]


def sharing(blocks: Iterable[Block], workers: int, capacities: Sequence[int], by: Share) -> Sharing:
    """How @workers share the records of @blocks, which it reads if there are several workers.

    @capacities: bytes of the targets
    """
    if workers == 1:
        return Alone()
    groups = Groups(blocks, len(capacities))
    if not len(groups):
        return Alone()
    if by == "time":
        return ByTime(groups, workers)
    return ByAddress(groups, workers, capacities)

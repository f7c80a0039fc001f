# SPDX-License-Identifier: GPL-2.0-or-later
"""Events of the current run for pages that come later: the newest whole, older rows thinned out.

A run of days has more rows than a page can draw, and than a server should keep. What is dropped
here is dropped from nothing else: pages that were there have seen it, and results are made by the
host.
"""

from __future__ import annotations

import bisect
from collections import deque
from typing import NamedTuple

import msgspec

# Rows of the last events, which are kept whole.
RECENT_ROWS = 1024
RECENT_BYTES = 4 << 20
# Older rows: one of every 1, 2, 4, ... of the run, so that they stay evenly spread.
OLD_ROWS = 4096
OLD_BYTES = 8 << 20
# Events without rows. A host that cannot be started is one at every attempt.
OTHERS = 1000
# Events with a current state: a later one replaces an earlier one.
LATEST = frozenset({"hosts"})


class Frame(msgspec.Struct, frozen=True):
    """An event as pages get it."""

    number: int
    name: str
    data: bytes


class _Rows(msgspec.Struct):
    """What is needed of an event `rows`."""

    clock: msgspec.Raw
    rows: list[msgspec.Raw]


class _Old(NamedTuple):
    """An older row. @position: in the run, from 0; @number: of its event, of which @clock is."""

    position: int
    number: int
    clock: bytes
    row: bytes


class Course:
    """Frames in the order of their numbers. Not locked."""

    def __init__(self) -> None:
        self.last = 0  # number of the newest frame; 0 without one
        self._events: list[Frame] = []
        self._recent: deque[tuple[Frame, int]] = deque()  # each with its number of rows
        self._recent_rows = 0
        self._recent_bytes = 0
        self._old: list[_Old] = []
        self._old_bytes = 0
        self._step = 1
        self._passed = 0  # rows that are no longer recent

    def clear(self) -> None:
        """Forget everything."""
        self.__init__()  # type: ignore[misc]

    def add(self, frame: Frame, rows: int = 0) -> None:
        """The next one. @rows: how many it has, of an event `rows`."""
        self.last = frame.number
        if frame.name in LATEST:
            self._events = [event for event in self._events if event.name != frame.name]
        if frame.name != "rows":
            self._events.append(frame)
            if len(self._events) > OTHERS:
                # The first says which run it is.
                del self._events[1 if self._events[0].name == "started" else 0]
            return
        self._recent.append((frame, rows))
        # An event without rows, only a clock, counts as one row: a long run has many of them.
        self._recent_rows += max(rows, 1)
        self._recent_bytes += len(frame.data)
        while len(self._recent) > 1 and (
            self._recent_rows > RECENT_ROWS or self._recent_bytes > RECENT_BYTES
        ):
            self._age()

    def after(self, number: int) -> list[Frame]:
        """Frames after @number that are still there; all older rows are one frame."""
        frames = [*_after(self._events, number), *self._old_frame(number)]
        frames += [frame for frame, _ in self._recent if frame.number > number]
        return sorted(frames, key=lambda frame: frame.number)

    def _age(self) -> None:
        """Make the oldest of the recent events an old one."""
        frame, rows = self._recent.popleft()
        self._recent_rows -= max(rows, 1)
        self._recent_bytes -= len(frame.data)
        first = self._passed
        self._passed += rows
        if first + (-first % self._step) >= self._passed:
            return
        event = msgspec.json.decode(frame.data, type=_Rows)
        clock = bytes(event.clock)
        for index in range(first + (-first % self._step), self._passed, self._step):
            row = bytes(event.rows[index - first])
            self._old.append(_Old(index, frame.number, clock, row))
            self._old_bytes += _size(self._old[-1])
        while len(self._old) > 1 and (len(self._old) > OLD_ROWS or self._old_bytes > OLD_BYTES):
            self._step *= 2
            self._old = [old for old in self._old if old.position % self._step == 0]
            self._old_bytes = sum(map(_size, self._old))

    def _old_frame(self, number: int) -> list[Frame]:
        rows = self._old[bisect.bisect_right(self._old, number, key=lambda old: old.number) :]
        if not rows:
            return []
        data = b'{"event":"rows","clock":%s,"rows":[%s]}' % (
            rows[-1].clock,
            b",".join(old.row for old in rows),
        )
        return [Frame(rows[-1].number, "rows", data)]


def _after(frames: list[Frame], number: int) -> list[Frame]:
    return frames[bisect.bisect_right(frames, number, key=lambda frame: frame.number) :]


def _size(old: _Old) -> int:
    return len(old.clock) + len(old.row)

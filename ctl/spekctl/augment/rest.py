# SPDX-License-Identifier: GPL-2.0-or-later
"""When a disk is put into standby: after a time without I/O, as long as it has starts left.

A start wears a spindle, and disks are made for 50,000 to 300,000 of them. Within a budget of starts
a day a disk sleeps whenever it is idle; beyond it, it stays awake until the oldest of these starts
is a day ago.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

DAY_NS = 86_400 * 10**9


@dataclass(frozen=True, slots=True)
class Rules:
    """@idle_ns: time without I/O; @starts_per_day: of each disk, None: no limit."""

    idle_ns: int
    starts_per_day: int | None = None


@dataclass(slots=True)
class Spindle:
    """What is known of one disk. Times are of CLOCK_MONOTONIC; starts are those that were seen."""

    used_ns: int
    starts: deque[int] = field(default_factory=deque)

    def is_used(self, now_ns: int) -> None:
        """It has done I/O."""
        self.used_ns = now_ns

    def has_started(self, now_ns: int) -> None:
        """It is awake again."""
        self.starts.append(now_ns)
        self.used_ns = now_ns

    def starts_of_a_day(self, now_ns: int) -> int:
        """Starts in the day before @now_ns; older ones are forgotten."""
        while self.starts and now_ns - self.starts[0] >= DAY_NS:
            self.starts.popleft()
        return len(self.starts)

    def may_rest(self, rules: Rules, now_ns: int) -> bool:
        """It is idle, and one more start is within its budget."""
        if now_ns - self.used_ns < rules.idle_ns:
            return False
        limit = rules.starts_per_day
        return limit is None or self.starts_of_a_day(now_ns) < limit

# SPDX-License-Identifier: GPL-2.0
"""Memory that was lost, as kmemleak sees it, and the test that lost it; at the end, as caches grow.

A scan costs a quarter of a minute and more under emulation, and an object must be 5 s old to be
reported. So scans come after files of tests, when their modules are gone, and not after each of
them; when what is found was allocated says which test it is from.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lib.harness.kernels import repeated

KMEMLEAK = Path("/sys/kernel/debug/kmemleak")
TIMERS = Path("/proc/timer_list")
DROP_CACHES = Path("/proc/sys/vm/drop_caches")
# Of tests between two scans, at least.
PERIOD_S = repeated(1200, 180)
MIN_AGE_S = 5.2  # MSECS_MIN_AGE of mm/kmemleak.c
HEAD = re.compile(r"unreferenced object .*\(size (\d+)\):")
MADE = re.compile(r'comm "(.*)", pid \d+, jiffies (\d+)\b')


@dataclass(frozen=True, slots=True)
class Leak:
    """An object that nothing points to; @allocated: when, in jiffies."""

    size: int
    comm: str
    allocated: int
    text: str


def jiffies_now() -> int:
    """The kernel's clock, by which kmemleak dates objects."""
    match = re.search(r"(?m)^jiffies: (\d+)$", TIMERS.read_text())
    assert match, f"no jiffies in {TIMERS}"
    return int(match[1])


def parse(report: str) -> list[Leak]:
    """What /sys/kernel/debug/kmemleak says."""
    leaks = []
    for part in re.split(r"(?m)^(?=unreferenced object )", report):
        if not part.startswith("unreferenced object "):
            continue
        head, allocation = HEAD.match(part), MADE.search(part)
        assert head and allocation, f"kmemleak says what nobody here can read:\n{part}"
        leaks.append(Leak(int(head[1]), allocation[1], int(allocation[2]), part.rstrip()))
    return leaks


class Leaks:
    """kmemleak, where the kernel has it; else there are no leaks.

    What was allocated before now, as by the boot, is not looked for. Its date says so, for which no
    scan is needed.
    """

    def __init__(self, path: Path = KMEMLEAK, clock: Callable[[], int] = jiffies_now) -> None:
        self.path = path
        self.clock = clock
        self.is_there = path.exists()
        self.starts: list[tuple[int, str]] = []
        self.began_s = 0.0
        self.seen: set[str] = set()
        self.since = self.clock() if self.is_there else 0

    def begin(self, nodeid: str) -> None:
        """A test begins now."""
        if not self.is_there:
            return
        if not self.starts:
            self.began_s = time.monotonic()
        self.starts.append((self.clock(), nodeid))

    def are_due(self) -> bool:
        """True if there have been tests for long enough to look."""
        return bool(self.starts) and time.monotonic() - self.began_s > PERIOD_S

    def find(self, wait_s: float = 0.0) -> list[Leak]:
        """Objects lost since the last call that are old enough, or will be after @wait_s."""
        if not self.is_there:
            return []
        time.sleep(wait_s)
        if self.path == KMEMLEAK:
            # A scan goes through all pages that are in use, and all inodes: with a full page cache
            # it takes minutes.
            DROP_CACHES.write_text("3")
        # The first scan only notes the contents: what changes meanwhile is in use.
        for _ in range(2):
            self.path.write_text("scan")
        leaks = [leak for leak in parse(self.path.read_text()) if leak.allocated >= self.since]
        fresh = [leak for leak in leaks if leak.text.split("\n")[0] not in self.seen]
        self.seen |= {leak.text.split("\n")[0] for leak in fresh}
        return fresh

    def rest(self) -> None:
        """What is lost from now on is not looked for."""
        self.is_there = False

    def by_test(self) -> dict[str, list[Leak]]:
        """Leaks since the last call, by the test that ran when they were allocated."""
        if not self.is_there or not self.starts:
            return {}
        guilty: dict[str, list[Leak]] = {}
        for leak in self.find(MIN_AGE_S):
            before = [nodeid for start, nodeid in self.starts if start <= leak.allocated]
            guilty.setdefault((before or [self.starts[0][1]])[-1], []).append(leak)
        self.starts = []
        return guilty


def lost_each_time(
    growth: dict[str, list[int]], others: dict[str, list[int]], rounds: int
) -> dict[str, list[int]]:
    """Caches that grow by an object a round in each batch of @rounds, beyond what they grow by
    without us (@others, by batches of as many)."""
    return {
        cache: steps
        for cache, steps in growth.items()
        if min(steps) - max(0, min(others.get(cache, [0]))) >= rounds
    }

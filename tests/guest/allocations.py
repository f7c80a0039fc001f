# SPDX-License-Identifier: GPL-2.0
"""Allocations that fail because a test wants it: the kernel's fault injection, made exact.

By number: fail-nth of a task makes the nth allocation of one system call fail, of whatever kind,
and says afterwards whether there were so many (Documentation/fault-injection). That goes through
everything below the call, but not through the same things each time: how many allocations there
are depends on what slabs and page tables have left.

By site: a probe (tests/debug/rig/spek_sites.c) has those allocations fail that are asked for at one
place in a module: the first, then each, as kvmalloc() tries two ways. So no site in the modules is
left out.
"""

from __future__ import annotations

import itertools
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from guest.faults.times import TIMES
from lib.guest import modules
from lib.harness.inside import Messages
from lib.harness.kernels import repeated

DEBUG = Path("/sys/kernel/debug")
CAUSES = ("failslab", "fail_page_alloc")
SITES = DEBUG / "spek_sites"
CONSOLE_LEVEL = Path("/proc/sys/kernel/printk")
# A call that allocates has some hundred sites; so has loading a module.
NEVER_SO_MANY = 1_000_000
FIRST = 20  # allocations of which each fails in each round
STRIDE = repeated(12, 1)  # of the others, all of which are tried in as many rounds
TRIES = 10  # to come by a site that was come by before


class Failing(Protocol):
    """Of the allocations between arm() and disarm() some fail.

    @hits: how many have failed
    """

    hits: int

    def arm(self, n: int) -> None:
        """From here. @n: which one, where that is said by a number."""

    def disarm(self) -> int:
        """To here; a second call does nothing. Return: 0 if one has failed, or none was to."""


@contextmanager
def sites_known() -> Iterator[None]:
    """FailAtSite can be used: the module with the probe is there."""
    modules.load(Path(os.environ["SPEK_TEST_MODULES"], "spek_sites.ko"))
    try:
        yield
    finally:
        modules.unload_soon("spek_sites")


@contextmanager
def failures_prepared() -> Iterator[None]:
    """Every allocation counts, also such as may wait, of single pages, in high memory; each that
    fails is printed with its stack, into the log and not to the console, which is slow."""
    level = CONSOLE_LEVEL.read_text().split()
    for cause in CAUSES:
        write(cause, "ignore-gfp-wait", "N")
        write(cause, "verbose", "2")
        write(cause, "verbose_ratelimit_interval_ms", "0")
        write(cause, "task-filter", "N")
        write(cause, "probability", "0")
    write("fail_page_alloc", "min-order", "0")
    write("fail_page_alloc", "ignore-gfp-highmem", "N")
    CONSOLE_LEVEL.write_text("1")
    try:
        yield
    finally:
        CONSOLE_LEVEL.write_text(level[0])


def write(cause: str, name: str, value: str) -> None:
    """Set an attribute of failslab or fail_page_alloc."""
    (DEBUG / cause / name).write_text(value)


class FailNth:
    """The nth allocation of a task fails."""

    def __init__(self, task: str = "thread-self") -> None:
        self.fd = os.open(f"/proc/{task}/fail-nth", os.O_RDWR | os.O_CLOEXEC)
        self.armed = False
        self.hits = 0

    def close(self) -> None:
        os.close(self.fd)

    def arm(self, n: int) -> None:
        """Count from here. @n: from 1"""
        self.armed = True
        os.write(self.fd, b"%d" % n)

    def disarm(self) -> int:
        """Count no more. Return: how many were missing; 0 if one has failed, or none was to."""
        left = int(os.pread(self.fd, 32, 0))
        os.pwrite(self.fd, b"0", 0)
        self.hits += self.armed and not left
        self.armed = False
        return left


class FailAtSite:
    """The first allocation at one site of a module fails, or each.

    @whose: "*" for those of any task, "" for those of the thread that arms
    @site: the site; "" for none, which is how sites are found
    @every: not only the first
    @seen: sites that were come by
    """

    def __init__(self, module: str, whose: str = "") -> None:
        self.fd = os.open(SITES, os.O_RDWR | os.O_CLOEXEC)
        self.module, self.whose = module, whose
        self.site = ""
        self.every = False
        self.seen: set[str] = set()
        self.armed = False
        self.hits = 0

    def close(self) -> None:
        os.close(self.fd)

    def arm(self, n: int) -> None:
        """Look from here. @n: of no meaning"""
        self.armed = True
        flags = self.whose + "!" * self.every
        os.write(self.fd, (flags + (self.site or f"[{self.module}]")).encode())

    def disarm(self) -> int:
        """Look no more. Return: 0 if one has failed, or none was to."""
        if not self.armed:
            return 0
        self.armed = False
        failed, *sites = os.pread(self.fd, 1 << 16, 0).decode().splitlines()
        self.seen.update(sites)
        self.hits += int(failed)
        return int(bool(self.site) and failed == "0")


@dataclass
class Outcomes:
    """What came of all the failures of one call.

    @failed: allocations that failed
    @errors: errno of each failure that was told, and how often
    @sites: in our modules, as the kernel writes a place; and in how many calls an allocation there
        failed because it was its turn
    @rare: sites that were come by once, and not when it was their turn: wherever KASAN takes note
        of a stack, also when memory is freed, it needs a page for that now and then
    """

    failed: int = 0
    errors: Counter[int] = field(default_factory=Counter)
    sites: Counter[str] = field(default_factory=Counter)
    rare: set[str] = field(default_factory=set)

    def __str__(self) -> str:
        told = ", ".join(f"{os.strerror(code)}: {n}" for code, n in sorted(self.errors.items()))
        sites = f"each of {len(self.sites)} sites of ours among them"
        if rare := self.rare - self.sites.keys():
            sites += f" (come by only once: {', '.join(sorted(rare))})"
        return (
            f"{self.failed} allocations failed, {sites}; "
            f"told {sum(self.errors.values())} times ({told or 'never'})"
        )

    def note(self, code: int) -> None:
        """One failure more, which was told with this errno, or was not if it is 0."""
        if code:
            self.errors[code] += 1

    @property
    def functions(self) -> set[str]:
        """Those of our functions that have sites."""
        return {site.partition("+")[0] for site in self.sites}


Attempt = Callable[[Failing, int], int]


def fail_each(
    attempt: Attempt,
    *,
    module: str = "",
    numbers: Callable[[int], Sequence[int]] | None = None,
    task: str = "thread-self",
) -> Outcomes:
    """Call @attempt(failing, n) with the numbers of by_turns(), until there are no more allocations
    to fail; then twice for each site of @module, if one is named. All of it TIMES.

    @attempt arms, makes its call, disarms, and returns an errno or 0; it checks itself that all
    is in order afterwards. @numbers: of a round, counted from 0, other numbers to try; all are
    tried. @task: whose allocations are counted; sites are always of this thread.
    """
    outcomes = Outcomes()
    fail_by_number(attempt, outcomes, numbers, task)
    if module:
        fail_by_site(attempt, outcomes, module)
    return outcomes


def fail_by_number(
    attempt: Attempt,
    outcomes: Outcomes,
    numbers: Callable[[int], Sequence[int]] | None,
    task: str,
) -> None:
    """The first half of fail_each()."""
    with closing(FailNth(task)) as nth, closing(Messages()) as messages:
        for turn in range(TIMES):
            for n in numbers(turn) if numbers else by_turns(turn):
                messages.mark(f"allocation {n} fails, round {turn + 1} of {TIMES}")
                before = nth.hits
                code = attempt(nth, n)
                if nth.hits == before and not numbers:
                    assert code == 0, f"nothing has failed, and still: {os.strerror(code)}"
                    break
                outcomes.note(code)
        outcomes.failed += nth.hits


def by_turns(turn: int) -> Iterator[int]:
    """The first FIRST numbers, and of those after them every STRIDEth, others in each round."""
    return itertools.chain(
        range(1, FIRST + 1), range(FIRST + 1 + turn % STRIDE, NEVER_SO_MANY, STRIDE)
    )


def fail_by_site(attempt: Attempt, outcomes: Outcomes, module: str, whose: str = "") -> None:
    """The second half of fail_each(): first nothing fails, which shows what sites there are; then,
    of each, the first allocation, and each.

    @whose: as for FailAtSite
    """
    with closing(FailAtSite(module, whose)) as at, closing(Messages()) as messages:
        for _ in range(TIMES):
            at.site = ""
            assert attempt(at, 0) == 0
            done = set[str]()
            while left := sorted(at.seen - done):
                at.site = left[0]
                done.add(at.site)
                for at.every in (False, True):
                    messages.mark(f"{'each' if at.every else 'first'} at {at.site} fails")
                    if fails(attempt, outcomes, at):
                        outcomes.sites[at.site] += 1
                    else:
                        outcomes.rare.add(at.site)
        outcomes.failed += at.hits


def fails(attempt: Attempt, outcomes: Outcomes, at: FailAtSite) -> bool:
    """True once the allocation has failed; False if none of some calls needs it."""
    before = at.hits
    for _ in range(TRIES):
        code = attempt(at, 0)
        if at.hits > before:
            outcomes.note(code)
            return True
        assert code == 0, f"nothing has failed, and still: {os.strerror(code)}"
    return False


def kernel_threads(*prefixes: str) -> list[int]:
    """Threads of the kernel whose names begin like this."""
    pids = []
    for path in Path("/proc").glob("[0-9]*/comm"):
        try:
            if path.read_text().startswith(prefixes):
                pids.append(int(path.parent.name))
        except (FileNotFoundError, ProcessLookupError):
            continue
    return pids


@contextmanager
def slab_fails_for(tasks: list[int]) -> Iterator[None]:
    """Every slab allocation of these tasks fails."""
    for task in tasks:
        mark_task(task, "1")
    write("failslab", "verbose", "0")
    write("failslab", "task-filter", "Y")
    write("failslab", "interval", "1")
    write("failslab", "times", "-1")
    write("failslab", "probability", "100")
    try:
        yield
    finally:
        write("failslab", "probability", "0")
        write("failslab", "task-filter", "N")
        for task in tasks:
            mark_task(task, "0")


def mark_task(task: int, value: str) -> None:
    """Set make-it-fail of a task that may have ended."""
    with suppress(FileNotFoundError, ProcessLookupError):
        Path(f"/proc/{task}/make-it-fail").write_text(value)

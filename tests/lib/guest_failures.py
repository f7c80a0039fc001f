# SPDX-License-Identifier: GPL-2.0
"""Allocations that fail because a test wants it: the kernel's fault injection, made exact.

fail-nth of a task makes the nth allocation of one system call fail, of whatever kind, and says
afterwards whether there were so many (Documentation/fault-injection). The kernel prints where
it was; that is how sites of ours are told from others.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from lib.fault_times import TIMES
from lib.guest_inside import Messages

DEBUG = Path("/sys/kernel/debug")
CAUSES = ("failslab", "fail_page_alloc")
FORCED = "FAULT_INJECTION: forcing a failure"
OUR_FRAME = re.compile(r"(\w[\w.]*\+0x[0-9a-f]+)/0x[0-9a-f]+ \[(spek\w*)\]")
CONSOLE_LEVEL = Path("/proc/sys/kernel/printk")
# A call that allocates has some hundred sites; so has loading a module.
NEVER_SO_MANY = 1_000_000


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
    """The nth allocation of a task from now on fails.

    @hits: how often there were so many
    """

    def __init__(self, task: str = "thread-self") -> None:
        self.fd = os.open(f"/proc/{task}/fail-nth", os.O_RDWR | os.O_CLOEXEC)
        self.armed = False
        self.hits = 0

    def close(self) -> None:
        os.close(self.fd)

    def arm(self, n: int) -> None:
        """Count from here."""
        self.armed = True
        os.write(self.fd, b"%d" % n)

    def disarm(self) -> int:
        """Count no more. Return: how many were missing; 0 if one has failed, or none was to."""
        left = int(os.pread(self.fd, 32, 0))
        os.pwrite(self.fd, b"0", 0)
        self.hits += self.armed and not left
        self.armed = False
        return left


@dataclass
class Outcomes:
    """What came of all the failures of one call.

    @failed: allocations that failed
    @errors: errno of each failure that was told, and how often
    @ours: sites in our modules, and how often: the innermost function of ours. Allocations that
        ask for silence (__GFP_NOWARN) are not among them: the kernel doesn't print where they are.
    """

    failed: int = 0
    errors: dict[int, int] = field(default_factory=dict)
    ours: dict[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        told = ", ".join(f"{os.strerror(code)}: {n}" for code, n in sorted(self.errors.items()))
        return (
            f"{self.failed} allocations failed, at {len(self.ours)} sites of ours; "
            f"told {sum(self.errors.values())} times ({told or 'never'})"
        )


def sites(lines: list[str]) -> list[str]:
    """Of each forced failure in the kernel's messages, the innermost function of ours, or ""."""
    found = []
    for at, line in enumerate(lines):
        if FORCED in line:
            site = ""
            for frame in lines[at + 1 :]:
                if FORCED in frame or "</TASK>" in frame:
                    break
                match = OUR_FRAME.search(frame)
                if match and not frame.lstrip().startswith("?"):
                    site = match[1]
                    break
            found.append(site)
    return found


def fail_each(
    attempt: Callable[[FailNth, int], int],
    *,
    numbers: Callable[[int], Sequence[int]] | None = None,
    task: str = "thread-self",
) -> Outcomes:
    """Call @attempt(nth, n) with n = 1, 2..., until there are no more allocations to fail; TIMES.

    @attempt arms nth, makes its call, and returns an errno or 0; it checks itself that all is in
    order afterwards. @numbers: of a round, counted from 0, other numbers to try; all are tried.
    """
    nth, messages, outcomes = FailNth(task), Messages(), Outcomes()
    try:
        for turn in range(TIMES):
            for n in numbers(turn) if numbers else range(1, NEVER_SO_MANY):
                messages.mark(f"allocation {n} fails")
                before = nth.hits
                code = attempt(nth, n)
                if nth.hits == before and not numbers:
                    assert code == 0, f"nothing has failed, and still: {os.strerror(code)}"
                    break
                if code:
                    outcomes.errors[code] = outcomes.errors.get(code, 0) + 1
                for site in filter(None, sites(messages.read())):
                    outcomes.ours[site] = outcomes.ours.get(site, 0) + 1
    finally:
        outcomes.failed = nth.hits
        nth.close()
        os.close(messages.fd)
    return outcomes


def kernel_threads(*prefixes: str) -> list[int]:
    """Threads of the kernel whose names begin like this."""
    found = []
    for path in Path("/proc").glob("[0-9]*/comm"):
        try:
            if path.read_text().startswith(prefixes):
                found.append(int(path.parent.name))
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


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

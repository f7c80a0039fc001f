# SPDX-License-Identifier: GPL-2.0
"""On the host: each test in tests/guest is an item for each kernel, run by a pytest in a guest.

One guest is booted for each kernel, with all the selected tests of that kernel; its reports are
passed on as if the tests had run here.

The processors are divided into places. A place holds one guest after the other.

With four processors and more, places take each other nothing. The last one belongs to this process,
while it has tests of its own to run or kernels and modules are being made, and to guests after
that.

With less, a place is one processor, where the CPUs of a guest take turns. (Those of two guests that
each have two threads on the same two processors wait for locks of CPUs that wait for a processor,
and are ten times slower.) Guests sleep a good part of their time there, and so do this process's
tests, so, where the memory is enough, there are TURNS places for each processor, and once its
emulator runs, a guest may go to any processor. This process has none of its own then, and comes
first, as does what makes the kernels and modules that guests wait for; guests are nicer.

A single guest, as in campaigns, has them all.
"""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from lib.harness import kernels as guest_kernels
from lib.harness.ahead import ALL_WARNINGS, Missing, Prepared, answers
from lib.harness.kernels import guest_kernel
from lib.harness.process import GUEST_MEMORY_GIB, ROOT, Guest, child_of

__all__ = ["guest_kernel"]  # a fixture: being here makes it known

BUILD = ROOT / "tests" / "build"
# Guests on a processor that they share. With three the debug kernel's begins beside those of the
# stock kernels, and not when they are over.
TURNS = 3
INNER_LIMIT_S = 600  # for one test, by pytest-timeout inside: what only a hang reaches


def places_of(processors: set[int], tenants: int) -> list[set[int]]:
    """Divide @processors among as many of the @tenants as can have some at the same time: two
    each, or one each where there are less than four."""
    count = len(processors) if len(processors) < 4 else len(processors) // 2
    count = max(1, min(count, tenants))
    order = sorted(processors)
    return [set(order[number::count]) for number in range(count)]


def own_place(places: list[set[int]], memory_gib: float) -> set[int]:
    """Which of @places, one for each guest, is this process's own. None if guests are to take
    turns and there is memory for a guest on each and for this process."""
    if len(places) == 1:
        return set()
    enough = memory_gib >= GUEST_MEMORY_GIB * (len(places) + 1)
    return set() if enough and all(len(place) == 1 for place in places) else places[-1]


def with_turns(places: list[set[int]], memory_gib: float) -> list[set[int]]:
    """@places, and those of a processor again, TURNS times in all, as far as there is memory for a
    guest on each, and for this process as much as for a guest."""
    if len(places) == 1 or any(len(place) > 1 for place in places):
        return places
    guests = int(memory_gib / GUEST_MEMORY_GIB) - 1
    again = [set(place) for place in places * (TURNS - 1)]
    return places + again[: max(0, guests - len(places))]


def free_gib() -> float:
    """Memory of this machine that is not in use."""
    words = Path("/proc/meminfo").read_text().partition("MemAvailable:")[2].split()
    return int(words[0]) / (1 << 20)


class Preparation:
    """A process that makes what guests with some kernels need, one kernel after the other, on
    those of @processors that neither tests nor guests want."""

    def __init__(self, words: list[str], processors: set[int]) -> None:
        folder = ROOT / "out" / "tests"
        folder.mkdir(parents=True, exist_ok=True)
        self.log = folder / "ahead.log"
        self.made = folder / "ahead.jsonl"
        with open(self.made, "wb") as output, open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "lib.harness.ahead", *words],
                env={**os.environ, "PYTHONPATH": str(ROOT / "tests")},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=log,
                start_new_session=True,
                preexec_fn=functools.partial(child_of, os.getpid(), processors),
            )

    def is_over(self) -> bool:
        return self.process.poll() is not None

    def stop(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


class GuestRunner:
    """The plugin that runs on the host."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.guests: dict[str, Guest] = {}
        self.preparation: Preparation | None = None
        self.busy = False  # with tests of this process
        self.processors: set[int] = set()
        self.places: list[set[int]] = []  # of guests
        self.own: set[int] = set()  # this process's, while it needs it; empty if it shares them

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        # A test that none of the wanted kernels is for has got no kernel at all.
        left_out = [item for item in items if not isinstance(kernel_of(item), str | None)]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if isinstance(kernel_of(item), str | None)]
        if not config.getoption("--every-kernel"):
            left = guest_kernels.left_to_test_kernels(item for item in items if kernel_of(item))
            left |= {item.nodeid for item in items if item.get_closest_marker("at_length")}
            config.hook.pytest_deselected(items=[item for item in items if item.nodeid in left])
            items[:] = [item for item in items if item.nodeid not in left]
        # Those of this process first, then in the order in which guests start.
        order = [None, *wanted_kernels(config)]
        items.sort(key=lambda item: order.index(kernel_of(item)))

    def pytest_runtestloop(self, session: pytest.Session) -> None:
        """Before the first test: start the guests, which run beside other tests."""
        if session.config.option.collectonly:
            return
        kernels = list(dict.fromkeys(kernel_of(item) for item in session.items))
        self.busy = None in kernels
        wanted = [kernel for kernel in kernels if kernel]
        if not wanted:
            return
        self.processors = os.sched_getaffinity(0)
        self.places = places_of(self.processors, len(kernels))
        memory_gib = free_gib()
        self.own = own_place(self.places, memory_gib)
        os.sched_setaffinity(0, self.own or self.processors)
        self.places = with_turns(self.places, memory_gib)
        words = [f"{kernel}={wanted_kernels(self.config)[kernel]}" for kernel in wanted]
        builds = any(BUILD in item.path.parents for item in session.items)
        self.preparation = Preparation([ALL_WARNINGS] * builds + words, self.processors)
        for kernel in wanted:
            mine = [item for item in session.items if kernel_of(item) == kernel]
            self.guests[kernel] = Guest(kernel, mine, self.config)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool | None:
        kernel = kernel_of(item)
        self.busy = kernel is None
        self.attend()
        if kernel is None:
            return None
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        guest = self.guests[kernel]
        while item.nodeid not in guest.ready:
            time.sleep(0.1)
            self.attend()
        for report in guest.ready.pop(item.nodeid):
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    # ---- guests ----

    def attend(self) -> None:
        """Take in what guests have done, and boot those whose turn it is."""
        for guest in self.guests.values():
            guest.attend()
        if self.preparation:
            self.start_guests(self.preparation)
            self.let_roam(self.preparation.is_over())

    def let_roam(self, prepared: bool) -> None:
        """Where a place is one processor, guests may use all processors that are free for them."""
        if len(self.places) < len(self.processors):
            return
        free = self.processors - (self.own if self.busy or not prepared else set())
        for guest in self.guests.values():
            if guest.process:
                guest.roam(free)

    def start_guests(self, preparation: Preparation) -> None:
        """Boot guests that have what they need, as far as there are places."""
        over = preparation.is_over()  # before its answers are read: then they are complete
        ready = answers(preparation.made)
        waiting = [guest for guest in self.guests.values() if guest.pending and not guest.process]
        # The longest first, so that the last place to be done is not alone for long. A test takes
        # four to five seconds on either kernel: what takes longer on debug kernels, they don't run.
        waiting.sort(key=lambda guest: -len(guest.pending))
        for guest in waiting:
            answer = ready.get(guest.kernel)
            if isinstance(answer, Prepared):
                if free := self.free_places(over):
                    guest.boot(answer, free[0])
            elif answer is None and over:
                guest.give_up(f"see {preparation.log}")
            elif answer and self.may_be_missing(guest.kernel, answer):
                guest.skip(answer.why)
            elif answer:
                guest.give_up(answer.why)

    def may_be_missing(self, kernel: str, missing: Missing) -> bool:
        """True if tests of @kernel are skipped without it: nobody has asked for it, and it is in
        no suite that this machine reaches."""
        asked = guest_kernels.are_named(self.config)
        return kernel == guest_kernels.NEWEST and not asked and not missing.has_kernel

    def free_places(self, prepared: bool) -> list[set[int]]:
        """Where no guest is. This process's own is not free while it needs that; @prepared: it
        has made kernels and modules."""
        mine = self.own if self.busy or not prepared else set()
        # Two places may be of the same processor.
        taken = [id(guest.processors) for guest in self.guests.values() if guest.process]
        return [place for place in self.places if place != mine and id(place) not in taken]

    def pytest_sessionfinish(self) -> None:
        for guest in self.guests.values():
            guest.stop()
        if self.preparation:
            self.preparation.stop()
            os.sched_setaffinity(0, self.processors)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Guests that did not come up at once, and what tests have counted (record_property
        "count"), for each kernel."""
        for guest in self.guests.values():
            if guest.failed_boots:
                terminalreporter.line(
                    f"kernel {guest.kernel}: {guest.failed_boots} guest(s) did not get as far as "
                    f"the first test: {guest.folder}/console-*.log"
                )
        reports = [report for reports in terminalreporter.stats.values() for report in reports]
        lines = [
            f"{Path(report.nodeid.partition('::')[0]).stem} {kernel_in(report.nodeid)} {text}"
            for report in reports
            if isinstance(report, pytest.TestReport) and report.when == "call"
            for name, text in report.user_properties
            if name == "count"
        ]
        if lines:
            terminalreporter.section("counts")
            for line in lines:
                terminalreporter.line(line)


def kernel_of(item: pytest.Item) -> str | None:
    """Kernel of a guest test, None for a test that runs here."""
    callspec = getattr(item, "callspec", None)
    if callspec is None or not guest_kernels.is_guest_test(item.path):
        return None
    kernel: str | None = callspec.params.get(guest_kernels.FIXTURE)
    return kernel


def kernel_in(nodeid: str) -> str:
    """The kernel's label in a test's id."""
    return nodeid.partition("[")[2].partition("-")[0].rstrip("]")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--kernels",
        default=os.environ.get("SPEK_KERNELS"),
        help="kernels of the guest tests, separated by commas: what spekctl vm --kernel takes, "
        f"or LABEL=TREE for a built kernel tree (default: {','.join(guest_kernels.KERNELS)}, "
        f"where {guest_kernels.NEWEST} is skipped if it can't be fetched)",
    )
    parser.addoption(
        "--every-kernel",
        action="store_true",
        help="run all variants of every test, on each kernel that it is for, and those marked "
        "debug_kernel_at_length on debug kernels",
    )
    parser.addoption(
        "--guest-limit",
        type=int,
        default=INNER_LIMIT_S,
        help="seconds that one test may take in a guest (default: %(default)s)",
    )


def wanted_kernels(config: pytest.Config) -> dict[str, str]:
    """Label of each kernel in test ids, and how spekctl vm finds it."""
    named: str = config.getoption("--kernels") or ",".join(guest_kernels.KERNELS)
    words = [word for word in named.split(",") if word]
    return {word.partition("=")[0]: guest_kernels.source_of(word) for word in words}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    every_kernel: bool = metafunc.config.getoption("--every-kernel")
    guest_kernels.parametrize(metafunc, list(wanted_kernels(metafunc.config)), every_kernel)


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(GuestRunner(config), "spek-guest-runner")

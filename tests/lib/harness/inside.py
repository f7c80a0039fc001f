# SPDX-License-Identifier: GPL-2.0
"""Inside the guest: run the tests that the host has chosen, write down what happens.

Each event is one line of JSON in $SPEK_RESULTS, flushed at once: after a crash the last line
names the test that was running. The kernel's messages are part of every test's outcome.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import time
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any, TextIO

import pytest
from lib.harness import kernels
from lib.harness.kernels import guest_kernel
from lib.harness.leaks import Leak, Leaks
from lib.harness.races import HEAD, races_of_others

__all__ = ["guest_kernel"]  # a fixture: being here makes it known

TROUBLE = re.compile(
    r"WARNING: |BUG: |kernel BUG at|Oops|general protection fault|Call Trace:|"
    r"possible circular locking|possible recursive locking|inconsistent lock state|"
    r"lock held when returning|suspicious RCU usage|rcu.*detected.*stall|self-detected stall|"
    r"KASAN|KFENCE|KCSAN|UBSAN|blocked for more than|scheduling while atomic|"
    r"sleeping function called|refcount_t|list_(add|del) corruption|unable to handle"
)

# The file of tests, the last one, that holds the watch to faults of a module.
WATCH = "test_watched.py"
OURS = re.compile(r"\[spek\w*\]")
# A function of a module that is gone: then its leaks are found.
UNLOADED = re.compile(r"\] 0xffffffff[0-9a-f]{8}$", re.MULTILINE)


class Messages:
    """The kernel's messages since a mark."""

    def __init__(self) -> None:
        self.fd = os.open("/dev/kmsg", os.O_RDWR | os.O_NONBLOCK)

    def close(self) -> None:
        os.close(self.fd)

    def mark(self, text: str) -> None:
        """Say in the log where we are, and read from here."""
        # A record without a newline stays open, and unreadable, until the next one.
        os.write(self.fd, f"<5>spek test: {text[:900]}\n".encode())
        os.lseek(self.fd, 0, os.SEEK_END)

    def read(self) -> list[str]:
        """What has been logged since the mark or the last call."""
        lines: list[str] = []
        while True:
            try:
                record = os.read(self.fd, 8192).decode(errors="replace")
            except BlockingIOError:
                return lines
            except BrokenPipeError:  # overwritten before we came to read it
                lines.append("(messages were lost)")
                continue
            lines.append(record.partition(";")[2].partition("\n")[0])


def is_ours(leak: Leak) -> bool:
    """True if one of our modules has made it: the kernel has leaks of its own."""
    return bool(OURS.search(leak.text) or UNLOADED.search(leak.text))


# What tests want of the kernel, in as far as it has that. khugepaged fills the holes of our own
# memory at any time, which tests of leaks would see. An emulator beside others waits for a
# processor for longer than the kernel's watchdogs wait for one of its CPUs; a CPU that hangs is
# still reported before the time of a test is over (host.INNER_LIMIT_S).
SETTINGS = {
    "/sys/kernel/mm/transparent_hugepage/enabled": "never",
    "/sys/kernel/debug/kcsan": "on",
    "/sys/module/rcupdate/parameters/rcu_cpu_stall_timeout": "300",  # s, the most it takes
    "/proc/sys/kernel/watchdog_thresh": "60",  # s, the most; half of what a CPU may be held up
    "/proc/sys/kernel/hung_task_timeout_secs": "300",
    "/sys/module/workqueue/parameters/watchdog_thresh": "300",  # s, for a pool of workers
}


def set_kernel(settings: Mapping[str, str], root: Path = Path("/")) -> None:
    """Write those of @settings, by path, that the kernel has; @root: instead of /."""
    for name, value in settings.items():
        # Without O_CREAT, and by one write: some of these files cannot seek.
        with contextlib.suppress(FileNotFoundError):
            fd = os.open(root / name.lstrip("/"), os.O_WRONLY)
            try:
                os.write(fd, value.encode())
            finally:
                os.close(fd)


class Reporter:
    """The plugin that runs in the guest."""

    def __init__(self, results: TextIO, wanted: list[str]) -> None:
        self.results = results
        self.want(wanted)
        self.messages = Messages()
        self.log: list[str] = []
        self.leaks = Leaks()
        self.places: dict[str, tuple[str, int | None, str]] = {}

    def pytest_sessionstart(self) -> None:
        set_kernel(SETTINGS)

    def want(self, wanted: list[str]) -> None:
        """Run these tests, by their node ids."""
        self.wanted = wanted
        self.tests = {nodeid.partition("[")[0] for nodeid in wanted}
        self.files = {Path(test.partition("::")[0]).name for test in self.tests}

    def write(self, event: str, **fields: Any) -> None:
        json.dump({"event": event, **fields}, self.results)
        self.results.write("\n")
        self.results.flush()
        os.fsync(self.results.fileno())

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Of the directory of tests only the files that have any for us. (For each that is named
        pytest looks at all the others, too.)"""
        name = collection_path.name
        return True if name.startswith("test_") and name not in self.files else None

    def pytest_pycollect_makeitem(
        self, collector: pytest.Module | pytest.Class, name: str
    ) -> list[pytest.Item] | None:
        """Of a file only the tests that have any variants for us: a debug kernel runs half of them,
        and items take long under emulation."""
        is_test = collector.funcnamefilter(name) and not collector.classnamefilter(name)
        return [] if is_test and f"{collector.nodeid}::{name}" not in self.tests else None

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        by_id = {item.nodeid: item for item in items}
        items[:] = [by_id[nodeid] for nodeid in self.wanted if nodeid in by_id]

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.write("broken", text=str(report.longrepr))

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.write("start", nodeid=nodeid)
        self.messages.mark(nodeid)
        self.leaks.begin(nodeid)
        self.log = []

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
        outcome = yield
        self.refuse_trouble(item)
        return outcome

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(
        self, item: pytest.Item, nextitem: pytest.Item | None
    ) -> Generator[None, Any, Any]:
        outcome = yield
        self.refuse_trouble(item)
        self.places[item.nodeid] = item.location
        next_path = nextitem.path if nextitem else None
        watched = next_path is not None and next_path.name == WATCH
        if next_path is None or (next_path != item.path and (watched or self.leaks.are_due())):
            for nodeid, leaks in self.leaks.by_test().items():
                ours = [leak for leak in leaks if is_ours(leak)]
                if ours:
                    self.report_leaks(nodeid, ours)
            if watched:
                # It clears what kmemleak has found, and what it loses, it loses on purpose.
                self.leaks.rest()
        return outcome

    def report_leaks(self, nodeid: str, leaks: list[Leak]) -> None:
        """One more report for a test that seemed to be over: it has failed."""
        total = sum(leak.size for leak in leaks)
        text = f"the kernel has lost {len(leaks)} objects, {total} bytes, that this test allocated"
        report = pytest.TestReport(
            nodeid=nodeid,
            location=self.places[nodeid],
            keywords={},
            outcome="failed",
            longrepr="\n".join([text, *(leak.text for leak in leaks[:5])]),
            when="teardown",
        )
        self.pytest_runtest_logreport(report)

    def refuse_trouble(self, item: pytest.Item) -> None:
        """Fail the test if the kernel has complained since the last look."""
        allowed = [mark.args[0] for mark in item.iter_markers("allow_kernel_messages")]
        fresh = self.messages.read()
        if any(HEAD in line for line in fresh):
            time.sleep(0.5)  # it may still be being printed
            fresh += self.messages.read()
        self.log += fresh
        others = races_of_others(fresh)
        for at, line in enumerate(fresh):
            if at in others:
                continue
            if TROUBLE.search(line) and not any(re.search(text, line) for text in allowed):
                pytest.fail(f"the kernel complains: {line}", pytrace=False)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if report.failed:
            self.log += self.messages.read()
            report.sections.append(("Kernel messages of the guest", "\n".join(self.log)))
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        data = self.config.hook.pytest_report_to_serializable(config=self.config, report=report)
        self.write("report", nodeid=report.nodeid, data=data)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self.write("finish", nodeid=nodeid)

    config: pytest.Config


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    # The host has chosen among all that this kernel can run.
    kernels.parametrize(metafunc, [os.environ["SPEK_GUEST_KERNEL"]], every_kernel=True)


def pytest_configure(config: pytest.Config) -> None:
    with open(os.environ["SPEK_WANTED"]) as file:
        wanted: list[str] = json.load(file)
    reporter = Reporter(open(os.environ["SPEK_RESULTS"], "a"), wanted)  # noqa: SIM115
    reporter.config = config
    config.pluginmanager.register(reporter, "spek-guest-reporter")

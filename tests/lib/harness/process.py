# SPDX-License-Identifier: GPL-2.0
"""On the host: one kernel's guest, booted as often as it takes to run its tests.

A guest gets the list of its tests and writes an event for each thing that happens (inside.py).
attend() takes the events in; a guest that dies or hangs fails the test it was running, and the rest
goes on in a fresh one. Nobody waits in here but for the end of a guest.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any, Literal

import pytest
from lib.harness.ahead import Prepared, compiling_for
from lib.harness.kernels import AT_LENGTH, DEBUG_KERNELS, GUEST_TESTS

from spekctl.vm.architecture import native
from spekctl.vm.bytecode import compile_ahead
from spekctl.vm.root import PYTHON

ROOT = Path(__file__).resolve().parents[3]
BOOT_LIMIT_S = 900  # until the first test starts, with a third of a processor
GUEST_MEMORY_GIB = 2
EMULATOR = "qemu-system"
GRACE_S = 120  # more than a test may take, after which the guest is ended from outside
PASSED_ON = (
    "SPEK_FAULT_TIMES",
    "SPEK_SCSI_COMMANDS",
    "SPEK_SOAK_IOS",
    "SPEK_AUGMENT_CUTS",
    "SPEK_AUGMENT_SEED",
    "SPEK_AUGMENT_IOS",
    "SPEK_AUGMENT_SECONDS",
    "SPEK_AUGMENT_REPLAYS",
)  # into the guest: how long campaigns are
# What tests in guests import that spekctl does not need, where they are of another architecture.
PYTHON_PACKAGES = ("cffi", "pytest", "pytest-timeout")
# Of guests: of a processor that the host's tests want, those get three quarters.
NICENESS = 5
LIBC = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1
BOOTS_THAT_MAY_FAIL = 2
OBITUARY_LINES = 150  # of output and console, in the report of a test that its guest died with
# Emulated disks of every guest, in the order of tests/guest/conftest.py.
DISKS = ("nvme,size=1G", "nvme,size=1G,bs=4096", "virtio,size=1G", "virtio,size=1G,bs=4096")


def yield_as_session(pid: int, niceness: int) -> None:
    """Make the session of a process nice. Where the kernel schedules each session as a group,
    the niceness of a process counts within its session only. Without the right to do so, or soon
    after another one, the kernel refuses that, and the session has its share as before."""
    group = Path(f"/proc/{pid}/autogroup")
    with contextlib.suppress(OSError):  # it has ended, or there are no such groups
        words = group.read_text().split()
        if words and words[-1] != str(niceness):
            group.write_text(str(niceness))


def child_of(parent: int, processors: AbstractSet[int], niceness: int = 0) -> None:
    """Between fork and exec: run on @processors after all that is less nice, and die with the
    tests. The process leads a session."""
    os.sched_setaffinity(0, processors)
    os.nice(niceness)
    yield_as_session(os.getpid(), niceness)
    if LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM) or os.getppid() != parent:
        os._exit(1)


def with_children(pid: int) -> list[int]:
    """A process and all that it has started, and so on."""
    pids = [pid]
    with contextlib.suppress(OSError):  # it has ended
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                pids += with_children(int(child))
    return pids


def name_of(pid: int) -> str:
    """Of a process; empty if it has ended."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


class Guest:
    """The tests of one kernel. Those that have not run are pending, reports of the others ready."""

    def __init__(self, kernel: str, items: list[pytest.Item], config: pytest.Config) -> None:
        self.kernel = kernel
        self.items = {item.nodeid: item for item in items}
        self.pending = list(self.items)
        self.ready: dict[str, list[pytest.TestReport]] = {}
        self.config = config
        self.limit_s: int = config.getoption("--guest-limit")
        self.at_length = bool(config.getoption("--every-kernel"))
        self.folder = ROOT / "out" / "tests" / f"guest-{kernel}"
        self.process: subprocess.Popen[bytes] | None = None
        self.boots = 0
        self.failed_boots = 0
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)

    # ---- one boot ----

    def boot(self, prepared: Prepared, processors: AbstractSet[int]) -> None:
        """Start what is pending in a guest that may use these @processors."""
        compile_ahead(ROOT / "tests/lib", ROOT / "tests/guest")
        self.prepared = prepared
        self.processors = self.roams_on = processors
        self.boots += 1
        self.results = self.folder / f"results-{self.boots}.jsonl"
        self.output = self.folder / f"output-{self.boots}.log"
        self.console = self.folder / f"console-{self.boots}.log"
        wanted = self.folder / f"wanted-{self.boots}.json"
        wanted.write_text(json.dumps(self.pending))
        self.results.touch()
        self.position = 0
        self.fresh: list[pytest.TestReport] = []
        self.running = ""
        self.started = False
        self.broken: list[str] = []
        with open(self.output, "wb") as log:
            self.process = subprocess.Popen(
                [*self.command(), "--", *self.command_inside(wanted)],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=functools.partial(child_of, os.getpid(), processors, NICENESS),
            )
        self.deadline = time.monotonic() + BOOT_LIMIT_S * (3 if self.kernel in DEBUG_KERNELS else 1)

    def roam(self, processors: AbstractSet[int]) -> None:
        """Let it run on these @processors from now on. It has been booted on less, for which the
        emulator, once it runs, has made its threads."""
        if not self.process or processors == self.roams_on:
            return
        pids = with_children(self.process.pid)
        if not any(name_of(pid).startswith(EMULATOR) for pid in pids):
            return
        self.roams_on = set(processors)
        for pid in pids:
            yield_as_session(pid, NICENESS)  # the emulator leads one of its own
            with contextlib.suppress(OSError):
                for task in os.listdir(f"/proc/{pid}/task"):
                    os.sched_setaffinity(int(task), processors)

    def command(self) -> list[str]:
        """argv of the virtual machine."""
        disks = [word for disk in DISKS for word in ("--disk", disk)]
        command = [sys.executable, "-m", "spekctl", "vm", "--kernel", self.prepared.source, *disks]
        command += ["--cached", str(ROOT / "tests")]
        if self.is_foreign():
            command += ["--arch", self.prepared.architecture, "--cached", str(self.prepared.disks)]
            command += [word for name in PYTHON_PACKAGES for word in ("--python-package", name)]
        command += ["--memory", f"{GUEST_MEMORY_GIB}G"]
        return [*command, "--no-load", "--exec", "--console", str(self.console)]

    def is_foreign(self) -> bool:
        """True if it has programs of its own: of another architecture."""
        return self.prepared.architecture != native().name

    def command_inside(self, wanted: Path) -> list[str]:
        """argv of the tests in it."""
        environment = {
            "SPEK_GUEST_KERNEL": self.kernel,
            "SPEK_RESULTS": str(self.results),
            "SPEK_WANTED": str(wanted),
            "SPEK_DISKS": str(self.prepared.disks),
            # Only what the tests need: each plugin costs a second under TCG.
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            **{name: os.environ[name] for name in PASSED_ON if name in os.environ},
        }
        if self.is_foreign():
            # Of the cores that the host has built for it.
            environment |= compiling_for(self.prepared.architecture)
        if self.at_length:
            environment[AT_LENGTH] = "1"
        if self.prepared.test_modules:
            environment["SPEK_TEST_MODULES"] = str(self.prepared.test_modules)
        inside = ["env", *(f"{name}={value}" for name, value in environment.items())]
        python = str(PYTHON) if self.is_foreign() else sys.executable
        inside += [python, "-m", "pytest", "-p", "pytest_timeout", "-p", "no:cacheprovider"]
        inside += [f"--timeout={self.limit_s}", "-q", f"--rootdir={ROOT}"]
        # Which of its files have any for this guest, inside.py knows.
        return [*inside, str(GUEST_TESTS)]

    def stop(self, hung: bool = False) -> None:
        """End the guest now. One that @hung says where it stood, at the end of its console."""
        if not self.process:
            return
        # The second signal does not wait for what runs in the guest, SIGQUIT neither.
        for number in [signal.SIGQUIT] if hung else [signal.SIGTERM] * 2:
            if self.process.poll() is None:
                self.process.send_signal(number)
                time.sleep(0.5)
        try:
            self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None

    # ---- its tests ----

    def attend(self) -> None:
        """Take in what has happened. Ends a guest that has nothing to do or hangs, and boots
        another one for what is left."""
        if not self.process:
            return
        ended = self.process.poll() is not None
        self.read_events()
        if not self.pending:
            self.stop()
        elif ended or time.monotonic() > self.deadline:
            self.bury(hung=not ended)

    def read_events(self) -> None:
        """What the guest has written since the last time."""
        with open(self.results, "rb") as file:
            file.seek(self.position)
            data = file.read()
        whole = data[: data.rfind(b"\n") + 1]
        self.position += len(whole)
        for line in whole.splitlines():
            event = json.loads(line)
            if event["event"] == "start":
                self.started = True
                self.running = event["nodeid"]
            elif event["event"] == "report":
                self.fresh.append(self.report(event["data"]))
            elif event["event"] == "finish":
                self.running = ""
                self.finish(event["nodeid"])
            elif event["event"] == "broken":
                self.broken.append(event["text"])
            if self.started:
                self.deadline = time.monotonic() + self.limit_s + GRACE_S

    def finish(self, nodeid: str) -> None:
        """All reports are there: also of tests that seemed to be over, for what one has left
        behind may show later."""
        self.pending.remove(nodeid)
        self.ready[nodeid], self.fresh = self.fresh, []

    def bury(self, hung: bool) -> None:
        """The guest is gone, or @hung: charge its test; the remaining ones get another guest."""
        self.stop(hung)
        if self.started:
            died = "hung" if hung else "died"
            why = f"the guest {died} in this test"
            if not self.running:
                why = f"the guest {died} before it ran this test"
            self.fail(self.running or self.pending[0], self.obituary(why))
        else:
            # No test has run and nothing of ours was loaded: the emulator stands still, rarely,
            # when the kernel changes its own code. It is told of at the end.
            self.failed_boots += 1
            if self.broken or self.failed_boots >= BOOTS_THAT_MAY_FAIL:
                self.give_up(self.obituary("the guest did not get as far as the first test"))
        if self.pending:
            self.boot(self.prepared, self.processors)

    def fail(self, nodeid: str, text: str) -> None:
        """Report a test that the guest did not live to report."""
        self.settle(nodeid, "failed", text)

    def skip(self, why: str) -> None:
        """The kernel is not available here: skip all pending tests."""
        self.fresh = []
        for nodeid in list(self.pending):
            path, line, _ = self.items[nodeid].location
            self.settle(nodeid, "skipped", (path, (line or 0) + 1, f"Skipped: {why}"))

    def settle(
        self,
        nodeid: str,
        outcome: Literal["failed", "skipped"],
        longrepr: str | tuple[str, int, str],
    ) -> None:
        """Report the @outcome of a test that no guest reports."""
        item = self.items[nodeid]
        report = pytest.TestReport(
            nodeid=nodeid,
            location=item.location,
            keywords={name: 1 for name in item.keywords},
            outcome=outcome,
            longrepr=longrepr,
            when="call",
        )
        self.fresh.append(report)
        self.finish(nodeid)

    def give_up(self, why: str) -> None:
        """No guest can be started: fail all pending tests; the first reports @why in full."""
        self.fresh = []
        first, *others = list(self.pending)
        self.fail(first, f"no guest with kernel {self.kernel} could be had: {why}")
        for nodeid in others:
            self.fail(nodeid, f"no guest with kernel {self.kernel} could be had: see {first}")

    def obituary(self, why: str) -> str:
        """What the guest has left behind, for the report of the test that it died with."""
        parts = [why, *self.broken]
        for name, path in (("output", self.output), ("console", self.console)):
            lines = path.read_text(errors="replace").splitlines() if path.exists() else []
            parts.append(f"---- the end of the guest's {name} ({path}) ----")
            parts += lines[-OBITUARY_LINES:]
        return "\n".join(parts)

    def report(self, data: dict[str, Any]) -> pytest.TestReport:
        """A report of the guest; JSON knows no tuples, which pytest wants for what was skipped."""
        report: pytest.TestReport = self.config.hook.pytest_report_from_serializable(
            config=self.config, data=data
        )
        reason: Any = report.longrepr
        if isinstance(reason, list):
            report.longrepr = (reason[0], reason[1], reason[2])
        return report

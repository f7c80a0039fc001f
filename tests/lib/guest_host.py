# SPDX-License-Identifier: GPL-2.0
"""On the host: each test in tests/guest is an item for each kernel, run by a pytest in a guest.

One guest is booted for each kernel, with all the selected tests of that kernel, one guest after
the other: two would take each other's processors. (Beside another one a debug kernel's had not
come to its first test after 13 minutes of CPU time; alone it takes three. Who waits for a lock
spins while its holder waits for a CPU.) Reports arrive one by one and are passed on as if the test
had run here. A guest that dies or hangs fails the test it was running; the rest goes on in a fresh
one.

A guest leaves about half of two processors alone. So the first one is booted before the tests that
run here, which, like the building of what later guests need, have only what it leaves.
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
from pathlib import Path
from typing import Any

import pytest
from lib import guest_kernels
from lib.guest_ahead import prepare
from lib.guest_kernels import DEBUG_KERNELS, guest_kernel

from spekctl.errors import SpekError
from spekctl.vm.bytecode import compile_ahead

__all__ = ["guest_kernel"]  # a fixture: being here makes it known

ROOT = Path(__file__).resolve().parents[2]
BOOT_LIMIT_S = 400  # until the first test starts, building the modules included
INNER_LIMIT_S = 600  # for one test, by pytest-timeout inside: what only a hang reaches
GRACE_S = 120  # more, after which the guest is ended from outside
PASSED_ON = ("SPEK_FAULT_TIMES", "SPEK_SOAK_IOS")  # into the guest: how long campaigns are
LIBC = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1
BOOTS_THAT_MAY_FAIL = 2
OBITUARY_LINES = 150  # of output and console, in the report of a test that its guest died with
# Emulated disks of every guest, in the order of tests/guest/conftest.py.
DISKS = ("nvme,size=1G", "nvme,size=1G,bs=4096", "virtio,size=1G", "virtio,size=1G,bs=4096")


def die_with(parent: int) -> None:
    """Between fork and exec: a guest must not go on when the tests are killed."""
    if LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM) or os.getppid() != parent:
        os._exit(1)


def yield_processors() -> None:
    """From now on this process, and what it starts, runs when nobody else wants to."""
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


def take_processors() -> None:
    """Be as every other process again, which takes rights."""
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def start_preparing(kernels: list[str]) -> subprocess.Popen[bytes]:
    """Have made what guests with @kernels need; who needs it before waits for the cache's locks."""

    def lowly() -> None:
        die_with(parent)
        yield_processors()

    parent = os.getpid()
    folder = ROOT / "out" / "tests"
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "ahead.log", "wb") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "lib.guest_ahead", *kernels],
            env={**os.environ, "PYTHONPATH": str(ROOT / "tests")},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            preexec_fn=lowly,
        )


class GuestDied(Exception):
    """The guest is gone: why, as text for the report."""


class Guest:
    """One kernel's guest, booted as often as it takes to run its tests."""

    def __init__(self, kernel: str, items: list[pytest.Item], config: pytest.Config) -> None:
        self.kernel = kernel
        self.pending = [item.nodeid for item in items]
        self.config = config
        self.limit_s: int = config.getoption("--guest-limit")
        self.folder = ROOT / "out" / "tests" / f"guest-{kernel}"
        self.process: subprocess.Popen[bytes] | None = None
        self.failed_boots = 0
        self.events: list[dict[str, Any]] = []
        self.reason = ""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.boots = 0

    # ---- one boot ----

    def boot(self) -> None:
        compile_ahead(Path(__file__).parent)
        # Here, where it does not count as booting.
        prepared = prepare(f"{self.kernel}={wanted_kernels(self.config)[self.kernel]}")
        self.boots += 1
        self.results = self.folder / f"results-{self.boots}.jsonl"
        self.output = self.folder / f"output-{self.boots}.log"
        self.console = self.folder / f"console-{self.boots}.log"
        wanted = self.folder / f"wanted-{self.boots}.json"
        wanted.write_text(json.dumps(self.pending))
        self.results.touch()
        self.position = 0
        self.events = []
        self.running = ""
        self.started = False
        self.broken: list[str] = []
        files = sorted({nodeid.partition("::")[0] for nodeid in self.pending})
        disks = [word for disk in DISKS for word in ("--disk", disk)]
        environment = {
            "SPEK_GUEST_KERNEL": self.kernel,
            "SPEK_RESULTS": str(self.results),
            "SPEK_WANTED": str(wanted),
            "SPEK_DISKS": str(prepared.disks),
            # Only what the tests need: each plugin costs a second under TCG.
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            **{name: os.environ[name] for name in PASSED_ON if name in os.environ},
        }
        if prepared.test_modules:
            environment["SPEK_TEST_MODULES"] = str(prepared.test_modules)
        inside = ["env", *(f"{name}={value}" for name, value in environment.items())]
        inside += [sys.executable, "-m", "pytest", "-p", "pytest_timeout", "-p", "no:cacheprovider"]
        inside += [f"--timeout={self.limit_s}", "-q", f"--rootdir={ROOT}", *files]
        command = [sys.executable, "-m", "spekctl", "vm", "--kernel", prepared.source, *disks]
        command += ["--memory", "2G", "--no-load", "--exec", "--console", str(self.console)]
        with open(self.output, "wb") as log:
            self.process = subprocess.Popen(
                [*command, "--", *inside],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=functools.partial(die_with, os.getpid()),
            )
        self.deadline = time.monotonic() + BOOT_LIMIT_S * (2 if self.kernel in DEBUG_KERNELS else 1)

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

    def read_events(self) -> None:
        """Take in what the guest has written since the last time."""
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
                self.deadline = time.monotonic() + self.limit_s + GRACE_S
            elif event["event"] == "finish":
                self.running = ""
                self.deadline = time.monotonic() + self.limit_s + GRACE_S
            elif event["event"] == "broken":
                self.broken.append(event["text"])
            self.events.append(event)

    def obituary(self, why: str) -> str:
        """What the guest has left behind, for the report of the test that it died with."""
        parts = [why, *self.broken]
        for name, path in (("output", self.output), ("console", self.console)):
            lines = path.read_text(errors="replace").splitlines() if path.exists() else []
            parts.append(f"---- the end of the guest's {name} ({path}) ----")
            parts += lines[-OBITUARY_LINES:]
        return "\n".join(parts)

    def boot_ahead(self) -> None:
        """Boot before the first result is asked for; who asks learns of what went wrong."""
        with contextlib.suppress(GuestDied):
            self.boot_or_give_up()

    def boot_or_give_up(self) -> None:
        """Boot; a kernel that can't be had is not tried again."""
        try:
            self.boot()
        except SpekError as error:
            self.failed_boots = BOOTS_THAT_MAY_FAIL
            self.reason = str(error)
            raise GuestDied(f"no guest with kernel {self.kernel} could be had: {error}") from error

    # ---- one test ----

    def results_of(self, nodeid: str) -> list[pytest.TestReport]:
        """Wait until @nodeid has run. Raises GuestDied if it never will."""
        if self.failed_boots >= BOOTS_THAT_MAY_FAIL:
            raise GuestDied(f"no guest with kernel {self.kernel} could be had: {self.reason}")
        if not self.process:
            self.boot_or_give_up()
        assert self.process
        self.pending.remove(nodeid)
        while True:
            ended = self.process.poll() is not None
            self.read_events()
            finish = {"event": "finish", "nodeid": nodeid}
            if finish in self.events:
                return self.take_reports(self.events.index(finish) + 1)
            if ended or time.monotonic() > self.deadline:
                break
            time.sleep(0.1)
        hung = not ended
        self.stop(hung)
        self.process = None
        if not self.started:
            self.failed_boots += 1
            # No test has run and nothing of ours was loaded: the emulator stands still, rarely,
            # when the kernel changes its own code. It is told of at the end.
            if self.failed_boots < BOOTS_THAT_MAY_FAIL and not self.broken:
                self.pending.insert(0, nodeid)
                return self.results_of(nodeid)
        if self.running == nodeid:
            why = "the guest hung in this test" if hung else "the guest died in this test"
        elif not self.started:
            why = "the guest did not get as far as the first test"
        else:
            why = "the guest ended without running this test"
        self.reason = self.obituary(why)
        raise GuestDied(self.reason)

    def take_reports(self, count: int) -> list[pytest.TestReport]:
        """Reports among the first @count events, also of tests that seemed to be over: what one has
        left behind may show later."""
        events, self.events = self.events[:count], self.events[count:]
        return [self.report(event["data"]) for event in events if event["event"] == "report"]

    def report(self, data: dict[str, Any]) -> pytest.TestReport:
        """A report of the guest; JSON knows no tuples, which pytest wants for what was skipped."""
        found: pytest.TestReport = self.config.hook.pytest_report_from_serializable(
            config=self.config, data=data
        )
        reason: Any = found.longrepr
        if isinstance(reason, list):
            found.longrepr = (reason[0], reason[1], reason[2])
        return found


class GuestRunner:
    """The plugin that runs on the host."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.guests: dict[str, Guest] = {}
        self.preparing: subprocess.Popen[bytes] | None = None

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        # A test that none of the wanted kernels is for has got no kernel at all.
        left_out = [item for item in items if not isinstance(kernel_of(item), str | None)]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if isinstance(kernel_of(item), str | None)]
        # Host tests first, then one kernel after the other: one guest at a time.
        items.sort(key=lambda item: kernel_of(item) or "")

    def pytest_runtestloop(self, session: pytest.Session) -> None:
        """Before the first test: start what goes on while others run."""
        if session.config.option.collectonly:
            return
        kernels = list(dict.fromkeys(kernel_of(item) for item in session.items))
        wanted = [kernel for kernel in kernels if kernel]
        if wanted and None in kernels and wanted[0] not in DEBUG_KERNELS and not os.geteuid():
            self.guest_for(wanted[0], session).boot_ahead()
            yield_processors()
        if wanted:
            words = [f"{kernel}={wanted_kernels(self.config)[kernel]}" for kernel in wanted]
            self.preparing = start_preparing(words)

    def guest_for(self, kernel: str, session: pytest.Session) -> Guest:
        """The guest of a kernel, the only one that runs."""
        if kernel not in self.guests:
            self.stop_all()
            mine = [item for item in session.items if kernel_of(item) == kernel]
            self.guests[kernel] = Guest(kernel, mine, self.config)
        return self.guests[kernel]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool | None:
        kernel = kernel_of(item)
        if kernel is None:
            return None
        if not os.geteuid():
            take_processors()
        guest = self.guest_for(kernel, item.session)
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        try:
            reports = guest.results_of(item.nodeid)
        except GuestDied as death:
            reports = [*guest.take_reports(len(guest.events)), failure(item, str(death))]
        for report in reports:
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    def pytest_sessionfinish(self) -> None:
        self.stop_all()
        if self.preparing:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.preparing.pid, signal.SIGKILL)
            self.preparing.wait()

    def stop_all(self) -> None:
        for guest in self.guests.values():
            guest.stop()

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Guests that did not come up at once, and what tests have counted (record_property
        "count"), for each kernel."""
        for guest in self.guests.values():
            if guest.failed_boots:
                terminalreporter.line(
                    f"kernel {guest.kernel}: {guest.failed_boots} guest(s) did not get as far as "
                    f"the first test: {guest.folder}/console-*.log"
                )
        reports = [one for found in terminalreporter.stats.values() for one in found]
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


def failure(item: pytest.Item, text: str) -> pytest.TestReport:
    """A report for a test that the guest did not live to report."""
    return pytest.TestReport(
        nodeid=item.nodeid,
        location=item.location,
        keywords={name: 1 for name in item.keywords},
        outcome="failed",
        longrepr=text,
        when="call",
    )


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--kernels",
        default=os.environ.get("SPEK_KERNELS", ",".join(guest_kernels.KERNELS)),
        help="kernels of the guest tests, separated by commas: what spekctl vm --kernel takes, "
        "or LABEL=TREE for a built kernel tree (default: %(default)s)",
    )
    parser.addoption(
        "--guest-limit",
        type=int,
        default=INNER_LIMIT_S,
        help="seconds that one test may take in a guest (default: %(default)s)",
    )


def wanted_kernels(config: pytest.Config) -> dict[str, str]:
    """Label of each kernel in test ids, and how spekctl vm finds it."""
    words = [word for word in config.getoption("--kernels").split(",") if word]
    return {word.partition("=")[0]: word.rpartition("=")[2] for word in words}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    guest_kernels.parametrize(metafunc, list(wanted_kernels(metafunc.config)))


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(GuestRunner(config), "spek-guest-runner")

# SPDX-License-Identifier: GPL-2.0
"""On the host: each test in tests/guest is an item for each kernel, run by a pytest in a guest.

One guest is booted for each kernel, with all the selected tests of that kernel. Reports arrive
one by one and are passed on as if the test had run here. A guest that dies or hangs fails the
test it was running; the rest goes on in a fresh one.
"""

from __future__ import annotations

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
from lib.guest_kernels import guest_kernel

__all__ = ["guest_kernel"]  # a fixture: being here makes it known

ROOT = Path(__file__).resolve().parents[2]
BOOT_LIMIT_S = 400  # until the first test starts, building the modules included
TEST_LIMIT_S = 420  # for one test; pytest-timeout inside ends it before that if it can
INNER_LIMIT_S = 300
LIBC = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1
BOOTS_THAT_MAY_FAIL = 2
# Emulated disks of every guest, in the order of tests/guest/conftest.py.
DISKS = ("nvme,size=1G", "nvme,size=1G,bs=4096", "virtio,size=1G", "virtio,size=1G,bs=4096")


def die_with(parent: int) -> None:
    """Between fork and exec: a guest must not go on when the tests are killed."""
    if LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM) or os.getppid() != parent:
        os._exit(1)


class GuestDied(Exception):
    """The guest is gone: why, as text for the report."""


class Guest:
    """One kernel's guest, booted as often as it takes to run its tests."""

    def __init__(self, kernel: str, items: list[pytest.Item], config: pytest.Config) -> None:
        self.kernel = kernel
        self.source = wanted_kernels(config)[kernel]
        self.pending = [item.nodeid for item in items]
        self.config = config
        self.folder = ROOT / "out" / "tests" / f"guest-{kernel}"
        self.process: subprocess.Popen[bytes] | None = None
        self.failed_boots = 0
        self.reason = ""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.boots = 0

    # ---- one boot ----

    def boot(self) -> None:
        self.boots += 1
        self.results = self.folder / f"results-{self.boots}.jsonl"
        self.output = self.folder / f"output-{self.boots}.log"
        self.console = self.folder / f"console-{self.boots}.log"
        wanted = self.folder / f"wanted-{self.boots}.json"
        wanted.write_text(json.dumps(self.pending))
        self.results.touch()
        self.position = 0
        self.events: list[dict[str, Any]] = []
        self.running = ""
        self.broken: list[str] = []
        files = sorted({nodeid.partition("::")[0] for nodeid in self.pending})
        disks = [word for disk in DISKS for word in ("--disk", disk)]
        environment = {
            "SPEK_GUEST_KERNEL": self.kernel,
            "SPEK_RESULTS": str(self.results),
            "SPEK_WANTED": str(wanted),
            # Only what the tests need: each plugin costs a second under TCG.
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        }
        inside = ["env", *(f"{name}={value}" for name, value in environment.items())]
        inside += [sys.executable, "-m", "pytest", "-p", "pytest_timeout", "-p", "no:cacheprovider"]
        inside += [f"--timeout={INNER_LIMIT_S}", "-q", f"--rootdir={ROOT}", *files]
        command = [sys.executable, "-m", "spekctl", "vm", "--kernel", self.source, *disks]
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
        self.deadline = time.monotonic() + BOOT_LIMIT_S

    def stop(self) -> None:
        """End the guest now: the second signal does not wait for what runs in it."""
        if not self.process:
            return
        for _ in range(2):
            if self.process.poll() is None:
                self.process.send_signal(signal.SIGTERM)
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
                self.running = event["nodeid"]
                self.deadline = time.monotonic() + TEST_LIMIT_S
            elif event["event"] == "finish":
                self.running = ""
                self.deadline = time.monotonic() + TEST_LIMIT_S
            elif event["event"] == "broken":
                self.broken.append(event["text"])
            self.events.append(event)

    def obituary(self, why: str) -> str:
        """What the guest has left behind, for the report of the test that it died with."""
        parts = [why, *self.broken]
        for name, path in (("output", self.output), ("console", self.console)):
            lines = path.read_text(errors="replace").splitlines() if path.exists() else []
            parts.append(f"---- the end of the guest's {name} ({path}) ----")
            parts += lines[-40:]
        return "\n".join(parts)

    # ---- one test ----

    def results_of(self, nodeid: str) -> list[pytest.TestReport]:
        """Wait until @nodeid has run. Raises GuestDied if it never will."""
        if self.failed_boots >= BOOTS_THAT_MAY_FAIL:
            raise GuestDied(f"no guest with kernel {self.kernel} could be had: {self.reason}")
        if not self.process:
            self.boot()
        assert self.process
        self.pending.remove(nodeid)
        while True:
            ended = self.process.poll() is not None
            self.read_events()
            if any(e["event"] == "finish" and e["nodeid"] == nodeid for e in self.events):
                return self.reports(nodeid)
            if ended or time.monotonic() > self.deadline:
                break
            time.sleep(0.1)
        hung = not ended
        self.stop()
        self.process = None
        started = any(e["event"] == "start" for e in self.events)
        if not started:
            self.failed_boots += 1
        if self.running == nodeid:
            why = "the guest hung in this test" if hung else "the guest died in this test"
        elif not started:
            why = "the guest did not get as far as the first test"
        else:
            why = "the guest ended without running this test"
        self.reason = self.obituary(why)
        raise GuestDied(self.reason)

    def reports(self, nodeid: str) -> list[pytest.TestReport]:
        found = []
        for event in self.events:
            if event["event"] == "report" and event["nodeid"] == nodeid:
                report = self.config.hook.pytest_report_from_serializable(
                    config=self.config, data=event["data"]
                )
                found.append(report)
        self.events = [event for event in self.events if event.get("nodeid") != nodeid]
        return found


class GuestRunner:
    """The plugin that runs on the host."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.guests: dict[str, Guest] = {}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        # Host tests first, then one kernel after the other: one guest at a time.
        items.sort(key=lambda item: kernel_of(item) or "")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool | None:
        kernel = kernel_of(item)
        if kernel is None:
            return None
        if kernel not in self.guests:
            self.stop_all()
            mine = [other for other in item.session.items if kernel_of(other) == kernel]
            self.guests[kernel] = Guest(kernel, mine, self.config)
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        try:
            reports = self.guests[kernel].results_of(item.nodeid)
        except GuestDied as death:
            reports = [failure(item, str(death))]
        for report in reports:
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    def pytest_sessionfinish(self) -> None:
        self.stop_all()

    def pytest_keyboard_interrupt(self) -> None:
        self.stop_all()

    def stop_all(self) -> None:
        for guest in self.guests.values():
            guest.stop()


def kernel_of(item: pytest.Item) -> str | None:
    """Kernel of a guest test, None for a test that runs here."""
    callspec = getattr(item, "callspec", None)
    if callspec is None or not guest_kernels.is_guest_test(item.path):
        return None
    kernel: str | None = callspec.params.get(guest_kernels.FIXTURE)
    return kernel


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


def wanted_kernels(config: pytest.Config) -> dict[str, str]:
    """Label of each kernel in test ids, and how spekctl vm finds it."""
    words = [word for word in config.getoption("--kernels").split(",") if word]
    return {word.partition("=")[0]: word.rpartition("=")[2] for word in words}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    guest_kernels.parametrize(metafunc, list(wanted_kernels(metafunc.config)))


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(GuestRunner(config), "spek-guest-runner")

# SPDX-License-Identifier: GPL-2.0
"""Guests of one network, for tests."""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from lib.harness.process import ROOT, child_of
from lib.waiting import comes_true

# For a guest that boots alone, and for what guests do together afterwards.
BOOT_S = 600.0
TOGETHER_S = 1200.0
KERNEL = os.environ.get("SPEK_FLEET_KERNEL", "6.12")


class Rig:
    """Guests of one network, which end in the reverse order of their start."""

    def __init__(self, net: Path, folder: Path) -> None:
        self.net = net
        self.folder = folder
        self.life_s = BOOT_S + TOGETHER_S  # of a guest; the first one sees all others boot
        self.guests: list[subprocess.Popen[bytes]] = []

    def output(self, number: int) -> str:
        return (self.folder / f"output-{number}.log").read_text()

    def boot(
        self, number: int, options: list[str], words: list[str], memory: str = "512M"
    ) -> subprocess.Popen[bytes]:
        """Start a guest with a module of fleet."""
        command = [sys.executable, "-m", "spekctl", "vm", "--kernel", KERNEL, "--vcpus", "1"]
        command += ["--memory", memory, "--net", f"{self.net},number={number}"]
        command += ["--share", str(self.folder), "--timeout", f"{self.life_s:.0f}s", *options]
        command += ["--console", str(self.folder / f"console-{number}.log"), "--exec", "--"]
        command += ["env", f"PYTHONPATH={ROOT / 'ctl'}:{ROOT / 'tests'}"]
        with open(self.folder / f"output-{number}.log", "wb") as output:
            guest = subprocess.Popen(
                [*command, sys.executable, "-m", *words],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=self.folder,
                preexec_fn=functools.partial(child_of, os.getpid(), os.sched_getaffinity(0)),
            )
        self.guests.append(guest)
        return guest

    def is_ready(self, number: int) -> bool:
        """Whether the guest has said so; AssertionError if it never will."""
        assert self.guests[number - 1].poll() is None, self.output(number)
        return "ready\n" in self.output(number)

    def wait_ready(self, number: int, limit_s: float) -> None:
        """Until the guest has said so; AssertionError with what it has printed if it never will."""
        if not comes_true(lambda: self.is_ready(number), limit_s):
            raise AssertionError(f"guest {number} does not boot: {self.output(number)}")

    def signal(self, number: int, signum: int) -> None:
        """Send a signal to the QEMU of a guest."""
        (qemu,) = (pid for pid in descendants(self.guests[number - 1].pid) if is_qemu(pid))
        os.kill(qemu, signum)

    def close(self) -> None:
        for guest in reversed(self.guests):
            if guest.poll() is None:
                # Twice: the first one is the command's.
                for _ in range(2):
                    guest.send_signal(signal.SIGTERM)
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        guest.wait(2)
            with contextlib.suppress(subprocess.TimeoutExpired):
                guest.wait(30)
            guest.kill()
            guest.wait()


def descendants(pid: int) -> Iterator[int]:
    """Processes that a process has started, and theirs."""
    for path in Path("/proc", str(pid), "task").glob("*/children"):
        for child in map(int, path.read_text().split()):
            yield child
            yield from descendants(child)


def is_qemu(pid: int) -> bool:
    return Path("/proc", str(pid), "comm").read_text().startswith("qemu-system")


@contextlib.contextmanager
def assembled(folder: Path) -> Iterator[Rig]:
    """A network whose guests write to @folder."""
    # Names of sockets are short.
    with tempfile.TemporaryDirectory(prefix="spek-rig-") as net:
        guests = Rig(Path(net), folder)
        try:
            yield guests
        finally:
            guests.close()
        assert list(Path(net).iterdir()) == [], "the network left something behind"


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with assembled(tmp_path) as guests:
        yield guests

# SPDX-License-Identifier: GPL-2.0
"""In the guest: context switches and system calls of the whole guest, counted by the kernel."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path

TRACEFS = Path("/sys/kernel/tracing")
BUFFER_KIB = "4"  # what is in it is never read, only how much passed through it


def context_switches() -> int:
    """Of all CPUs since boot."""
    for line in Path("/proc/stat").read_text().splitlines():
        if line.startswith("ctxt "):
            return int(line.split()[1])
    raise ValueError("/proc/stat has no ctxt")


class SyscallCounter:
    """System calls of all processes, by the tracepoint of their entry."""

    def __init__(self) -> None:
        if not (TRACEFS / "instances").is_dir():
            subprocess.run(["mount", "-t", "tracefs", "nodev", TRACEFS], check=True)
        self._instance = TRACEFS / "instances" / "spek-bench"

    @contextlib.contextmanager
    def on(self) -> Iterator[None]:
        """Count within the block."""
        self._instance.mkdir()
        event = self._instance / "events/raw_syscalls/sys_enter/enable"
        (self._instance / "buffer_size_kb").write_text(BUFFER_KIB)
        event.write_text("1")
        try:
            yield
        finally:
            event.write_text("0")
            self._instance.rmdir()

    def read(self) -> int:
        """How many there were since on() began."""
        total = 0
        for path in self._instance.glob("per_cpu/cpu*/stats"):
            total += parse_stats(path.read_text())
        return total


def parse_stats(text: str) -> int:
    """Events that reached a buffer of the tracer, those that were overwritten included."""
    fields = dict(line.split(": ", 1) for line in text.splitlines() if ": " in line)
    return sum(int(fields[name]) for name in ("entries", "overrun", "dropped events"))

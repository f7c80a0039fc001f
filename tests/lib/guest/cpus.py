# SPDX-License-Identifier: GPL-2.0
"""Processors that a test keeps from all others."""

from __future__ import annotations

import contextlib
import mmap
import os
from collections.abc import Iterator
from pathlib import Path

from lib.waiting import comes_true


def no_throttling() -> Iterator[None]:
    """A realtime thread may keep a CPU for longer than 95 % of a second. Newer kernels have on each
    CPU a server for all others in place of that."""
    limits = {Path("/proc/sys/kernel/sched_rt_runtime_us"): "-1"}
    servers = Path("/sys/kernel/debug/sched/fair_server").glob("cpu*/runtime")
    limits |= dict.fromkeys(servers, "0")
    before = {path: path.read_text() for path in limits}
    for path, none in limits.items():
        path.write_text(none)
    yield
    # The servers first: under a limit they have no room.
    for path, text in reversed(before.items()):
        path.write_text(text)


@contextlib.contextmanager
def second_cpu_held() -> Iterator[None]:
    """Let nothing else run on CPU 1 meanwhile; the caller runs on CPU 0."""
    may_run_on = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {0})
    flags = mmap.mmap(-1, 2)  # CPU 1 is held; it is to be released
    child = os.fork()
    if not child:
        os.sched_setaffinity(0, {1})
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
        flags[0] = 1
        while not flags[1]:
            pass
        os._exit(0)
    try:
        assert comes_true(lambda: bool(flags[0]))
        yield
    finally:
        flags[1] = 1
        os.waitpid(child, 0)
        os.sched_setaffinity(0, may_run_on)

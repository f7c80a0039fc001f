# SPDX-License-Identifier: GPL-2.0
"""spek_prober.ko in a guest: loaded and unloaded, its thread, its rows; and other processes."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from lib.guest import modules
from lib.waiting import eventually

from spekctl.kernel.prober import Prober

MODULE = "spek_prober"
MS = 1_000_000
SECOND = 1_000_000_000
TICK_NS = SECOND // os.sysconf("SC_CLK_TCK")
CPU1 = Path("/sys/devices/system/cpu/cpu1/online")
HOTPLUG_STATES = Path("/sys/devices/system/cpu/hotplug/states")

two_cpus = pytest.mark.skipif(not CPU1.exists(), reason="needs a guest with a second CPU")


def connected() -> Iterator[Prober]:
    """For a fixture: a connection to the prober."""
    with Prober() as connection:
        yield connection


def load() -> None:
    """A fresh module."""
    modules.load(Path(os.environ["SPEK_MODULES"], f"{MODULE}.ko"))


def is_loaded() -> bool:
    """True if it is there."""
    return modules.is_loaded(MODULE)


def rmmod() -> bool:
    """False if something holds it."""
    return modules.unload(MODULE)


def unload() -> None:
    """If it is loaded; a socket that was just closed may still be on its way out."""
    if is_loaded():
        modules.unload_soon(MODULE)


def fresh_module() -> Iterator[None]:
    """Every test starts with a fresh module and ends with one that can be unloaded."""
    unload()
    load()
    yield
    unload()


def wait_rows(prober: Prober, count: int) -> None:
    """At least this number of rows was taken."""
    eventually(lambda: prober.info().rows >= count, f"no {count} rows")


def sampler_threads() -> list[str]:
    """Comm of every kernel thread of spek."""
    names = []
    for comm in Path("/proc").glob("[0-9]*/comm"):
        try:
            name = comm.read_text().strip()
        except OSError:
            continue
        if name == "spek_prober":
            names.append(name)
    return names


@contextmanager
def running(*command: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process for as long as the block lasts."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def in_child(work: Callable[[Callable[[str], object]], None]) -> tuple[int, Callable[[], str]]:
    """Fork; the child calls work(say). Return its pid and a function that reads what it says."""
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read_end)
        status = 1
        try:
            work(lambda text: os.write(write_end, text.encode() + b"\n"))
            status = 0
        except BaseException as error:
            os.write(write_end, f"{type(error).__name__}: {error}\n".encode())
        os._exit(status)
    os.close(write_end)
    stream = os.fdopen(read_end)
    return pid, lambda: stream.readline().strip()


def reap(pid: int, with_signal: int | None = None) -> None:
    """Wait for the end of a child, after a signal to it."""
    if with_signal is not None:
        os.kill(pid, with_signal)
    os.waitpid(pid, 0)

# SPDX-License-Identifier: GPL-2.0
"""Where the instructions of a figure go: samples at fixed numbers of instructions.

perf's cpu-clock event is a timer of the guest's clock, so under -icount it samples every so many
instructions. What runs with interrupts disabled is seen at the instruction that enables them.
Addresses are looked up here, on the host: in the guest that would take minutes.
"""

from __future__ import annotations

import bisect
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.cases import Point, Row

from spekctl.errors import SpekError

PERIOD_NS = 10_007  # perf takes at least 10 us; a prime, so as not to beat with the loop
WARM_UP_S = 2.0
TOP = 40
KALLSYMS = "kallsyms"
# The thread that does a row's I/O, by the beginning of its name.
THREADS = {"floor": "insmod", "spek": "spek/", "uring": "uring", "fio": "fio"}


def check_perf() -> None:
    """Refuse before a guest is booted for it."""
    if shutil.which("perf") is None:
        raise SpekError("a profile needs perf (Debian: apt-get install linux-perf)")


def data_file(folder: Path, key: str) -> Path:
    """perf's data of a point."""
    return folder / f"{key.replace('/', '-')}.perf"


# ---- in the guest ----


def record(folder: Path, point: Point, run: Callable[[], object]) -> None:
    """Sample while @run, called without arguments, carries out the point."""
    command = ["perf", "record", "-q", "-a", "-B", "-N", "-e", "cpu-clock", "-c", str(PERIOD_NS)]
    with subprocess.Popen([*command, "-o", str(data_file(folder, point.key))]) as perf:
        time.sleep(WARM_UP_S)
        run()
        perf.send_signal(signal.SIGINT)
    shutil.copyfile("/proc/kallsyms", folder / KALLSYMS)


# ---- on the host ----


@dataclass(frozen=True, slots=True)
class Profile:
    """Samples of the thread that does the I/O, by function."""

    functions: Counter[str]

    @property
    def total(self) -> int:
        """All samples."""
        return sum(self.functions.values())


class Symbols:
    """Functions by address."""

    def __init__(self, kallsyms: Iterable[str]) -> None:
        found = []
        for line in kallsyms:
            address, kind, name, *module = line.split()
            if kind in "tTwW":
                found.append((int(address, 16), f"{name} {module[0]}" if module else name))
        found.sort()
        self._starts = [start for start, _name in found]
        self._names = [name for _start, name in found]

    def name_of(self, address: int) -> str:
        """The function that @address lies in; user for one that isn't the kernel's."""
        if address < 1 << 63:
            return "(user space)"
        index = bisect.bisect_right(self._starts, address) - 1
        return self._names[index] if index >= 0 else "(unknown)"


def tally(samples: Iterable[str], thread: str, symbols: Symbols) -> Profile:
    """Count lines of `perf script -F comm,ip` of one thread."""
    functions: Counter[str] = Counter()
    for line in samples:
        comm, _, address = line.strip().rpartition(" ")
        if comm.strip().startswith(thread):
            functions[symbols.name_of(int(address, 16))] += 1
    return Profile(functions)


def read(folder: Path, row: Row, key: str) -> Profile:
    """The profile of a point that the guest has recorded."""
    command = ["perf", "script", "-i", str(data_file(folder, key)), "-F", "comm,ip"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SpekError(f"perf script: {done.stderr.strip()}")
    with open(folder / KALLSYMS) as file:
        symbols = Symbols(file)
    lines = [line for line in done.stdout.splitlines() if line.strip()]
    return tally(lines, THREADS[row.runner], symbols)


def lines(profile: Profile, instructions: float, top: int = TOP) -> Sequence[str]:
    """Functions and what each takes of the @instructions of an I/O, most first."""
    total = profile.total
    if not total:
        return ["no samples"]
    found = [
        f"{count * instructions / total:8.1f}  {count / total:6.2%}  {name}"
        for name, count in profile.functions.most_common(top)
    ]
    return [f"{total} samples; instructions per I/O, share, function", *found]

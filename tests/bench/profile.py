# SPDX-License-Identifier: GPL-2.0
"""Where the instructions of a figure go: the kernel's functions, and how many of an I/O's each has.

Nothing is sampled: a plugin of QEMU's translator (profile.c) counts every instruction where it
is. As with the times, a figure is the difference of a long run and a short one.
"""

from __future__ import annotations

import bisect
import ctypes
import mmap
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec
from bench.cases import Point

KALLSYMS, MODULES = "kallsyms", "modules"  # of /proc
POINTS = "points.json"
# nopl 0x5be4c0de(%rax,%rax,1): does nothing, but the plugin knows it; then ret.
MARK = bytes.fromhex("0f1f8400dec0e45b") + b"\xc3"
GONE = "(a module that is gone)"
LEAST = 0.05  # instructions per I/O below which a function is not shown

Counts = Counter[int]


# ---- in the guest ----


class Marks:
    """Tells the plugin to write down its counts."""

    def __init__(self) -> None:
        self._page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_WRITE | mmap.PROT_EXEC)
        self._page.write(MARK)
        address = ctypes.addressof(ctypes.c_char.from_buffer(self._page))
        self._call = ctypes.CFUNCTYPE(None)(address)

    def set(self) -> None:
        """Write all counts so far."""
        self._call()


def record(folder: Path, chosen: Sequence[Point], run: Callable[[Point, int], object]) -> None:
    """Four marks for each point: around its short run and around its long one."""
    marks = Marks()
    for point in chosen:
        for count in (point.row.short, point.row.long):
            marks.set()
            run(point, count)
            marks.set()
    (folder / POINTS).write_bytes(msgspec.json.encode([point.key for point in chosen]))
    for name in (KALLSYMS, MODULES):
        shutil.copyfile(f"/proc/{name}", folder / name)


# ---- on the host ----


class Symbols:
    """Functions by address.

    A module that was loaded and is gone (the floor) has left no names: behind each module's end,
    until the next function, is nobody's.
    """

    def __init__(self, kallsyms: Iterable[str], modules: Iterable[str]) -> None:
        found = []
        for line in kallsyms:
            address, kind, name, *module = line.split()
            if kind in "tTwW":
                found.append((int(address, 16), f"{name} {module[0]}" if module else name))
        for line in modules:
            _name, size, *_rest, address = line.split(maxsplit=5)
            found.append((int(address.split()[0], 16) + int(size), GONE))
        found.sort()
        self._starts = [start for start, _name in found]
        self._names = [name for _start, name in found]

    def name_of(self, address: int) -> str:
        """The function that @address lies in; user for one that isn't the kernel's."""
        if address < 1 << 63:
            return "(user space)"
        index = bisect.bisect_right(self._starts, address) - 1
        return self._names[index] if index >= 0 else "(unknown)"


def read_counts(path: Path) -> Counts:
    """Executions by address."""
    counts: Counts = Counter()
    for line in path.read_text().splitlines():
        address, count = line.split()
        counts[int(address, 16)] += int(count)
    return counts


def per_io(folder: Path, number: int, ios: int) -> dict[int, float]:
    """Executions of each instruction per I/O of point @number, whose runs differ by @ios."""
    marks = [read_counts(folder / f"profile.{4 * number + i}") for i in range(4)]
    short, long = marks[1], marks[3]
    short.subtract(marks[0])
    long.subtract(marks[2])
    long.subtract(short)
    return {address: count / ios for address, count in long.items() if count}


def by_function(found: dict[int, float], symbols: Symbols) -> Counter[str]:
    """Instructions of each function per I/O."""
    functions: Counter[str] = Counter()
    for address, count in found.items():
        functions[symbols.name_of(address)] += count  # type: ignore[assignment]
    return functions


def lines(functions: Counter[str]) -> list[str]:
    """Functions, most expensive first."""
    total = sum(functions.values())
    return [
        f"{total:8.1f} instructions per I/O",
        *(
            f"{count:8.1f}  {count / total:6.2%}  {name}"
            for name, count in functions.most_common()
            if count >= LEAST
        ),
    ]


def show(folder: Path, points: dict[str, Point]) -> Iterable[str]:
    """The profile of each point that the guest has recorded."""
    with open(folder / KALLSYMS) as kallsyms, open(folder / MODULES) as modules:
        symbols = Symbols(kallsyms, modules)
    for number, key in enumerate(msgspec.json.decode((folder / POINTS).read_bytes())):
        row = points[key].row
        found = per_io(folder, number, row.long - row.short)
        yield f"\n{key}"
        yield from lines(by_function(found, symbols))

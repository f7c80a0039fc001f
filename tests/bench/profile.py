# SPDX-License-Identifier: GPL-2.0
"""Where the instructions of a figure go: the kernel's functions, and how many of an I/O's each has.

As with the times, a figure is the difference of a long run and a short one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec
from bench.cases import Point

from spekctl.vm.marks import Marks, copy_names
from spekctl.vm.profiler import by_function, counts_at, symbols_in

POINTS = "points.json"
LEAST = 0.05  # instructions per I/O below which a function is not shown


def record(folder: Path, chosen: Sequence[Point], run: Callable[[Point, int], object]) -> None:
    """In the guest: four marks for each point, around its short run and around its long one."""
    marks = Marks()
    for point in chosen:
        for count in (point.row.short, point.row.long):
            marks.set()
            run(point, count)
            marks.set()
    (folder / POINTS).write_bytes(msgspec.json.encode([point.key for point in chosen]))
    copy_names(folder)


def per_io(folder: Path, number: int, ios: int) -> dict[int, float]:
    """Executions of each instruction per I/O of point @number, whose runs differ by @ios."""
    marks = [counts_at(folder, 4 * number + i) for i in range(4)]
    short, long = marks[1], marks[3]
    short.subtract(marks[0])
    long.subtract(marks[2])
    long.subtract(short)
    return {address: count / ios for address, count in long.items() if count}


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
    symbols = symbols_in(folder)
    for number, key in enumerate(msgspec.json.decode((folder / POINTS).read_bytes())):
        row = points[key].row
        counts = per_io(folder, number, row.long - row.short)
        yield f"\n{key}"
        yield from lines(by_function(counts, symbols))

# SPDX-License-Identifier: GPL-2.0
"""Cache lines that two workers take from each other: misses per I/O of the kernel's functions.

A plugin of QEMU's translator (sharing.c) looks at every access to the kernel's memory. As with
profiles, a figure is the difference of a long run and a short one.
"""

from __future__ import annotations

from pathlib import Path

from bench.drivers import Drivers
from bench.profile import per_io
from lib.guest.drive import one_stream

from spekctl.vm.marks import Marks, copy_names
from spekctl.vm.profiler import by_function, symbols_in

WORKERS = 2
SHORT, LONG = 4_000, 24_000
LEAST = 0.001  # misses per I/O below which a function is not told


def record(drivers: Drivers, node: str, folder: Path) -> None:
    """In the guest: each worker on a CPU and a queue of its own."""
    marks = Marks()
    drivers.connect()
    for count in (SHORT, LONG):
        config = one_stream(
            node, backend="mq", depth=32 * WORKERS, workers=WORKERS, count=count, batch=16
        )
        marks.set()
        drivers.finish(config)
        marks.set()
    copy_names(folder)


def of_functions(folder: Path) -> dict[str, float]:
    """On the host: misses per I/O, most first."""
    counts = by_function(per_io(folder, 0, LONG - SHORT), symbols_in(folder))
    return {name: misses for name, misses in counts.most_common() if misses >= LEAST}


def of_spek(sharing: dict[str, float]) -> float:
    """Sum of the module's own functions."""
    return sum(misses for name, misses in sharing.items() if name.endswith(" [spek]"))

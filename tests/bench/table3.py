# SPDX-License-Identifier: GPL-2.0
"""python -m bench.table3 DISK FOLDER: paper 002's Table 3 in a guest, into FOLDER/table3.json.

Context switches and system calls per I/O of four loads with one I/O outstanding, by spek and by
fio. Both are counted by the kernel for the whole guest, in which nothing else runs; the difference
between a long and a short run leaves out what starting and ending cost.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
from bench.counts import SyscallCounter, context_switches
from bench.drivers import Drivers, copy_program, run_program
from bench.guest import calm_down
from lib.guest.disks import do_without_udev
from lib.guest.drive import one_stream

from spekctl import files
from spekctl.report.sheet import Grid, Sheet

FILE = "table3.json"
SPEK = "spek"
ENGINES = ("psync", "libaio", "io_uring")
GENERATORS = (SPEK, *(f"fio {engine}" for engine in ENGINES))
SHORT, LONG = 100, 500
KIB = 1024


class Load(NamedTuple):
    """@rw: as fio calls it."""

    pattern: str
    read_ppm: int
    size_bytes: int
    rw: str


LOADS = {
    "sequential read": Load("sequential", 1_000_000, 128 * KIB, "read"),
    "sequential write": Load("sequential", 0, 128 * KIB, "write"),
    "random read": Load("uniform", 1_000_000, 4 * KIB, "randread"),
    "random write": Load("uniform", 0, 4 * KIB, "randwrite"),
}


class Row(msgspec.Struct, forbid_unknown_fields=True):
    """Of a load by a generator, per I/O."""

    load: str
    generator: str
    switches: float
    syscalls: float


class Table3(msgspec.Struct, forbid_unknown_fields=True):
    kernel: str
    rows: list[Row]

    def of(self, generator: str) -> dict[str, Row]:
        """The rows of a generator, by load."""
        return {row.load: row for row in self.rows if row.generator == generator}


# Sends so many I/Os of a load.
Send = Callable[[Load, int], object]


def senders(node: str, fio: list[str]) -> dict[str, Send]:
    """Each generator on this disk. @fio: the beginning of a command that runs it."""
    drivers = Drivers(Path(), {}, fio)

    def spek(load: Load, count: int) -> object:
        return drivers.finish(
            one_stream(
                node, pattern=load.pattern, read_ppm=load.read_ppm,
                sizes=((load.size_bytes, 1),), count=count,
            )
        )  # fmt: skip

    def by_fio(engine: str) -> Send:
        def send(load: Load, count: int) -> object:
            return run_program(
                [
                    *fio, "--name=table3", f"--filename={node}", f"--ioengine={engine}",
                    f"--rw={load.rw}", f"--bs={load.size_bytes}", "--direct=1", "--iodepth=1",
                    f"--number_ios={count}", "--output-format=json",
                ]
            )  # fmt: skip

        return send

    drivers.connect()
    return dict(zip(GENERATORS, [spek, *map(by_fio, ENGINES)], strict=True))


def rows(
    by_generator: dict[str, Send], switches: Callable[[], int], syscalls: Callable[[], int]
) -> Iterator[Row]:
    """All of them. @switches, @syscalls: how many there were since some time."""
    for name, load in LOADS.items():
        for generator, send in by_generator.items():
            totals = []
            for count in (SHORT, LONG):
                before = switches(), syscalls()
                send(load, count)
                totals.append((switches() - before[0], syscalls() - before[1]))
            more = LONG - SHORT
            (short, long) = totals
            yield Row(name, generator, (long[0] - short[0]) / more, (long[1] - short[1]) / more)


def load_table(path: Path) -> Table3 | None:
    """None: it was not measured."""
    return msgspec.json.decode(path.read_bytes(), type=Table3) if files.exists(path) else None


def grid_of(table: Table3) -> Grid:
    """Switches and system calls, a column for each generator."""
    lines = []
    for name in LOADS:
        of = [table.of(generator)[name] for generator in GENERATORS]
        lines.append([name, *(f"{row.switches:.2f}, {row.syscalls:.2f}" for row in of)])
    columns = ("context switches, system calls per I/O", *GENERATORS)
    return Grid("Table 3", columns, [False, *([True] * len(GENERATORS))], lines)


def sheet_of(table: Table3) -> Sheet:
    text = (
        "One I/O outstanding on a modelled Cheetah X15; of the whole guest, per I/O. Linux"
        f" {table.kernel}, emulated."
    )
    sheet = Sheet(
        "table3", "paper beside measurements", "Context switches and system calls", verdict=text,
        good=None, label="Table 3",
    )  # fmt: skip
    sheet.grids = [grid_of(table)]
    return sheet


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="table3", description=__doc__.splitlines()[0])
    parser.add_argument("disk", help="a disk of the guest, which is written to")
    parser.add_argument("folder", type=Path, help="where table3.json goes")
    given = parser.parse_args(words)
    do_without_udev()
    by_generator = senders(given.disk, copy_program("fio", Path("/tmp/fio")))
    calm_down()
    counter = SyscallCounter()
    with counter.on():
        measured = list(rows(by_generator, context_switches, counter.read))
    table = Table3(os.uname().release, measured)
    files.write(given.folder / FILE, msgspec.json.format(msgspec.json.encode(table)) + b"\n")
    for row in table.rows:
        print(f"{row.load:17} {row.generator:13} {row.switches:6.2f} {row.syscalls:6.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

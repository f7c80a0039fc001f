# SPDX-License-Identifier: GPL-2.0
"""python -m bench.table4 FOLDER: paper 002's Table 4 in guests, into FOLDER/table4.json.

Up to three clients read one after the other from an iSCSI target, each in a guest of its own, as a
fleet does (tests/fleet/clients.py). What is full is designed: a disk that does one I/O at a time.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
from fleet import clients, rig, storage

from spekctl import files
from spekctl.report.sheet import Grid, Sheet

FILE = "table4.json"
CLIENTS = 3
TIME_S = 15
# Threads of the target that are shown; all else is one figure.
SHOWN = 6
# LIO's, that sends to a client.
SENDER = "iscsi_ttx"


class Row(msgspec.Struct, forbid_unknown_fields=True):
    """By so many clients. @bytes_per_s: of each; @cpu_busy, @disk_busy: of the target, by its own
    prober; @threads: parts of the time that all threads had on its CPU, by name. The one that reads
    these times is always there: what it takes, the target would not have done."""

    bytes_per_s: list[float]
    cpu_busy: float
    disk_busy: float
    threads: dict[str, float]

    def total(self) -> float:
        return sum(self.bytes_per_s)


class Table4(msgspec.Struct, forbid_unknown_fields=True):
    """@most_bytes_per_s: what the disk can give, by design."""

    kernel: str
    service_ns: int
    most_bytes_per_s: float
    rows: list[Row]


def row_of(run: clients.Run) -> Row:
    return Row(run.bytes_per_s(), run.busy(), run.disk_busy(), parts_of(run.cpu_ns))


def table_of(runs: Sequence[clients.Run]) -> Table4:
    return Table4(
        kernel=runs[0].target.environment.kernel,
        service_ns=clients.SERVICE_NS,
        most_bytes_per_s=clients.MOST_BYTES_PER_S,
        rows=[row_of(run) for run in runs],
    )


def parts_of(cpu_ns: Mapping[str, int]) -> dict[str, float]:
    """The largest parts first, and that of who reads them, however small."""
    every = sum(cpu_ns.values()) or 1
    largest = sorted(cpu_ns, key=lambda name: -cpu_ns[name])[:SHOWN]
    shown = dict.fromkeys([*largest, *(cpu_ns.keys() & {storage.READER})])
    parts = {name: cpu_ns[name] / every for name in shown}
    return parts | {"all else": 1 - sum(parts.values())}


def load(path: Path) -> Table4 | None:
    """None: it was not measured. On a busy machine four guests may not get to it."""
    if not files.exists(path):
        return None
    return msgspec.json.decode(path.read_bytes(), type=Table4)


def megabytes(values: Sequence[float], digits: int = 2) -> str:
    """15.50 + 13.50 = 29.00"""
    each = " + ".join(f"{value / 1e6:.{digits}f}" for value in values)
    return each if len(values) == 1 else f"{each} = {sum(values) / 1e6:.{digits}f}"


def rows_of(table: Table4) -> list[list[str]]:
    return [
        [
            str(len(row.bytes_per_s)),
            megabytes(row.bytes_per_s),
            f"{row.cpu_busy:.0%}",
            f"{row.disk_busy:.0%}",
            ", ".join(f"{name} {part:.0%}" for name, part in row.threads.items()),
        ]
        for row in table.rows
    ]


COLUMNS = ("clients", "MB/s", "target's CPU", "its disk", "where the CPU's time went")


def sheet_of(table: Table4) -> Sheet:
    text = (
        f"The disk does one I/O of 32 KiB at a time, in {table.service_ns / 1e6:.0f} ms: at most"
        f" {table.most_bytes_per_s / 1e6:.2f} MB/s. Linux {table.kernel}, emulated. The"
        " target's CPU includes the thread that reads these times, whose part is there."
    )
    sheet = Sheet(
        "table4", "paper beside measurements", "Clients of an iSCSI target", verdict=text,
        good=None, label="Table 4",
    )  # fmt: skip
    numeric = [True, False, True, True, False]
    sheet.grids = [Grid("Table 4", COLUMNS, numeric, rows_of(table))]
    return sheet


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="table4", description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where table4.json goes")
    given = parser.parse_args(words)
    with (
        tempfile.TemporaryDirectory(prefix="spek-table4-") as scratch,
        rig.assembled(Path(scratch)) as guests,
    ):
        table = table_of(clients.measure(guests, CLIENTS, TIME_S))
    files.write(given.folder / FILE, msgspec.json.format(msgspec.json.encode(table)) + b"\n")
    for row in rows_of(table):
        print("  ".join(row))
    return 0


if __name__ == "__main__":
    sys.exit(main())

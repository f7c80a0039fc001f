# SPDX-License-Identifier: GPL-2.0
"""Context switches and system calls per I/O, counted around runs of two lengths."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from bench import table3
from bench.drivers import Drivers
from bench.table3 import LOADS, Load, Row, Table3

WHAT_STARTING_COSTS = 300


class Guest:
    """Each generator switches and calls so often per I/O, and when it starts."""

    def __init__(self) -> None:
        self.switches = self.syscalls = 0

    def sender(self, switches: int, syscalls: int) -> table3.Send:
        def send(_load: Load, count: int) -> None:
            self.switches += WHAT_STARTING_COSTS + switches * count
            self.syscalls += WHAT_STARTING_COSTS + syscalls * count

        return send


def test_what_starting_costs_is_left_out() -> None:
    guest = Guest()
    rows = list(
        table3.rows(
            {"spek": guest.sender(2, 0), "fio psync": guest.sender(3, 14)},
            lambda: guest.switches,
            lambda: guest.syscalls,
        )
    )
    assert [(row.load, row.generator) for row in rows] == [
        (load, name) for load in LOADS for name in ("spek", "fio psync")
    ]
    assert {(row.switches, row.syscalls) for row in rows} == {(2.0, 0.0), (3.0, 14.0)}


def test_the_table_is_kept_and_shown(tmp_path: Path) -> None:
    rows = [Row(load, name, 2.013, 1.0) for load in LOADS for name in table3.GENERATORS]
    path = tmp_path / table3.FILE
    assert table3.load_table(path) is None
    path.write_bytes(msgspec.json.encode(Table3("6.12", rows)))
    table = table3.load_table(path)
    assert table is not None and list(table.of("spek")) == list(LOADS)
    (grid,) = table3.sheet_of(table).grids
    assert len(grid.rows) == 4 and grid.rows[2] == ["random read", *["2.01, 1.00"] * 4]


def test_fio_that_fails_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Drivers, "connect", lambda _drivers: None)
    by_generator = table3.senders("/dev/null", ["sh", "-c", "echo no such engine >&2; exit 3"])
    assert list(by_generator) == list(table3.GENERATORS)
    with pytest.raises(Exception, match="no such engine"):
        by_generator["fio psync"](LOADS["random read"], 10)

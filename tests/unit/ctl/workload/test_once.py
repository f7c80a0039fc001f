# SPDX-License-Identifier: GPL-2.0
"""What follows from a table is worked out once for each table."""

from __future__ import annotations

import pytest

from spekctl.workload.once import once


class Table:
    def __init__(self, value: int) -> None:
        self.value = value


def test_each_table_is_looked_at_once() -> None:
    seen: list[int] = []

    @once
    def double(table: Table) -> int:
        seen.append(table.value)
        return 2 * table.value

    tables = [Table(1), Table(2)]
    assert [double(table) for table in tables * 2] == [2, 4, 2, 4]
    assert seen == [1, 2]


def test_two_questions_about_a_table_have_answers_of_their_own() -> None:
    @once
    def double(table: Table) -> int:
        return 2 * table.value

    @once
    def square(table: Table) -> int:
        return table.value**2

    table = Table(3)
    assert (double(table), square(table), double(table)) == (6, 9, 6)


def test_a_failure_is_not_remembered() -> None:
    tries: list[int] = []

    @once
    def refuse(table: Table) -> None:
        tries.append(table.value)
        raise ValueError("no")

    table = Table(1)
    for _ in range(2):
        with pytest.raises(ValueError, match="no"):
            refuse(table)
    assert tries == [1, 1]

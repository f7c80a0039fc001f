# SPDX-License-Identifier: GPL-2.0
"""What a command prints, as notes and tables of a sheet."""

from __future__ import annotations

from rich.console import RenderableType
from rich.table import Table

from spekctl.report.sheet import Sheet, add_printed, grid_of, plain_grid


def table(*cells: str) -> Table:
    rich_table = Table()
    rich_table.add_column("name")
    rich_table.add_column("value", justify="right")
    for number, cell in enumerate(cells):
        rich_table.add_row(cell, str(number))
    return rich_table


def printed(*parts: RenderableType, head: bool = True) -> Sheet:
    sheet = Sheet("f", "k", "the title", verdict="it passed", remarks=["a remark"])
    add_printed(sheet, parts, head=head)
    return sheet


def test_a_text_before_a_table_is_its_title() -> None:
    sheet = printed("head", "by phase", table("ramp"), table("measure"))
    assert [grid.title for grid in sheet.grids] == ["by phase", ""]
    assert sheet.notes == []


def test_a_text_before_no_table_is_a_note() -> None:
    sheet = printed("head", "first", "second", table("x"), "last")
    assert sheet.notes == ["first", "last"]
    assert [grid.title for grid in sheet.grids] == ["second"]


def test_of_several_lines_the_indented_are_notes_and_the_last_other_is_the_title() -> None:
    sheet = printed("head", "\n  a limit of 30 ms\nby stream\n", table("x"))
    assert sheet.notes == ["a limit of 30 ms"]
    assert [grid.title for grid in sheet.grids] == ["by stream"]


def test_what_the_sheet_has_is_not_repeated() -> None:
    sheet = printed("whatever the head is", "it passed", "  a remark", "the title", table("x"))
    assert sheet.notes == []
    assert [grid.title for grid in sheet.grids] == [""]
    assert printed("not a head", head=False).notes == ["not a head"]


def test_a_table_keeps_its_cells_and_which_are_numbers() -> None:
    grid = grid_of("t", table("a", "b"))
    assert (grid.columns, grid.numeric) == (["name", "value"], [False, True])
    assert grid.rows == [("a", "0"), ("b", "1")]
    assert grid_of("t", table()).rows == []


def test_of_a_plain_table_all_but_the_names_are_numbers() -> None:
    assert plain_grid("t", ["p", "read", "all"], []).numeric == [False, True, True]

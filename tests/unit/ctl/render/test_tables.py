# SPDX-License-Identifier: GPL-2.0
"""Tables: what is aligned, cut and wrapped."""

from __future__ import annotations

import pytest
from lib.ctl.shown import shown

from spekctl.render.tables import show, table


def text_of(width: int, **how: tuple[str, ...]) -> str:
    grid = table("name", "value", **how)
    grid.add_row("a", "1")
    grid.add_row("a-rather-long-name", "1000")
    return shown(lambda contents, out: out.print(contents), grid, width)


def test_numbers_stand_at_the_right() -> None:
    lines = [line.rstrip() for line in text_of(60, right=("value",)).splitlines()]
    assert lines == [
        "name                value",
        "a                       1",
        "a-rather-long-name   1000",
    ]
    assert text_of(60).splitlines()[1].split() == ["a", "1"]


def test_a_text_is_wrapped_and_a_number_is_not() -> None:
    lines = text_of(16, right=("value",)).splitlines()
    assert "".join(line[:9].strip() for line in lines[2:]) == "a-rather-long-name"
    assert lines[2].endswith(" 1000")


def test_a_name_to_type_in_is_whole_while_others_can_be_wrapped() -> None:
    lines = text_of(23, whole=("name",)).splitlines()
    row = next(number for number, line in enumerate(lines) if line.startswith("a-rather"))
    assert lines[row].startswith("a-rather-long-name  ")
    assert "".join(line[20:].strip() for line in lines[row:]) == "1000"


def test_without_a_terminal_the_width_is_that_of_the_table(
    capsys: pytest.CaptureFixture[str],
) -> None:
    grid = table("name")
    grid.add_row("x" * 150)
    show(grid)
    assert "x" * 150 in capsys.readouterr().out
    show(grid, width=20)
    assert "x" * 150 not in capsys.readouterr().out


def test_what_is_cut_ends_in_an_ellipsis(capsys: pytest.CaptureFixture[str]) -> None:
    grid = table("name", "value", right=("value",), whole=("name",))
    grid.add_row("a-rather-long-name", "1000")
    show(grid, width=16)
    assert "…" in capsys.readouterr().out

# SPDX-License-Identifier: GPL-2.0
"""Tables: what is aligned, cut and wrapped."""

from __future__ import annotations

import pytest
from lib.ctl.shown import shown
from rich.console import Console

from spekctl.render.tables import show, table


def text_of(width: int, **how: tuple[str, ...]) -> str:
    made = table("name", "value", **how)
    made.add_row("a", "1")
    made.add_row("a-rather-long-name", "1000")
    return shown(lambda one, out: out.print(one), made, width)


def test_numbers_stand_at_the_right() -> None:
    lines = [line.rstrip() for line in text_of(60, right=("value",)).splitlines()]
    assert lines == [
        "name                value",
        "a                       1",
        "a-rather-long-name   1000",
    ]
    assert text_of(60).splitlines()[1].split() == ["a", "1"]


def test_a_folded_column_loses_nothing() -> None:
    folded = text_of(16, fold=("name",))
    assert "".join(line[:9].strip() for line in folded.splitlines()[2:]) == "a-rather-long-name"


def test_without_a_terminal_the_width_is_that_of_the_table(
    capsys: pytest.CaptureFixture[str],
) -> None:
    made = table("name")
    made.add_row("x" * 150)
    show(made)
    assert "x" * 150 in capsys.readouterr().out
    show(made, width=20)
    assert "x" * 150 not in capsys.readouterr().out


def test_names_are_data_not_markup() -> None:
    from spekctl.render.console import print_parts, wide

    out = wide(40)
    with out.capture() as captured:
        print_parts(["[bold]x[/bold] :smile:"], 40, out)
    assert captured.get() == "[bold]x[/bold] :smile:\n"
    narrow = Console(width=20, file=out.file)
    assert wide(40, narrow).width == 40 and wide(10, narrow) is narrow

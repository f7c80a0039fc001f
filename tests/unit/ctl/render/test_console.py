# SPDX-License-Identifier: GPL-2.0
"""The width of what is printed, and names as they are."""

from __future__ import annotations

import io

import pytest
from rich.console import Console
from rich.text import Text

from spekctl.render.console import fitted, print_parts, wide
from spekctl.render.tables import table


def test_names_are_data_not_markup() -> None:
    out = wide(40)
    with out.capture() as captured:
        print_parts(["[bold]x[/bold] :smile:"], 40, out)
    assert captured.get() == "[bold]x[/bold] :smile:\n"
    narrow = Console(width=20, file=out.file)
    assert wide(40, narrow).width == 40 and wide(10, narrow) is narrow


def test_without_a_terminal_the_width_is_what_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    assert fitted(123).width == 123
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert fitted(123).width == 50


def test_texts_wrap_in_the_terminal_and_tables_are_whole() -> None:
    grid = table("name")
    grid.add_row("x" * 60)
    out = io.StringIO()
    print_parts(["word " * 30, Text("y " * 60), grid], 70, Console(file=out, width=20))
    first, second, _, row = out.getvalue().splitlines()
    assert (first.split(), second.split()) == (["word"] * 30, ["y"] * 60)
    assert row.strip() == "x" * 60


def test_nothing_is_coloured_as_a_number_or_a_path() -> None:
    out = wide(80)
    out._force_terminal = True  # as on one with colours
    with out.capture() as captured:
        out.print("/dev/sda 42 true 'x'")
    assert captured.get() == "/dev/sda 42 true 'x'\n"

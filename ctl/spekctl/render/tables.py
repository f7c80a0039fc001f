# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of the commands: no lines, lower-case column names."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

# Where there is no terminal.
WIDTH = 160


def table(*names: str, right: Collection[str] = (), whole: Collection[str] = ()) -> Table:
    """A table with these columns; @right has numbers. In a narrow terminal texts are wrapped, but
    neither numbers nor those of @whole, which are names to type in: only where all the others
    have no width left are these cut, and end in an ellipsis."""
    from rich.table import Table as RichTable

    grid = RichTable(box=None, padding=(0, 1), pad_edge=False)
    for name in names:
        kept = name in right or name in whole
        grid.add_column(
            name,
            justify="right" if name in right else "left",
            overflow="ellipsis" if kept else "fold",
            no_wrap=kept,
        )
    return grid


def figures_table(*names: str) -> Table:
    """A table of a report, indented: its first column has names, all others numbers."""
    from rich.table import Table as RichTable

    grid = RichTable(box=None, padding=(0, 0, 0, 2), collapse_padding=True)
    for index, name in enumerate(names):
        grid.add_column(name, justify="right" if index else "left", no_wrap=True)
    return grid


def show(grid: Table, width: int = WIDTH) -> None:
    """Print it, as wide as the terminal, or @width without one."""
    from spekctl.render.console import fitted

    fitted(width).print(grid)

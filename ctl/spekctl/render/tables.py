# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of the commands: no lines, lower-case column names."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

# Where there is no terminal.
WIDTH = 160


def table(*names: str, right: Collection[str] = (), fold: Collection[str] = ()) -> Table:
    """A table with these columns; @right has numbers, @fold is wrapped rather than cut."""
    from rich.table import Table as RichTable

    made = RichTable(box=None, padding=(0, 1), pad_edge=False)
    for name in names:
        made.add_column(
            name,
            justify="right" if name in right else "left",
            overflow="fold" if name in fold else "ellipsis",
        )
    return made


def figures_table(*names: str) -> Table:
    """A table of a report, indented: its first column has names, all others numbers."""
    from rich.table import Table as RichTable

    made = RichTable(box=None, padding=(0, 0, 0, 2), collapse_padding=True)
    for index, name in enumerate(names):
        made.add_column(name, justify="right" if index else "left", no_wrap=True)
    return made


def show(made: Table, width: int = WIDTH) -> None:
    """Print it, as wide as the terminal, or @width without one."""
    from spekctl.render.console import fitted

    fitted(width).print(made)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Standard output for tables and texts. Names in them are data: no markup, no emoji codes, and
control characters as escapes."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterable
from typing import IO, TYPE_CHECKING, Any

from spekctl.render.output import escaped, unescaped

if TYPE_CHECKING:
    from rich.console import Console, RenderableType


def fitted(width: int) -> Console:
    """As wide as the terminal; @width without one."""
    console = _console()
    return console if console.is_terminal else _console(width)


def wide(width: int, console: Console | None = None) -> Console:
    """At least @width: no column may be cut. Pipes have no width, a narrow terminal can wrap."""
    out = console or _console()
    return out if out.width >= width else _console(width, out.file)


def errors() -> Console:
    """Standard error, where standard output is somebody else's."""
    return _console(file=sys.stderr)


def print_parts(
    parts: Iterable[RenderableType], width: int, console: Console | None = None
) -> None:
    """Print tables and texts at least @width wide; texts are left to the terminal to wrap."""
    from rich.text import Text

    out = wide(width, console)
    for part in parts:
        out.print(part, soft_wrap=isinstance(part, (str, Text)))


def _console(width: int | None = None, file: IO[str] | None = None) -> Console:
    file = unescaped(file or sys.stdout)
    console: Console = _kind()(highlight=False, markup=False, emoji=False, width=width, file=file)
    return console


@functools.cache
def _kind() -> Any:
    """rich's console with the escapes; rich is imported when it is used."""
    from rich.console import Console, ConsoleOptions
    from rich.segment import Segment
    from rich.text import Text

    class Escaping(Console):
        def render_str(self, text: str, **style: Any) -> Text:
            # Before it is measured, so that columns are wide enough.
            return super().render_str(escaped(text), **style)

        def render(
            self, renderable: RenderableType, options: ConsoleOptions | None = None
        ) -> Iterable[Segment]:
            # What did not come as a string. Control segments are rich's own.
            for segment in super().render(renderable, options):
                yield segment if segment.control else Segment(escaped(segment.text), segment.style)

    return Escaping

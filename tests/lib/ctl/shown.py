# SPDX-License-Identifier: GPL-2.0
"""Documents as people read them."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

from rich.console import Console

from spekctl.documents.document import Document
from spekctl.render.document import print_contents


def contents(document: Document) -> str:
    """The text that `spekctl show` prints of a document."""
    return shown(print_contents, document)


def shown(show: Callable[[Any, Console], None], document: Any, width: int = 160) -> str:
    """The text that @show prints; nothing of it is cut off."""
    stream = io.StringIO()
    show(document, Console(file=stream, width=width, highlight=False))
    assert "…" not in stream.getvalue()
    return stream.getvalue()


def row_of(text: str, name: str) -> list[str]:
    """The cells of the only row that begins with @name."""
    (row,) = (line.split() for line in text.splitlines() if line.split()[:1] == [name])
    return row

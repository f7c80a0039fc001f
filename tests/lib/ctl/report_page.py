# SPDX-License-Identifier: GPL-2.0
"""A report's page, taken apart."""

from __future__ import annotations

import html.parser
import json
from pathlib import Path
from typing import Any

from spekctl.report import page, read

# Elements without an end tag.
VOID = {"meta", "link", "img", "br", "hr", "input"}


class Page(html.parser.HTMLParser):
    """A page taken apart; complains of elements that are not closed in order."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self.data = data
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.inside: dict[str, list[str]] = {}
        self.feed(data.decode("utf-8"))
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.inside.setdefault(self.open[-1] if self.open else "", []).append(data)
        if not {"script", "style"} & set(self.open):
            self.text.append(data)

    @property
    def words(self) -> str:
        return " ".join(" ".join(self.text).split())

    def all(self, tag: str, **wanted: str) -> list[dict[str, str | None]]:
        return [
            attributes
            for name, attributes in self.elements
            if name == tag and wanted.items() <= attributes.items()
        ]


def report(*paths: Path, labels: tuple[str, ...] = (), title: str = "") -> Page:
    return Page(page.html(read.sheets(paths, labels), title))


def data_of(page: Page) -> Any:
    (text,) = [
        "".join(page.inside["script"][:1])
        for script in page.all("script")
        if script.get("type") == "application/json"
    ]
    return json.loads(text)

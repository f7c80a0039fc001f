# SPDX-License-Identifier: GPL-2.0-or-later
"""Cells of CSV files. Spreadsheets take a text that begins as a formula for a formula."""

from __future__ import annotations

import re
from collections.abc import Iterable

# Also what spreadsheets skip before a formula, and the signs at full width, which they convert.
_FORMULA = re.compile("[\\s\ufeff]*[=+\\-@＝＋－＠]|[\\t\\r\\n]")
_QUOTED = re.compile(r'[",\r\n]')
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?", re.ASCII)


def is_formula(text: str) -> bool:
    """Whether a spreadsheet may compute @text: it begins as a formula and is not just a number."""
    return _FORMULA.match(text) is not None and _NUMBER.fullmatch(text) is None


def cell(text: str) -> str:
    """@text; a formula after an apostrophe, by which spreadsheets take it for text."""
    return f"'{text}" if is_formula(text) else text


def unquoted(text: str) -> str:
    """cell() for CSV without quotes: what would need them is `_`."""
    return cell(_QUOTED.sub("_", text))


def row(values: Iterable[object]) -> list[object]:
    """The cells of a row: numbers and None as they are, texts by cell()."""
    return [cell(value) if isinstance(value, str) else value for value in values]

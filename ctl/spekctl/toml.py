# SPDX-License-Identifier: GPL-2.0-or-later
"""TOML that a user wrote."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from typing import Any

from spekctl.errors import UsageError

# Parts of a dotted key; spek's own keys have at most three. tomllib's time grows with the square of
# their number, so that a key of one MiB would take it hours.
PARTS_MAX = 16
# Of a text: comments and multi-line strings, to skip them, and names that are joined by dots. A
# string that does not end is taken to the end, so that no place is looked at twice.
_NAME = r"""(?:[A-Za-z0-9_-]++|"(?:\\.|[^"\\\n])*+"?|'[^'\n]*+'?)"""
_TOKEN = re.compile(
    r"#[^\n]*+"
    r'|"""(?:\\.|[^\\"]|"(?!""))*+(?:"{3,5})?'
    r"|'''(?:[^']|'(?!''))*+(?:'{3,5})?"
    rf"|(?P<key>{_NAME}(?:[ \t]*+\.[ \t]*+{_NAME})*+)",
    re.DOTALL,
)
_PART = re.compile(_NAME)


def parse(text: str, parse_float: Callable[[str], Any] = float) -> dict[str, Any]:
    """The tables of a text; UsageError says what is wrong with it."""
    _check_keys(text)
    try:
        return tomllib.loads(text, parse_float=parse_float)
    except RecursionError as error:
        raise UsageError("not valid TOML: it is nested too deeply") from error
    # tomllib's own, Python's for an integer that is too long, and Decimal's.
    except (ValueError, ArithmeticError) as error:
        reason = str(error)
        raise UsageError(f"not valid TOML: {reason[:1].lower()}{reason[1:]}") from error


def _check_keys(text: str) -> None:
    """UsageError for a key of too many parts. No value has that many names between dots."""
    for token in _TOKEN.finditer(text):
        key = token["key"]
        if key is None or key.count(".") < PARTS_MAX:
            continue
        parts = sum(1 for _ in _PART.finditer(key))
        if parts > PARTS_MAX:
            raise UsageError(
                f"the key '{key[:20]}...' has {parts:,} parts between its dots; allowed are"
                f" {PARTS_MAX}"
            )

# SPDX-License-Identifier: GPL-2.0-or-later
"""TOML that a user wrote."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from typing import Any

from spekctl.errors import UsageError


def parse(text: str, parse_float: Callable[[str], Any] = float) -> dict[str, Any]:
    """The tables of a text; UsageError says what is wrong with it."""
    try:
        return tomllib.loads(text, parse_float=parse_float)
    except RecursionError as error:
        raise UsageError("not valid TOML: it is nested too deeply") from error
    # tomllib's own, Python's for an integer that is too long, and Decimal's.
    except (ValueError, ArithmeticError) as error:
        reason = str(error)
        raise UsageError(f"not valid TOML: {reason[:1].lower()}{reason[1:]}") from error

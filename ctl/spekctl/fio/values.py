# SPDX-License-Identifier: GPL-2.0-or-later
"""fio's notation of numbers: HOWTO.rst, section "Parameter types"."""

from __future__ import annotations

import re

from spekctl.errors import UsageError
from spekctl.units import LONGEST_NUMBER, U64_MAX

_NUMBER = re.compile(r"(0x[0-9a-f]+|[0-9]+)([a-z]*)", re.ASCII)
_POWERS = {"k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
_NS_PER = {
    **{"us": 10**3, "usec": 10**3, "ms": 10**6, "msec": 10**6, "s": 10**9, "m": 60 * 10**9},
    **{"h": 3600 * 10**9, "d": 86400 * 10**9},
}


def _split(text: str, what: str) -> tuple[int, str]:
    """A number and its unit, in lower case."""
    if text.startswith("("):
        raise UsageError(f"'{text[:40]}' is arithmetic, which is not read; write the {what} itself")
    found = _NUMBER.fullmatch(text.strip().lower())
    if found is None or len(text) > LONGEST_NUMBER:
        raise UsageError(f"'{text[:40]}' is not a {what}")
    return int(found[1], 0 if found[1].startswith("0x") else 10), found[2]


def whole(text: str) -> int:
    """A whole number without a unit."""
    value, unit = _split(text, "whole number")
    if unit or value > U64_MAX:
        raise UsageError(f"'{text}' is not a whole number")
    return value


def size(text: str, kb_base: int = 1024) -> int:
    """A number of bytes, or another one with the same suffixes. k, kb and ki are @kb_base; kib is
    the other one of 1000 and 1024, as fio 3.33 takes it."""
    value, unit = _split(text, "size")
    base = kb_base
    if unit.endswith("ib"):
        base = 1000 if kb_base == 1024 else 1024
    prefix = unit.removesuffix("b").removesuffix("i")
    if prefix and prefix not in _POWERS:
        raise UsageError(f"'{text}' is not a size: the units are k, m, g, t and p")
    value *= base ** _POWERS.get(prefix, 0)
    if value > U64_MAX:
        raise UsageError(f"'{text}' is more than 16 EiB")
    return int(value)


def duration_ns(text: str, default: str) -> int:
    """A time; @default: the unit of a bare number."""
    value, unit = _split(text, "time")
    if (unit or default) not in _NS_PER:
        raise UsageError(f"'{text}' is not a time: the units are us, ms, s, m, h and d")
    value *= _NS_PER[unit or default]
    if value > U64_MAX:
        raise UsageError(f"'{text}' is too long")
    return value


def percent(text: str) -> int:
    """A whole number from 0 to 100, with or without a sign."""
    value = whole(text.strip().removesuffix("%"))
    if value > 100:
        raise UsageError(f"'{text}' is more than 100 per cent")
    return value


def flag(text: str | None) -> bool:
    """A boolean; an option without a value is true."""
    if text is None:
        return True
    if text not in ("0", "1"):
        raise UsageError(f"'{text}' is not 0 or 1")
    return text == "1"

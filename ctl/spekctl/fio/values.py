# SPDX-License-Identifier: GPL-2.0-or-later
"""fio's notation of numbers: HOWTO.rst, section "Parameter types".

A value in parentheses is arithmetic: + - * / of whole or decimal numbers with units, and with more
binding ^ (power) and % (remainder).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction

from spekctl.errors import UsageError
from spekctl.units import LONGEST_NUMBER, U64_MAX

_NUMBER = re.compile(r"(0x[0-9a-f]+|[0-9]+)([a-z]*)", re.ASCII)
_POWERS = {"k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
_NS_PER = {
    **{"us": 10**3, "usec": 10**3, "ms": 10**6, "msec": 10**6, "s": 10**9, "m": 60 * 10**9},
    **{"h": 3600 * 10**9, "d": 86400 * 10**9},
}


# What binds more comes first.
_OPERATORS = (("%",), ("^",), ("*", "/"), ("+", "-"))
_TOKEN = re.compile(r"\s*(0x[0-9a-f]+|[0-9]*\.?[0-9]+|[a-z]+|[-+*/^%()])", re.ASCII)
_POWER_MAX = 64


class _Arithmetic:
    """Evaluates an expression; @unit: the factor of a unit, or UsageError."""

    def __init__(self, text: str, what: str, unit: Callable[[str], int]) -> None:
        self._text, self._what, self._unit = text, what, unit
        self.has_units = False
        self._tokens: list[str] = []
        place, lower = 0, text.lower().rstrip()
        while place < len(lower):
            match = _TOKEN.match(lower, place)
            if match is None:
                raise self._wrong()
            self._tokens.append(match[1])
            place = match.end()

    def value(self) -> Fraction:
        """The value of the whole text."""
        result = self._level(len(_OPERATORS) - 1)
        if self._tokens:
            raise self._wrong()
        return result

    def _level(self, level: int) -> Fraction:
        if level < 0:
            return self._operand()
        left = self._level(level - 1)
        while self._tokens and self._tokens[0] in _OPERATORS[level]:
            sign = self._tokens.pop(0)
            # A power binds from the right.
            right = self._level(level if sign == "^" else level - 1)
            left = self._apply(left, sign, right)
        return left

    def _apply(self, left: Fraction, sign: str, right: Fraction) -> Fraction:
        if sign == "+":
            return left + right
        if sign == "-":
            return left - right
        if sign == "*":
            return left * right
        if sign == "^":
            if right.denominator != 1 or not 0 <= right <= _POWER_MAX or left > U64_MAX:
                raise self._wrong(f"an exponent is a whole number from 0 to {_POWER_MAX}")
            return Fraction(left ** int(right))
        if not right:
            raise self._wrong("it divides by 0")
        if sign == "%":
            return left % right
        whole = left.denominator == right.denominator == 1
        return Fraction(left // right) if whole else left / right

    def _operand(self) -> Fraction:
        if not self._tokens:
            raise self._wrong()
        token = self._tokens.pop(0)
        if token == "-":
            return -self._operand()
        if token == "(":
            operand = self._level(len(_OPERATORS) - 1)
            if not self._tokens or self._tokens.pop(0) != ")":
                raise self._wrong("a parenthesis is not closed")
        elif token.startswith("0x"):
            operand = Fraction(int(token, 16))
        elif token[0] in "0123456789.":
            operand = Fraction(token)
        else:
            raise self._wrong()
        while self._tokens and self._tokens[0].isalpha():
            operand *= self._unit(self._tokens.pop(0))
            self.has_units = True
        return operand

    def _wrong(self, why: str = "write numbers, + - * / % ^ and parentheses") -> UsageError:
        return UsageError(f"'{self._text[:40]}' is not a {self._what}: {why}")


def _calculated(text: str, what: str, unit: Callable[[str], int], bare: int = 1) -> int | None:
    """The value of arithmetic, a fraction cut off; None for anything else. @bare: the factor of an
    expression without units."""
    if not text.startswith("("):
        return None
    if len(text) > LONGEST_NUMBER:
        raise UsageError(f"'{text[:40]}' is not a {what}")
    arithmetic = _Arithmetic(text, what, unit)
    value = arithmetic.value()
    number = int(value if arithmetic.has_units else value * bare)
    if not 0 <= number <= U64_MAX:
        raise UsageError(f"'{text}' is not a {what}: it is {number}")
    return number


def _split(text: str, what: str) -> tuple[int, str]:
    """A number and its unit, in lower case."""
    match = _NUMBER.fullmatch(text.strip().lower())
    if match is None or len(text) > LONGEST_NUMBER:
        raise UsageError(f"'{text[:40]}' is not a {what}")
    return int(match[1], 0 if match[1].startswith("0x") else 10), match[2]


def whole(text: str) -> int:
    """A whole number without a unit."""

    def no_unit(unit: str) -> int:
        raise UsageError(f"'{text}' is not a whole number: it has the unit '{unit}'")

    calculated = _calculated(text, "whole number", no_unit)
    if calculated is not None:
        return calculated
    value, unit = _split(text, "whole number")
    if unit or value > U64_MAX:
        raise UsageError(f"'{text}' is not a whole number")
    return value


def positive(text: str) -> int:
    """A whole number from 1."""
    value = whole(text)
    if not value:
        raise UsageError(f"'{text}' is not a whole number from 1")
    return value


def size(text: str, kb_base: int = 1024) -> int:
    """A number of bytes, or another one with the same suffixes. k, kb and ki are @kb_base; kib is
    the other one of 1000 and 1024, as fio 3.33 takes it."""

    def factor(unit: str) -> int:
        base = kb_base
        if unit.endswith("ib"):
            base = 1000 if kb_base == 1024 else 1024
        prefix = unit.removesuffix("b").removesuffix("i")
        if prefix and prefix not in _POWERS:
            raise UsageError(f"'{text}' is not a size: the units are k, m, g, t and p")
        return int(base ** _POWERS.get(prefix, 0))

    calculated = _calculated(text, "size", factor)
    if calculated is not None:
        return calculated
    value, unit = _split(text, "size")
    value *= factor(unit)
    if value > U64_MAX:
        raise UsageError(f"'{text}' is more than 16 EiB")
    return int(value)


def duration_ns(text: str, default: str) -> int:
    """A time; @default: the unit of a bare number."""

    def factor(unit: str) -> int:
        if unit not in _NS_PER:
            raise UsageError(f"'{text}' is not a time: the units are us, ms, s, m, h and d")
        return _NS_PER[unit]

    calculated = _calculated(text, "time", factor, factor(default))
    if calculated is not None:
        return calculated
    value, unit = _split(text, "time")
    value *= factor(unit or default)
    if value > U64_MAX:
        raise UsageError(f"'{text}' is too long")
    return value


def percent(text: str) -> int:
    """A whole number from 0 to 100, with or without a sign."""
    value = whole(text.strip().removesuffix("%"))
    if value > 100:
        raise UsageError(f"'{text}' is more than 100 per cent")
    return value


def in_zones(text: str | None) -> bool:
    """Whether a size is a number of zones: ``4z``, where the size of a zone is not known."""
    return text is not None and text.endswith("z")


def flag(text: str | None) -> bool:
    """A boolean; an option without a value is true, and so is any number but 0, as in fio."""
    if text is None:
        return True
    number = re.match(r"\s*[0-9]+", text, re.ASCII)
    if number is None or len(text) > LONGEST_NUMBER:
        raise UsageError(f"'{text[:40]}' is not 0 or 1")
    return int(number[0]) != 0


def by_direction(text: str) -> list[str]:
    """The values of reads, writes and discards: ``4k`` is that of all, ``4k,8k`` those of reads and
    of the others, and an empty one is none."""
    parts = [word.strip() for word in text.split(",")]
    return (parts if len(parts) > 2 else [parts[0], parts[-1], parts[-1]])[:3]


def decimal(text: str) -> Fraction:
    """A number from 0 with decimal places."""
    if len(text) > LONGEST_NUMBER or not re.fullmatch(r"[0-9]+(\.[0-9]*)?|\.[0-9]+", text):
        raise UsageError(f"'{text[:40]}' is not a number")
    return Fraction(text)

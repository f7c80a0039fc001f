# SPDX-License-Identifier: GPL-2.0-or-later
"""Exact numbers, rounded once, when they are printed: half up.

The last digit of a published figure can tell it from a wrong one, so no intermediate value is a
float. A measured float enters as the shortest decimal that denotes it.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Annotated

from msgspec import Meta

from spekctl.documents.document import Part

Number = int | Decimal | Fraction
# Short enough for a float, and for Python's limit on the digits of a whole number.
_DECIMAL = Meta(pattern=r"^-?[0-9]+(\.[0-9]+)?$", max_length=300)
_FRACTION = Meta(pattern=r"^-?[0-9]+(/[1-9][0-9]*)?$", max_length=4000)

Given = Annotated[str, Meta(description="A decimal as it was given or measured."), _DECIMAL]


class Figure(Part, frozen=True):
    """A derived number."""

    text: Annotated[str, Meta(description="Rounded half up, as it is printed."), _DECIMAL]
    exact: Annotated[str, Meta(description="The same unrounded, a whole number or a/b."), _FRACTION]

    @property
    def fraction(self) -> Fraction:
        """The unrounded value."""
        return Fraction(self.exact)


def of_float(value: float) -> Fraction:
    """A measured number as the decimal that it is written as."""
    return Fraction(repr(value))


def measured_number(value: float) -> Fraction:
    """The same as reports write it: what is computed from a report is what it says."""
    return Fraction(decimal_text(of_float(value)))


def rounded(value: Fraction, decimals: int) -> str:
    """@value with this number of decimals; halves are rounded away from 0."""
    scale = 10**decimals
    whole = (2 * abs(value.numerator) * scale + value.denominator) // (2 * value.denominator)
    digits = f"{whole:0{decimals + 1}}"
    sign = "-" if value < 0 and whole else ""
    return sign + (f"{digits[:-decimals]}.{digits[-decimals:]}" if decimals else digits)


def figure(value: Fraction, decimals: int) -> Figure:
    """@value as it is printed and as it is."""
    return Figure(rounded(value, decimals), str(value))


def decimal_text(value: Fraction) -> str:
    """@value in full where it has an end within 12 decimals, else rounded to them."""
    return (rounded(value, 12).rstrip("0").rstrip(".")) or "0"

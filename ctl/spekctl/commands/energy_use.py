# SPDX-License-Identifier: GPL-2.0-or-later
"""Options of energy tests that compute a year: the price of a kWh and the hours of use."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from spekctl.errors import UsageError

if TYPE_CHECKING:
    from spekctl.campaigns.usage import Hours

IDLE_NS = 10 * 60 * 10**9
QUICK_IDLE_NS = 10 * 10**9


def price_of(text: str | None) -> Fraction | None:
    """What --price says."""
    from spekctl.campaigns.inputs import fraction_of

    price = fraction_of(text, "--price") if text is not None else None
    if price is not None and price < 0:
        raise UsageError(f"--price must be 0 or more, not {text}")
    return price


def hours_of(texts: tuple[str, ...]) -> dict[str, Hours]:
    """The hours that were given, by profile."""
    from spekctl.campaigns.inputs import fraction_of
    from spekctl.campaigns.usage import PROFILES, Hours, day_fault
    from spekctl.suggest import did_you_mean

    found: dict[str, Hours] = {}
    for text in texts:
        name, _, numbers = text.partition("=")
        if name not in PROFILES:
            raise UsageError(
                f"--hours {text}: no profile is called '{name}'{did_you_mean(name, PROFILES)}"
                f" (they are {', '.join(PROFILES)})"
            )
        parts = [fraction_of(part, f"--hours {text}") for part in numbers.split("/")]
        if len(parts) != 3:
            raise UsageError(
                f"--hours {text}: write hours at heavy/moderate/idle load, for example"
                f" {name}=4/14/6"
            )
        found[name] = Hours(*parts)
        if fault := day_fault(found[name]):
            raise UsageError(f"--hours {text}: {fault}")
    return found


def idle_length_ns(given_ns: int | None, quick: bool) -> int:
    """Length of the idle test; UsageError for none."""
    if given_ns == 0:
        raise UsageError("--idle-time must be more than 0")
    return given_ns if given_ns is not None else QUICK_IDLE_NS if quick else IDLE_NS

# SPDX-License-Identifier: GPL-2.0
"""A table or figure of a paper beside what comes out here: verdict, rule and reason.

Papers 003 and 004 are judged where they are simulated; here are the rules of the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from bench.paper004.claims import NO, OPEN, PARTLY, YES, Claim, verdict

__all__ = ["NO", "OPEN", "PARTLY", "YES", "Claim", "counts", "near", "no_figure", "verdict"]

VERDICTS = (YES, PARTLY, NO, OPEN)
NOT_HERE = "not drawn again"


def counts(claims: Iterable[Claim]) -> dict[str, int]:
    """How many claims have each verdict, in the order of VERDICTS."""
    counted = Counter(claim.verdict for claim in claims)
    return {word: counted[word] for word in VERDICTS}


def near(paper: Sequence[float], here: Sequence[float], tolerances: Sequence[float]) -> str:
    """The verdict on numbers that each have a tolerance of their own."""
    pairs = zip(paper, here, tolerances, strict=True)
    return verdict(*(abs(wanted - got) <= most for wanted, got, most in pairs))


def no_figure(place: str, what: str, paper: str, reason: str) -> Claim:
    """A figure that is not drawn again."""
    return Claim(place, what, paper, NOT_HERE, "needs a measurement", OPEN, reason)

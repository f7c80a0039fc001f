# SPDX-License-Identifier: GPL-2.0-or-later
"""The rule by which a claim of paper 003 is judged: its order first, then its sizes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import msgspec

from spekctl.documents.drive import Claim

# A number of the paper, and a step between two of them, is met within this factor.
WITHIN = 1.25
# "Break even", "nearly match" and "comparable": the paper reads these off its figures.
EVEN = 1.15
# "Severe loss", "large benefit", "significant boost".
LARGE = 1.5
# "An order of magnitude".
MAGNITUDE = 8.0

# Fitted to the watts that the paper publishes for arrays, so agreement with them proves nothing.
FITTED = "isca08-watts"

RULE = (
    "yes: the order of the paper, and its sizes; partly: the order alone; no: another order."
    f" Sizes are met where each number, and each step from one to the next, is within a factor of"
    f" {WITHIN:g} of the paper's. Words stand for factors: even, nearly and comparable are up to"
    f" {EVEN:g}, large, severe and significant from {LARGE:g}, an order of magnitude from"
    f" {MAGNITUDE:g}. A claim that is only an order is yes or no."
)


@dataclass(frozen=True, slots=True)
class Judgement:
    """Whether a claim holds; None: that cannot be told. @partly: its order does, its sizes not."""

    holds: bool | None
    partly: bool = False


def judge(order: bool, sizes: bool) -> Judgement:
    """A claim of an order and of sizes."""
    return Judgement(order and sizes, partly=order and not sizes)


def numbers(paper: Sequence[float], here: Sequence[float]) -> Judgement:
    """Numbers of the paper beside the simulated ones, which are in the same sequence."""
    pairs = list(combinations(range(len(paper)), 2))
    order = all(
        (here[a] < here[b]) == (paper[a] < paper[b])
        and (here[a] > here[b]) == (paper[a] > paper[b])
        for a, b in pairs
    )
    sizes = [*zip(paper, here, strict=True)]
    steps = [
        (abs(after[0] - before[0]), abs(after[1] - before[1])) for before, after in pairwise(sizes)
    ]
    return judge(order, all(_near(*pair) for pair in [*sizes, *steps]))


def _near(paper: float, here: float) -> bool:
    return paper / WITHIN <= here <= paper * WITHIN


def gain(factor: float, wanted: float = LARGE) -> Judgement:
    """A gain by @factor, which the paper calls one by @wanted or more."""
    return judge(factor > 1, factor >= wanted)


def built_in(judgement: Judgement) -> Judgement:
    """A claim that the model was made to fulfil: that it holds proves nothing."""
    return Judgement(None) if judgement.holds else judgement


def claim(
    place: str, what: str, paper: str, shown: str, judgement: Judgement, remark: str = ""
) -> Claim:
    """A claim with its judgement."""
    return Claim(place, what, paper, shown, judgement.holds, remark, judgement.partly)


def of_profile(profile: str, claims: Iterable[Claim]) -> Iterator[Claim]:
    """Claims on the watts of a power profile; those of FITTED are reported, not judged."""
    for each in claims:
        if profile == FITTED:
            remark = "; ".join(filter(None, ("a fit to the watts of the paper", each.remark)))
            yield msgspec.structs.replace(each, holds=None, partly=False, remark=remark)
        else:
            yield each

# SPDX-License-Identifier: GPL-2.0
"""The rule of a claim: its order first, then its sizes."""

from __future__ import annotations

import pytest

from spekctl.campaigns.paper003.judgement import (
    LARGE,
    MAGNITUDE,
    WITHIN,
    Judgement,
    gain,
    judge,
    numbers,
)


@pytest.mark.parametrize(
    ("paper", "here", "judgement"),
    [
        ((2.0, 6.0), (1.7, 5.7), Judgement(True)),
        ((2.0, 6.0), (1.7, 3.7), Judgement(False, partly=True)),
        ((2.0, 6.0), (1.7, 1.7), Judgement(False)),
        ((2.0, 6.0), (float("nan"), 6.0), Judgement(False)),
        ((4.0, 4.0), (4.0, 4.1), Judgement(False)),
    ],
)
def test_numbers_need_their_order_and_their_steps(
    paper: tuple[float, ...], here: tuple[float, ...], judgement: Judgement
) -> None:
    assert numbers(paper, here) == judgement


@pytest.mark.parametrize(
    ("factor", "holds"),
    [(WITHIN, True), (WITHIN + 0.01, False), (1 / WITHIN, True), (1 / WITHIN - 0.01, False)],
)
def test_a_number_is_met_within_a_factor(factor: float, holds: bool) -> None:
    assert numbers((8.0,), (8.0 * factor,)) == Judgement(holds, partly=not holds)


@pytest.mark.parametrize("wanted", [LARGE, MAGNITUDE])
def test_a_gain_that_is_smaller_holds_in_part(wanted: float) -> None:
    assert gain(wanted, wanted) == Judgement(True)
    assert gain(wanted - 0.1, wanted) == Judgement(False, partly=True)
    assert gain(1.0, wanted) == gain(float("nan"), wanted) == Judgement(False)


def test_sizes_without_the_order_are_nothing() -> None:
    assert judge(False, True) == judge(False, False) == Judgement(False)

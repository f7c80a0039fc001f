# SPDX-License-Identifier: GPL-2.0
"""I/Os in flight at the end of the measure phase, as lower bounds of response times."""

from __future__ import annotations

from lib.ctl import frozen

from spekctl.documents import unanswered

SECOND = 10**9


def test_a_sentence_counts_and_says_for_how_long() -> None:
    assert unanswered.sentence(1, 2 * SECOND) == (
        "1 I/O had not been answered for up to 2.00 s when the measurement ended"
    )
    assert unanswered.sentence(1234, 17e6).startswith("1,234 I/Os had not been answered for up to")


def test_ages_are_those_of_all_cells() -> None:
    contents = frozen.result([SECOND, 3 * SECOND], ios=100, seconds=60, silent=3)
    ages = unanswered.ages_of(contents.cells)
    assert ages is not None and (ages.sum_ns, ages.max_ns) == (4 * SECOND, 3 * SECOND)
    assert unanswered.ages_of(frozen.result([], ios=100, seconds=60, silent=0).cells) is None

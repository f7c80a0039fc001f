# SPDX-License-Identifier: GPL-2.0
"""What is done again and again beside a run, and what becomes of it if a disk hangs or fails."""

from __future__ import annotations

import threading
import time
from itertools import pairwise

import pytest
from lib.waiting import LONG_S, eventually

from spekctl.errors import SpekError
from spekctl.run import rounds
from spekctl.run.rounds import Rounds

HOUR_NS = 3600 * 10**9


def test_the_first_round_is_over_when_it_has_started_and_the_last_when_it_is_closed() -> None:
    done: list[int] = []
    repeated = Rounds(lambda: done.append(1), HOUR_NS, "x")
    assert repeated.start()
    assert len(done) == 1
    repeated.end()
    repeated.close()
    repeated.close()
    assert len(done) == 2
    assert repeated.failure is None and not repeated.is_held_up


def test_only_the_round_after_the_end_is_the_last() -> None:
    """One that began before may still be under way when the end comes."""
    is_last: list[bool] = []
    is_ended = threading.Event()

    def work() -> None:
        if is_last:
            assert is_ended.wait(LONG_S)
        is_last.append(repeated.is_last)

    repeated = Rounds(work, 1, "x")
    repeated.start()
    repeated.end()
    is_ended.set()
    repeated.close()
    assert is_last[0] is False and is_last[-1] is True
    assert is_last.count(True) == 1


def test_rounds_follow_at_their_interval() -> None:
    times: list[float] = []
    repeated = Rounds(lambda: times.append(time.monotonic()), 20 * 10**6, "x")
    repeated.start()
    eventually(lambda: len(times) > 3, "no rounds")
    repeated.close()
    # The last one comes at once.
    gaps = [after - before for before, after in pairwise(times[:-1])]
    assert min(gaps) >= 0.02


@pytest.mark.parametrize("failure", [SpekError("refused"), OSError("gone")])
def test_a_failure_ends_them(failure: SpekError | OSError) -> None:
    def fail() -> None:
        raise failure

    repeated = Rounds(fail, 1, "x")
    assert repeated.start()
    repeated.close()
    assert repeated.failure is failure


def test_a_round_that_hangs_holds_up_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "PATIENCE_S", 0.05)
    answer = threading.Event()

    def hang() -> None:
        answer.wait(LONG_S)

    repeated = Rounds(hang, HOUR_NS, "x")
    assert not repeated.start()
    repeated.close()
    assert repeated.is_held_up
    answer.set()

# SPDX-License-Identifier: GPL-2.0
"""Hosts are asked for their status while something else is awaited of them."""

from __future__ import annotations

import time
from concurrent.futures import Future
from typing import cast

from spekctl.fleet.carrier import Engine
from spekctl.fleet.patience import Patience
from spekctl.fleet.polls import Polls
from spekctl.fleet.wire import Verb

PATIENCE = Patience(status_s=1.0, again_s=5.0, look_s=0.2)


class FakeEngine:
    """Notes the questions, and answers those to hosts that are not slow."""

    def __init__(self, slow: frozenset[str] = frozenset()) -> None:
        self.slow = slow
        self.asked: list[str] = []

    def call(self, name: str, verb: Verb, payload: bytes) -> Future[bytes]:
        assert (verb, payload) == (Verb.STATUS, b"who")
        self.asked.append(name)
        future: Future[bytes] = Future()
        if name not in self.slow:
            future.set_result(b"")
        return future

    def taken(self) -> list[str]:
        asked, self.asked = self.asked, []
        return asked


def polls_of(engine: FakeEngine) -> tuple[Polls, float]:
    polls = Polls(cast(Engine, engine), ["a", "b"], b"who", PATIENCE)
    return polls, time.monotonic()


def test_all_are_asked_when_it_is_time() -> None:
    engine = FakeEngine()
    polls, start_s = polls_of(engine)
    polls.ask_if_due(start_s)
    assert engine.taken() == []
    polls.ask_if_due(start_s + 1)
    assert engine.taken() == ["a", "b"]
    polls.ask_if_due(start_s + 1.9)
    assert engine.taken() == []
    polls.ask_if_due(start_s + 2.5)
    assert engine.taken() == ["a", "b"]


def test_questions_do_not_pile_up_at_a_slow_host() -> None:
    engine = FakeEngine(frozenset({"b"}))
    polls, start_s = polls_of(engine)
    asked = []
    for second in range(1, 13):
        polls.ask_if_due(start_s + second)
        asked.append("b" in engine.taken())
    assert [second for second, is_asked in enumerate(asked, start=1) if is_asked] == [1, 6, 11]


def test_how_often_it_looks() -> None:
    assert polls_of(FakeEngine())[0].look_s == 0.2
    often = Polls(cast(Engine, FakeEngine()), [], b"who", Patience(status_s=0.1, look_s=0.2))
    assert often.look_s == 0.1

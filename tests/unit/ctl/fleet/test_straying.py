# SPDX-License-Identifier: GPL-2.0
"""A clock that leaves max_skew is noticed by the time in the answers of its host."""

from __future__ import annotations

from concurrent.futures import Future
from typing import cast

import pytest

from spekctl.fleet import wire
from spekctl.fleet.carrier import Engine
from spekctl.fleet.straying import Straying
from spekctl.fleet.wire import Phase, State, Verb
from spekctl.run.beside import View

MS = 10**6


class Host:
    """Answers when told to, and shows what the controller says of it."""

    def __init__(self) -> None:
        self.now_ns = 10**18
        self.notes: list[str] = []
        self.asked: list[Future[bytes]] = []

    def call(self, name: str, verb: Verb, payload: bytes) -> Future[bytes]:
        assert (name, verb, payload) == ("a", Verb.STATUS, b"who")
        self.asked.append(Future())
        return self.asked[-1]

    def answer(self, off_ns: int, trip_ns: int = 2 * MS) -> None:
        """Half way through @trip_ns, by a clock that is off by @off_ns."""
        state = State(Phase.RUNNING, self.now_ns + trip_ns // 2 + off_ns)
        self.now_ns += trip_ns
        self.asked[-1].set_result(wire.encode({"answer": state}))

    def note(self, text: str) -> None:
        self.notes.append(text)


def of_host() -> tuple[Host, Straying]:
    host = Host()
    straying = Straying(cast(Engine, host), lambda: cast(View, host), lambda: host.now_ns)
    return host, straying


def seen(host: Host, straying: Straying, off_ns: int, allowed_ns: int | None = 5 * MS) -> None:
    future = straying.ask("a", b"who")
    host.answer(off_ns)
    host.now_ns += 60 * 10**9  # who sees the answer may be late
    straying.see("a", future, allowed_ns, 3.25)


@pytest.mark.parametrize(
    ("off_ns", "sentence"),
    [(8 * MS, "7.00 ms or more ahead of"), (-9 * MS, "8.00 ms or more behind")],
)
def test_a_clock_that_is_plainly_wrong_is_told_with_its_time(off_ns: int, sentence: str) -> None:
    host, straying = of_host()
    seen(host, straying, off_ns)
    assert straying.texts["a"].startswith(f"at 3.2 s its clock is {sentence} the controller's")
    assert host.notes == [f"a: {straying.texts['a']}"]


@pytest.mark.parametrize("off_ns", [0, 6 * MS, -6 * MS])
def test_what_the_round_trip_may_explain_is_not_wrong(off_ns: int) -> None:
    host, straying = of_host()
    seen(host, straying, off_ns)
    assert not straying.texts and not host.notes


def test_without_max_skew_nothing_is_judged() -> None:
    host, straying = of_host()
    seen(host, straying, 3600 * 10**9, None)
    assert not straying.texts


def test_it_is_told_once_in_a_run() -> None:
    host, straying = of_host()
    for _ in range(3):
        seen(host, straying, 8 * MS)
    assert len(host.notes) == 1
    straying.begin()
    assert not straying.texts
    seen(host, straying, 8 * MS)
    assert len(host.notes) == 2 and len(straying.texts) == 1


def test_a_refused_question_says_nothing_of_the_clock() -> None:
    _, straying = of_host()
    future = straying.ask("a", b"who")
    future.set_exception(OSError("the host is gone"))
    straying.see("a", future, 5 * MS, 1.0)
    assert not straying.texts

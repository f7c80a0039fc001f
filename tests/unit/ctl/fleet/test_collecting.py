# SPDX-License-Identifier: GPL-2.0
"""Results of hosts as they come: in pieces, slowly, or not at all."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lib.fakes.fleet_coordinator import Clock

from spekctl.errors import HostLostError, SpekError
from spekctl.fleet import collecting, wire
from spekctl.fleet.collecting import Collecting
from spekctl.fleet.patience import Patience
from spekctl.fleet.wire import Collected, Verb

RUN = "r-1"
# A status question at each look, which is a second of the hosts' clock.
PATIENCE = Patience(collect_s=60.0, status_s=0.0, look_s=1.0)


@dataclass
class Host:
    """A host whose answers take @pace_s each; @gives: how many of them it gives."""

    document: bytes
    pace_s: float = 0.0
    gives: int = 1 << 30
    head: Collected | None = None
    piece: Any = None
    asked: list[int] = field(default_factory=list)  # where the pieces begin

    def answer(self, verb: str, payload: bytes) -> Any:
        if verb == Verb.RESULT:
            if self.head is not None:
                return self.head
            if len(self.document) <= wire.PIECE_BYTES:
                return Collected(0, "done", None, msgspec.Raw(self.document))
            return Collected(0, "done", None, more_bytes=len(self.document))
        asked = wire.decode(payload, wire.OfPiece)
        assert asked.run == RUN
        self.asked.append(asked.start)
        if self.piece is not None:
            return self.piece
        return wire.Piece(self.document[asked.start : asked.start + wire.PIECE_BYTES])


class Hosts:
    """An engine; each status question of the first host is a second of time."""

    def __init__(self, clock: Clock, **hosts: Host) -> None:
        self.named = hosts
        self.clock = clock
        self.polls = 0
        self.pause_at = 0  # number of the poll at which the controller stands still
        self.due: list[tuple[float, Future[bytes], Any]] = []

    def call(self, host: str, verb: str, payload: bytes) -> Future[bytes]:
        future: Future[bytes] = Future()
        if verb == Verb.STATUS:
            if host == next(iter(self.named)):
                self._pass()
            # It is asked again at the next look.
            future.set_result(b"")
            return future
        fake = self.named[host]
        if fake.gives:
            fake.gives -= 1
            due_s = self.clock.now_s + fake.pace_s
            self.due.append((due_s, future, fake.answer(verb, payload)))
            self._answer()
        return future

    def _pass(self) -> None:
        self.polls += 1
        self.clock.now_s += 3600 if self.polls == self.pause_at else 1
        self._answer()

    def _answer(self) -> None:
        due = [each for each in self.due if each[0] <= self.clock.now_s]
        self.due = [each for each in self.due if each[0] > self.clock.now_s]
        for _, future, value in due:
            if isinstance(value, Exception):
                future.set_exception(value)
            else:
                future.set_result(wire.encode({"answer": value}))

    def collect(
        self, is_enough: Callable[[], bool] = lambda: False, notes: list[str] | None = None
    ) -> dict[str, Collected | SpekError]:
        engine: Any = self
        note = notes.append if notes is not None else lambda text: None
        return Collecting(engine, PATIENCE, RUN, note).of(list(self.named), is_enough)


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    now = Clock()
    monkeypatch.setattr(collecting, "time", now)
    monkeypatch.setattr("spekctl.fleet.polls.time", now)
    monkeypatch.setattr(wire, "PIECE_BYTES", 1000)
    return now


def document_of(size: int) -> bytes:
    return b'"' + b"x" * (size - 2) + b'"'


def text_of(result: Collected | SpekError) -> str:
    assert isinstance(result, SpekError)
    return result.message


@given(st.lists(st.integers(2, 5000), min_size=1, max_size=4))
def test_results_come_whole_whatever_their_size(sizes: list[int]) -> None:
    hosts = {f"h{number}": Host(document_of(size)) for number, size in enumerate(sizes)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wire, "PIECE_BYTES", 1000)
        results = Hosts(Clock(), **hosts).collect()
    for name, host in hosts.items():
        result = results[name]
        assert isinstance(result, Collected) and result.more_bytes == 0
        assert bytes(result.document) == host.document and result.text == "done"
        expected = list(range(0, len(host.document), 1000))
        assert host.asked == (expected if len(host.document) > 1000 else [])


def test_a_slow_result_is_waited_for_as_long_as_data_come(clock: Clock) -> None:
    host = Host(document_of(9500), pace_s=55)
    notes: list[str] = []
    begun_s = clock.now_s
    (result,) = Hosts(clock, a=host).collect(notes=notes).values()
    assert isinstance(result, Collected) and bytes(result.document) == host.document
    assert clock.now_s - begun_s >= 11 * 55
    assert "collecting: 0 of 1 results are here; 1.95 KiB of those of a" in notes


def test_a_host_that_stops_giving_data_is_named_with_what_it_gave(clock: Clock) -> None:
    hosts = Hosts(clock, a=Host(document_of(5000), gives=3), b=Host(document_of(700)))
    results = hosts.collect()
    said = "it has given 2,000 of 5,000 bytes of it, and nothing more for 60 s"
    assert text_of(results["a"]) == said
    assert isinstance(results["a"], HostLostError) and isinstance(results["b"], Collected)


def test_a_host_that_gives_nothing_is_waited_for_while_data_of_others_come(clock: Clock) -> None:
    """As the controller's network may be what is slow."""
    hosts = Hosts(clock, a=Host(document_of(700), pace_s=201), b=Host(document_of(5000), pace_s=50))
    results = hosts.collect()
    assert all(isinstance(result, Collected) for result in results.values())
    hosts = Hosts(clock, a=Host(b"1", gives=0), b=Host(document_of(5000), pace_s=50))
    assert text_of(hosts.collect()["a"]) == "it has given nothing of it for 360 s"


def test_a_controller_that_stood_still_blames_no_host(clock: Clock) -> None:
    hosts = Hosts(clock, a=Host(document_of(700), pace_s=3630))
    hosts.pause_at = 5
    assert isinstance(hosts.collect()["a"], Collected)


def test_ctrl_c_ends_the_wait(clock: Clock) -> None:
    hosts = Hosts(clock, a=Host(document_of(5000), gives=3), b=Host(b"1", gives=0))
    results = hosts.collect(lambda: hosts.polls >= 9)
    assert hosts.polls == 9
    interrupted = "when the collecting was interrupted"
    assert text_of(results["a"]) == f"it had given 2,000 of 5,000 bytes of it {interrupted}"
    assert text_of(results["b"]) == f"it had given nothing of it {interrupted}"


LARGE = Collected(0, "done", None, more_bytes=1500)


@pytest.mark.parametrize(
    ("host", "sentence"),
    [
        (Host(b"", head=LARGE, piece=wire.Piece(b"")), "it sent a piece of 0 bytes"),
        (Host(b"", head=LARGE, piece=wire.Piece(b"x" * 1001)), "it sent a piece of 1,001 bytes"),
        (Host(b"[" * 1500), "it is damaged: "),
        (
            Host(b"", head=Collected(0, "done", None, more_bytes=(1 << 30) + 1)),
            "it has 1,073,741,825 bytes; at most 1,073,741,824 are taken",
        ),
        (
            Host(b"", head=LARGE, piece=HostLostError("its connection has ended")),
            "its connection has ended",
        ),
    ],
)
def test_what_is_no_result_is_told(clock: Clock, host: Host, sentence: str) -> None:
    results = Hosts(clock, a=host, b=Host(document_of(1500))).collect()
    assert text_of(results["a"]).startswith(sentence)
    assert isinstance(results["b"], Collected)

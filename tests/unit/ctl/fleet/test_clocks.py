# SPDX-License-Identifier: GPL-2.0
"""Clocks of hosts by messages: how far they are apart, and which will not do."""

from __future__ import annotations

import concurrent.futures
import threading
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future
from typing import Any

import pytest

from spekctl.errors import HostLostError, SpekError
from spekctl.fleet import clocks, wire
from spekctl.fleet.clock import Bound
from spekctl.fleet.clocks import HostClocks, Skew
from spekctl.fleet.wire import Verb

SECOND = 10**9
MS = 10**6
CHRONY = Bound(MS, "chrony")


class Network:
    """Hosts whose answers take @trips_ns in turn, half of it each way; @off_ns: of their clocks."""

    def __init__(self, trips_ns: Sequence[int], off_ns: dict[str, int]) -> None:
        self.now_ns = 10**18
        self.trips_ns = trips_ns
        self.off_ns = off_ns
        self.asked: list[tuple[str, str]] = []

    def call(self, host: str, verb: str, payload: bytes) -> Future[bytes]:
        future: Future[bytes] = Future()
        trip_ns = self.trips_ns[len(self.asked) % len(self.trips_ns)]
        self.asked.append((host, verb))
        self.now_ns += trip_ns // 2
        theirs_ns = self.now_ns + self.off_ns[host]
        future.set_result(wire.encode({"answer": wire.Pong(theirs_ns, theirs_ns)}))
        self.now_ns += trip_ns - trip_ns // 2
        return future

    def measured(self) -> HostClocks:
        measured = HostClocks(lambda: self.now_ns)
        measured.measure(list(self.off_ns), self.call, lambda pending: None)
        return measured


def wait_for_all(pending: Collection[Future[Any]]) -> None:
    concurrent.futures.wait(pending, 60)


def test_the_shortest_round_trip_tells_most() -> None:
    network = Network([9 * MS, 4 * MS, 2 * MS, 6 * MS, 8 * MS], {"a": 5 * SECOND})
    assert network.measured().skew("a") == Skew(5 * SECOND, MS)
    assert network.asked == [("a", Verb.PING)] * clocks.PINGS


def test_a_skew_is_that_of_the_last_measurement() -> None:
    """However short the round trips of earlier ones were: a clock drifts."""
    network = Network([2 * MS] * clocks.PINGS + [8 * MS] * clocks.PINGS, {"a": 0})
    measured = network.measured()
    network.off_ns["a"] = SECOND
    measured.measure(["a"], network.call, lambda pending: None)
    assert measured.skew("a") == Skew(SECOND, 4 * MS)


def test_each_host_has_its_own() -> None:
    measured = Network([2 * MS], {"a": 7, "b": -3 * SECOND}).measured()
    assert (measured.skew("a").ns, measured.skew("b").ns) == (7, -3 * SECOND)


def test_an_answer_whose_time_is_not_noted_yet_is_waited_for() -> None:
    """A future wakes those that wait for it before it calls back."""
    network = Network([2 * MS], {"a": 7})

    class Late(Future[bytes]):
        def add_done_callback(self, tell: Callable[[Future[bytes]], object]) -> None:
            threading.Timer(0.02, tell, (self,)).start()

    def call(host: str, verb: str, payload: bytes) -> Future[bytes]:
        future = Late()
        future.set_result(network.call(host, verb, payload).result())
        return future

    measured = HostClocks(lambda: network.now_ns)
    measured.measure(["a"], call, wait_for_all)
    assert measured.skew("a") == Skew(7, MS)


def test_a_large_fleet_is_asked_in_groups() -> None:
    """A round trip is that of a message, not the wait for all others."""
    names = [f"h{number}" for number in range(2 * clocks.TOGETHER + 1)]
    network = Network([2 * MS], dict.fromkeys(names, 7))
    waited: list[int] = []
    measured = HostClocks(lambda: network.now_ns)
    measured.measure(names, network.call, lambda pending: waited.append(len(pending)))
    assert waited == [clocks.TOGETHER, clocks.TOGETHER, 1] * clocks.PINGS
    assert [measured.skew(name) for name in names] == [Skew(7, MS)] * len(names)
    assert 0 < measured.worst_s < measured.round_s


def test_who_does_not_answer_is_named() -> None:
    with pytest.raises(HostLostError, match=r"^a: it has not answered in time$"):
        HostClocks().measure(["a"], lambda *asked: Future(), lambda pending: None)


def test_who_refuses_is_named_with_its_own_error() -> None:
    def call(host: str, verb: str, payload: bytes) -> Future[bytes]:
        future: Future[bytes] = Future()
        future.set_exception(SpekError("it is broken"))
        return future

    with pytest.raises(SpekError, match=r"^b: it is broken$") as refusal:
        HostClocks().measure(["b"], call, lambda pending: None)
    assert not isinstance(refusal.value, HostLostError)


@pytest.mark.parametrize(
    ("off_ns", "allowed_ns", "bound", "sentence"),
    [
        (0, None, Bound(None, "no chrony"), ""),
        (clocks.PLAINLY_WRONG_NS + MS, None, CHRONY, ""),
        (clocks.PLAINLY_WRONG_NS + MS + 1, None, CHRONY, "or more ahead of the controller's"),
        (-SECOND, None, CHRONY, "its clock is 999 ms or more behind the controller's"),
        (2 * MS, MS, CHRONY, ""),
        (2 * MS + 1, MS, CHRONY, "its clock is 1.00 ms or more ahead of"),
        (0, MS, CHRONY, ""),
        (0, MS, Bound(MS + 1, "ntp"), "its clock may be off by 1.00 ms (ntp), and the plan has"),
        (0, MS, Bound(None, "no chrony"), "the error of its clock is unknown (no chrony)"),
    ],
)
def test_which_clock_will_do(
    off_ns: int, allowed_ns: int | None, bound: Bound, sentence: str
) -> None:
    """Round trips of 2 ms leave 1 ms unknown."""
    refusal = Network([2 * MS], {"a": off_ns}).measured().refusal("a", bound, allowed_ns)
    assert sentence in refusal and bool(sentence) == bool(refusal)

# SPDX-License-Identifier: GPL-2.0-or-later
"""The clocks of all hosts, measured by messages, and whether they are good enough for a run.

A message and its answer show the difference of two clocks to within half a round trip, which is
enough to detect a clock that is plainly wrong. The error bound of a clock comes from its host
(clock.py).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from spekctl import units
from spekctl.errors import SpekError
from spekctl.fleet import carrier, wire
from spekctl.fleet.clock import Bound
from spekctl.fleet.wire import Verb

PINGS = 5
# The same after the run, which no start follows.
PINGS_AFTER = 2
# Hosts that are asked at the same time. With all hosts of a large fleet, a round trip would mostly
# be the time in which this process reads the answers of the hosts before.
TOGETHER = 32
# A difference that refuses a host even without max_skew.
PLAINLY_WRONG_NS = 500_000_000
REMEDY = "synchronize both with chrony or PTP"

Call = Callable[[str, str, bytes], Future[bytes]]
# Waits for these futures, up to the caller's time limit.
Wait = Callable[[Collection[Future[Any]]], None]


@dataclass(frozen=True, slots=True)
class Skew:
    """A clock minus the controller's, known to @bound_ns either way."""

    ns: int
    bound_ns: int


class _Moment(NamedTuple):
    """A time on the controller's clocks."""

    real_ns: int
    mono_s: float


def _plainly_wrong(skew: Skew, allowed_ns: int | None) -> str:
    """How far a clock is off, at least, if that is more than is allowed; else empty."""
    seen_ns = abs(skew.ns) - skew.bound_ns
    if seen_ns <= (allowed_ns if allowed_ns is not None else PLAINLY_WRONG_NS):
        return ""
    side = "ahead of" if skew.ns > 0 else "behind"
    return f"its clock is {units.format_ns(seen_ns)} or more {side} the controller's"


def wrong_at(told_ns: int, sent_ns: int, came_ns: int, allowed_ns: int | None) -> str:
    """How far a clock is off, at least, if that is more than is allowed; else empty. @told_ns: its
    time, by an answer that came at @came_ns to a question sent at @sent_ns."""
    half_ns = max(0, came_ns - sent_ns) // 2
    return _plainly_wrong(Skew(told_ns - sent_ns - half_ns, half_ns), allowed_ns)


class HostClocks:
    """@real_ns: the controller's clock."""

    def __init__(self, real_ns: Callable[[], int] = time.time_ns) -> None:
        self._real_ns = real_ns
        self._skews: dict[str, Skew] = {}
        self.worst_s = 0.0  # longest round trip to a connected host
        self.round_s = 0.0  # longest time to ask all hosts

    def measure(
        self,
        hosts: Collection[str],
        call: Call,
        wait: Wait,
        rounds: int = PINGS,
        missing: set[str] | None = None,
    ) -> None:
        """Measure the clocks and round trips of all hosts; SpekError names a host that does not
        answer before @wait returns, unless @missing takes those. Skews of an earlier measurement
        are dropped, however short their round trips were: clocks drift, and are set."""
        names = list(hosts)
        for name in names:
            self._skews.pop(name, None)
        for number in range(rounds):
            begun_s = time.monotonic()
            for first in range(0, len(names), TOGETHER):
                group = names[first : first + TOGETHER]
                if missing:
                    group = [name for name in group if name not in missing]
                worst_s = self._ask(group, call, wait, missing)
                # The first round opens the connections, which the start does not have to.
                if number:
                    self.worst_s = max(self.worst_s, worst_s)
            if number:
                self.round_s = max(self.round_s, time.monotonic() - begun_s)

    def _ask(
        self, hosts: Collection[str], call: Call, wait: Wait, missing: set[str] | None
    ) -> float:
        """Ask these hosts at the same time. Return: the longest round trip, s."""
        sent: dict[str, _Moment] = {}
        came: dict[str, Future[_Moment]] = {}
        pending = {}
        for name in hosts:
            sent[name] = self._now()
            came[name] = Future()
            pending[name] = call(name, Verb.PING, b"null")
            pending[name].add_done_callback(partial(self._note, came[name]))
        # A waiter for the answer itself could wake before _note() has taken the time.
        wait(came.values())
        worst_s = 0.0
        for name, future in pending.items():
            try:
                pong: wire.Pong = carrier.answer(future, wire.Pong)
            except SpekError as error:
                if missing is not None:
                    missing.add(name)
                    continue
                error.say(f"{name}: {error.message}")
                raise
            left, arrived = sent[name], came[name].result()
            worst_s = max(worst_s, arrived.mono_s - left.mono_s)
            self._take(name, pong, left.real_ns, arrived.real_ns)
        return worst_s

    def known(self, name: str) -> Skew | None:
        """As skew(); None if it was not measured."""
        return self._skews.get(name)

    def skew(self, name: str) -> Skew:
        """The skew of a host, by the shortest round trip of its last measurement."""
        return self._skews[name]

    def refusal(self, name: str, bound: Bound, allowed_ns: int | None) -> str:
        """Why the clock of a host, with the error bound @bound, is refused; empty if it is not.
        @allowed_ns: max_skew of the plan, None without one."""
        skew = self._skews.get(name)
        wrong = _plainly_wrong(skew, allowed_ns) if skew is not None else ""
        if wrong:
            return f"{wrong}; {REMEDY}"
        if allowed_ns is None:
            return ""
        if bound.bound_ns is None:
            return (
                f"the error of its clock is unknown ({bound.source}), and the plan has max_skew ="
                f" {units.format_ns(allowed_ns)}"
            )
        if bound.bound_ns > allowed_ns:
            return (
                f"its clock may be off by {units.format_ns(bound.bound_ns)} ({bound.source}), and"
                f" the plan has max_skew = {units.format_ns(allowed_ns)}"
            )
        return ""

    def changed_since(
        self, armed_ns: int, sent_ns: int, came_ns: int, allowed_ns: int | None
    ) -> str:
        """Why a start is called off by a host's clock; empty if it is not. The start is a time of
        that clock, which may have been set, or have drifted, after it was measured. @armed_ns: its
        time when it was armed, by an answer that came at @came_ns to a question sent at @sent_ns.
        @allowed_ns: as of refusal()."""
        wrong = wrong_at(armed_ns, sent_ns, came_ns, allowed_ns)
        return f"{wrong}; it was set, or drifted, after the check; {REMEDY}" if wrong else ""

    def _take(self, name: str, pong: wire.Pong, sent_ns: int, came_ns: int) -> None:
        half_ns = (came_ns - sent_ns) // 2
        known = self._skews.get(name)
        if known is None or half_ns < known.bound_ns:
            middle_ns = (pong.came_real_ns + pong.left_real_ns) // 2
            self._skews[name] = Skew(middle_ns - (sent_ns + came_ns) // 2, max(1, half_ns))

    def _now(self) -> _Moment:
        return _Moment(self._real_ns(), time.monotonic())

    def _note(self, came: Future[_Moment], asked: Future[bytes]) -> None:
        """Take the time at which an answer arrives; in the engine's thread."""
        came.set_result(self._now())

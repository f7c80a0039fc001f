# SPDX-License-Identifier: GPL-2.0-or-later
"""Clocks that leave max_skew after the check: while a run is under way, or by its end.

Each host reports the error bound of its clock before and after a run only, because asking chrony
starts a process there. During the run, the timestamps in the host's answers reveal a clock that is
far off.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from concurrent.futures import Future
from functools import partial

from spekctl import units
from spekctl.errors import SpekError
from spekctl.fleet import carrier, wire
from spekctl.fleet.carrier import Engine
from spekctl.fleet.clock import Bound
from spekctl.fleet.clocks import PINGS_AFTER, REMEDY, HostClocks, Wait, wrong_at
from spekctl.fleet.outcome import Part
from spekctl.fleet.wire import Verb
from spekctl.run.beside import View


class Straying:
    """@real_ns: the controller's clock."""

    def __init__(
        self, engine: Engine, view: Callable[[], View], real_ns: Callable[[], int]
    ) -> None:
        self._engine = engine
        self._view = view
        self._real_ns = real_ns
        self._after = HostClocks(real_ns)
        # The newest bound of each host's clock.
        self.bounds: dict[str, Bound] = {}
        # When a host was last asked for its status, and when the answer came.
        self._sent_ns: dict[str, int] = {}
        self._came_ns: dict[str, int] = {}
        self._texts: dict[str, list[str]] = {}

    @property
    def texts(self) -> dict[str, str]:
        """A sentence for each host whose clock has left max_skew, by its name."""
        return {name: "; ".join(texts) for name, texts in self._texts.items()}

    def begin(self) -> None:
        """Another run begins."""
        self._texts.clear()

    def ask(self, name: str, payload: bytes) -> Future[bytes]:
        """Ask a host for its status."""
        self._came_ns.pop(name, None)
        self._sent_ns[name] = self._real_ns()
        future = self._engine.call(name, Verb.STATUS, payload)
        future.add_done_callback(partial(self._note, name))
        return future

    def _note(self, name: str, answered: Future[bytes]) -> None:
        """In the engine's thread. Who sees the answer may be earlier, and takes its own time."""
        self._came_ns[name] = self._real_ns()

    def see(self, name: str, answered: Future[bytes], allowed_ns: int | None, at_s: float) -> None:
        """Judge the clock of a host by its answer to ask(). @at_s: since the start."""
        sent_ns = self._sent_ns.pop(name, None)
        if sent_ns is None or allowed_ns is None or name in self._texts:
            return
        try:
            state: wire.State = carrier.answer(answered, wire.State)
        except SpekError:
            return
        came_ns = self._came_ns.get(name, self._real_ns())
        wrong = wrong_at(state.now_real_ns, sent_ns, came_ns, allowed_ns)
        if wrong:
            self._stray(name, f"at {at_s:.1f} s {wrong}; {REMEDY}")

    def judge(self, parts: Collection[Part], wait: Wait, allowed_ns: int | None) -> None:
        """Judge the clocks of hosts that have delivered their results, after the end of a run."""
        told = [(part, part.collected.facts) for part in parts if part.collected is not None]
        names = [part.name for part, facts in told if facts is not None and part.loss is None]
        # The results of hosts that are lost by now are here.
        self._after.measure(names, self._engine.call, wait, PINGS_AFTER, missing=set())
        for part, facts in told:
            if facts is None or part.loss is not None:
                continue
            part.skew_after = self._after.known(part.name)
            self.bounds[part.name] = facts.clock_after
            wrong = self._after.refusal(part.name, facts.clock_after, allowed_ns)
            if wrong and allowed_ns is not None:
                self._stray(part.name, f"at the end {wrong}; before the start {_known(facts)}")

    def _stray(self, name: str, text: str) -> None:
        self._texts.setdefault(name, []).append(text)
        self._view().note(f"{name}: {text}")


def _known(facts: wire.Facts) -> str:
    bound_ns = facts.clock_before.bound_ns
    return "it was unknown" if bound_ns is None else f"it was {units.format_ns(bound_ns)}"

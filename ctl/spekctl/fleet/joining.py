# SPDX-License-Identifier: GPL-2.0-or-later
"""The wait of a controller for its hosts: until all have joined, or one of them cannot."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from spekctl.errors import RefusedError
from spekctl.fleet import carrier
from spekctl.fleet.carrier import Engine
from spekctl.fleet.patience import Patience
from spekctl.fleet.plan import Host
from spekctl.run.beside import Stage, View


class Started(Protocol):
    """Hosts that the controller starts."""

    def troubles(self) -> Mapping[str, str]:
        """Why hosts have ended, by name."""

    def pending(self, joined: Mapping[str, str]) -> bool:
        """Whether any of them may still join."""

    def waiting(self) -> Sequence[str]:
        """Hosts that have yet to be started."""


class Refusals:
    """Peers that the engine has refused, as far as the view has shown them."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._told: dict[str, int] = {}

    def tell(self, view: View, at_the_end: bool = False) -> None:
        """Report refused peers: each once, and @at_the_end how often."""
        for text, count in self._engine.refused().items():
            if text not in self._told:
                self._told[text] = 1
                view.note(text)
            if at_the_end and count > self._told[text]:
                self._told[text] = count
                view.note(f"{text}; {count:,} times in all")


@dataclass
class Joining:
    """The hosts of a plan on their way to the controller. @started: those that it starts."""

    hosts: Mapping[str, Host]
    engine: Engine
    view: View
    patience: Patience
    started: Started | None
    refusals: Refusals
    _announced: set[str] = field(init=False, default_factory=set)

    def wait(self, check_interrupts: Callable[[], None]) -> None:
        """Wait until all have joined; RefusedError if one of them cannot. @check_interrupts: raises
        if the user wants to wait no longer."""
        end_s = time.monotonic() + self.patience.join_s
        while missing := self._missing(check_interrupts):
            now_s = time.monotonic()
            # A host that cannot join does not take the others' turn to be started.
            if self._check_started(missing, now_s >= end_s) and not (
                self.started is not None and self.started.waiting()
            ):
                end_s = min(end_s, now_s + self.patience.others_s)
            if now_s >= end_s:
                raise RefusedError(self._not_joined(missing))
            self.engine.next(self.patience.look_s)
        joined = self._settle()
        for name, address in joined.items():
            host = self.hosts.get(name)
            if host is not None and host.address not in ("", address):
                raise RefusedError(
                    f"{name} has joined from {address}, and the plan has {host.address}"
                )

    def absences(self, check_interrupts: Callable[[], None]) -> dict[str, str]:
        """Wait until all have joined that still may; the hosts that have not, and why. A host that
        cannot join does not shorten the time of the others."""
        end_s = time.monotonic() + self.patience.join_s
        while missing := self._missing(check_interrupts):
            troubles = self._troubles(missing)
            if len(troubles) == len(missing) or time.monotonic() >= end_s:
                break
            self.engine.next(self.patience.look_s)
        absent = {name: troubles.get(name) or self._not_joined([name]) for name in missing}
        self._settle()
        return absent

    def _missing(self, check_interrupts: Callable[[], None]) -> list[str]:
        """Hosts that have not joined; if there are any, those that have are announced."""
        joined = self.engine.hosts()
        missing = [name for name in self.hosts if name not in joined]
        if missing:
            check_interrupts()
            self.refusals.tell(self.view)
            for name in joined:
                if name in self.hosts and name not in self._announced:
                    self._announced.add(name)
                    self.view.note(f"{name} has joined")
        return missing

    def _settle(self) -> Mapping[str, str]:
        """The addresses of the hosts that have joined; what happened before is forgotten."""
        # A host may have joined again since it was lost. One that is lost from here on is noticed
        # when it is asked.
        joined = self.engine.hosts()
        for _ in range(carrier.TAKE_MOST):
            if self.engine.next(0) is None:
                break
        for name in self.hosts:
            if name in joined:
                self.view.reach(name, Stage.JOINED)
        return joined

    def _not_joined(self, missing: Sequence[str]) -> str:
        waiting = self.started.waiting() if self.started is not None else ()
        waiting = [name for name in waiting if name in missing]
        if waiting:
            return (
                f"{_listed(waiting)} {'were' if len(waiting) > 1 else 'was'} not started within"
                f" {self.patience.join_s:.0f} s, as only a few start at a time; give a longer"
                " --wait"
            )
        return (
            f"{_listed(missing)} {'have' if len(missing) > 1 else 'has'} not joined within"
            f" {self.patience.join_s:.0f} s; start `spekctl fleet join` there"
        )

    def _check_started(self, missing: Sequence[str], is_late: bool) -> bool:
        """Whether a started host has ended; RefusedError once no other host may still join."""
        if self.started is None:
            return False
        troubles = self._troubles(missing)
        if troubles and (is_late or not self.started.pending(self.engine.hosts())):
            reasons = "; ".join(f"{name}: {text}" for name, text in troubles.items())
            raise RefusedError(f"cannot start all hosts: {reasons}")
        return bool(troubles)

    def _troubles(self, missing: Collection[str]) -> dict[str, str]:
        """Why those of @missing that were started have ended."""
        ended = self.started.troubles() if self.started is not None else {}
        return {name: text for name, text in ended.items() if name in missing}


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:5])
    return f"{shown} and {len(names) - 5} more" if len(names) > 5 else shown

# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs on devices of their own, side by side, with one start.

All runs claim their devices, or none keeps any; all are checked and ready before the first one is
armed, and all start at one time, or that long after it as their delays say. Ctrl-C ends all, and so
does a run that fails: one that loses its device, or has too many errors. A run that ends as it was
asked to leaves the others alone.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field

from spekctl.documents.result import Result
from spekctl.kernel.client import Kernel
from spekctl.kernel.records import Reason
from spekctl.power.meter import PowerOptions
from spekctl.run import job, observe
from spekctl.run.collector import Claimed, Collector, Ended, Look, Sections
from spekctl.run.follow import follow
from spekctl.run.holding import Holding
from spekctl.run.progress import Progress
from spekctl.run.session import Session
from spekctl.run.start import StartAt

# For arming the others, after the first one is armed.
LEAD_NS = 500_000_000
_AS_ASKED = frozenset({Reason.NONE, Reason.COMPLETED, Reason.STOPPED})


@dataclass(frozen=True, slots=True)
class Member:
    """One of the runs; it starts @delay_ns after the common start. @held: has its devices."""

    request: job.Request
    view: Progress
    delay_ns: int = 0
    held: Holding | None = None

    @property
    def devices(self) -> str:
        """Its devices, for display."""
        return " ".join(device.path for device in self.request.devices)


@dataclass(slots=True)
class _Failures:
    """Why runs have failed, by their places."""

    texts: dict[int, str] = field(default_factory=dict)


class _Beside(Collector):
    """Ends a run when one beside it has failed, and names the others in its result."""

    def __init__(self, members: Sequence[Member], place: int, failures: _Failures) -> None:
        self._members = members
        self._place = place
        self._failures = failures
        self._stopped_for = ""

    def arm(self, claimed: Claimed) -> str:
        others = [each for place, each in enumerate(self._members) if place != self._place]
        listed = ", ".join(each.devices for each in others)
        delay = self._members[self._place].delay_ns
        when = f"started {delay / 1e9:g} s after" if delay else "started together with"
        return f"{when} the run{'s' if len(others) > 1 else ''} on {listed}"

    def take(self, look: Look) -> None:
        reason = look.info.reason
        if reason not in _AS_ASKED:
            devices = self._members[self._place].devices
            self._failures.texts[self._place] = (
                f"the run on {devices} has ended: {reason.name.lower().replace('_', ' ')}"
            )

    def stop_reason(self) -> str:
        failed = [text for place, text in self._failures.texts.items() if place != self._place]
        self._stopped_for = failed[0] if failed else ""
        return self._stopped_for

    def conclude(self, ended: Ended, sections: Sections) -> None:
        if ended.info.reason is Reason.STOPPED and self._stopped_for:
            sections.remarks.append(f"stopped, as {self._stopped_for}")


def measure(
    kernel: Kernel,
    members: Sequence[Member],
    interrupts: job.Interrupts,
    prober_ns: int | None,
    power: PowerOptions | None = None,
    start_at: StartAt | None = None,
) -> Generator[Result]:
    """Carry out all runs to their ends, or until the user interrupts; the result of each, in their
    order, when all are over.

    @prober_ns: as of run.measure; its samples are of the machine, and in the first result
    @start_at: the common start; None: as soon as all are armed
    """
    failures = _Failures()
    observers, remark = observe.connect(prober_ns, power) if prober_ns is not None else ((), "")
    if remark:
        members[0].view.note(remark)
    with contextlib.ExitStack() as stack:
        sessions = [
            stack.enter_context(
                Session(
                    kernel,
                    member.request,
                    member.view,
                    interrupts,
                    [*(observers if not place else ()), _Beside(members, place, failures)],
                    member.held,
                )
            )
            for place, member in enumerate(members)
        ]
        for session in sessions:
            session.claim()
        for session in sessions:
            session.check()
        for session in sessions:
            session.ready()
        start_ns = start_at.mono_ns() if start_at is not None else time.monotonic_ns() + LEAD_NS
        for session, member in zip(sessions, members, strict=True):
            session.arm(start_ns + member.delay_ns)
        follow(sessions)
        for session in sessions:
            result = session.result()
            session.release()
            yield result

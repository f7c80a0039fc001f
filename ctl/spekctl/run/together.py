# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs on devices of their own, side by side, with one start.

All runs claim their devices, or none keeps any; all are checked and ready before the first one is
armed, and all start at one time, or that long after it as their delays say. Where that time comes
before all are armed, as on a machine that is held up, those that are armed are called off, and all
are made again with more time. Ctrl-C ends all, and so does a run that fails: one that loses its
device, or has too many errors. A run that ends as it was asked to leaves the others alone.
"""

from __future__ import annotations

import contextlib
import errno
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field

from spekctl import units
from spekctl.documents.result import Result
from spekctl.errors import SpekError, UsageError
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

# For arming all: at first, by which factor more the next time, and at most.
LEAD_NS = 500_000_000
_LONGER = 4
_MOST_LEAD_NS = 32_000_000_000
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


class _TooLateError(SpekError):
    """The start came before all runs were armed, and nothing was written."""


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
    lead_ns = LEAD_NS
    while True:
        asked = interrupts, prober_ns, power, start_at
        try:
            yield from _carried_out(kernel, members, *asked, lead_ns)
            return
        except _TooLateError as error:
            if lead_ns * _LONGER > _MOST_LEAD_NS:
                raise
            lead_ns *= _LONGER
            members[0].view.note(f"{error.message}; trying {units.format_duration(lead_ns)}")


def _carried_out(
    kernel: Kernel,
    members: Sequence[Member],
    interrupts: job.Interrupts,
    prober_ns: int | None,
    power: PowerOptions | None,
    start_at: StartAt | None,
    lead_ns: int,
) -> Generator[Result]:
    """measure(), with this time for arming all; _TooLateError if it was not enough."""
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
        if start_at is not None:
            _arm(sessions, members, start_at.mono_ns())
        else:
            try:
                _arm(sessions, members, time.monotonic_ns() + lead_ns)
            except UsageError as error:
                if error.errno != errno.ETIME:
                    raise
                raise _call_off(sessions, members, lead_ns) from error
        follow(sessions)
        for session in sessions:
            result = session.result()
            session.release()
            yield result


def _arm(sessions: Sequence[Session], members: Sequence[Member], start_ns: int) -> None:
    for session, member in zip(sessions, members, strict=True):
        session.arm(start_ns + member.delay_ns)


def _call_off(sessions: Sequence[Session], members: Sequence[Member], lead_ns: int) -> SpekError:
    """End the runs that are armed, whose start has come before all were. Return: the error, which
    is _TooLateError unless one of them has begun to write."""
    late = f"arming the runs took longer than {units.format_duration(lead_ns)}"
    begun = [session.is_armed and session.call_off() for session in sessions]
    for session, member, has_begun in zip(sessions, members, begun, strict=True):
        if has_begun and session.request.config.write:
            return SpekError(
                f"{late}: the run on {member.devices} has begun to write without the others"
            )
    return _TooLateError(late)

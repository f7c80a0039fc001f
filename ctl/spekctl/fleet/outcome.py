# SPDX-License-Identifier: GPL-2.0-or-later
"""What the controller knows of each host of a run, and how the run ended."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

from spekctl import units
from spekctl.errors import ExitCode
from spekctl.fleet import wire
from spekctl.fleet.clock import Bound
from spekctl.fleet.clocks import Skew
from spekctl.fleet.plan import Host
from spekctl.fleet.spool import HostRows
from spekctl.kernel.records import IntervalRow
from spekctl.run import ending

_FAILED = "the run of a host has failed"


@dataclass(frozen=True, slots=True)
class Loss:
    """A lost host; @at_s: since the common start, negative before it."""

    host: str
    at_s: float
    reason: str


@dataclass(slots=True)
class Part:
    """What is known of a host."""

    host: Host
    described: wire.Described | None = None
    armed: wire.Armed | None = None
    done: wire.Done | None = None
    collected: wire.Collected | None = None
    # Report intervals of a lost host.
    rows: Sequence[IntervalRow] | HostRows = ()
    loss: Loss | None = None
    heard_s: float = 0.0
    asked: Future[bytes] | None = None
    # Its clock less the controller's, before the start and after the end.
    skew_before: Skew | None = None
    skew_after: Skew | None = None

    @property
    def name(self) -> str:
        """The host."""
        return self.host.name


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a run: exit code and sentence, the hosts with their results, and losses."""

    run: str
    fleet: str
    start_real_ns: int
    code: ExitCode
    text: str
    parts: Sequence[Part]
    clock: Bound
    losses: Sequence[Loss] = ()
    remarks: Sequence[str] = ()
    # How clocks left max_skew, by the names of their hosts.
    strayed: Mapping[str, str] = field(default_factory=dict)


def end_of(
    parts: Collection[Part],
    failures: Mapping[str, ExitCode],
    interrupted: ExitCode,
    unreleased: str,
    strayed: str,
) -> tuple[ExitCode, str]:
    """Exit code and sentence of a run. As on one host wrong data come first; then lost hosts,
    @interrupted, whose code is OK without Ctrl-C, @failures of hosts, devices that may not be free,
    and clocks that have @strayed from max_skew."""
    told = {part.name: _said(part) for part in parts}
    wrong = [name for name, code in failures.items() if code is ExitCode.DATA_ERRORS]
    ends: list[tuple[ExitCode, str]] = []
    if wrong:
        text = "; ".join(f"{name}: {told[name]}" for name in wrong)
        ends.append((ExitCode.DATA_ERRORS, f"{_FAILED}: {text}"))
    if losses := [part.loss for part in parts if part.loss is not None]:
        text = "; ".join(f"{loss.host} lost at {loss.at_s:.1f} s: {loss.reason}" for loss in losses)
        ends.append((ExitCode.HOST_LOST, f"incomplete: {text}"))
    elif interrupted:
        ends.append((interrupted, "the run was stopped early"))
    elif failures and not wrong:
        code = ending.worst(list(failures.values()))
        name = next(name for name, own in failures.items() if own == code)
        ends.append((code, f"{_FAILED}: {name}: {told[name]}"))
    elif unreleased and not wrong:
        ends.append((ExitCode.RUN_FAILED, unreleased))
    if strayed:
        ends.append((ExitCode.LIMIT_MISSED, strayed))
    if not ends:
        return ExitCode.OK, f"{units.format_count(len(told), 'host')} completed the run"
    return ends[0][0], "; ".join(text for _, text in ends)


def _said(part: Part) -> str:
    """How a host's run ended, in its words."""
    if part.collected is not None:
        return part.collected.text
    return part.done.text if part.done is not None else ""

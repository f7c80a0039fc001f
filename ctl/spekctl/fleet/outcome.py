# SPDX-License-Identifier: GPL-2.0-or-later
"""What the controller knows of each host of a run, and how the run ended."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass

from spekctl import units
from spekctl.errors import ExitCode
from spekctl.fleet import wire
from spekctl.fleet.clock import Bound
from spekctl.fleet.plan import Host
from spekctl.fleet.spool import HostRows
from spekctl.kernel.records import IntervalRow


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


def checked_lines(parts: Iterable[Part]) -> Iterator[str]:
    """What the check found out about each host."""
    for part in parts:
        described = part.described
        if described is None:
            yield f"{part.name}: it has not answered"
            continue
        bound_ns = described.clock.bound_ns
        known = f"within {units.format_ns(bound_ns)}" if bound_ns is not None else "not known"
        module = f"spek {described.module_version}" if described.module_version else "no spek"
        yield (
            f"{part.name}: spekctl {described.version}, {module}, Linux {described.kernel}; clock"
            f" {known} ({described.clock.source})"
        )
        for device in described.devices:
            state = f"in use: {device.in_use}" if device.in_use else "free"
            yield (
                f"  {device.selector}: {device.path}, {units.format_bytes(device.bytes)},"
                f" serial {device.serial or '-'}, WWN {device.wwn or '-'}; {state}"
            )

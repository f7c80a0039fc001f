# SPDX-License-Identifier: GPL-2.0-or-later
"""Messages between a program and its fleet agent: one JSON object a line, as of the host's agent.

Requests carry a number, which their answer repeats; events arrive at any time. An agent carries out
one run and ends. A stop acts like Ctrl-C: the second one does not wait for outstanding I/O, the
third one does not wait for results either.
"""

from __future__ import annotations

from typing import TypeAlias, get_args

import msgspec

from spekctl.documents.plan import PlanFile
from spekctl.host.protocol import Note, Rows, Started
from spekctl.host.wire import Event, Hello, Request, Stop

# Bytes of a request: a plan of thousands of hosts.
REQUEST_MAX = 16 << 20


class Start(Request, frozen=True, tag="start"):
    """start: answers as soon as the plan is checked, without the hosts; events follow. @toml: the
    workload's text. @holds: hosts that have claimed their devices wait for `go`."""

    plan: PlanFile
    toml: str
    holds: bool = False


class Go(Request, frozen=True, tag="go"):
    """go: arms and starts the waiting hosts."""


AnyRequest: TypeAlias = Start | Go | Stop


class HostNews(msgspec.Struct, frozen=True):
    """A host as a table shows it. @stage: of run.beside, or awaited, running, late; @text: its
    devices while all is well, else what has happened to it; @at_s: end of its newest interval since
    the common start, to which the other figures belong; @p50_ns to @max_ns: of its slower
    direction; @off_ns, @off_bound_ns: its clock minus the controller's, measured by messages, and
    the error of that; @bound_ns: error bound of its start, None if unknown; @skew_ns: its start
    minus the planned start, None before its result."""

    name: str
    role: str
    stage: str
    text: str = ""
    at_s: float | None = None
    iops: float = 0.0
    mib_per_s: float = 0.0
    p50_ns: int = 0
    p99_ns: int = 0
    max_ns: int = 0
    errors: int = 0
    off_ns: int | None = None
    off_bound_ns: int | None = None
    bound_ns: int | None = None
    clock: str = ""
    skew_ns: int | None = None


class Hosts(Event, frozen=True):
    """All hosts of the plan, in its order. @holds: they have claimed, and wait for `go`."""

    hosts: list[HostNews]
    holds: bool = False


class Ended(Event, frozen=True):
    """The run is over. @code: exit code of `spekctl fleet run`. @result: its document; null if
    there is none. @reports: the samples of each target, by its name. @skew_ns: the largest distance
    from the planned start, None if unknown. @documents: what each host has sent, by its name, if
    that could not be added up to a result."""

    code: int
    text: str
    result: msgspec.Raw = msgspec.Raw(b"null")
    reports: dict[str, msgspec.Raw] = msgspec.field(default_factory=dict)
    skew_ns: int | None = None
    documents: dict[str, msgspec.Raw] = msgspec.field(default_factory=dict)


AnyEvent: TypeAlias = Hello | Started | Rows | Note | Hosts | Ended

VERBS = [str(request.__struct_config__.tag) for request in get_args(AnyRequest)]

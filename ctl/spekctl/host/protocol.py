# SPDX-License-Identifier: GPL-2.0-or-later
"""Messages between a program and its agent: one JSON object a line.

Requests carry a number, which their answer repeats; events come unasked. A job is what a user asks
for, as on the command line of `spekctl run`. A stop is as Ctrl-C: a second one does not wait for
outstanding I/O.
"""

from __future__ import annotations

from typing import Any, TypeAlias, get_args

import msgspec
from msgspec import field

from spekctl.host.wire import Event, Hello, Part, Request, Stop
from spekctl.run.progress import Clock, Figures

# Bytes of a log in one event.
LOG_PART = 1 << 20


class Job(Part, frozen=True):
    """What to run, as on the command line of `spekctl run`.

    @workload: name of one that comes with spek; @toml: text of a workload file; without both, one
    stream, named main. @settings: FIELD=VALUE as of --set. @options: texts by flag without dashes;
    true for a flag, a list for one that is repeatable. A log arrives in events of type Log; the
    peer gives it the name in the option `log`. @destroy: serials as of --destroy. @ids: by path of
    @devices, the id with which ListDevices listed the device: another one is refused.
    """

    devices: list[str]
    workload: str = ""
    toml: str = ""
    settings: list[str] = field(default_factory=list)
    options: dict[str, str | bool | list[str]] = field(default_factory=dict)
    destroy: list[str] = field(default_factory=list)
    ids: dict[str, str] = field(default_factory=dict)


class ListDevices(Request, frozen=True, tag="devices"):
    """devices: answers with a list of run.candidates.Candidate."""


class DryRun(Request, frozen=True, tag="dry-run"):
    """dry-run: checks a job without sending any I/O; answers with a Plan."""

    job: Job


class Start(Request, frozen=True, tag="start"):
    """start: answers as soon as all is checked that needs no claim; events follow."""

    job: Job


class Status(Request, frozen=True, tag="status"):
    """status: answers with a State."""


class Metrics(Request, frozen=True, tag="metrics"):
    """metrics: answers with a text for Prometheus of all runs in the kernel."""

    openmetrics: bool = False


AnyRequest: TypeAlias = ListDevices | DryRun | Start | Stop | Status | Metrics


class Plan(msgspec.Struct, frozen=True):
    """A job that was checked. @writes: it needs the option `write`. @command: the same on the
    command line, where a workload given as text is called WORKLOAD.toml."""

    name: str
    toml: str
    writes: bool
    command: list[str]
    remarks: list[str]


class State(msgspec.Struct, frozen=True):
    """Whether a run of this host is under way, and all runs in the kernel as of `spekctl status
    --json`; @trouble: why these are not known. @probe: the line of `spekctl status` on the probe
    of this machine, detached ones too; empty if there is none."""

    running: bool
    runs: list[dict[str, Any]]
    trouble: str = ""
    probe: str = ""


class Started(Event, frozen=True):
    """A run is about to claim its devices."""

    title: str
    name: str
    streams: list[str]
    command: list[str]


class Rows(Event, frozen=True):
    """Progress: the clock of the run, and the intervals that were closed since, maybe none."""

    clock: Clock
    rows: list[Figures]


class Note(Event, frozen=True):
    """A sentence for the user."""

    text: str


class Log(Event, frozen=True):
    """The next bytes of the per-I/O log, in base64. They are a log if the result names its file."""

    data: bytes


class Ended(Event, frozen=True):
    """The run is over. @code: exit code of `spekctl run`. @result: its document, whose text is
    @text; null if there is none, and @text says why."""

    code: int
    text: str
    result: msgspec.Raw = msgspec.Raw(b"null")


AnyEvent: TypeAlias = Hello | Started | Rows | Note | Log | Ended

VERBS = [str(request.__struct_config__.tag) for request in get_args(AnyRequest)]

# SPDX-License-Identifier: GPL-2.0-or-later
"""Messages between an unprivileged program and `spekctl host --stdio`: one JSON object a line.

Requests carry a number, which their answer repeats; events come unasked. README.md describes them
for programs in other languages.
"""

from __future__ import annotations

from typing import Any, TypeAlias, get_args

import msgspec

from spekctl.run.progress import Clock, Figures

# Raised by a change that an older program would misunderstand; new fields and events do not.
PROTOCOL = 1
# Bytes of a request. A workload has at most some hundred streams.
REQUEST_MAX = 1 << 20
# Bytes of a log in one event.
LOG_PART = 1 << 20


class Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A part of a request: a field that the host does not know is refused, not ignored."""


class Job(Part, frozen=True):
    """What to run, as on the command line of `spekctl run`.

    @workload: name of one that comes with spek; @toml: text of a workload file; without both, one
    stream, named main. @settings: FIELD=VALUE as of --set. @options: texts by flag without dashes;
    true for a flag, a list for one that is repeatable. A log arrives in events of type Log; the
    peer gives it the name in the option `log`. @destroy: serials as of --destroy.
    """

    devices: list[str]
    workload: str = ""
    toml: str = ""
    settings: list[str] = []
    options: dict[str, str | bool | list[str]] = {}
    destroy: list[str] = []


class Request(Part, frozen=True, tag_field="do", tag=""):
    """A request. The verbs are all that the host does."""

    id: int


class ListDevices(Request, frozen=True, tag="devices"):
    """devices: answers with a list of run.candidates.Candidate."""


class DryRun(Request, frozen=True, tag="dry-run"):
    """dry-run: checks a job without sending any I/O; answers with a Plan."""

    job: Job


class Start(Request, frozen=True, tag="start"):
    """start: answers as soon as all is checked that needs no claim; events follow."""

    job: Job


class Stop(Request, frozen=True, tag="stop"):
    """stop: as Ctrl-C; a second one does not wait for outstanding I/O."""


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
    --json`; @trouble: why these are not known."""

    running: bool
    runs: list[dict[str, Any]]
    trouble: str = ""


class Fault(msgspec.Struct, frozen=True):
    """A refusal: exit code of `spekctl run`, and its sentence."""

    code: int
    text: str


class Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    """Of the request with this number; @answer where there is no @error."""

    id: int
    answer: msgspec.Raw = msgspec.Raw(b"null")
    error: Fault | None = None


class Event(msgspec.Struct, frozen=True, tag_field="event", tag=str.lower):
    """What happens without a request."""


class Hello(Event, frozen=True):
    """The first line. @commands: verbs of requests."""

    protocol: int
    version: str
    commands: list[str]


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

VERBS = [str(one.__struct_config__.tag) for one in get_args(AnyRequest)]


def line(message: object) -> bytes:
    """A message as its line."""
    return msgspec.json.encode(message) + b"\n"

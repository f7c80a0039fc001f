# SPDX-License-Identifier: GPL-2.0-or-later
"""Messages of `spekctl host --stdio`, the part that has root's rights: one JSON object a line.

Requests carry a number, which their answer repeats; events come unasked. Whatever a request means
is a number or the serial of a disk: no path, no text of a file. README.md describes them for
programs in other languages.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias, get_args

import msgspec
from msgspec import Meta

# Raised by a change that an older program would misunderstand; new fields and events do not.
PROTOCOL = 4
# Bytes of a request. A workload has at most some hundred streams.
REQUEST_MAX = 1 << 20
# Bytes of a log in one answer.
LOG_READ_MAX = 1 << 20

# Zones in one answer.
ZONES_MAX = 4096

# As a device number has them: 12 and 20 bits.
_Number = Annotated[int, Meta(ge=0, lt=1 << 20)]
_Id = Annotated[int, Meta(ge=0, lt=1 << 32)]
_Code = Annotated[int, Meta(ge=0, lt=1 << 8)]


class Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A part of a request: a field that the host does not know is refused, not ignored."""


class Request(Part, frozen=True, tag_field="do", tag=""):
    """A request. The verbs are all that the host does."""

    id: int


class ListDevices(Request, frozen=True, tag="devices"):
    """devices: answers with a list of run.candidates.Candidate."""


class Open(Request, frozen=True, tag="open"):
    """open: a socket of a module of spek; answers with its number. @listen: it only hears of
    changes, in events of type News."""

    family: str
    listen: bool = False


class Ask(Request, frozen=True, tag="ask"):
    """ask: sends a command of the module with these attributes; answers with a Reply."""

    link: _Id
    command: _Code
    dump: bool = False
    attributes: bytes = b""


class Close(Request, frozen=True, tag="close"):
    """close: closes a socket; the kernel ends its runs, and gives their devices back."""

    link: _Id


class Look(Request, frozen=True, tag="look"):
    """look: whether runs under a claim may overwrite what its devices hold, as `spekctl run` with
    --write and --destroy decides; answers with remarks."""

    claim: _Id
    write: bool = False
    destroy: list[str] = []


class Check(Request, frozen=True, tag="check"):
    """check: the same for the devices of a READY run, and whether somebody unknown has them open;
    under a claim, whether they hold more than at its look. Answers with remarks. Without it a run
    that may write does not start."""

    run: _Id
    write: bool = False
    destroy: list[str] = []


class Zones(Request, frozen=True, tag="zones"):
    """zones: answers with the next @count zones, from that with byte @start on, of a device that a
    run or claim of this host is or was on: lists of first byte, bytes, condition and the bytes that
    can be written at its pointer. None of a device without zones, and none at its end."""

    major: _Number
    minor: _Number
    start: Annotated[int, Meta(ge=0, lt=1 << 62)] = 0
    count: Annotated[int, Meta(ge=1, le=ZONES_MAX)] = ZONES_MAX


class Nvme(Request, frozen=True, tag="nvme"):
    """nvme: asks a controller of an NVMe disk that a run or claim of this host is or was on, or
    that a target of it lies on, for @what, a value of power.nvme_log.Asked; answers with the status
    field, Dword 0 of the completion, data, and the nanoseconds that the kernel took for it.
    @controller_major, @controller_minor: of its node; a disk with multipath has several."""

    major: _Number
    minor: _Number
    controller_major: _Number
    controller_minor: _Number
    what: str


class AskPower(Request, frozen=True, tag="power-state"):
    """power-state: asks a disk for its power state by a command that does not wake it, as
    `spekctl power states` does, unless the kernel has suspended it or is to; a disk as of nvme.
    Answers with the state, by what it is known, a detail, and the number of commands sent."""

    major: _Number
    minor: _Number


class ReadLog(Request, frozen=True, tag="read-log"):
    """read-log: the next records of a worker of a run; answers with at most @size bytes."""

    run: _Id
    worker: _Id
    size: Annotated[int, Meta(ge=0, le=LOG_READ_MAX)]


class CloseLog(Request, frozen=True, tag="close-log"):
    """close-log: the records of a worker are not read any more."""

    run: _Id
    worker: _Id


class Stop(Request, frozen=True, tag="stop"):
    """stop: ends what runs; what has not started will not."""


AnyRequest: TypeAlias = (
    ListDevices
    | Open
    | Ask
    | Close
    | Look
    | Check
    | Zones
    | Nvme
    | AskPower
    | ReadLog
    | CloseLog
    | Stop
)


class Refused(msgspec.Struct, frozen=True):
    """A refusal of the module; @offset: of the attribute to blame, from the netlink header on."""

    code: int
    text: str
    offset: int | None = None


class Reply(msgspec.Struct, frozen=True, omit_defaults=True):
    """Answers of the module as they came, unless it refused. @interrupted: they are not of one
    moment."""

    frames: list[bytes] = []
    interrupted: bool = False
    refused: Refused | None = None


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


class News(Event, frozen=True):
    """A run or a claim has changed its state; @link: who hears of it."""

    link: int


AnyEvent: TypeAlias = Hello | News

VERBS = [str(request.__struct_config__.tag) for request in get_args(AnyRequest)]


def line(message: object) -> bytes:
    """A message as its line."""
    return msgspec.json.encode(message) + b"\n"


class _NumberOnly(msgspec.Struct):
    id: int = 0


def number_of(data: bytes) -> int:
    """The number of what may not be a request; 0 if it has none."""
    try:
        return msgspec.json.decode(data, type=_NumberOnly).id
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return 0

# SPDX-License-Identifier: GPL-2.0-or-later
"""What the controller asks a host, and what a host says: structs, sent as JSON.

A host answers every request with a Reply. Times named real are of CLOCK_REALTIME, times named mono
of the host's CLOCK_MONOTONIC.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Any, Literal

import msgspec

from spekctl import __version__
from spekctl.documents.device import DeviceFacts
from spekctl.documents.prober import ProberReport
from spekctl.documents.result_parts import ProberResult
from spekctl.errors import ExitCode, RefusedError, SpekError
from spekctl.fleet.clock import Bound, Distance
from spekctl.kernel.records import IntervalRow
from spekctl.log.tally import Tally
from spekctl.run.progress import Clock, Figures

# Raised by a change that an older spekctl would misunderstand.
PROTOCOL = 14
# Largest part of a document in one answer, bytes.
PIECE_BYTES = 256 << 10


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Base of messages: an unknown field is refused, not ignored."""


class Verb(StrEnum):
    """What a host can be asked for. All but the first three name the run."""

    PING = "ping"
    DESCRIBE = "describe"
    LOG = "log"
    CLAIM = "claim"
    STEP = "step"
    ARM = "arm"
    CONFIRM = "confirm"
    STATUS = "status"
    STOP = "stop"
    RESULT = "result"
    PIECE = "piece"
    RELEASE = "release"


class Phase(StrEnum):
    """Where a host is in its run."""

    FREE = "free"
    CLAIMED = "claimed"
    ARMED = "armed"
    RUNNING = "running"
    DONE = "done"
    RELEASED = "released"


class Lack(StrEnum):
    """What keeps a host from taking part."""

    NOTHING = ""
    RIGHTS = "rights"
    MODULE = "module"
    DEVICE = "device"


class Slice(Part, frozen=True):
    """The part of a device that a host may use."""

    start: int
    bytes: int


class Describe(Part, frozen=True):
    """describe: answers with a Described. @devices: as the plan names them; none for a target."""

    devices: list[str]
    role: str


class Unread(StrEnum):
    """Why the data on a device are unknown."""

    NOTHING = ""  # they are known, or the device is in use
    OPEN = "open"  # for writing by a program, whose pages a look would write out
    FAILED = "failed"
    UNLISTED = "unlisted"  # RAM disks and the like, at which only a claim looks


class DeviceSeen(Part, frozen=True):
    """A device of a host. @in_use: why it cannot be tested; empty if it can. @discards: it supports
    discards. @partition: its number, 0 for a whole disk; @start: byte of the disk at which it
    begins. @unwritable: why no load may write to it; empty if one may, at least with destroy, which
    @data needs, the signatures of what is on it, as far as @unread does not say that nobody has
    looked."""

    selector: str
    path: str
    serial: str
    wwn: str
    bytes: int
    logical_block: int
    zone_bytes: int
    in_use: str
    facts: DeviceFacts
    discards: bool
    partition: int
    start: int
    unwritable: str = ""
    data: list[str] = []
    unread: Unread = Unread.NOTHING

    @property
    def identity(self) -> str:
        """The same on all hosts that reach this device; empty if nothing is."""
        if not self.wwn:
            return ""
        disk = f"wwn {self.wwn}"
        return f"partition {self.partition} of {disk}" if self.partition else disk

    def overlaps(self, device: DeviceSeen) -> bool:
        """Whether both have bytes of one disk in common, of whatever hosts they are: a disk and its
        partition do, two partitions do not."""
        return (
            bool(self.wwn)
            and self.wwn == device.wwn
            and self.start < device.start + device.bytes
            and device.start < self.start + self.bytes
        )


def path_of(devices: Sequence[DeviceSeen]) -> dict[str, str]:
    """What a host calls the devices, by the selectors of the plan."""
    return {device.selector: device.path for device in devices}


class Described(Part, frozen=True):
    """What a host is. @trouble: why it cannot take part; empty if it can; @lacks: what it is about.
    @feeds: open power feeds; None: there is no prober. @keys_end_s: when the host's certificate
    expires, in seconds of CLOCK_REALTIME; 0: it did not say."""

    name: str
    fleet: str
    protocol: int
    version: str
    hostname: str
    kernel: str
    module_version: str
    devices: list[DeviceSeen]
    clock: Bound
    trouble: str = ""
    lacks: Lack = Lack.NOTHING
    feeds: list[str] | None = None
    keys_end_s: int = 0


class _Version(msgspec.Struct, frozen=True):
    """What every version of a Described has."""

    protocol: int
    version: str


def other_version(told: Described | _Version) -> str:
    """Why a host of another version is refused; empty if it is of this one."""
    if (told.protocol, told.version) == (PROTOCOL, __version__):
        return ""
    return (
        f"it has spekctl {told.version} (protocol {told.protocol}), and the controller"
        f" {__version__} ({PROTOCOL}); install the same version everywhere"
    )


class Pong(Part, frozen=True):
    """The answer to a ping: when it came, and when the answer left."""

    came_real_ns: int
    left_real_ns: int


class Log(Part, frozen=True):
    """log: count a per-I/O log that lies on the host; answers with a Logged. @stream: only of this
    one; empty: of all. @phase: measure or all. @interval_ns: 0: no intervals are wanted."""

    file: str
    stream: str
    phase: Literal["measure", "all"]
    interval_ns: Annotated[int, msgspec.Meta(ge=0)]


class Logged(Part, frozen=True):
    """A log in integers that add up, and whose run it is of: workload, start by CLOCK_REALTIME (0:
    it did not start), and seed."""

    version: str
    workload: str
    start_real_ns: int
    seed: int
    tally: Tally


class ReplayTarget(Part, frozen=True):
    """A device that a trace is replayed on, of whatever host."""

    bytes: int
    logical_block: int


class ReplayPiece(Part, frozen=True):
    """What a device of a host has of a ReplayTarget, by its number."""

    target: int
    start: int
    bytes: int


class ReplayPart(Part, frozen=True):
    """The targets of a trace on all hosts, and the pieces that a host has, one for each device."""

    targets: list[ReplayTarget]
    own: list[ReplayPiece]


class DeviceAsked(Part, frozen=True):
    """A device to claim. @facts: what the host said of it when it described itself: another disk at
    @path is refused."""

    path: str
    facts: DeviceFacts


class Claim(Part, frozen=True):
    """claim: claim the devices, check them, and get ready; answers with a Claimed. A host accepts
    one of them in its life. @slices: one for each device, or none. @holds: the devices are held for
    runs that follow, which read, or write as well; empty: there is no other run. @replay: the part
    of a trace that the host replays; None: all of it, or there is none. @purge: all blocks of the
    devices, or of their slices, are discarded by a trace that the host makes. @rest_ns: the host
    sends no I/O for this long, and measures its power; 0: it sends its load."""

    run: str
    role: str
    toml: str
    devices: list[DeviceAsked]
    slices: list[Slice]
    options: dict[str, str | bool | list[str]]
    destroy: list[str]
    seed: int
    power_feeds: list[str]
    command: list[str]
    holds: Literal["", "read", "write"] = ""
    replay: ReplayPart | None = None
    purge: bool = False
    rest_ns: int = 0


class Step(Part, frozen=True):
    """step: get ready for @run, with the devices that are held; answers with a Claimed. Run @after,
    the one before it, is over. @purge, @rest_ns: as of Claim."""

    run: str
    after: str
    toml: str
    options: dict[str, str | bool | list[str]]
    seed: int
    command: list[str]
    purge: bool = False
    rest_ns: int = 0


class Claimed(Part, frozen=True):
    """The host is ready. @trace_records: number of records of the whole trace that it replays, or
    replays a part of; None: it replays none."""

    title: str
    trace_records: int | None = None


class Arm(Part, frozen=True):
    """arm: start at this time; answers with an Armed. It is called off without a confirm."""

    run: str
    start_real_ns: int


class Armed(Part, frozen=True):
    """The start that the kernel has been given, by this distance of the clocks. @now_real_ns: the
    time of the answer, which shows a clock that has changed since the check."""

    start_mono_ns: int
    distance: Distance
    now_real_ns: int


class OfRun(Part, frozen=True):
    """confirm, status, stop, result, release: of this run. A second stop does not wait for
    outstanding I/O."""

    run: str


class State(Part, frozen=True):
    """The answer to status, which is what keeps a host going. @now_real_ns: the time of the answer,
    which shows a clock that goes wrong during the run."""

    phase: Phase
    now_real_ns: int


class Facts(Part, frozen=True):
    """How the run of a host went by its clocks. @started_mono_ns: when its kernel started, 0 if it
    did not; @stepped_ns: how far its clock was set between arm and end."""

    armed: Distance
    start_mono_ns: int
    started_mono_ns: int
    stepped_ns: int
    clock_before: Bound
    clock_after: Bound


class Collected(Part, frozen=True):
    """The answer to result: exit code, its sentence, and the document; null if there is none, or
    if it has more than PIECE_BYTES: then @more_bytes, and is asked for in pieces."""

    code: int
    text: str
    facts: Facts | None
    document: msgspec.Raw = msgspec.Raw(b"null")
    more_bytes: Annotated[int, msgspec.Meta(ge=0)] = 0


class OfPiece(Part, frozen=True):
    """piece: PIECE_BYTES of the document of a result from byte @start on, or what is left; answers
    with a Piece."""

    run: str
    start: Annotated[int, msgspec.Meta(ge=0)]


class Piece(Part, frozen=True):
    """A part of a document."""

    data: bytes


class Watched(Part, frozen=True):
    """What a target has in place of a result of a run: the samples as runs have them, and all of
    them with power, as a document of `spekctl prober`."""

    prober: ProberResult | None
    report: ProberReport


class Rows(Part, frozen=True, tag="rows"):
    """Event: intervals closed since the last one."""

    clock: Clock
    rows: list[Figures]


class Intervals(Part, frozen=True, tag="intervals"):
    """Event: the same intervals as the kernel counts them, in case that this host is lost."""

    rows: list[IntervalRow]


class Note(Part, frozen=True, tag="note"):
    """Event: a sentence for the user."""

    text: str


class Done(Part, frozen=True, tag="done"):
    """Event: the run of a host is over; @code: 0 if it ended as asked."""

    code: int
    text: str


AnyEvent = Rows | Intervals | Note | Done


class Fault(Part, frozen=True):
    """A refusal: its exit code and its sentence."""

    code: int
    text: str


class Reply(Part, frozen=True):
    """An answer, or why there is none."""

    answer: msgspec.Raw = msgspec.Raw(b"null")
    fault: Fault | None = None


class HostFault(SpekError):
    """A host refuses."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.text)
        # A host of a later version may have more of them.
        known = fault.code in set(ExitCode) and fault.code
        self.exit_code = ExitCode(fault.code) if known else ExitCode.RUN_FAILED


def encode(value: Any) -> bytes:
    """A message as it is sent."""
    return msgspec.json.encode(value)


def decode(data: bytes, kind: Any) -> Any:
    """A message of @kind; SpekError for what is none."""
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SpekError(f"a host of the fleet sent a damaged message: {error}") from error


def event_of(data: bytes) -> AnyEvent | None:
    """An event of a host; None for what is none."""
    try:
        event: AnyEvent = decode(data, AnyEvent)
    except SpekError:
        return None
    return event


def answer_of(data: bytes, kind: Any) -> Any:
    """The answer in a Reply; HostFault if it is a refusal."""
    reply: Reply = decode(data, Reply)
    if reply.fault is not None:
        raise HostFault(reply.fault)
    try:
        return decode(reply.answer, kind)
    except SpekError:
        if kind is Described:
            _check_version(reply.answer)
        raise


def _check_version(described: bytes | msgspec.Raw) -> None:
    """RefusedError if it is of a version whose fields are others."""
    try:
        told = msgspec.json.decode(described, type=_Version)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return
    refusal = other_version(told)
    if refusal:
        raise RefusedError(refusal)

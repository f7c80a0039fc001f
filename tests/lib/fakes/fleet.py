# SPDX-License-Identifier: GPL-2.0
"""Hosts of a fleet without processes: an engine whose hosts answer as a test says."""

from __future__ import annotations

import queue
import zlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

import msgspec

from spekctl import __version__
from spekctl.documents.device import DeviceFacts
from spekctl.errors import ExitCode, HostLostError
from spekctl.fleet import wire
from spekctl.fleet.carrier import Happened
from spekctl.fleet.clock import Bound, Distance
from spekctl.fleet.wire import Verb
from spekctl.run.beside import Stage
from spekctl.run.progress import Clock, Figures

FLEET = "f-1"
GIB = 1 << 30
CHRONY = Bound(100_000, "chrony")
FACTS = DeviceFacts(
    path="/dev/fake0",
    name="fake0",
    major=259,
    minor=7,
    diskseq=1,
    bytes=GIB,
    logical_block=512,
    physical_block=4096,
    model="FAKE",
    serial="S1",
    wwn="",
    driver="fake",
    rotational=False,
    zoned="none",
    scheduler="none",
    iostats="1",
    nomerges="0",
)
# What stands for no answer at all.
SILENT = object()


def device(path: str = "/dev/fake0", **changes: Any) -> wire.DeviceSeen:
    """A device of 1 GiB that no other host has."""
    seen = wire.DeviceSeen(path, path, "S1", "", GIB, 512, 0, "", FACTS, True, 0, 0)
    seen = msgspec.structs.replace(seen, **changes)
    if "facts" in changes or (seen.path, seen.partition) == ("/dev/fake0", 0):
        return seen
    # Devices with other names are other devices.
    minor = 8 + zlib.crc32(f"{seen.path} {seen.partition}".encode()) % 1_000_000
    return msgspec.structs.replace(seen, facts=msgspec.structs.replace(FACTS, minor=minor))


@dataclass
class FakeHost:
    """A host that does all that it is asked for; @answers: what it does instead, by verb: a value,
    an exception, SILENT, or a function of the request that gives any of them."""

    name: str
    answers: dict[str, Any] = field(default_factory=dict)
    devices: Sequence[wire.DeviceSeen] = (device(),)
    clock: Bound = CHRONY
    clock_off_ns: int = 0
    set_by_ns: int = 0  # its clock, after the check
    stepped_ns: int = 0
    strays_by_ns: int = 0  # its clock, once it is armed
    clock_after: Bound | None = None  # the same, by what it says at its end
    asked: list[str] = field(default_factory=list)
    claimed: wire.Claim | None = None
    armed: wire.Arm | None = None
    # What it says once its start is confirmed, and what it does when it is stopped.
    says: Sequence[wire.AnyEvent] = (wire.Done(0, "the run completed"),)
    after_stop: Sequence[wire.AnyEvent] = (wire.Done(130, "the run was stopped early"),)
    code: int = 0
    text: str = "the run completed"
    lost_when: str = ""  # a verb, at which its connection ends
    lost_after: bool = False  # once it runs
    is_gone: bool = False

    def answer(self, verb: str, payload: bytes, now_ns: int) -> Any:
        """The value, an exception, or SILENT."""
        scripted = self.answers.get(verb)
        if scripted is not None:
            return scripted(payload) if callable(scripted) else scripted
        match verb:
            case Verb.PING:
                strays_ns = self.strays_by_ns if self.armed is not None else 0
                own_ns = now_ns + self.clock_off_ns + strays_ns
                return wire.Pong(own_ns, own_ns)
            case Verb.DESCRIBE:
                return self.described()
            case Verb.CLAIM:
                self.claimed = wire.decode(payload, wire.Claim)
                return wire.Claimed("random-read-4k on /dev/fake0")
            case Verb.ARM:
                self.armed = wire.decode(payload, wire.Arm)
                own_ns = now_ns + self.clock_off_ns + self.set_by_ns
                return wire.Armed(5_000, Distance(self.armed.start_real_ns - 5_000, 100), own_ns)
            case Verb.STATUS:
                strays_ns = self.strays_by_ns if self.armed is not None else 0
                return wire.State(wire.Phase.RUNNING, now_ns + self.clock_off_ns + strays_ns)
            case Verb.RESULT:
                return self.collected()
        return None

    def described(self, **changes: Any) -> wire.Described:
        seen = wire.Described(
            self.name,
            FLEET,
            wire.PROTOCOL,
            __version__,
            self.name,
            "6.12",
            "0.1",
            list(self.devices),
            self.clock,
        )
        return msgspec.structs.replace(seen, **changes)

    def collected(self) -> wire.Collected:
        after = self.clock_after or self.clock
        facts = wire.Facts(Distance(0, 100), 5_000, 5_000, self.stepped_ns, self.clock, after)
        return wire.Collected(self.code, self.text, facts, msgspec.Raw(b"{}"))


@dataclass
class FakeEngine:
    """Carries messages in this thread. @on_confirm: called when all starts are confirmed."""

    named: Mapping[str, FakeHost]
    now_ns: int = 10**18
    addresses: dict[str, str] = field(default_factory=dict)
    strangers: dict[str, int] = field(default_factory=dict)
    on_idle: Callable[[], None] = lambda: None
    happened: queue.SimpleQueue[Happened] = field(default_factory=queue.SimpleQueue)

    def refused(self) -> Mapping[str, int]:
        return self.strangers

    def hosts(self) -> Mapping[str, str]:
        return {
            name: self.addresses.get(name, "10.0.0.9")
            for name, host in self.named.items()
            if not host.is_gone
        }

    def call(self, host: str, verb: str, payload: bytes) -> Future[bytes]:
        fake = self.named[host]
        fake.asked.append(verb)
        future: Future[bytes] = Future()
        if verb == fake.lost_when:
            self.lose(host)
        if fake.is_gone:
            future.set_exception(HostLostError("it is lost"))
            return future
        value = fake.answer(verb, payload, self.now_ns)
        if value is SILENT:
            return future
        if isinstance(value, wire.Fault):
            future.set_result(wire.encode(wire.Reply(fault=value)))
        elif isinstance(value, Exception):
            future.set_exception(value)
        else:
            future.set_result(wire.encode({"answer": value}))
        if verb == Verb.CONFIRM:
            self.say(host, fake.says)
            if fake.lost_after:
                self.lose(host)
        elif verb == Verb.STOP:
            for event in fake.after_stop:
                if isinstance(event, wire.Done):
                    fake.code, fake.text = event.code, event.text
            self.say(host, fake.after_stop)
        return future

    def say(self, host: str, events: Sequence[wire.AnyEvent]) -> None:
        for event in events:
            self.happened.put(Happened(host, event))

    def lose(self, host: str) -> None:
        self.named[host].is_gone = True
        self.happened.put(Happened(host, lost="its connection has ended"))

    def next(self, timeout_s: float) -> Happened | None:
        try:
            return self.happened.get(False)
        except queue.Empty:
            if timeout_s:
                self.on_idle()
            return None


@dataclass
class FakeView:
    """Keeps what it is given."""

    notes: list[str] = field(default_factory=list)
    rows: list[tuple[str, int]] = field(default_factory=list)
    reached: list[tuple[str, Stage, str]] = field(default_factory=list)

    def note(self, text: str) -> None:
        self.notes.append(text)

    def show(self, host: str, now: Clock, news: Sequence[Figures]) -> None:
        self.rows.append((host, len(news)))

    def reach(self, host: str, stage: Stage, text: str = "") -> None:
        self.reached.append((host, stage, text))

    def stages(self, host: str) -> list[Stage]:
        return [stage for name, stage, _ in self.reached if name == host]


REFUSED = wire.Fault(int(ExitCode.REFUSED), "/dev/fake0 is in use: mounted on /srv")

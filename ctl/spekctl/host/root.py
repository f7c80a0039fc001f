# SPDX-License-Identifier: GPL-2.0-or-later
"""The part with root's rights: passes commands on to the modules of spek, checks what may be
overwritten, reads the kernel's logs, asks NVMe controllers for theirs and disks for their power
states, and lists devices.

Its peer has no rights. It parses workloads and makes results; what comes from it is numbers, which
are decoded by the modules' contract before they are passed on. A run of this host is one that was
made here: no other can be started, stopped or deleted, none outlives the host, and one that may
write is started only after a check under its claim. Devices have numbers; no path is opened but
those of the kernel and of devices.

Threads: the main one reads requests, and does nothing that can take time; all others are answered
by lanes, one for each socket, each check or controller, logs and lists, so that a disk that hangs
holds up nobody. When the input ends, so do the runs.
"""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from enum import IntEnum
from io import FileIO
from typing import TYPE_CHECKING, Any, BinaryIO

from spekctl.block import device as block_device
from spekctl.block import zones
from spekctl.errors import NotFoundError, RefusedError, SpekError, UsageError
from spekctl.host import standard, wire
from spekctl.host.peer import Peer
from spekctl.host.wire import (
    AnyRequest,
    Ask,
    AskPower,
    Check,
    Close,
    CloseLog,
    ListDevices,
    Look,
    News,
    Nvme,
    Open,
    ReadLog,
    Refused,
    Reply,
    Stop,
    Zones,
)
from spekctl.kernel import answers, client
from spekctl.kernel.client import Kernel
from spekctl.kernel.gen import spek, spek_prober
from spekctl.kernel.link import Link, not_loaded
from spekctl.kernel.netlink import Refusal
from spekctl.kernel.records import ClaimInfo, ClaimState, RunInfo, RunState
from spekctl.log import buffer
from spekctl.power import nvme_log
from spekctl.run import candidates, rights
from spekctl.run.rights import Looked

if TYPE_CHECKING:
    from spekctl.power.look import Told

# For runs to end after the input has; then the kernel ends them, as their sockets close.
FAREWELL_S = 30.0
# Requests that may wait for the one that a lane answers.
WAITING_MAX = 64
LINKS_MAX = 64
# Sockets listen in threads, which look so often whether they are still wanted.
_LISTEN_S = 1.0
_STOP_S = 5.0

_FAMILIES: dict[str, Any] = {spek.FAMILY: spek, spek_prober.FAMILY: spek_prober}
_GROUPS = {spek.FAMILY: spek.GROUP_RUNS}


@dataclass(frozen=True, slots=True)
class _Rule:
    """What a command is passed on for. @own: attribute with the number of what was made here by
    @makes; @makes: the kind of what it makes, @ends: what it ends."""

    own: str = ""
    makes: str = ""
    ends: bool = False


_RULES: dict[str, dict[IntEnum, _Rule]] = {
    spek.FAMILY: {
        spek.Cmd.RUN_NEW: _Rule(makes="run"),
        spek.Cmd.RUN_GET: _Rule(),
        spek.Cmd.RUN_START: _Rule(own="id"),
        spek.Cmd.RUN_STOP: _Rule(own="id"),
        spek.Cmd.RUN_DEL: _Rule(own="id", ends=True),
        spek.Cmd.STATS_GET: _Rule(),
        spek.Cmd.INTERVAL_GET: _Rule(),
        spek.Cmd.MISMATCH_GET: _Rule(),
        spek.Cmd.MAP_GET: _Rule(),
        spek.Cmd.MAP_SET: _Rule(own="run"),
        spek.Cmd.CLAIM_NEW: _Rule(makes="claim"),
        spek.Cmd.CLAIM_GET: _Rule(),
        spek.Cmd.CLAIM_DEL: _Rule(own="id", ends=True),
    },
    spek_prober.FAMILY: {
        spek_prober.Cmd.PROBE_START: _Rule(makes="probe"),
        spek_prober.Cmd.PROBE_STOP: _Rule(own="id"),
        spek_prober.Cmd.PROBE_DEL: _Rule(own="id", ends=True),
        spek_prober.Cmd.PROBE_GET: _Rule(),
        spek_prober.Cmd.SAMPLE_GET: _Rule(),
        spek_prober.Cmd.FEED_GET: _Rule(),
        spek_prober.Cmd.ENERGY_GET: _Rule(),
    },
}


# Commands that say in which state a run or claim is, and the states in which it has its devices.
_TELLS: dict[int, str] = {spek.Cmd.RUN_GET: "run", spek.Cmd.CLAIM_GET: "claim"}
_HAS_OPENED = {
    *(RunState.READY, RunState.ARMED, RunState.RUNNING, RunState.DRAINING, RunState.DONE),
    ClaimState.READY,
}


@dataclass(slots=True)
class _Run:
    """A run of this host."""

    link: int
    may_write: bool
    claim: int | None  # whose devices it borrows
    is_checked: bool = False
    is_started: bool = False
    is_stopped: bool = False


class _Lane:
    """A thread that does what is put to it, in that order."""

    def __init__(self, name: str) -> None:
        self._work: queue.Queue[Callable[[], None] | None] = queue.Queue(WAITING_MAX)
        threading.Thread(target=self._keep, name=name, daemon=True).start()

    def put(self, work: Callable[[], None] | None) -> None:
        """@work: None ends the lane. RefusedError if too much waits."""
        try:
            self._work.put_nowait(work)
        except queue.Full:
            text = f"{WAITING_MAX} requests are waiting; wait for an answer"
            raise RefusedError(text) from None

    def _keep(self) -> None:
        while (work := self._work.get()) is not None:
            work()


class Root:
    """Answers requests. @connect: to the kernel, for its own needs; @open_link: to a family, and
    its group if it is to listen."""

    def __init__(
        self,
        stream: BinaryIO,
        connect: Callable[[], Kernel] = client.connect,
        open_link: Callable[[Any, str | None, str], Link] = Link,
    ) -> None:
        self._connect = connect
        self._open_link = open_link
        self._peer = Peer(stream, self._stop)
        self._lanes: dict[Hashable, _Lane] = {}  # of the thread that reads
        self._lock = threading.Lock()
        # Protected by @_lock.
        self._number = 0
        self._links: dict[int, tuple[str, Link]] = {}
        self._listening: set[int] = set()
        self._runs: dict[int, _Run] = {}
        self._owned: set[tuple[str, int]] = set()  # kind and number of claims and probes
        # Runs and claims whose devices the kernel has not reported open, with their socket.
        self._opening: dict[tuple[str, int], int] = {}
        # Numbers of devices that it has, with their diskseq.
        self._claimed: dict[tuple[int, int], int] = {}
        # Disks that were asked: of these, or below.
        self._disks: dict[tuple[int, int], block_device.Device] = {}
        self._looked: dict[int, Looked] = {}  # by claim
        self._is_closing = False
        self._checks = threading.BoundedSemaphore(WAITING_MAX)
        # Of the lane of logs.
        self._logs: dict[tuple[int, int], FileIO] = {}

    def serve(self, lines: BinaryIO) -> None:
        """Answer until the input ends, then end the runs."""
        for asked in self._peer.requests(lines, AnyRequest, wire.VERBS):
            self._receive(asked)
        self.finish()

    def finish(self) -> None:
        """End the runs, and wait for that: at once where their devices answer."""
        with self._lock:
            self._is_closing = True
            runs = list(self._runs)
        if not runs:
            return
        end_s = time.monotonic() + FAREWELL_S
        threads = [
            threading.Thread(target=self._end, args=(run, end_s), daemon=True) for run in runs
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(max(0.0, end_s - time.monotonic()))

    # --- requests --------------------------------------------------------------------------------

    def _receive(self, asked: AnyRequest) -> None:
        """In the thread that reads: give a request to its lane."""
        try:
            if isinstance(asked, Look | Check | Zones | Nvme | AskPower):
                self._check_beside(asked)
                return
            self._lane_of(asked).put(lambda: self._answer(asked))
            if isinstance(asked, Close):
                self._lanes.pop(asked.link).put(None)
        except SpekError as error:
            self._peer.refuse(asked.id, error)

    def _lane_of(self, asked: AnyRequest) -> _Lane:
        key: Hashable
        match asked:
            case Ask() | Close():
                with self._lock:
                    if asked.link not in self._links:
                        raise UsageError(f"there is no socket {asked.link}")
                key = asked.link
            case ReadLog() | CloseLog():
                key = "log"
            case Open():
                key = "open"
            case _:
                key = "devices"
        if key not in self._lanes:
            self._lanes[key] = _Lane(f"host-{key}")
        return self._lanes[key]

    def _check_beside(self, asked: Look | Check | Zones | Nvme | AskPower) -> None:
        """Answer in a thread of its own: a check that hangs must hold up no other, and not keep its
        run from being deleted."""
        if not self._checks.acquire(blocking=False):
            raise RefusedError(f"{WAITING_MAX} checks are under way; wait for an answer")

        def answer() -> None:
            try:
                self._answer(asked)
            finally:
                self._checks.release()

        threading.Thread(target=answer, name="host-check", daemon=True).start()

    def _answer(self, asked: AnyRequest) -> None:
        self._peer.attempt(asked.id, lambda: self._peer.answer(asked.id, self._do(asked)))

    def _do(self, asked: AnyRequest) -> object:
        match asked:
            case ListDevices():
                return candidates.every()
            case Open():
                return self._open(asked)
            case Ask():
                return self._ask(asked)
            case Close():
                self._close(asked.link)
            case Look():
                return self._look(asked)
            case Check():
                return self._check(asked)
            case Zones():
                return self._zones(asked)
            case Nvme():
                return self._nvme(asked)
            case AskPower():
                return self._power_state(asked)
            case ReadLog():
                return self._read_log(asked)
            case CloseLog():
                self._close_log(asked.run, asked.worker)
            case Stop():
                raise AssertionError("the peer object answers a stop")
        return None

    # --- the modules -----------------------------------------------------------------------------

    def _open(self, asked: Open) -> int:
        contract = _FAMILIES.get(asked.family)
        if contract is None:
            raise UsageError(f"there is no module '{asked.family}'")
        group = _GROUPS.get(asked.family) if asked.listen else None
        if asked.listen and group is None:
            raise UsageError(f"{asked.family} tells no changes")
        with self._lock:
            if len(self._links) >= LINKS_MAX:
                raise RefusedError(f"{LINKS_MAX} sockets are open; close one")
        link = self._open_link(contract, group, not_loaded(asked.family))
        with self._lock:
            self._number += 1
            number = self._number
            self._links[number] = (asked.family, link)
            if asked.listen:
                self._listening.add(number)
        if asked.listen:
            threading.Thread(target=self._listen, args=(number, link), daemon=True).start()
        return number

    def _listen(self, number: int, link: Link) -> None:
        """In a thread: tell changes until the socket is closed, which this thread does then."""
        while number in self._listening:
            try:
                if link.wait(_LISTEN_S):
                    self._peer.send(News(number))
            except (OSError, SpekError):
                break
        link.close()

    def _close(self, number: int) -> None:
        with self._lock:
            if number not in self._links:
                raise UsageError(f"socket {number} was closed")
            _, link = self._links.pop(number)
            is_listening = number in self._listening
            self._listening.discard(number)
            # The kernel ends them with their socket.
            for run in [run for run, owned in self._runs.items() if owned.link == number]:
                del self._runs[run]
            for key in [key for key, socket in self._opening.items() if socket == number]:
                del self._opening[key]
        if not is_listening:
            link.close()

    def _ask(self, asked: Ask) -> Reply:
        with self._lock:
            if asked.link not in self._links:
                raise UsageError(f"socket {asked.link} was closed")
            family, link = self._links[asked.link]
        contract = _FAMILIES[family]
        rule = _RULES[family].get(asked.command)  # type: ignore[call-overload]
        if rule is None or asked.link in self._listening:
            raise UsageError(f"command {asked.command} of {family} is not for this host")
        try:
            values = answers.values(
                contract.MESSAGES[asked.command], asked.attributes, 0, len(asked.attributes)
            )
        except (OSError, ValueError, LookupError) as error:
            raise UsageError(f"these are no attributes of {family}: {error}") from error
        self._permit(family, asked.command, rule, values)
        try:
            frames, interrupted = link.forward(asked.command, asked.attributes, asked.dump)
        except Refusal as error:
            return Reply(refused=Refused(error.code, error.text, error.offset))
        except OSError as error:
            return Reply(refused=Refused(error.errno or 5, error.strerror or str(error)))
        self._note(contract, asked, rule, values, frames)
        return Reply(frames, interrupted)

    def _permit(self, family: str, command: int, rule: _Rule, values: dict[str, Any]) -> None:
        """Refuse what is not to be passed on."""
        if values.get("detached"):
            raise UsageError("a run of this host ends with it, and cannot be detached")
        number = values.get(rule.own) if rule.own else values.get("claim")
        if rule.makes == "run" and number and ("claim", number) not in self._owned:
            raise NotFoundError(f"claim {number} is not of this host")
        if not rule.own:
            return
        is_run = family == spek.FAMILY and command != spek.Cmd.CLAIM_DEL
        kind = "claim" if family == spek.FAMILY else "probe"
        with self._lock:
            if not isinstance(number, int) or not (
                number in self._runs if is_run else (kind, number) in self._owned
            ):
                raise NotFoundError(f"{'run' if is_run else kind} {number} is not of this host")
            if family != spek.FAMILY or command != spek.Cmd.RUN_START:
                return
            run = self._runs[number]
            if run.is_stopped or self._is_closing:
                raise RefusedError("the run was stopped before it started")
            if run.may_write and not run.is_checked:
                raise RefusedError(f"run {number} may write and was not checked")
            run.is_started = True

    def _note(
        self,
        contract: Any,
        asked: Ask,
        rule: _Rule,
        values: dict[str, Any],
        frames: list[bytes],
    ) -> None:
        """Remember what was made, and forget what has ended."""
        with self._lock:
            if rule.makes:
                number = int(answers.answer(contract, frames[0])["id"])
                if contract is spek:
                    self._opening[rule.makes, number] = asked.link
                if rule.makes == "run":
                    self._runs[number] = _Run(
                        asked.link, bool(values.get("write")), values.get("claim") or None
                    )
                else:
                    self._owned.add((rule.makes, number))
            elif rule.ends and contract is spek and asked.command == spek.Cmd.RUN_DEL:
                self._runs.pop(values["id"], None)
                self._opening.pop(("run", values["id"]), None)
            elif rule.ends:
                kind = "claim" if contract is spek else "probe"
                self._owned.discard((kind, values["id"]))
                if kind == "claim":
                    self._looked.pop(values["id"], None)
                    self._opening.pop(("claim", values["id"]), None)
            elif contract is spek and asked.command in _TELLS and self._opening:
                for frame in frames:
                    self._note_state(_TELLS[asked.command], answers.answer(contract, frame))

    def _note_state(self, kind: str, told: dict[str, Any]) -> None:
        """Remember the devices of a run or claim of this host once the kernel has opened them:
        before, anybody may name any device."""
        key = (kind, told.get("id", 0))
        if key in self._opening and told.get("state") in _HAS_OPENED:
            del self._opening[key]
            for target in told.get("targets", ()):
                number = target.get("major", 0), target.get("minor", 0)
                self._claimed[number] = target.get("diskseq", 0)

    # --- runs ------------------------------------------------------------------------------------

    def _run_of(self, number: int) -> _Run:
        with self._lock:
            if number not in self._runs:
                raise NotFoundError(f"run {number} is not of this host")
            return self._runs[number]

    def _look(self, asked: Look) -> list[str]:
        with self._lock:
            if ("claim", asked.claim) not in self._owned:
                raise NotFoundError(f"claim {asked.claim} is not of this host")
        kernel = self._connect()
        try:
            held = [info for info in kernel.claims() if info.id == asked.claim]
        finally:
            kernel.close()
        if not held:
            raise NotFoundError(f"claim {asked.claim} is gone")
        looked = rights.look_at(_devices(held[0]), held[0], asked.destroy, asked.write)
        with self._lock:
            self._looked[asked.claim] = looked
        return list(looked.remarks)

    def _check(self, asked: Check) -> list[str]:
        run = self._run_of(asked.run)
        info = self._get(asked.run)
        if info.state is not RunState.READY:
            raise UsageError(f"run {asked.run} is {info.state}, and only a ready one is checked")
        looked = None
        if run.claim is not None:
            with self._lock:
                looked = self._looked.get(run.claim)
            if looked is None:
                raise RefusedError(f"claim {run.claim} was not looked at")
        remarks = rights.check_each(
            lambda: self._get(asked.run), _devices(info), asked.destroy, asked.write, looked
        )
        run.is_checked = True
        return remarks

    def _zones(self, asked: Zones) -> list[tuple[int, int, int, int]]:
        number = asked.major, asked.minor
        with self._lock:
            is_known, diskseq = number in self._claimed, self._claimed.get(number, 0)
        device = block_device.by_number(*number) if is_known else None
        if not is_known or (device is not None and not _is_disk(device, diskseq)):
            raise NotFoundError(
                f"device {asked.major}:{asked.minor} was in no run or claim of this host"
            )
        if device is None:
            return []
        report = zones.report(device, asked.start, asked.count)
        return [(zone.start, zone.bytes, zone.condition, zone.capacity) for zone in report]

    def _nvme(self, asked: Nvme) -> tuple[int, int, bytes, int]:
        if asked.what not in set(nvme_log.Asked):
            raise UsageError(f"an NVMe controller is not asked for '{asked.what}' here")
        disk = self._disk_below((asked.major, asked.minor))
        controller = asked.controller_major, asked.controller_minor
        reply = nvme_log.ask_disk(disk, controller, nvme_log.Asked(asked.what))
        return reply.status, reply.result, reply.data, reply.spent_ns

    def _power_state(self, asked: AskPower) -> Told:
        from spekctl.power import disk, look

        below = self._disk_below((asked.major, asked.minor))
        return look.Observer(disk.of_device(below)).answer()

    def _disk_below(self, number: tuple[int, int]) -> block_device.Device:
        """The disk with this number that a device of a run or claim is or lies on."""
        with self._lock:
            # The disk itself may be one of them; else it is below one.
            claimed = sorted(self._claimed.items(), key=lambda each: each[0] != number)
            disk = self._disks.get(number)
        if disk is not None and not block_device.is_there(disk):
            disk = None
            with self._lock:
                self._disks.pop(number, None)
        for each, diskseq in claimed:
            if disk is not None:
                break
            # To read the serials of all other disks would take long, and is of no use here.
            device = block_device.by_number(*each, owners={})
            if device is not None and _is_disk(device, diskseq):
                disk = nvme_log.below_any([device], number)
        if disk is None:
            raise NotFoundError(
                f"device {number[0]}:{number[1]} is below no device that was in a run or claim"
                " of this host"
            )
        with self._lock:
            self._disks[number] = disk
        return disk

    def _get(self, run: int) -> Any:
        kernel = self._connect()
        try:
            return kernel.run_get(run)
        finally:
            kernel.close()

    def _stop(self) -> bool:
        """Stop all runs, and start none of them any more. Return: whether there was any."""
        with self._lock:
            runs = dict(self._runs)
            for run in runs.values():
                run.is_stopped = True
        for number, run in runs.items():
            if run.is_started:
                threading.Thread(target=self._stop_started, args=(number,), daemon=True).start()
        return bool(runs)

    def _stop_started(self, run: int) -> None:
        """In a thread: stop a run whose start may still be on its way."""
        end_s = time.monotonic() + _STOP_S
        with contextlib.suppress(SpekError):
            kernel = self._connect()
            try:
                while time.monotonic() < end_s and kernel.run_get(run).state is RunState.READY:
                    time.sleep(0.01)
                kernel.run_stop(run)
            finally:
                kernel.close()

    def _end(self, run: int, end_s: float) -> None:
        """In a thread: end a run in whatever state it is, and give its devices back."""

        def patience() -> None:
            if time.monotonic() > end_s:
                raise RefusedError("the devices do not answer")

        still = (RunState.OPENING, RunState.READY, RunState.FAILED, RunState.DONE)
        with contextlib.suppress(SpekError):
            kernel = self._connect()
            try:
                if kernel.run_get(run).state not in still:
                    kernel.run_stop(run)
                while kernel.run_get(run).state not in still:
                    patience()
                    kernel.wait(client.OPEN_POLL_S)
                kernel.run_delete(run, patience)
            finally:
                kernel.close()

    # --- logs ------------------------------------------------------------------------------------

    def _read_log(self, asked: ReadLog) -> bytes:
        key = (asked.run, asked.worker)
        self._run_of(asked.run)
        if key not in self._logs:
            info = self._get(asked.run)
            if not info.log_dir or asked.worker >= len(info.workers):
                raise NotFoundError(f"run {asked.run} has no log of worker {asked.worker}")
            self._logs[key] = buffer.open_buffer(info, asked.worker)
        if not asked.size:
            return b""
        try:
            return self._logs[key].read(asked.size) or b""
        except OSError as error:
            raise SpekError(f"reading the kernel's log failed: {error.strerror}") from error

    def _close_log(self, run: int, worker: int) -> None:
        file = self._logs.pop((run, worker), None)
        if file is not None:
            file.close()


def _is_disk(device: block_device.Device, diskseq: int) -> bool:
    """The device is of the disk with this number of the kernel; in a container it may not be
    known."""
    return not diskseq or not device.diskseq or device.diskseq == diskseq


def _devices(info: ClaimInfo | RunInfo) -> list[block_device.Device]:
    devices = []
    for target in info.targets:
        device = block_device.by_number(target.major, target.minor)
        if device is None:
            raise RefusedError(f"device {target.major}:{target.minor} is gone")
        devices.append(device)
    return devices


def main() -> int:
    """Serve standard input and output until the input ends, or SIGTERM, SIGINT or SIGHUP comes."""
    return standard.serve(Root)

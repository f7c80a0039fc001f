# SPDX-License-Identifier: GPL-2.0-or-later
"""Looks at the power state of a disk without waking it, or keeping it awake.

A look asks in this order, and stops at the first answer:

1. runtime power management: any request to a suspended disk resumes it, and nothing is opened or
   sent;
2. the record of disks that spekctl put to sleep (asleep.py), which any command would wake;
3. requests in flight, or completed since the look before if the disk was awake then: it is active.
   A command that is not queued would make it finish all queued ones first;
4. a disk that the kernel is to suspend when it is idle: a command counts as use, and who sends one
   every 5 s keeps the disk awake for good;
5. one command that changes no power condition: CHECK POWER MODE, REQUEST SENSE, or Get Features.

Between 1 and 5 the kernel could suspend a disk only if it manages the disk's power, and then 4 is
the answer.

The answer of 5 often is "active or idle". By I/O between two looks it is one of these.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from spekctl.block import device as devices
from spekctl.documents.disk_states import Basis, PowerState
from spekctl.errors import NotPermittedError, SpekError
from spekctl.power import asleep, ata, disk, nvme, scsi
from spekctl.power.disk import Counters, Disk, Protocol
from spekctl.power.passthrough import Channel, Node, Opener, ScsiReply

# Completed I/O shows that a disk was awake at some time since the look before. After a longer time
# its own timer may have put it into standby again, and it is asked.
RECENT_NS = 10 * 10**9
_ATTENTIONS = 4

# State, by what it is known, detail, and the commands that were sent for it.
Told = tuple[PowerState, Basis, str, int]


@dataclass(frozen=True, slots=True)
class Look:
    """What a look has seen. @io: I/O has completed since the look before, or is in flight."""

    at_ns: int
    state: PowerState
    basis: Basis
    detail: str = ""
    io: bool = False


def _shows_io(before: Counters | None, now: Counters | None) -> bool:
    """I/O has completed between two counts, or is in flight."""
    return now is not None and (
        now.in_flight > 0 or (before is not None and now.completed != before.completed)
    )


@dataclass(slots=True)
class Observer:
    """Looks at one disk, again and again."""

    disk: Disk
    open_node: Opener = Node
    clock: Callable[[], int] = time.monotonic_ns
    asleep_folder: Path = asleep.FOLDER
    # I/O that has completed, or was in flight, and is not in the kernel's counters of the disk.
    uncounted: Callable[[], int] = lambda: 0
    # Asks in place of this process, which has no right to; None: this process asks.
    ask_by: Callable[[], Told] | None = None
    commands: int = 0
    last: Look | None = None
    _counters: Counters | None = None
    _twelve: bool = False
    _levels: nvme.Levels | None = None

    def count(self) -> None:
        """Read the counters of I/O, so that the next look can tell active from idle."""
        self._counters = self._count()

    def _count(self) -> Counters | None:
        counters = disk.counters_of(self.disk)
        if counters is None:
            return None
        return Counters(counters.completed + self.uncounted(), counters.in_flight)

    def glance(self) -> Look | None:
        """Look by the counters of I/O alone, which costs the disk nothing: active, or None if they
        do not say so. Frequent glances keep a disk at work from being asked, however rare the
        looks are."""
        before, now = self._counters, self._count()
        if not self._was_up() or not _shows_io(before, now):
            return None
        self._counters = now
        self.last = Look(self.clock(), PowerState.ACTIVE, Basis.IO, io=True)
        return self.last

    def look(self, spared: str = "") -> Look:
        """Look once. The detail of an UNKNOWN state says why it is not known. @spared: why no
        command may be sent; empty if one may."""
        before, now = self._counters, self._count()
        io = _shows_io(before, now)
        can_tell = before is not None and now is not None
        self._counters = now
        state, basis, detail = self._answer(now, io, spared)
        if state is PowerState.ACTIVE_OR_IDLE and basis is not Basis.SYSFS and can_tell:
            state = PowerState.ACTIVE if io else PowerState.IDLE
        self.last = Look(self.clock(), state, basis, detail, io)
        return self.last

    def _answer(
        self, counters: Counters | None, io: bool, spared: str
    ) -> tuple[PowerState, Basis, str]:
        if not self.disk.device.sysfs.exists():
            return PowerState.UNKNOWN, Basis.NONE, "the disk is gone"
        # One that is swapped in the same slot has the same place in sysfs.
        if not devices.is_there(self.disk.device):
            return PowerState.UNKNOWN, Basis.NONE, "another disk has taken its place"
        status = disk.runtime_status(self.disk)
        if status in ("suspended", "suspending"):
            return PowerState.SUSPENDED, Basis.SYSFS, ""
        if status == "resuming":
            return PowerState.STARTING, Basis.SYSFS, "resuming"
        if asleep.sleeps(self.disk, self.asleep_folder):
            return PowerState.SLEEP, Basis.RECORD, ""
        in_flight = counters is not None and counters.in_flight > 0
        cannot_ask = self.disk.place is None or bool(spared)
        if in_flight or (io and (self._was_up() or cannot_ask)):
            return PowerState.ACTIVE, Basis.IO, ""
        if disk.is_kernel_managed(self.disk):
            detail = "not asked, as a command would put off that the kernel suspends it"
            state = PowerState.ACTIVE if io else PowerState.ACTIVE_OR_IDLE
            return state, Basis.IO if io else Basis.SYSFS, detail
        if spared:
            return PowerState.UNKNOWN, Basis.NONE, spared
        return self._ask()

    def answer(self) -> Told:
        """What is known without I/O of it, for ask_by() of another process. The kernel is asked
        again whether the disk may be: it may have suspended it meanwhile."""
        before = self.commands
        state, basis, detail = self._answer(None, False, "")
        return state, basis, detail, self.commands - before

    def _was_up(self) -> bool:
        """It was awake at the look before, which is not long ago."""
        return (
            self.last is not None
            and self.last.state.is_up
            and self.clock() - self.last.at_ns <= RECENT_NS
        )

    def _ask(self) -> tuple[PowerState, Basis, str]:
        """Send the one command."""
        place = self.disk.place
        if place is None:
            return PowerState.UNKNOWN, Basis.NONE, self.disk.obstacle
        scsi_state = disk.scsi_state(self.disk)
        if scsi_state not in ("", "running"):
            return PowerState.UNKNOWN, Basis.NONE, f"not asked: the kernel calls it {scsi_state}"
        try:
            if self.ask_by is not None:
                state, basis, detail, commands = self.ask_by()
                self.commands += commands
                return state, basis, detail
            channel = self.open_node(place)
            try:
                state, detail = self._answer_of(channel)
            finally:
                channel.close()
        except NotPermittedError:
            raise
        except SpekError as error:
            return PowerState.UNKNOWN, Basis.NONE, error.message
        except OSError as error:
            return PowerState.UNKNOWN, Basis.NONE, f"{place.path}: {error.strerror}"
        basis = Basis.NONE if state is PowerState.UNKNOWN else Basis.COMMAND
        return state, basis, detail

    def _answer_of(self, channel: Channel) -> tuple[PowerState, str]:
        if self.disk.protocol is Protocol.NVME:
            if self._levels is None:
                self._levels = nvme.levels_of(channel)
                self.commands += nvme.LEVELS_COMMANDS
            self.commands += 1
            return nvme.state_of(channel, self._levels)
        if self.disk.protocol is Protocol.ATA:
            reply = self._send(channel, self._check_power_mode())
            if not self._twelve and ata.is_unknown(reply):
                # Some bridges have the short form only.
                self._twelve = True
                reply = self._send(channel, self._check_power_mode())
            return ata.state_of(reply)
        reply = self._send(channel, scsi.REQUEST_SENSE, scsi.SENSE_LENGTH)
        for _ in range(_ATTENTIONS):
            if not scsi.is_attention(reply.data):
                break
            reply = self._send(channel, scsi.REQUEST_SENSE, scsi.SENSE_LENGTH)
        return scsi.state_of(reply)

    def _check_power_mode(self) -> bytes:
        return ata.command(ata.CHECK_POWER_MODE, length=12 if self._twelve else 16)

    def _send(self, channel: Channel, cdb: bytes, length: int = 0) -> ScsiReply:
        self.commands += 1
        return channel.scsi(cdb, length)

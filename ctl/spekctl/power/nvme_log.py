# SPDX-License-Identifier: GPL-2.0-or-later
"""Health, power and temperature of an NVMe controller, read by admin commands.

NVM Express Base Specification 2.3: Identify Controller, Get Features 02h and 0Ch, and the log pages
00h (Supported Log Pages), 02h (SMART / Health Information) and 25h (Power Measurement). OCP
Datacenter NVMe SSD Specification 2.0: log page C0h (SMART / Health Information Extended), which is
read if 00h lists it, as controllers enter refused commands into their error log, and believed if it
has that specification's GUID. These commands change nothing: 02h is
read with Retain Asynchronous Event, so that a pending SMART event stays pending. The admin queue is
separate from the I/O queues. No other command is sent: a caller selects one of them, and cannot set
its fields.

Commands go through the controller's own node, so that only users of the disk open the disk.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from spekctl.block.device import ROOTS, Device, Roots
from spekctl.block.opening import Number
from spekctl.documents.nvme import (
    NvmeDrive,
    NvmeExtended,
    NvmeHealth,
    NvmeLevel,
    NvmePower,
    NvmePowerBin,
    NvmeSample,
)
from spekctl.errors import SpekError
from spekctl.power import disk
from spekctl.power.disk import Protocol
from spekctl.power.passthrough import Node, NvmeReply, Opener, Place


class Asked(StrEnum):
    """The command to send."""

    IDENTITY = "identity"
    AUTONOMOUS = "autonomous"
    STATE = "state"
    HEALTH = "health"
    POWER = "power"
    LOGS = "logs"
    EXTENDED = "extended"


@dataclass(frozen=True, slots=True)
class _Command:
    opcode: int
    dwords: tuple[int, ...]
    length: int
    namespace: int = 0


_PAGE_BYTES = 4096
_HEALTH_BYTES = 512
_LOGS_BYTES = 1024
_ALL = 0xFFFFFFFF


# Retain Asynchronous Event of Get Log Page: reading does not clear an event. Reserved before 1.3.
_RETAIN_EVENT = 1 << 15


def _get_log(page: int, length: int, flags: int = 0) -> _Command:
    """Get Log Page of the controller."""
    dwords = length // 4 - 1
    return _Command(0x02, (page | flags | (dwords & 0xFFFF) << 16, dwords >> 16), length, _ALL)


_COMMANDS = {
    Asked.IDENTITY: _Command(0x06, (1,), _PAGE_BYTES),
    Asked.AUTONOMOUS: _Command(0x0A, (0x0C,), 256),
    Asked.STATE: _Command(0x0A, (0x02,), 0),
    Asked.HEALTH: _get_log(0x02, _HEALTH_BYTES, _RETAIN_EVENT),
    Asked.POWER: _get_log(0x25, _PAGE_BYTES),
    Asked.LOGS: _get_log(0x00, _LOGS_BYTES),
    Asked.EXTENDED: _get_log(0xC0, _HEALTH_BYTES),
}
_NAMES = {
    Asked.IDENTITY: "Identify Controller",
    Asked.HEALTH: "the SMART / Health Information log",
}

# Least time between two readings of a controller. Each takes at most four commands.
INTERVAL_NS = 10 * 10**9
SAMPLES_MAX = 1000

# --- commands ------------------------------------------------------------------------------------


def controllers_of(device: Device, roots: Roots = ROOTS) -> list[Place]:
    """The nodes of an NVMe disk's controllers, several with multipath; none for other disks and for
    controllers without a node."""
    if device.partition or not device.name.startswith("nvme"):
        return []
    if not (device.sysfs / "nsid").exists():
        return []
    try:
        here = (device.sysfs / "device").resolve(strict=True)
        folders = [here]
        if not (here / "cntlid").exists():
            folders = sorted(
                entry.resolve() for entry in here.iterdir() if (entry / "cntlid").exists()
            )
    except OSError:
        return []
    places = []
    for folder in folders:
        # If a controller disappears, the others stay.
        with contextlib.suppress(OSError, ValueError):
            major, _, minor = (folder / "dev").read_text(encoding="ascii").strip().partition(":")
            node = str(roots.dev / folder.name)
            places.append(Place(node, (int(major), int(minor)), is_character=True))
    return places


def controller_of(device: Device, roots: Roots = ROOTS) -> Place | None:
    """The first of controllers_of()."""
    return next(iter(controllers_of(device, roots)), None)


def ask(place: Place, asked: Asked, open_node: Opener = Node) -> NvmeReply:
    """Send one command to a controller; a SpekError says why it could not be sent."""
    command = _COMMANDS[asked]
    try:
        channel = open_node(place)
        try:
            return channel.nvme(command.opcode, command.dwords, command.length, command.namespace)
        finally:
            channel.close()
    except OSError as error:
        raise SpekError(f"{place.path}: {error.strerror}") from error


def ask_disk(
    device: Device,
    controller: Number,
    asked: Asked,
    roots: Roots = ROOTS,
    open_node: Opener = Node,
) -> NvmeReply:
    """As ask(), for the disk's controller with this device number. Counters of another controller
    of the disk would not continue its counters."""
    for place in controllers_of(device, roots):
        if place.number == controller:
            return ask(place, asked, open_node)
    raise SpekError(
        f"controller {controller[0]}:{controller[1]} of {device.node} is gone, and no other is read"
        " in its place"
    )


# --- data ----------------------------------------------------------------------------------------

# Identify Controller.
_FIRMWARE, _VER, _CTRATT, _NPSS, _APSTA = slice(64, 72), slice(80, 84), slice(96, 100), 263, 265
_WCTEMP, _CCTEMP = slice(266, 268), slice(268, 270)
_DESCRIPTORS, _DESCRIPTOR_BYTES = 2048, 32
_MOST_STATES = 32
_MXPS, _NOPS = 0x01, 0x02
_MEASURES_POWER = 1 << 21
_STATE = 0x1F
# Power Scale of a measurement: microwatts of its unit.
_SCALES_UW = {1: 100, 2: 10_000}
# Power Measurement log.
_HEADER_BYTES, _BIN_BYTES = 64, 8
_NO_ERROR_KNOWN = 100
# Supported Log Pages, from 2.0 on: four bytes for each page, whose first bit says that it is there.
_LISTS_LOGS = 0x00020000
_EXTENDED_ENTRY, _IS_THERE = 4 * 0xC0, 1
# Extended log: the version that counts changes of the power state, in bytes reserved before it.
_VERSION, _COUNTS_STATES = slice(494, 496), 2
# Its GUID is AFD514C97C6F4F9CA4F2BFEA2810AFC5, least significant byte first.
_GUID, _EXTENDED_GUID = slice(496, 512), bytes.fromhex("afd514c97c6f4f9ca4f2bfea2810afc5")[::-1]


@dataclass(frozen=True, slots=True)
class Identity:
    """What does not change while a controller is there."""

    firmware: str
    levels: tuple[NvmeLevel, ...]
    can_be_autonomous: bool
    measures_power: bool
    lists_logs: bool
    warning_k: int | None
    critical_k: int | None


def _number(data: bytes) -> int:
    return int.from_bytes(data, "little")


def identity_of(data: bytes) -> Identity:
    """Of the data of Identify Controller."""
    levels = []
    for number in range(min(data[_NPSS] + 1, _MOST_STATES)):
        at = _DESCRIPTORS + number * _DESCRIPTOR_BYTES
        flags = data[at + 3]
        unit_uw = 100 if flags & _MXPS else 10_000
        levels.append(
            NvmeLevel(
                most_uw=_number(data[at : at + 2]) * unit_uw or None,
                operational=not flags & _NOPS,
                entry_us=_number(data[at + 4 : at + 8]),
                exit_us=_number(data[at + 8 : at + 12]),
            )
        )
    return Identity(
        firmware=data[_FIRMWARE].decode("ascii", errors="replace").strip(" \0"),
        levels=tuple(levels),
        can_be_autonomous=bool(data[_APSTA] & 1),
        measures_power=bool(_number(data[_CTRATT]) & _MEASURES_POWER),
        lists_logs=_number(data[_VER]) >= _LISTS_LOGS,
        warning_k=_number(data[_WCTEMP]) or None,
        critical_k=_number(data[_CCTEMP]) or None,
    )


def _microwatts(field: int) -> int | None:
    """A power of 16 bits with the scale in the two bits above."""
    unit_uw = _SCALES_UW.get(field >> 16 & 3)
    return None if unit_uw is None else (field & 0xFFFF) * unit_uw


def health_of(data: bytes, at_ns: int) -> NvmeHealth:
    """Of the 512 bytes of the SMART / Health Information log."""

    def field(at: int, size: int) -> int:
        return _number(data[at : at + size])

    return NvmeHealth(
        at_ns=at_ns,
        critical_warning=data[0],
        temperature_k=field(1, 2) or None,
        spare_percent=data[3],
        spare_threshold_percent=data[4],
        used_percent=data[5],
        data_units_read=field(32, 16),
        data_units_written=field(48, 16),
        host_reads=field(64, 16),
        host_writes=field(80, 16),
        busy_minutes=field(96, 16),
        power_cycles=field(112, 16),
        power_on_hours=field(128, 16),
        unsafe_shutdowns=field(144, 16),
        media_errors=field(160, 16),
        error_log_entries=field(176, 16),
        warning_minutes=field(192, 4),
        critical_minutes=field(196, 4),
        sensors_k=[field(at, 2) or None for at in range(200, 216, 2)],
        light_throttles=field(216, 4),
        heavy_throttles=field(220, 4),
        light_throttled_s=field(224, 4),
        heavy_throttled_s=field(228, 4),
        energy_wh=field(232, 8) or None,
        interval_uw=_microwatts(field(240, 4)),
    )


def power_of(data: bytes, at_ns: int) -> NvmePower:
    """Of the first 4096 bytes of the Power Measurement log."""

    def field(at: int, size: int) -> int:
        return _number(data[at : at + size])

    attributes, bins, bin_bytes = field(2, 2), field(12, 2), max(field(24, 2), _BIN_BYTES)
    room = (len(data) - _HEADER_BYTES) // bin_bytes
    starts = [_HEADER_BYTES + index * bin_bytes for index in range(min(bins, room))]
    return NvmePower(
        at_ns=at_ns,
        measuring=bool(attributes & 1),
        generation=data[1],
        contiguous=not attributes & 2,
        estimated=bool(attributes & 4),
        measurements=field(8, 4),
        mean_uw=_microwatts(field(40, 4)),
        max_uw=_microwatts(field(44, 4)),
        error_percent=data[56] if data[56] <= _NO_ERROR_KNOWN else None,
        bins=[NvmePowerBin(_microwatts(field(at + 4, 4)), field(at, 4)) for at in starts],
        bins_left_out=max(0, bins - room),
        above=field(32, 4),
    )


def extended_of(data: bytes, at_ns: int) -> NvmeExtended | None:
    """Of the 512 bytes of the extended log; None: a vendor's own log with the same number."""
    if data[_GUID] != _EXTENDED_GUID:
        return None
    return NvmeExtended(
        at_ns=at_ns,
        media_bytes_written=_number(data[0:16]),
        media_bytes_read=_number(data[16:32]),
        state_changes=_number(data[200:208]) if _number(data[_VERSION]) >= _COUNTS_STATES else None,
        throttling=data[97],
        throttling_events=data[96],
        free_blocks_percent=data[120],
        incomplete_shutdowns=_number(data[112:116]),
    )


# --- readings ------------------------------------------------------------------------------------


@dataclass(slots=True)
class Readings:
    """Those of one controller. @ask: sends it a command; a SpekError says why not."""

    place: Place
    disks: Sequence[Device]
    ask: Callable[[Asked], NvmeReply]
    interval_ns: int
    is_late: bool = False  # the run may have begun before the end of the first one
    clock: Callable[[], int] = time.monotonic_ns
    readings: int = 0
    commands: int = 0
    commands_ns: int = 0
    command_max_ns: int = 0
    samples: list[NvmeSample] = field(default_factory=list)
    latest: NvmeSample | None = None
    before: NvmeHealth | None = None
    last: NvmeHealth | None = None
    power_before: NvmePower | None = None
    power_last: NvmePower | None = None
    extended_before: NvmeExtended | None = None
    extended_last: NvmeExtended | None = None
    identity: Identity | None = None
    is_autonomous: bool | None = None
    has_extended: bool = False
    # Of all readings, also those without a sample.
    hottest_k: int | None = None
    state: int | None = None  # the last one that is known
    state_changes: int = 0
    _every: int = 1  # of the readings is kept as a sample

    def take(self) -> None:
        """Take one reading."""
        if self.identity is None:
            self.identity = identity_of(self._needed(Asked.IDENTITY).data)
            self.is_autonomous = False
            if self.identity.can_be_autonomous:
                reply = self._send(Asked.AUTONOMOUS)
                self.is_autonomous = None if reply.status else bool(reply.result & 1)
            self.has_extended = self.identity.lists_logs and self._lists_extended()
        state = self._send(Asked.STATE)
        health = health_of(self._needed(Asked.HEALTH).data, self.clock())
        power = None
        if self.identity.measures_power:
            reply = self._send(Asked.POWER)
            power = None if reply.status else power_of(reply.data, self.clock())
        extended = self._extended() if self.has_extended else None
        if self.before is None:
            self.before, self.power_before, self.extended_before = health, power, extended
        self.last, self.power_last, self.extended_last = health, power, extended
        self.readings += 1
        self._keep(None if state.status else state.result & _STATE, health)

    def _lists_extended(self) -> bool:
        reply = self._send(Asked.LOGS)
        return not reply.status and bool(reply.data[_EXTENDED_ENTRY] & _IS_THERE)

    def _extended(self) -> NvmeExtended | None:
        """The extended log; another log, or a refusal, is not asked for again."""
        reply = self._send(Asked.EXTENDED)
        told = None if reply.status else extended_of(reply.data, self.clock())
        self.has_extended = told is not None
        return told

    def _keep(self, state: int | None, health: NvmeHealth) -> None:
        if health.temperature_k is not None:
            self.hottest_k = max(health.temperature_k, self.hottest_k or 0)
        if state is not None:
            self.state_changes += self.state is not None and state != self.state
            self.state = state
        self.latest = NvmeSample(
            at_ns=health.at_ns,
            state=state,
            temperature_k=health.temperature_k,
            critical_warning=health.critical_warning,
            light_throttles=health.light_throttles,
            heavy_throttles=health.heavy_throttles,
            interval_uw=health.interval_uw,
        )
        if (self.readings - 1) % self._every == 0:
            self.samples.append(self.latest)
        if len(self.samples) > SAMPLES_MAX:
            self.samples = self.samples[::2]
            self._every *= 2

    def _needed(self, asked: Asked) -> NvmeReply:
        reply = self._send(asked)
        if reply.status:
            raise SpekError(
                f"{self.place.path} refused {_NAMES[asked]} with status {reply.status:#06x}"
            )
        return reply

    def _send(self, asked: Asked) -> NvmeReply:
        reply = self.ask(asked)
        self.commands += 1
        self.commands_ns += reply.spent_ns
        self.command_max_ns = max(self.command_max_ns, reply.spent_ns)
        return reply

    def part(self, trouble: str, is_complete: bool) -> NvmeDrive:
        """As results have it. @trouble: why a reading is missing; @is_complete: the last reading
        was taken after the end of the run."""
        known = self.identity
        first = self.disks[0]
        samples = list(self.samples)
        if self.latest is not None and samples[-1] != self.latest:
            samples.append(self.latest)
        return NvmeDrive(
            controller=self.place.path,
            disks=[each.node for each in self.disks],
            model=first.model,
            serial=first.serial,
            text=trouble,
            firmware=known.firmware if known else "",
            levels=list(known.levels) if known else [],
            autonomous=self.is_autonomous,
            warning_k=known.warning_k if known else None,
            critical_k=known.critical_k if known else None,
            interval_ns=self.interval_ns,
            readings=self.readings,
            commands=self.commands,
            commands_ns=self.commands_ns,
            command_max_ns=self.command_max_ns,
            before=None if self.is_late else self.before,
            after=self.last if is_complete else None,
            power_before=None if self.is_late else self.power_before,
            power_after=self.power_last if is_complete else None,
            extended_before=None if self.is_late else self.extended_before,
            extended_after=self.extended_last if is_complete else None,
            hottest_k=self.hottest_k,
            state_changes=self.state_changes,
            samples=samples,
        )


def _below(device: Device, roots: Roots) -> list[disk.Disk]:
    """The disks below a device, which may be going."""
    try:
        return disk.below(device, roots)
    except SpekError:
        return []


def controllers(
    devices: Sequence[Device], roots: Roots = ROOTS
) -> list[tuple[Place, list[Device]]]:
    """The NVMe controllers of devices and of what these lie on, each with its disks."""
    places: dict[str, tuple[Place, list[Device]]] = {}
    disks = {each.node: each for device in devices for each in _below(device, roots)}
    for each in disks.values():
        place = controller_of(each.device, roots) if each.protocol is Protocol.NVME else None
        if place is not None:
            places.setdefault(place.path, (place, []))[1].append(each.device)
    return list(places.values())


def below_any(
    devices: Sequence[Device], number: tuple[int, int], roots: Roots = ROOTS
) -> Device | None:
    """The disk with this @number that one of @devices is or lies on."""
    for device in devices:
        for each in _below(device, roots):
            if (each.device.major, each.device.minor) == number:
                return each.device
    return None

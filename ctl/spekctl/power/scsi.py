# SPDX-License-Identifier: GPL-2.0-or-later
"""SCSI power commands, and what sense data say of power conditions.

REQUEST SENSE and sense data: SPC-5. With no unit attention pending, REQUEST SENSE returns pollable
sense data, in which additional sense code 5Eh names the low power condition; it changes none. START
STOP UNIT: SBC-4. Power Condition mode page (1Ah): SPC-5.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from spekctl.documents.disk_states import PowerState
from spekctl.errors import SpekError, UsageError
from spekctl.kernel.sense import CODES, KEYS
from spekctl.power.passthrough import Channel, ScsiReply

SENSE_LENGTH = 252
REQUEST_SENSE = bytes([0x03, 0, 0, 0, SENSE_LENGTH, 0])

# Values of POWER CONDITION in START STOP UNIT.
START_VALID = 0x0
ACTIVE = 0x1
IDLE = 0x2
STANDBY = 0x3

_NO_SENSE, _RECOVERED, _NOT_READY, _UNIT_ATTENTION = 0x0, 0x1, 0x2, 0x6
_LOW_POWER = 0x5E
_PAGE_POWER = 0x1A
_HEADER = 8
_STANDBY_Z = 0x01
# The timer of the page counts in units of 100 ms.
_TICK_NS = 10**8
_MOST_TICKS = 2**32 - 1

# By ASCQ of ASC 5Eh.
_CONDITIONS = {
    0x00: (PowerState.LOW_POWER, ""),
    0x01: (PowerState.IDLE_A, "by timer"),
    0x02: (PowerState.STANDBY, "by timer"),
    0x03: (PowerState.IDLE_A, "by command"),
    0x04: (PowerState.STANDBY, "by command"),
    0x05: (PowerState.IDLE_B, "by timer"),
    0x06: (PowerState.IDLE_B, "by command"),
    0x07: (PowerState.IDLE_C, "by timer"),
    0x08: (PowerState.IDLE_C, "by command"),
    0x09: (PowerState.STANDBY_Y, "by timer"),
    0x0A: (PowerState.STANDBY_Y, "by command"),
    0x41: (PowerState.ACTIVE_OR_IDLE, "changing to active"),
    0x42: (PowerState.IDLE, "changing to idle"),
    0x43: (PowerState.STANDBY, "changing to standby"),
    0x45: (PowerState.SLEEP, "changing to sleep"),
}
# By (ASC, ASCQ) of a disk that is not ready.
_NOT_READY_STATES = {
    (0x04, 0x01): PowerState.STARTING,
    (0x04, 0x02): PowerState.STOPPED,
    (0x04, 0x11): PowerState.STOPPED,
    (0x04, 0x1A): PowerState.STARTING,
    (0x04, 0x1C): PowerState.STOPPED,
}


@dataclass(frozen=True, slots=True)
class Sense:
    """Sense key, additional sense code and its qualifier."""

    key: int
    asc: int
    ascq: int


def is_descriptor(sense: bytes) -> bool:
    """True for descriptor format (72h, 73h), else fixed (70h, 71h)."""
    return sense[0] & 0x7E == 0x72


def sense_of(sense: bytes) -> Sense | None:
    """The codes of sense data of either format; None if it is neither, or cut short."""
    if len(sense) < 4 or sense[0] & 0x7C != 0x70:
        return None
    if is_descriptor(sense):
        return Sense(sense[1] & 0x0F, sense[2], sense[3])
    # Before byte 13 they are 0, as SPC says of sense data that ends there.
    codes = (sense + bytes(14))[12:14]
    return Sense(sense[2] & 0x0F, codes[0], codes[1])


def descriptors(sense: bytes) -> Iterator[tuple[int, bytes]]:
    """Type and contents, after type and length, of each whole descriptor."""
    at, end = 8, min(len(sense), 8 + (sense[7] if len(sense) > 7 else 0))
    while at + 2 <= end:
        length = sense[at + 1]
        if at + 2 + length > end:
            return
        yield sense[at], sense[at + 2 : at + 2 + length]
        at += 2 + length


def words(told: Sense) -> str:
    """Sense codes for people."""
    meaning = CODES.get((told.asc, told.ascq))
    return f"{KEYS[told.key]}, {meaning or f'ASC {told.asc:#04x} ASCQ {told.ascq:#04x}'}"


def state_of(reply: ScsiReply) -> tuple[PowerState, str]:
    """The answer of REQUEST SENSE, and a detail."""
    if reply.host:
        return PowerState.UNKNOWN, f"no answer (host byte {reply.host:#04x})"
    if reply.status:
        refused = sense_of(reply.sense)
        return PowerState.UNKNOWN, words(refused) if refused else f"status {reply.status:#04x}"
    told = sense_of(reply.data)
    if told is None:
        return PowerState.UNKNOWN, "the answer is not sense data"
    if told.asc == _LOW_POWER and told.key in (_NO_SENSE, _RECOVERED):
        return _CONDITIONS.get(told.ascq, (PowerState.LOW_POWER, words(told)))
    if told.key == _NOT_READY:
        return _NOT_READY_STATES.get((told.asc, told.ascq), PowerState.UNKNOWN), words(told)
    if told.key == _NO_SENSE and (told.asc, told.ascq) == (0, 0):
        return PowerState.ACTIVE_OR_IDLE, ""
    return PowerState.UNKNOWN, words(told)


def is_attention(sense: bytes) -> bool:
    """Sense data report a unit attention, which is thereby cleared. In those that REQUEST SENSE
    returns it hides the power condition, which comes next time."""
    told = sense_of(sense)
    return told is not None and told.key == _UNIT_ATTENTION


def start_stop(condition: int, start: bool = False) -> bytes:
    """START STOP UNIT; it ends when the disk is there. NO_FLUSH is 0: caches are written first."""
    return bytes([0x1B, 0, 0, 0, condition << 4 | start, 0])


def set_standby_timer(channel: Channel, timer_ns: int) -> None:
    """Set the standby_z timer of the Power Condition mode page; 0: off. Until the next reset."""
    ticks = ticks_of(timer_ns)
    # MODE SENSE (10): DBD, current values.
    asked = channel.scsi(bytes([0x5A, 0x08, _PAGE_POWER, 0, 0, 0, 0, 0, 252, 0]), length=252)
    check(asked, "MODE SENSE")
    skipped = _HEADER + int.from_bytes(asked.data[6:8])
    page = bytearray(asked.data[skipped:])
    if len(page) < 12 or page[0] & 0x3F != _PAGE_POWER or len(page) < 2 + page[1]:
        raise SpekError("the disk returned no Power Condition mode page")
    del page[2 + page[1] :]
    page[0] &= 0x3F  # PS is reserved in MODE SELECT
    page[3] = page[3] & ~_STANDBY_Z | (_STANDBY_Z if ticks else 0)
    if ticks:
        page[8:12] = ticks.to_bytes(4)
    # All of the header is reserved in MODE SELECT, but the length of block descriptors: none.
    parameters = bytes(_HEADER) + bytes(page)
    chosen = bytes([0x55, 0x10, 0, 0, 0, 0, 0, *len(parameters).to_bytes(2), 0])
    check(channel.scsi(chosen, data=parameters), "MODE SELECT")


def ticks_of(timer_ns: int) -> int:
    """A time in units of 100 ms; UsageError for what the page cannot say."""
    ticks, remainder = divmod(timer_ns, _TICK_NS)
    if remainder or ticks > _MOST_TICKS:
        raise UsageError("the timer of a SCSI disk is a multiple of 100ms, up to 2^32 - 1 of them")
    return ticks


def check(reply: ScsiReply, name: str) -> None:
    """SpekError, naming the command, unless it succeeded."""
    if reply.host or reply.status:
        told = sense_of(reply.sense)
        detail = words(told) if told else f"status {reply.status:#04x}, host byte {reply.host:#04x}"
        raise SpekError(f"the disk refused {name}: {detail}")

# SPDX-License-Identifier: GPL-2.0-or-later
"""ATA power commands in ATA PASS-THROUGH, and what comes back.

Commands and values: ACS-4 (CHECK POWER MODE E5h, IDLE E3h, IDLE IMMEDIATE E1h, STANDBY E2h, STANDBY
IMMEDIATE E0h, SLEEP E6h; standby timer periods). CDBs and sense data: SAT-4 (ATA PASS-THROUGH (12)
and (16), ATA Status Return descriptor, ATA Information in fixed format).
"""

from __future__ import annotations

from dataclasses import dataclass

from spekctl.documents.disk_states import PowerState
from spekctl.errors import SpekError, UsageError
from spekctl.power import scsi
from spekctl.power.passthrough import ScsiReply
from spekctl.units import format_duration

CHECK_POWER_MODE = 0xE5
STANDBY_IMMEDIATE = 0xE0
IDLE_IMMEDIATE = 0xE1
STANDBY = 0xE2
IDLE = 0xE3
SLEEP = 0xE6

_SIXTEEN, _TWELVE = 0x85, 0xA1
OPCODES = (_SIXTEEN, _TWELVE)
_NON_DATA = 3 << 1
_CK_COND = 0x20
_ERR, _ABORT = 0x01, 0x04
_ILLEGAL_REQUEST = 0x5
# ATA PASS-THROUGH INFORMATION AVAILABLE.
_INFORMATION = (0x00, 0x1D)
_STATUS_RETURN = 0x09

SECOND = 10**9
MINUTE = 60 * SECOND

# Values of the count field after CHECK POWER MODE. ACS-2 calls 40h and 41h active with a cache in
# flash: in the former the spindle stands.
_STATES = {
    0x00: (PowerState.STANDBY, "standby or standby_z"),
    0x01: (PowerState.STANDBY_Y, ""),
    0x40: (PowerState.STANDBY, "active by its NV cache, spindle stopped"),
    0x41: (PowerState.ACTIVE_OR_IDLE, "its NV cache is in use"),
    0x80: (PowerState.IDLE, ""),
    0x81: (PowerState.IDLE_A, ""),
    0x82: (PowerState.IDLE_B, ""),
    0x83: (PowerState.IDLE_C, ""),
    0xFF: (PowerState.ACTIVE_OR_IDLE, ""),
}


@dataclass(frozen=True, slots=True)
class Registers:
    """What an ATA command left behind."""

    error: int
    status: int
    count: int


def command(code: int, count: int = 0, length: int = 16) -> bytes:
    """A non-data command as ATA PASS-THROUGH (16), or (12), that returns the registers."""
    if length == 16:
        # OPCODE, PROTOCOL, flags, FEATURES (2), COUNT (2), LBA (6), DEVICE, COMMAND, CONTROL
        return bytes([_SIXTEEN, _NON_DATA, _CK_COND, 0, 0, 0, count, *[0] * 7, code, 0])
    # OPCODE, PROTOCOL, flags, FEATURES, COUNT, LBA (3), DEVICE, COMMAND, reserved, CONTROL
    return bytes([_TWELVE, _NON_DATA, _CK_COND, 0, count, 0, 0, 0, 0, code, 0, 0])


def registers_of(sense: bytes) -> Registers | None:
    """The registers in sense data; None if it has none.

    libata answers in descriptor format. Some host adapters and USB bridges use fixed format: ERROR,
    STATUS, DEVICE and COUNT are then where other sense data have the INFORMATION field.
    """
    if scsi.sense_of(sense) is None:
        return None
    if scsi.is_descriptor(sense):
        for kind, body in scsi.descriptors(sense):
            if kind == _STATUS_RETURN and len(body) >= 12:
                return Registers(error=body[1], status=body[11], count=body[3])
        return None
    told = scsi.sense_of(sense)
    if told is None or (told.asc, told.ascq) != _INFORMATION or len(sense) < 7:
        return None
    return Registers(error=sense[3], status=sense[4], count=sense[6])


def is_unknown(reply: ScsiReply) -> bool:
    """The translation layer does not have ATA PASS-THROUGH of this length."""
    told = scsi.sense_of(reply.sense)
    return told is not None and told.key == _ILLEGAL_REQUEST


def check(reply: ScsiReply, name: str) -> None:
    """SpekError, naming the command, if it failed. One that succeeds ends with CHECK CONDITION as
    well, as its registers were asked for."""
    registers = registers_of(reply.sense)
    if registers is None:
        scsi.check(reply, name)
    elif registers.status & _ERR:
        refusal = "does not have" if registers.error & _ABORT else "failed in"
        raise SpekError(f"the disk {refusal} {name}")


def state_of(reply: ScsiReply) -> tuple[PowerState, str]:
    """The answer of CHECK POWER MODE, and a detail. An empty answer is not standby."""
    if reply.host:
        return PowerState.UNKNOWN, f"no answer (host byte {reply.host:#04x})"
    registers = registers_of(reply.sense)
    if registers is None:
        told = scsi.sense_of(reply.sense)
        if told is None:
            return PowerState.UNKNOWN, "the answer has no ATA registers"
        return PowerState.UNKNOWN, scsi.words(told)
    if registers.status & _ERR:
        return PowerState.UNKNOWN, "the disk aborted CHECK POWER MODE"
    unknown = (PowerState.UNKNOWN, f"CHECK POWER MODE returned {registers.count:#04x}")
    return _STATES.get(registers.count, unknown)


def standby_count(timer_ns: int) -> int:
    """The count field of IDLE and STANDBY for a standby timer; 0: no timer. UsageError for a time
    that has no value."""
    if timer_ns == 0:
        return 0
    if timer_ns % (5 * SECOND) == 0 and timer_ns <= 20 * MINUTE:
        return timer_ns // (5 * SECOND)
    if timer_ns % (30 * MINUTE) == 0 and timer_ns <= 330 * MINUTE:
        return 240 + timer_ns // (30 * MINUTE)
    if timer_ns == 21 * MINUTE:
        return 252
    if timer_ns == 21 * MINUTE + 15 * SECOND:
        return 255
    raise UsageError(
        f"an ATA disk has no standby timer of {format_duration(timer_ns)}; allowed are 0 (off),"
        " multiples of 5s up to 20m, 21m, 1275s, and multiples of 30m up to 330m"
    )

# SPDX-License-Identifier: GPL-2.0-or-later
"""What SCSI devices say of commands that failed, in words.

Sense keys and additional sense codes as T10 assigns them; of the latter those that disks use. A
code that is not here is shown as a number.
"""

from __future__ import annotations

from spekctl.kernel.records import RunInfo, SenseInfo

KEYS = (
    "no sense",
    "recovered error",
    "not ready",
    "medium error",
    "hardware error",
    "illegal request",
    "unit attention",
    "data protect",
    "blank check",
    "vendor specific",
    "copy aborted",
    "aborted command",
    "sense key 0xc",
    "volume overflow",
    "miscompare",
    "completed",
)

# (ASC, ASCQ): meaning
# fmt: off
CODES: dict[tuple[int, int], str] = {
    (0x00, 0x00): "no additional information",
    (0x02, 0x00): "no seek complete",
    (0x03, 0x00): "peripheral device write fault",
    (0x04, 0x00): "not ready, cause not reportable",
    (0x04, 0x01): "in process of becoming ready",
    (0x04, 0x02): "initializing command required",
    (0x04, 0x03): "manual intervention required",
    (0x04, 0x04): "format in progress",
    (0x04, 0x05): "rebuild in progress",
    (0x04, 0x06): "recalculation in progress",
    (0x04, 0x07): "operation in progress",
    (0x04, 0x09): "self-test in progress",
    (0x04, 0x0A): "asymmetric access state transition",
    (0x04, 0x0B): "target port in standby state",
    (0x04, 0x0C): "target port in unavailable state",
    (0x04, 0x11): "notify (enable spinup) required",
    (0x04, 0x1A): "start stop unit command in progress",
    (0x04, 0x1B): "sanitize in progress",
    (0x04, 0x1C): "additional power use not yet granted",
    (0x04, 0x22): "power cycle required",
    (0x05, 0x00): "logical unit does not respond to selection",
    (0x06, 0x00): "no reference position found",
    (0x08, 0x00): "logical unit communication failure",
    (0x08, 0x01): "logical unit communication time-out",
    (0x08, 0x03): "logical unit communication CRC error",
    (0x09, 0x00): "track following error",
    (0x0B, 0x00): "warning",
    (0x0B, 0x01): "warning: specified temperature exceeded",
    (0x0B, 0x03): "warning: background self-test failed",
    (0x0B, 0x04): "warning: background pre-scan detected medium error",
    (0x0B, 0x05): "warning: background medium scan detected medium error",
    (0x0C, 0x00): "write error",
    (0x0C, 0x01): "write error, recovered with auto reallocation",
    (0x0C, 0x02): "write error, auto reallocation failed",
    (0x0C, 0x03): "write error, reassignment recommended",
    (0x0C, 0x0C): "write error, unexpected unsolicited data",
    (0x0C, 0x0D): "write error, not enough unsolicited data",
    (0x0E, 0x03): "invalid field in command information unit",
    (0x10, 0x00): "ID CRC or ECC error",
    (0x10, 0x01): "logical block guard check failed",
    (0x10, 0x02): "logical block application tag check failed",
    (0x10, 0x03): "logical block reference tag check failed",
    (0x11, 0x00): "unrecovered read error",
    (0x11, 0x01): "read retries exhausted",
    (0x11, 0x02): "error too long to correct",
    (0x11, 0x03): "multiple read errors",
    (0x11, 0x04): "unrecovered read error, auto reallocate failed",
    (0x11, 0x0A): "miscorrected error",
    (0x11, 0x0B): "unrecovered read error, reassignment recommended",
    (0x11, 0x0C): "unrecovered read error, rewrite recommended",
    (0x11, 0x14): "read error, logical block marked bad by initiator",
    (0x12, 0x00): "address mark not found for ID field",
    (0x13, 0x00): "address mark not found for data field",
    (0x14, 0x00): "recorded entity not found",
    (0x14, 0x01): "record not found",
    (0x15, 0x00): "random positioning error",
    (0x15, 0x01): "mechanical positioning error",
    (0x15, 0x02): "positioning error detected by read of medium",
    (0x16, 0x00): "data synchronization mark error",
    (0x17, 0x00): "recovered data without error correction",
    (0x17, 0x01): "recovered data with retries",
    (0x18, 0x00): "recovered data with error correction applied",
    (0x18, 0x02): "recovered data, auto reallocated",
    (0x19, 0x00): "defect list error",
    (0x1A, 0x00): "parameter list length error",
    (0x1B, 0x00): "synchronous data transfer error",
    (0x1D, 0x00): "miscompare during verify",
    (0x20, 0x00): "invalid command operation code",
    (0x20, 0x02): "access denied, no access rights",
    (0x21, 0x00): "logical block address out of range",
    (0x21, 0x04): "unaligned write command",
    (0x21, 0x05): "write boundary violation",
    (0x21, 0x06): "attempt to read invalid data",
    (0x21, 0x07): "read boundary violation",
    (0x24, 0x00): "invalid field in CDB",
    (0x25, 0x00): "logical unit not supported",
    (0x26, 0x00): "invalid field in parameter list",
    (0x27, 0x00): "write protected",
    (0x27, 0x01): "hardware write protected",
    (0x27, 0x02): "logical unit software write protected",
    (0x27, 0x07): "space allocation failed, write protect",
    (0x28, 0x00): "not ready to ready change, medium may have changed",
    (0x29, 0x00): "power on, reset, or bus device reset occurred",
    (0x29, 0x01): "power on occurred",
    (0x29, 0x02): "SCSI bus reset occurred",
    (0x29, 0x03): "bus device reset function occurred",
    (0x29, 0x04): "device internal reset",
    (0x29, 0x07): "I_T nexus loss occurred",
    (0x2A, 0x00): "parameters changed",
    (0x2A, 0x01): "mode parameters changed",
    (0x2A, 0x03): "reservations preempted",
    (0x2A, 0x04): "reservations released",
    (0x2A, 0x05): "registrations preempted",
    (0x2A, 0x06): "asymmetric access state changed",
    (0x2A, 0x09): "capacity data has changed",
    (0x2C, 0x00): "command sequence error",
    (0x2F, 0x00): "commands cleared by another initiator",
    (0x2F, 0x01): "commands cleared by power loss notification",
    (0x2F, 0x02): "commands cleared by device server",
    (0x30, 0x00): "incompatible medium installed",
    (0x31, 0x00): "medium format corrupted",
    (0x31, 0x01): "format command failed",
    (0x32, 0x00): "no defect spare location available",
    (0x35, 0x00): "enclosure services failure",
    (0x38, 0x07): "thin provisioning soft threshold reached",
    (0x3A, 0x00): "medium not present",
    (0x3E, 0x00): "logical unit has not self-configured yet",
    (0x3E, 0x01): "logical unit failure",
    (0x3E, 0x02): "time-out on logical unit",
    (0x3E, 0x03): "logical unit failed self-test",
    (0x3F, 0x00): "target operating conditions have changed",
    (0x3F, 0x01): "microcode has been changed",
    (0x3F, 0x03): "inquiry data has changed",
    (0x3F, 0x0E): "reported LUNs data has changed",
    (0x40, 0x00): "RAM failure",
    (0x41, 0x00): "data path failure",
    (0x42, 0x00): "power-on or self-test failure",
    (0x43, 0x00): "message error",
    (0x44, 0x00): "internal target failure",
    (0x45, 0x00): "select or reselect failure",
    (0x47, 0x00): "SCSI parity error",
    (0x47, 0x01): "data phase CRC error detected",
    (0x47, 0x03): "information unit iuCRC error detected",
    (0x48, 0x00): "initiator detected error message received",
    (0x49, 0x00): "invalid message error",
    (0x4A, 0x00): "command phase error",
    (0x4B, 0x00): "data phase error",
    (0x4B, 0x01): "invalid target port transfer tag received",
    (0x4B, 0x02): "too much write data",
    (0x4B, 0x03): "ACK/NAK timeout",
    (0x4B, 0x04): "NAK received",
    (0x4B, 0x05): "data offset error",
    (0x4B, 0x06): "initiator response timeout",
    (0x4B, 0x07): "connection lost",
    (0x4C, 0x00): "logical unit failed self-configuration",
    (0x4E, 0x00): "overlapped commands attempted",
    (0x53, 0x02): "medium removal prevented",
    (0x55, 0x00): "system resource failure",
    (0x55, 0x03): "insufficient resources",
    (0x5B, 0x00): "log exception",
    (0x5D, 0x00): "failure prediction threshold exceeded",
    (0x5D, 0xFF): "failure prediction threshold exceeded (false)",
    (0x5E, 0x00): "low power condition on",
    (0x65, 0x00): "voltage fault",
    (0x74, 0x71): "logical unit access not authorized",
}
# fmt: on


def sentence(said: SenseInfo) -> str:
    """`medium error, ASC 0x11 ASCQ 0x00 (unrecovered read error)`."""
    key = KEYS[said.key & 0xF]
    if said.deferred:
        key += " of an earlier command"
    text = f"{key}, ASC {said.asc:#04x} ASCQ {said.ascq:#04x}"
    meaning = CODES.get((said.asc, said.ascq))
    if meaning is None and (said.asc >= 0x80 or said.ascq >= 0x80):
        meaning = "vendor specific"
    return f"{text} ({meaning})" if meaning else text


def first_error(info: RunInfo, failure: str = "") -> str:
    """The first failure of a run in words, with what the device said of it; @failure: the kernel's
    words, if more is known."""
    failure = failure or info.first_error
    if info.first_sense is None:
        return failure
    return f"{failure}: {sentence(info.first_sense)}"

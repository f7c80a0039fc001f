# SPDX-License-Identifier: GPL-2.0
"""Random SCSI commands for a disk: known ones with random fields, and such as no disk knows.

Several threads send them, so that commands meet in the drive: a stop and a read, a start
and a write.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from lib.guest.modelled import FROM_DEVICE, NONE, SG_HEADER, SG_IO, TO_DEVICE

# Operation codes of the disk, several of them with service actions; the rest comes at random.
KNOWN = (
    *(0x00, 0x03, 0x08, 0x0A, 0x12, 0x15, 0x1A, 0x1B, 0x25, 0x28, 0x2A, 0x2F, 0x35, 0x41, 0x42),
    *(0x4D, 0x55, 0x5A, 0x85, 0x88, 0x8A, 0x8F, 0x91, 0x93, 0x9E, 0xA0, 0xA1, 0xA3, 0xA8, 0xAA),
)
LENGTHS = (6, 10, 10, 16, 12, 16, 6, 6)  # by the upper 3 bits of the operation code
START = bytes([0x1B, 0, 0, 0, 1, 0])
MOST_DATA = 64 << 10
SENSE = 64
TIMEOUT_MS = 60_000
SENDERS = 4


@dataclass
class Sent:
    """What became of the commands."""

    good: int = 0
    refused: int = 0  # with sense data
    not_sent: int = 0  # by the kernel: a length that no command has

    def __add__(self, more: Sent) -> Sent:
        return Sent(
            self.good + more.good, self.refused + more.refused, self.not_sent + more.not_sent
        )

    def __str__(self) -> str:
        return f"{self.good} good, {self.refused} refused, {self.not_sent} not sent"


def command_of(source: random.Random) -> bytes:
    """A CDB. Numbers are small as often as not: large ones are beyond the capacity."""
    opcode = source.choice(KNOWN) if source.random() < 0.9 else source.randrange(256)
    length = LENGTHS[opcode >> 5]
    if source.random() < 0.02:
        length = source.randrange(1, 17)
    kind = source.random()
    if kind < 0.4:
        rest = bytes(source.choice((0, 0, 0, 1, 4, 8, 0x10)) for _ in range(length - 1))
    elif kind < 0.7:
        filled = bytearray(length - 1)
        for _ in range(source.randrange(4)):
            if filled:
                filled[source.randrange(len(filled))] = source.randrange(256)
        rest = bytes(filled)
    else:
        rest = source.randbytes(length - 1)
    return bytes([opcode]) + rest


def send_random(node: str, count: int, seed: int) -> Sent:
    """Send @count commands. OSError for a disk that answers no more."""
    with ThreadPoolExecutor(SENDERS) as threads:
        each = [
            threads.submit(_send, node, len(range(sender, count, SENDERS)), f"{seed} {sender}")
            for sender in range(SENDERS)
        ]
        return sum((future.result() for future in each), Sent())


def _send(node: str, count: int, seed: str) -> Sent:
    """One by one."""
    source = random.Random(seed)
    sent = Sent()
    data = ctypes.create_string_buffer(MOST_DATA)
    sense = ctypes.create_string_buffer(SENSE)
    cdb = ctypes.create_string_buffer(16)
    addresses = tuple(ctypes.addressof(buffer) for buffer in (data, cdb, sense))
    fd = os.open(node, os.O_RDWR | os.O_NONBLOCK)
    try:
        for number in range(count):
            # Now and then one that starts the drive, which hardly anything is good for otherwise.
            command = START if number % 16 == 0 else command_of(source)
            ctypes.memmove(cdb, command, len(command))
            direction = (
                NONE
                if command is START
                else source.choice((NONE, FROM_DEVICE, FROM_DEVICE, TO_DEVICE))
            )
            size = 0 if direction == NONE else source.choice((1, 4, 18, 36, 255, 512, 4096, 65536))
            if direction == TO_DEVICE:
                ctypes.memmove(data, source.randbytes(min(size, 64)), min(size, 64))
            header = bytearray(
                SG_HEADER.pack(
                    *(ord("S"), direction, len(command), SENSE, 0, size, *addresses),
                    *(TIMEOUT_MS, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
                )
            )
            try:
                fcntl.ioctl(fd, SG_IO, header)
            except OSError as error:
                if error.errno not in (errno.EINVAL, errno.EMSGSIZE):
                    raise
                sent.not_sent += 1
                continue
            status, _, _, written, host, _driver, residue = SG_HEADER.unpack(header)[13:20]
            if host:
                raise OSError(f"{command.hex()} ends with host byte {host:#x}")
            if not 0 <= residue <= size:
                raise OSError(f"{command.hex()}: {residue} of {size} bytes are left")
            if status:
                if written < 8:
                    raise OSError(f"{command.hex()} ends with status {status} and no sense")
                sent.refused += 1
            else:
                sent.good += 1
    finally:
        os.close(fd)
    return sent

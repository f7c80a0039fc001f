# SPDX-License-Identifier: GPL-2.0
"""Bytes of a LabJack U6, from its data sheet: written apart from the code under test.

Nothing here knows how the project reads them; where both agree, the data sheet was understood.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

VENDOR, PRODUCT = 0x0CD5, 6
COMMAND, REPLY, STREAM = 0x01, 0x82, 0x83  # endpoints
DIGITAL = 193
OVERFLOW, RECOVERED = 59, 60
STREAM_ACTIVE, NOT_RUNNING = 48, 52
MARK = 0xFFFF


def checksum8(data: bytes) -> int:
    """Sum of all bytes but the first, folded twice into one byte."""
    total = sum(data[1:])
    for _ in range(2):
        total = total % 256 + total // 256
    return total


def sealed(data: bytes) -> bytes:
    """A short packet with its check sum."""
    return bytes([checksum8(data)]) + data[1:]


def sealed_long(data: bytes) -> bytes:
    """A long packet with both of its check sums."""
    data = data[:4] + struct.pack("<H", sum(data[6:]) & 0xFFFF) + data[6:]
    return bytes([checksum8(data[:6])]) + data[1:]


def is_sound(data: bytes) -> bool:
    """The check sums of a command are right."""
    return data == (sealed_long(data) if data[1] & 0x78 == 0x78 else sealed(data))


def stream_packet(
    samples: Sequence[int], counter: int, error: int = 0, dropped: int = 0, backlog: int = 0
) -> bytes:
    """One packet of the stream."""
    body = struct.pack("<IBB", dropped, counter & 255, error)
    body += struct.pack(f"<{len(samples)}H", *samples) + bytes([backlog, 0])
    return sealed_long(bytes([0, 0xF9, 4 + len(samples), 0xC0, 0, 0]) + body)


def long_reply(command: int, body: bytes) -> bytes:
    """A reply to a long command; the error code is the body's first byte."""
    return sealed_long(bytes([0, 0xF8, len(body) // 2, command, 0, 0]) + body)


def short_reply(command: int, error: int = 0) -> bytes:
    """A reply to a short command."""
    return sealed(bytes([0, command + 1, error, 0]))


@dataclass(frozen=True)
class Constants:
    """What converts one gain's numbers to volts."""

    slope: float = 3.1580578e-4
    negative_slope: float = -3.158058e-4
    center: float = 33523.0

    def volts(self, raw: int) -> float:
        """What the maker's formula says."""
        if raw < self.center:
            return (self.center - raw) * self.negative_slope
        return (raw - self.center) * self.slope

    def raw(self, volts: float) -> int:
        """The number nearest to a voltage; the converter's ends limit it."""
        step = self.slope if volts >= 0 else -self.negative_slope
        return min(max(round(self.center + volts / step), 0), 0xFFFE)


def fixed_point(value: float) -> bytes:
    """32 bits before and 32 after the point, as the device stores its constants."""
    return struct.pack("<q", round(value * 2**32))


def memory(constants: Constants) -> list[bytes]:
    """The blocks with the inputs' constants; the gains differ by powers of ten."""
    gains = [10**-i for i in range(4)]
    offset = -constants.center * constants.slope
    positive = [fixed_point(constants.slope * gain) + fixed_point(offset * gain) for gain in gains]
    negative = [
        fixed_point(constants.negative_slope * gain) + fixed_point(constants.center)
        for gain in gains
    ]
    pairs = positive + negative
    return [pairs[i] + pairs[i + 1] for i in range(0, 8, 2)]

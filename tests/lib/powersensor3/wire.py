# SPDX-License-Identifier: GPL-2.0
"""What a PowerSensor3 sends: its configuration, and sets of levels."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

SENSORS = 8
LEVELS = 1024
SUPPLY_V = 3.3
STOP = b"\xff\x3f\xff\x3f"
STAMPS = [bytes((0xF0 | stamp >> 6, 0x40 | stamp & 0x3F)) for stamp in range(1024)]


@dataclass(frozen=True)
class Sensor:
    """As it is in the device's memory."""

    vref: float
    sensitivity: float
    in_use: int = 1
    name: bytes = b"NA"
    kind: bytes = b"MLX10"

    def encode(self) -> bytes:
        return struct.pack(
            "<16s16sffB", self.kind, self.name, self.vref, self.sensitivity, self.in_use
        )

    def micro(self, level: int) -> int:
        """The current or the voltage at a level, in millionths, rounded to nearest."""
        vref, sensitivity = struct.unpack("<ff", struct.pack("<ff", self.vref, self.sensitivity))
        value = (SUPPLY_V * level / (LEVELS - 1) - vref) / sensitivity * 1e6
        return int(abs(value) + 0.5) * (1 if value >= 0 else -1)


def pair(name: str, in_use: int = 1) -> list[Sensor]:
    """A current sensor of 10 A and a voltage sensor of 36 V."""
    word = name.encode()
    return [
        Sensor(1.65, 0.12, in_use, word),
        Sensor(0.0, 0.0916, in_use, word, b"voltage"),
    ]


# Two pairs in use.
BOARD = (*pair("12V"), *pair("NA", 0), *pair("3V3"), *pair("NA", 0))


def level_words(levels: Sequence[int], marked: bool = False) -> bytes:
    """All words of a set but its time stamp; each byte's first bit says which of two it is."""
    words = bytearray()
    for number, level in enumerate(levels):
        marker = 0x40 if marked and number == 0 else 0
        words += bytes((0x80 | number << 4 | level >> 6, marker | level & 0x3F))
    return bytes(words)


def set_bytes(at_us: int, levels: Sequence[int], marked: bool = False) -> bytes:
    """One set, at a time by the device's clock."""
    return STAMPS[at_us % 1024] + level_words(levels, marked)

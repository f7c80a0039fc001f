# SPDX-License-Identifier: GPL-2.0
"""The buffer of a U6 while it streams: scans go in, packets come out, overflow included.

Without a clock: whoever uses it says when a scan is taken and when a packet is fetched.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from lib.u6.wire import MARK, OVERFLOW, RECOVERED, stream_packet

CAPACITY = 984


@dataclass
class Fifo:
    """Samples that wait to be fetched.

    A scan that doesn't fit begins the recovery: scans are dropped and packets say so, until less
    than a packet is left. Then one scan of MARK stands for all that were dropped, itself
    included, and the next packet has their number.
    """

    channels: int
    per_packet: int
    capacity: int = CAPACITY
    samples: deque[int] = field(default_factory=deque)
    counter: int = 0
    recovering: bool = False
    dropped: int = 0
    report: int = 0

    def put(self, scan: Sequence[int]) -> bool:
        """Take a scan. Return: False if it is dropped."""
        if self.recovering and len(self.samples) < self.per_packet:
            self.samples.extend([MARK] * self.channels)
            self.report = self.dropped + 1
            self.recovering, self.dropped = False, 0
            return False
        if self.recovering or len(self.samples) + self.channels > self.capacity:
            self.recovering = True
            self.dropped += 1
            return False
        self.samples.extend(scan)
        return True

    @property
    def packets(self) -> int:
        """That could be fetched now."""
        return len(self.samples) // self.per_packet

    def get(self) -> bytes:
        """The next packet."""
        values = [self.samples.popleft() for _ in range(self.per_packet)]
        error = OVERFLOW if self.recovering else RECOVERED if self.report else 0
        packet = stream_packet(
            values,
            self.counter,
            error,
            self.report if error == RECOVERED else 0,
            len(self.samples) * 256 // self.capacity,
        )
        if error == RECOVERED:
            self.report = 0
        self.counter = (self.counter + 1) & 255
        return packet

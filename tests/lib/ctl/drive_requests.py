# SPDX-License-Identifier: GPL-2.0
"""Requests for modelled drives."""

from __future__ import annotations

import random

from spekctl.drive.core import REQUEST


def random_requests(count: int, sectors: int, gap_ns: float = 0, writes: float = 0) -> bytes:
    """@count of 8 sectors at random places, @gap_ns apart on average; a share of @writes."""
    generator = random.Random(7)
    packed, now = bytearray(), 0.0
    for _ in range(count):
        now += generator.expovariate(1 / gap_ns) if gap_ns else 0
        lba = generator.randrange(sectors // 8) * 8
        packed += REQUEST.pack(int(now), lba, 8, generator.random() < writes)
    return bytes(packed)

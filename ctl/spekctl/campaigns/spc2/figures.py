# SPDX-License-Identifier: GPL-2.0-or-later
"""SPC-2-like figures: pure functions of exact numbers. MB are 10^6 bytes.

    LFP        mean data rate of its six tests at the most streams     MB/s
    LDQ        mean data rate of its four tests at the most streams    MB/s
    VOD        data rate of all streams that are served in time        MB/s
    MBPS       (LFP + LDQ + VOD) / 3

A stream of video on demand reads 256 KiB three times a second: 0.786432 MB/s.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

MB = 10**6
KIB = 1 << 10
DECIMALS = 2
VOD_BYTES = 256 * KIB
VOD_PER_S = 3


def mean(values: Sequence[Fraction]) -> Fraction:
    """Of the tests of a part, or of the parts."""
    return sum(values, Fraction(0)) / len(values)


def vod_rate(streams: int) -> Fraction:
    """MB per second requested by this many streams of video on demand."""
    return Fraction(streams * VOD_PER_S * VOD_BYTES, MB)


def price_performance(price: Fraction, mbps: Fraction) -> Fraction:
    """Price for each MB per second; @mbps is more than 0."""
    return price / mbps

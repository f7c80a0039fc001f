# SPDX-License-Identifier: GPL-2.0-or-later
"""The times of a result as a log of HdrHistogram, format 1.3 with V2 histograms.

A line holds a histogram of the measure phase; its tag names the time and the direction, for example
response.read. Values are nanoseconds. The buckets of 3 significant digits are finer than those of
spek, so none are merged: the count of a bucket goes to its middle. StartTime and BaseTime are both
the start of the measure phase in seconds since the epoch, and every line starts there, at 0.000.
"""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Mapping

from spekctl.documents import histogram
from spekctl.documents.document import timestamp
from spekctl.documents.result import Result
from spekctl.exports import measured
from spekctl.exports.measured import TIMES, Way
from spekctl.kernel.records import Histogram

_DIGITS = 3
_SUB_BUCKETS_LOG2 = 11  # the next power of two above 2 * 10^_DIGITS
_HIGHEST_NS = 1 << (histogram.HIST_MAX_BITS + 1)
_COOKIE = 0x1C849303 | 0x10
_COMPRESSED = 0x1C849304 | 0x10


def encode(result: Result) -> bytes:
    """The file."""
    start, end = measured.span_ns(result)
    since_ns = result.start.realtime_ns + start - result.start.monotonic_ns
    since = since_ns / 1e9
    lines = [
        # In one line, also of a document that was edited: the next one would be taken for a time.
        f"#[{' '.join(result.workload.workload.name.split())}: response, service and slip in ns;"
        f" spek {' '.join(result.environment.spekctl_version.split())}]",
        "#[Histogram log format version 1.3]",
        f"#[StartTime: {since:.3f} (seconds since epoch), {timestamp(since_ns)}]",
        f"#[BaseTime: {since:.3f} (seconds since epoch)]",
        '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"',
    ]
    for way in Way:
        cells = measured.cells(result, way)
        for name in TIMES.values():
            times = measured.times(cells, name)
            if times is not None:
                text = base64.b64encode(_compressed(times)).decode()
                tag, length, top = (
                    f"{name}.{way.name.lower()}",
                    (end - start) / 1e9,
                    times.max_ns / 1e6,
                )
                lines.append(f"Tag={tag},0.000,{length:.3f},{top:.3f},{text}")
    return ("\n".join(lines) + "\n").encode()


def _compressed(times: Histogram) -> bytes:
    """A histogram in encoding V2: a header, and counts as ZigZag LEB128 with runs of zeros."""
    payload = _counts(_placed(times))
    header = struct.pack(">iiiiqqd", _COOKIE, len(payload), 0, _DIGITS, 1, _HIGHEST_NS, 1.0)
    packed = zlib.compress(header + payload)
    return struct.pack(">ii", _COMPRESSED, len(packed)) + packed


def _placed(times: Histogram) -> dict[int, int]:
    """Counts by index of HdrHistogram."""
    half = 1 << (_SUB_BUCKETS_LOG2 - 1)
    places: dict[int, int] = {}
    for index, count in times.counts.items():
        value = min(histogram.bucket_value(index, times.bits), times.max_ns, _HIGHEST_NS - 1)
        bucket = max(0, value.bit_length() - _SUB_BUCKETS_LOG2)
        place = bucket * half + (value >> bucket)
        places[place] = places.get(place, 0) + count
    return places


def _counts(counts: Mapping[int, int]) -> bytes:
    encoded, place = bytearray(), 0
    for index in sorted(bucket for bucket in counts if counts[bucket]):
        if index > place:
            encoded += _leb128(place - index)
        encoded += _leb128(counts[index])
        place = index + 1
    return bytes(encoded)


def _leb128(value: int) -> bytes:
    """ZigZag, seven bits a byte; the ninth byte has all eight."""
    left = (value << 1 ^ value >> 63) & (1 << 64) - 1
    encoded = bytearray()
    while left > 0x7F and len(encoded) < 8:
        encoded.append(left & 0x7F | 0x80)
        left >>= 7
    encoded.append(left)
    return bytes(encoded)

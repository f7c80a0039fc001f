# SPDX-License-Identifier: GPL-2.0-or-later
"""Lists of requests: CSV to the core's structures in batches, and results back to CSV.

A line is `arrival_ns,lba,sectors,op`, op R, W or, for flash, D (discard); a first line with these
names is skipped. Only a batch is in memory at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from spekctl.drive.core import NS_MAX, REQUEST, RESULT, RequestRefused, Simulation
from spekctl.drive.model import MOST_ARMS
from spekctl.errors import UsageError

BATCH = 8192
FLASH_BATCH = 256
COLUMNS = ("arrival_ns", "lba", "sectors", "op")
RESULT_COLUMNS = (
    *("request", "arrival_ns", "lba", "sectors", "op", "arm", "start_ns", "overhead_ns"),
    *("seek_ns", "rotation_ns", "transfer_ns", "end_ns"),
)
_OPS = {"R": 0, "r": 0, "W": 1, "w": 1, "D": 2, "d": 2}


def serve(
    drive: Simulation, lines: Iterable[str], name: str, keep: bool, size: int = BATCH
) -> Iterator[bytearray]:
    """Feed a drive the requests of @lines; batches of results. @name: of the file, for messages.

    Not @keep: results are counted only, and the batches are empty. @size: lines of a batch.
    """
    source = enumerate(lines, start=1)
    last_ns = 0
    while True:
        batch = list(islice(source, size))
        if not batch:
            break
        packed = bytearray()
        numbers: list[int] = []
        for number, line in batch:
            request = _parse(line, number, name)
            if request is None:
                continue
            if request[0] < last_ns:
                raise UsageError(
                    f"{name}, line {number}: arrives at {request[0]} ns, before the one above it"
                )
            last_ns = request[0]
            packed += REQUEST.pack(*request)
            numbers.append(number)
        try:
            yield drive.feed(packed, keep)
        except RequestRefused as error:
            raise UsageError(f"{name}, line {numbers[error.index]}: the {error.message}") from error
    yield drive.drain()


def _parse(line: str, number: int, name: str) -> tuple[int, int, int, int] | None:
    text = line.strip()
    if not text or (number == 1 and text.replace(" ", "") == ",".join(COLUMNS)):
        return None
    try:
        arrival, lba, sectors, op = text.split(",")
        request = int(arrival), int(lba), int(sectors), _OPS[op.strip()]
    except (KeyError, ValueError) as error:
        raise UsageError(
            f"{name}, line {number}: '{text[:60]}' is not {','.join(COLUMNS)} with op R, W or D"
        ) from error
    if not (0 <= request[0] < NS_MAX and 0 <= request[1] < 2**64 and 0 <= request[2] < 2**32):
        raise UsageError(f"{name}, line {number}: a number of '{text[:60]}' is out of range")
    return request


def csv_lines(results: bytearray, otherwise: str = "cache") -> str:
    """Results as lines of RESULT_COLUMNS; @otherwise: what stands for no arm."""
    lines = []
    for record in RESULT.iter_unpack(results):
        number, arrival, lba, start, end, overhead, seek, rotate, transfer = record[:9]
        sectors, op, arm, _ = record[9:]
        lines.append(
            f"{number},{arrival},{lba},{sectors},{'RWD'[op]},"
            f"{arm if arm < MOST_ARMS else otherwise},{start},{overhead},"
            f"{seek},{rotate},{transfer},{end}\n"
        )
    return "".join(lines)

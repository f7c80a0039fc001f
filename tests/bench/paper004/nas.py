# SPDX-License-Identifier: GPL-2.0
"""A week of a home's NAS, from Monday at midnight: what its disks can sleep through.

All of it is assumed, and the same for every policy:

    logs      every 30 s on average, day and night: 4 to 16 KiB at the next place of a log of
              64 MiB, then a flush
    backup    each night at 1:30: 0.5 GB from a computer, at 40 MB/s: four fifths new, one after the
              other, one fifth over what was there, 64 KiB at a time
    film      each evening at 20:00 for two hours, on Saturday and Sunday at 15:00, too: 1 MiB each
              second of a file that is read once
    photos    at 8:00, 13:00 and 18:30 for 15 minutes: each 5 s a photo of 3 MiB out of 5,000, and
              32 thumbnails of 16 KiB; those of the last year most (Zipf's law)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from bench.paper004.sim import BLOCK, FLUSH, NS, READ, REQUESTS, WRITE

DAYS = 7
HOUR_NS = 3600 * NS
DAY_NS = 24 * HOUR_NS
WEEK_NS = DAYS * DAY_NS
_MIB = 2**20 // BLOCK
_LOG_EVERY_S, _LOG_BLOCKS = 30.0, 64 * _MIB
_BACKUP_BLOCKS, _BACKUP_RATE = 500_000_000 // BLOCK, 40_000_000 / BLOCK
_PHOTOS, _PHOTO_BLOCKS, _THUMB_BLOCKS = 5000, 3 * _MIB, 4


def week(raid_blocks: int, seed: int) -> Any:
    """Requests of the week, by arrival."""
    generator = np.random.default_rng([seed, 3])
    # Places of the kinds of data, on the first half of the array.
    unit = raid_blocks // 20
    parts = [
        _logs(generator, unit),
        *(_backup(generator, day, 2 * unit) for day in range(DAYS)),
        *(_film(day, hour, 4 * unit) for day in range(DAYS) for hour in _films_of(day)),
        *(_photos(generator, day, hour, 6 * unit) for day in range(DAYS) for hour in (8, 13, 18.5)),
    ]
    requests = np.concatenate(parts)
    requests = requests[np.argsort(requests["arrival_ns"], kind="stable")]
    return requests[requests["arrival_ns"] < WEEK_NS]


def _of(count: int) -> Any:
    return np.zeros(count, REQUESTS)


def _at(day: int, hour: float) -> int:
    return day * DAY_NS + round(hour * HOUR_NS)


def _logs(generator: np.random.Generator, base: int) -> Any:
    count = int(1.2 * WEEK_NS / NS / _LOG_EVERY_S)
    writes = _of(count)
    writes["arrival_ns"] = np.cumsum(generator.exponential(_LOG_EVERY_S * NS, count))
    writes["blocks"] = generator.integers(1, 5, count)
    places = np.cumsum(writes["blocks"]) % (_LOG_BLOCKS - 4)
    writes["block"] = base + places
    writes["op"] = WRITE
    flushes = _of(count)
    flushes["arrival_ns"] = writes["arrival_ns"] + np.uint64(20_000_000)
    flushes["op"] = FLUSH
    return np.concatenate([writes, flushes])


def _backup(generator: np.random.Generator, day: int, base: int) -> Any:
    new = int(0.8 * _BACKUP_BLOCKS) // _MIB
    over = int(0.2 * _BACKUP_BLOCKS) // 16
    requests = _of(new + over)
    requests["blocks"][:new] = _MIB
    requests["block"][:new] = base + (day * new + np.arange(new)) * _MIB
    requests["blocks"][new:] = 16
    requests["block"][new:] = base + generator.integers(0, 5_000_000, over) // 16 * 16
    requests["op"] = WRITE
    ends = np.cumsum(requests["blocks"].astype(np.float64)) / _BACKUP_RATE
    requests["arrival_ns"] = _at(day, 1.5) + (ends * NS).astype(np.uint64)
    return requests


def _films_of(day: int) -> tuple[int, ...]:
    return (15, 20) if day >= 5 else (20,)


def _film(day: int, hour: int, base: int) -> Any:
    requests = _of(7200)
    number = day * 2 + (hour == 15)
    requests["arrival_ns"] = _at(day, hour) + np.arange(7200, dtype=np.uint64) * np.uint64(NS)
    requests["block"] = base + (number * 7200 + np.arange(7200)) * _MIB
    requests["blocks"] = _MIB
    requests["op"] = READ
    return requests


def _photos(generator: np.random.Generator, day: int, hour: float, base: int) -> Any:
    looks = 180
    photo = np.minimum(_PHOTOS ** generator.random(looks), _PHOTOS - 1).astype(np.int64)
    large = _of(3 * looks)
    large["arrival_ns"] = _at(day, hour) + np.repeat(
        np.arange(looks, dtype=np.uint64) * np.uint64(5 * NS), 3
    )
    large["block"] = (
        base + np.repeat(photo, 3) * _PHOTO_BLOCKS + np.tile(np.arange(3), looks) * _MIB
    )
    large["blocks"] = _MIB
    thumbs = _of(32 * looks)
    shown = np.minimum(_PHOTOS ** generator.random(32 * looks), _PHOTOS - 1).astype(np.int64)
    thumbs["arrival_ns"] = _at(day, hour) + np.repeat(
        np.arange(looks, dtype=np.uint64) * np.uint64(5 * NS), 32
    )
    thumbs["block"] = base + _PHOTOS * _PHOTO_BLOCKS + shown * _THUMB_BLOCKS
    thumbs["blocks"] = _THUMB_BLOCKS
    return np.concatenate([thumbs, large])

# SPDX-License-Identifier: GPL-2.0
"""The modelled block device of the power cuts: what reads get, and what is left after a cut."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lib.build.declarations import opened
from lib.core.build import AUGMENT, LIBRARY

CUTS = Path(__file__).with_name("cuts")
SOURCES = [CUTS / name for name in ("devices.c", "devices.h", "draws.c", "draws.h")]
BYTES, SECTORS = 4096, 8
RUNS = 200


@functools.cache
def library() -> tuple[Any, Any]:
    declarations = AUGMENT.declarations(CUTS / "devices.h") + "\nvoid draws_seed(u64 seed);"
    return opened(declarations, AUGMENT.build("libdevices.so", LIBRARY, SOURCES))


class Device:
    """A device of one block, which holds write 0."""

    def __init__(self, seed: int) -> None:
        self.ffi, self.lib = library()
        self.lib.draws_seed(seed)
        self.device = self.ffi.new("struct device *")
        self.lib.device_init(self.device, 1, False)
        self.lib.device_clear(self.device, 1)
        self.step = 0

    def begin(self, number: int) -> int:
        data = self.ffi.new("u8[]", (number.to_bytes(1, "little") * BYTES))
        return int(self.lib.device_begin(self.device, 0, data))

    def end(self, write: int, *, fua: bool = False) -> None:
        self.step += 1
        self.lib.device_end(self.device, write, self.step, fua)

    def fail(self, write: int) -> None:
        self.step += 1
        self.lib.device_fail(self.device, write, self.step)

    def flush(self) -> None:
        self.step += 1
        self.lib.device_flush(self.device, self.step)

    def cut(self) -> None:
        self.lib.device_cut(self.device)

    def shown(self) -> tuple[int, ...]:
        """The write in each sector, as a read gets it."""
        block = self.ffi.unpack(self.lib.device_read(self.device, 0), BYTES)
        return tuple(block[:: BYTES // SECTORS])


def outcomes(life: Callable[[Device], None]) -> Counter[tuple[int, ...]]:
    """What a device shows after @life and a cut, of many of them."""
    counted: Counter[tuple[int, ...]] = Counter()
    for seed in range(1, RUNS + 1):
        device = Device(seed)
        life(device)
        device.cut()
        counted[device.shown()] += 1
    return counted


def whole(number: int) -> tuple[int, ...]:
    return (number,) * SECTORS


def test_unflushed_write_is_lost_or_kept_by_sectors() -> None:
    ends = outcomes(lambda device: device.end(device.begin(1)))

    assert ends[whole(0)] and ends[whole(1)]
    assert any(set(sectors) == {0, 1} for sectors in ends)
    assert {number for sectors in ends for number in sectors} == {0, 1}


def test_flushed_write_stays() -> None:
    def life(device: Device) -> None:
        device.end(device.begin(1))
        device.flush()

    assert set(outcomes(life)) == {whole(1)}


def test_write_with_fua_stays() -> None:
    assert set(outcomes(lambda device: device.end(device.begin(1), fua=True))) == {whole(1)}


def test_flush_does_not_cover_a_write_in_flight() -> None:
    def life(device: Device) -> None:
        write = device.begin(1)
        device.flush()
        device.end(write)

    assert outcomes(life)[whole(0)]


def test_flushed_write_is_not_undone_by_an_older_one() -> None:
    def life(device: Device) -> None:
        device.end(device.begin(1))
        device.end(device.begin(2), fua=True)

    assert set(outcomes(life)) == {whole(2)}


@pytest.mark.parametrize("flushes", [1, 2])
def test_failed_write_that_was_shown_is_not_undone_after_a_flush(flushes: int) -> None:
    """An older write in the cache went to the media then, while reads still showed the failed one:
    at a cut long after it the block went back in time, with no write in between.
    """
    shown: Counter[int] = Counter()
    for seed in range(1, RUNS + 1):
        device = Device(seed)
        device.end(device.begin(1))
        device.fail(device.begin(2))
        for _ in range(flushes):
            device.flush()
        before = device.shown()
        device.cut()
        assert device.shown() == before
        shown[before[0]] += 1

    # A failed write has changed the block or not.
    assert shown[1] and shown[2]


def test_failed_write_is_a_write_that_a_cut_may_undo() -> None:
    def life(device: Device) -> None:
        device.fail(device.begin(1))
        assert device.shown() in (whole(0), whole(1))

    ends = outcomes(life)

    assert ends[whole(0)] and ends[whole(1)]

# SPDX-License-Identifier: GPL-2.0
"""Hot bands: the law, how it is folded into a band, and the workload that has four of them."""

from __future__ import annotations

import bisect
import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lib.core.spekcore import BLOCK, Arrival, Asu, Generator, Ops, Stream, Workload, library

from spekctl.workload import file
from spekctl.workload.resolve import Options, Target, resolve

FFI, LIB = library()
MIB, GIB, TIB = 1 << 20, 1 << 30, 1 << 40
COUNT = 400_000
# Known probabilities, in ppm, that an I/O lies within so many thousand bytes.
PUBLISHED = {
    **{16: 87217, 32: 101010, 64: 132206, 128: 159946, 256: 201713, 512: 262602, 1024: 326450},
    **{2048: 366902, 4096: 386175, 8192: 436941, 16384: 482631, 32768: 523752, 65536: 560760},
    **{131072: 594068, 262144: 624045, 524288: 651024, 1048576: 675305, 2097152: 697159},
    **{4194304: 716827, 8388608: 734528, 16777216: 750459, 33554432: 764797, 67108864: 777701},
    **{134217728: 789314, 268435456: 799767, 536870912: 809174, 1073741824: 817640},
    10737418240: 1_000_000,
}

LIMITS = [int(LIB.spek_hotband_segment[index].limit) for index in range(len(PUBLISHED))]


def distances(count: int, seed: int = 1) -> npt.NDArray[np.uint64]:
    rng = FFI.new("struct spek_rng *")
    LIB.spek_rng_init(rng, seed, 0, 0, 0)
    out = np.zeros(count, dtype=np.uint64)
    LIB.shim_hotband(rng, FFI.cast("u64 *", out.ctypes.data), count)
    return out


def band(size: int, **more: Any) -> Workload:
    stream = Stream("hotband", range_bytes=size, **more)
    return Workload([Asu(max(size, GIB) * 2)], [Arrival(depth=1)], [stream])


def ops_of(wl: Workload, count: int = COUNT) -> Ops:
    return Generator(wl, seed=7).ops(count)


def law(thousands: float) -> float:
    """The same distribution function, between known points by a line."""
    points = [(0, 0), *PUBLISHED.items()]
    xs, ps = zip(*points, strict=True)
    return float(np.interp(thousands, xs, ps)) / 1e6


def test_the_table_is_that_of_the_law() -> None:
    limits = [limit / 2**32 * 1e6 for limit in LIMITS[:-1]]
    for limit, wanted in zip(limits, list(PUBLISHED.values())[:-1], strict=True):
        # From 8192 on a closed form stands for the known points.
        assert abs(limit - wanted) <= 3.5
    assert limits == sorted(limits)


def test_each_draw_is_that_of_a_search_in_the_law() -> None:
    """Bit for bit: a seed must mean the same, however the segment is found."""
    rng = FFI.new("struct spek_rng *")
    LIB.spek_rng_init(rng, 1, 0, 0, 0)
    bits = np.zeros(2 * COUNT, dtype=np.uint64)
    LIB.shim_rng_fill(rng, FFI.cast("u64 *", bits.ctypes.data), len(bits))
    ends = [1000 * thousands for thousands in PUBLISHED]
    for distance, choice, place in zip(distances(COUNT), bits[::2], bits[1::2], strict=True):
        segment = bisect.bisect_right(LIMITS, int(choice) >> 32)
        start = ends[segment - 1] if segment else 0
        assert int(distance) == start + (int(place) * (ends[segment] - start) >> 64)


def test_parts_of_the_law_begin_at_their_first_segments() -> None:
    parts = len(LIB.spek_hotband_first)
    for part in range(parts):
        first = bisect.bisect_right(LIMITS, part * 2**32 // parts)
        assert LIB.spek_hotband_first[part] == first
    assert LIMITS[-1] == 2**32


def test_distances_have_the_law() -> None:
    drawn = distances(COUNT)
    for thousands, ppm in PUBLISHED.items():
        share = ppm / 1e6
        sigma = math.sqrt(share * (1 - share) / COUNT) + 4e-6
        assert abs((drawn < thousands * 1000).mean() - share) <= 5 * sigma, thousands
    for between in (8, 24, 700, 10_000, 5e6, 5e9):
        assert (drawn < between * 1000).mean() == pytest.approx(law(between), abs=0.005)


def test_a_large_band_is_hit_as_the_law_says() -> None:
    wl = Workload(
        [Asu(16 * TIB)], [Arrival(depth=1)], [Stream("hotband", range_start=TIB, align_bytes=BLOCK)]
    )
    addr = ops_of(wl)["addr"] - np.uint64(TIB)
    for thousands in (1024, 1048576, 1073741824):
        share = PUBLISHED[thousands] / 1e6
        assert (addr < thousands * 1000).mean() == pytest.approx(share, abs=0.004)


def test_what_is_beyond_a_band_comes_around() -> None:
    """Exactly: the address is the distance modulo the addresses of the band."""
    size = 100 * MIB
    slots = size // BLOCK
    distance = distances(COUNT)
    folded = np.sort(distance // BLOCK % slots)
    slots_hit = np.sort(ops_of(band(size))["addr"] // BLOCK)
    for share in np.arange(0.05, 1, 0.05):
        at = int(share * COUNT)
        assert int(slots_hit[at]) == pytest.approx(int(folded[at]), abs=0.01 * slots)
    # Half of the I/Os go to the first fifth: the others are spread.
    assert (slots_hit < slots // 5).mean() > 0.45 > 0.2


def test_writes_are_a_hundredth_higher() -> None:
    size = 1000 * BLOCK * 100
    reads = ops_of(band(size))["addr"]
    writes = ops_of(band(size, read_ppm=0))["addr"]
    shift = size // 100
    assert np.array_equal((reads + np.uint64(shift)) % np.uint64(size), writes)


@settings(max_examples=60, deadline=None)
@given(
    blocks=st.integers(245, 2**40),
    size=st.integers(1, 200).map(lambda n: n * 512),
    write=st.booleans(),
)
def test_every_address_is_inside_the_band(blocks: int, size: int, write: bool) -> None:
    wl = band(blocks * BLOCK, sizes=size, read_ppm=0 if write else 1_000_000)
    ops = ops_of(wl, 2000)
    assert (ops["addr"] % BLOCK == 0).all()
    assert (ops["addr"] + ops["bytes"] <= blocks * BLOCK).all()


def test_the_smallest_band_has_one_place_for_its_largest_block() -> None:
    ops = ops_of(band(1 << 20, sizes={1 << 20: 1, 4096: 1}), 1000)
    assert set(ops["addr"]) == {0}


# --- the workload with four of them --------------------------------------------------------------

BANDS = {"hot-1": (28, 10, 18), "hot-2": (14, 32, 40), "hot-3": (7, 55, 63), "hot-4": (5, 80, 88)}
MIXES = {
    "emerald-hot-band": {
        **{512: 2, 1024: 2, 4096: 27, 8192: 31, 16384: 5, 32768: 5, 49152: 1, 57344: 1},
        **{61440: 2, 65536: 20, 131072: 2, 262144: 2},
    },
    "emerald-hot-band-4k": {
        **{4096: 29, 8192: 33, 16384: 6, 32768: 5, 49152: 1, 65536: 22, 131072: 2, 262144: 2},
    },
}


def generated(name: str, sector: int = 512) -> tuple[Ops, list[str]]:
    workload = file.load(name)
    disk = Target("/dev/x", 8, 0, 100 * GIB, sector, 5)
    config = resolve(workload, Options(available_cpus=(0,), write=True), (disk,))
    streams = [Stream.of(stream) for stream in config.streams]
    wl = Workload([Asu(config.asus[0].bytes)], [Arrival(depth=32)], streams)
    return Generator(wl, seed=3).ops(COUNT), [stream.name for stream in config.streams]


@pytest.mark.parametrize("name", MIXES)
def test_shares_and_sizes_come_out(name: str) -> None:
    ops, names = generated(name, 4096 if name.endswith("4k") else 512)
    assert len(names) == 13
    wanted = {"uniform": 6, **{band: share for band, (share, _, _) in BANDS.items()}}
    wanted |= {name: 5 for name in names if name.startswith(("read", "write"))}
    assert sum(wanted.values()) == 100
    for index, stream in enumerate(names):
        share = wanted[stream] / 100
        sigma = math.sqrt(share * (1 - share) / COUNT)
        assert abs((ops["stream"] == index).mean() - share) <= 5 * sigma, stream
    for size, percent in MIXES[name].items():
        share = percent / 100
        sigma = math.sqrt(share * (1 - share) / COUNT)
        assert abs((ops["bytes"] == size).mean() - share) <= 5 * sigma, size
    assert set(ops["bytes"]) == set(MIXES[name])
    assert (ops["write"] == 0).mean() == pytest.approx(0.658, abs=0.004)
    mean = 28.71 if name == "emerald-hot-band" else 28.60
    assert ops["bytes"].mean() / 1024 == pytest.approx(mean, rel=0.01)


def test_bands_lie_where_they_should_and_are_hot_at_their_start() -> None:
    ops, names = generated("emerald-hot-band")
    whole = 100 * GIB
    for stream, (_, low, high) in BANDS.items():
        mine = ops[ops["stream"] == names.index(stream)]
        place = mine["addr"].astype(float) / whole * 100
        assert place.min() >= low - 1e-3 and place.max() <= high
        reads = place[mine["write"] == 0]
        middle = (low + high) / 2
        assert (reads < middle).mean() > 0.75
        assert (mine["write"] == 0).mean() == pytest.approx(0.7, abs=0.015)


def test_sequential_streams_jump_once_in_a_hundred() -> None:
    ops, names = generated("emerald-hot-band")
    jumps = total = 0
    for index, stream in enumerate(names):
        mine = ops[ops["stream"] == index]
        if not stream.startswith(("read", "write")):
            continue
        ends = mine["addr"] + mine["bytes"]
        jumps += int((mine["addr"][1:] != ends[:-1]).sum())
        total += len(mine) - 1
        assert set(mine["write"]) == {int(stream.startswith("write"))}
    assert jumps / total == pytest.approx(0.01, abs=0.002)

"""The SPC-1 law: shares, sizes, footprints and intensities against their derivation.

All seeds are fixed, so a failure is a change, not bad luck.
"""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from lib.core.spekcore import (
    BLOCK,
    SMIX,
    SPC1_INTENSITY,
    SPC1_NAMES,
    Arrival,
    Asu,
    Generator,
    Ops,
    Style,
    Workload,
    library,
    spc1,
)
from scipy import stats

FFI, LIB = library()
ASU1, ASU3 = 11796480, 2621440
BSUS = 20
MILLION = 1_000_000
SHARES = np.array(SPC1_INTENSITY) / 1000


@pytest.fixture(scope="module")
def ops() -> Ops:
    """A million operations of 20 BSUs: a thousand seconds."""
    return Generator(spc1(BSUS), seed=2).ops(MILLION)


@pytest.fixture(scope="module")
def worker_ops() -> list[Ops]:
    """The same law from three workers, cut where the first one ends."""
    parts = [Generator(spc1(BSUS), 3, worker, 3).ops(400_000) for worker in range(3)]
    end = min(part["at_ns"][-1] for part in parts)
    return [part[part["at_ns"] <= end] for part in parts]


@pytest.fixture(scope="module", params=["one worker", "three workers"])
def any_ops(request: pytest.FixtureRequest, ops: Ops, worker_ops: list[Ops]) -> Ops:
    if request.param == "one worker":
        return ops
    merged = np.concatenate(worker_ops)
    return merged[np.argsort(merged["at_ns"], kind="stable")]


def blocks(ops: Ops) -> np.ndarray:
    return ops["bytes"] // BLOCK


def test_stream_shares(any_ops: Ops) -> None:
    counts = np.bincount(any_ops["stream"], minlength=8)
    assert counts / len(any_ops) == pytest.approx(SHARES, abs=0.0015)
    assert stats.chisquare(counts, SHARES * len(any_ops)).pvalue > 0.001


def test_offered_rate_is_50_per_second_and_bsu(any_ops: Ops) -> None:
    seconds = any_ops["at_ns"][-1] / 1e9
    assert len(any_ops) / seconds == pytest.approx(50 * BSUS, rel=0.005)


def test_every_bsu_gets_the_same(any_ops: Ops) -> None:
    for stream in range(8):
        mine = any_ops["replica"][any_ops["stream"] == stream]
        assert stats.chisquare(np.bincount(mine, minlength=BSUS)).pvalue > 0.001


def test_sizes_by_direction(any_ops: Ops) -> None:
    """Per cent of all I/Os, tolerance 0.15 points."""
    table = {
        0: {1: 33.14, 2: 2.52, 4: 2.10, 8: 0.84, 16: 0.84},
        1: {1: 43.70, 2: 6.744, 4: 5.62, 8: 2.248, 16: 2.248},
    }
    for write, row in table.items():
        lengths = np.bincount(blocks(any_ops[any_ops["write"] == write]), minlength=17)
        assert set(np.flatnonzero(lengths)) == set(row)
        for length, share in row.items():
            assert 100 * lengths[length] / len(any_ops) == pytest.approx(share, abs=0.15)


def test_means(any_ops: Ops) -> None:
    kib = any_ops["bytes"] / 1024
    write = any_ops["write"] == 1
    assert 1 - write.mean() == pytest.approx(0.3944, abs=0.0015)
    assert kib[~write].mean() == pytest.approx(6.7688, abs=0.03)
    assert kib[write].mean() == pytest.approx(8.8256, abs=0.03)
    assert kib.mean() == pytest.approx(8.0144, abs=0.03)
    assert kib[~write].sum() / kib.sum() == pytest.approx(0.3331, abs=0.002)


@pytest.mark.parametrize(
    ("asu", "share", "reads", "length", "of_bytes"),
    [
        (0, 0.596, 0.5587, 1.30537, 0.3883),
        (1, 0.123, 0.4992, 1.73984, 0.1068),
        (2, 0.281, 0, 3.6, 0.5049),
    ],
)
def test_by_asu(
    any_ops: Ops, asu: int, share: float, reads: float, length: float, of_bytes: float
) -> None:
    mine = any_ops[any_ops["asu"] == asu]
    assert len(mine) / len(any_ops) == pytest.approx(share, abs=0.0015)
    assert (mine["write"] == 0).mean() == pytest.approx(reads, abs=0.005)
    assert blocks(mine).mean() == pytest.approx(length, rel=0.005)
    assert mine["bytes"].sum() / any_ops["bytes"].sum() == pytest.approx(of_bytes, abs=0.002)


def test_reads_by_kind(any_ops: Ops) -> None:
    reads = np.bincount(any_ops["stream"][any_ops["write"] == 0], minlength=8)
    reads = reads / reads.sum()
    assert reads[[0, 4]].sum() == pytest.approx(0.0581, abs=0.001)
    assert reads[[1, 3, 5]].sum() == pytest.approx(0.6757, abs=0.002)
    assert reads[[2, 6, 7]].sum() == pytest.approx(0.2662, abs=0.002)


@pytest.mark.parametrize("stream", range(8))
def test_direction_and_size_within_a_stream(ops: Ops, stream: int) -> None:
    mine = ops[ops["stream"] == stream]
    read_share = (0.5, 0.5, 1, 0.5, 0.3, 0.3, 1, 0)[stream]
    if read_share in (0, 1):
        assert set(mine["write"]) == {1 - read_share}
    else:
        reads = int((mine["write"] == 0).sum())
        assert stats.binomtest(reads, len(mine), read_share).pvalue > 0.001
        # independent from one I/O to the next
        same = int((mine["write"][1:] == mine["write"][:-1]).sum())
        expected = read_share**2 + (1 - read_share) ** 2
        assert same / (len(mine) - 1) == pytest.approx(expected, abs=4 / np.sqrt(len(mine)))
    if stream in (2, 6, 7):
        counts = [int((mine["bytes"] == size).sum()) for size in SMIX]
        expected_counts = np.array(list(SMIX.values())) / 25 * len(mine)
        assert stats.chisquare(counts, expected_counts).pvalue > 0.001
    else:
        assert set(mine["bytes"]) == {BLOCK}


def test_gaps_are_exponential(any_ops: Ops) -> None:
    gaps = np.diff(any_ops["at_ns"][:200_000].astype(np.float64))
    assert stats.kstest(gaps, stats.expon(scale=1e9 / (50 * BSUS)).cdf).pvalue > 0.001
    for lag in (1, 2, 3):
        assert abs(np.corrcoef(gaps[lag:], gaps[:-lag])[0, 1]) < 4 / np.sqrt(len(gaps))


@pytest.mark.parametrize("stream", range(8))
def test_gaps_of_one_stream_of_one_bsu_are_exponential(any_ops: Ops, stream: int) -> None:
    mine = any_ops[(any_ops["stream"] == stream) & (any_ops["replica"] == 7)]
    gaps = np.diff(mine["at_ns"].astype(np.int64), prepend=0)
    mean_ns = 2e10 / SPC1_INTENSITY[stream]
    assert stats.kstest(gaps, stats.expon(scale=mean_ns).cdf).pvalue > 0.001


def test_measured_intensity_multiplier(ops: Ops) -> None:
    """Within 5 % of the table over the run, coefficient of variation at most 0.2 by minute."""
    minute = (ops["at_ns"] // (60 * 10**9)).astype(int)
    whole = ops[minute < minute[-1]]
    counts = np.zeros((minute[-1], 8))
    np.add.at(counts, (minute[minute < minute[-1]], whole["stream"]), 1)
    intensity = counts / counts.sum(axis=1, keepdims=True)
    assert counts.sum(axis=0) / counts.sum() == pytest.approx(SHARES, rel=0.05)
    assert (intensity.std(axis=0) / SHARES).max() <= 0.2


# ---- addresses ----


@pytest.mark.parametrize(("stream", "size"), [(0, ASU1), (4, ASU1)])
def test_uniform_streams_cover_their_asu_evenly(any_ops: Ops, stream: int, size: int) -> None:
    mine = blocks_of(any_ops, stream)
    assert stats.kstest(mine / size, "uniform").pvalue > 0.001
    assert stats.chisquare(np.bincount(mine % 64, minlength=64)).pvalue > 0.001


def blocks_of(ops: Ops, stream: int) -> np.ndarray:
    blocks: np.ndarray = ops["addr"][ops["stream"] == stream].astype(np.int64) // BLOCK
    return blocks


@pytest.mark.parametrize(("stream", "size"), [(2, ASU1), (6, ASU1), (7, ASU3)])
def test_sequential_streams(any_ops: Ops, stream: int, size: int) -> None:
    low, restart, run = (0, 70, 30) if stream == 7 else (20, 40, 10)
    low, restart, run = (size * p // 100 for p in (low, restart, run))
    starts = []
    for replica in range(BSUS):
        mine = any_ops[(any_ops["stream"] == stream) & (any_ops["replica"] == replica)]
        begin = mine["addr"].astype(np.int64) // BLOCK
        end = begin + blocks(mine)
        assert begin.min() >= low - 15
        assert end.max() <= low + restart + run
        new = np.flatnonzero(np.concatenate([[True], begin[1:] != end[:-1]]))
        starts += begin[new].tolist()
        # an I/O that would reach the end of a run starts the next
        for first, after in itertools.pairwise(new):
            edge = (begin[first] + run) // 16 * 16
            assert end[after - 1] < edge + 16
            assert end[after - 1] + blocks(mine)[after] >= edge
    assert not (np.array(starts) % 16).any()
    assert min(starts) >= low - 15
    assert max(starts) < low + restart


# A block counts for the stream that touches it first: this is how the simulations counted whose
# results these are. Two independent programs, 10^7 I/Os of 20 BSUs each; their mean.
FOOTPRINTS: dict[Style, dict[str, int]] = {
    "classic": {"1-1": 290_900, "1-2": 544_500, "1-4": 526_500, "2-2": 279_900},
    "fixed": {"1-1": 290_900, "1-2": 559_000, "1-4": 548_700, "2-2": 281_200},
}


@pytest.mark.parametrize("style", ["classic", "fixed"])
def test_footprints_of_asu1(style: Style) -> None:
    prints, end_ns = Generator(spc1(BSUS, style=style), seed=1).footprints(10 * MILLION)
    assert 1e16 / end_ns == pytest.approx(1000, rel=0.001)
    assert [p.ios / 1e7 for p in prints] == pytest.approx(SHARES, abs=0.0003)
    by_name = dict(zip(SPC1_NAMES, prints, strict=True))
    for name, band in (("1-1", 0.02), ("1-2", 0.04), ("1-4", 0.04)):
        assert by_name[name].blocks == pytest.approx(FOOTPRINTS[style][name], rel=band), name
    # 1-2 stays in its hot spot, and its trees reach both ends of it, nearly
    low, high = by_name["1-2"].low // BLOCK, by_name["1-2"].high // BLOCK
    assert 1769472 <= low < 1769472 + 20_000
    assert 2359296 - 30_000 < high <= 2359296


@pytest.mark.parametrize("style", ["classic", "fixed"])
def test_footprint_of_asu2(style: Style) -> None:
    """2-3 runs through the hot spot of 2-2 or not, so a single run says little: 7 % deviation."""
    whole = spc1(BSUS, style=style)
    alone = Workload(
        [whole.asus[1]],
        [Arrival("poisson", rate=0.123 * 50 * BSUS)],
        [replace(stream, asu=0) for stream in whole.streams[4:7]],
    )
    blocks = [Generator(alone, seed).footprints(1_230_000)[0][1].blocks for seed in range(24)]
    assert np.mean(blocks) == pytest.approx(FOOTPRINTS[style]["2-2"], rel=0.04)


def test_uniform_footprint_is_what_chance_says() -> None:
    """Distinct blocks of n draws out of N: N (1 - exp(-n / N))."""
    stream = spc1(1).streams[0]
    alone = Workload([Asu(ASU1 * BLOCK)], [Arrival("poisson", rate=1)], [stream])
    blocks = Generator(alone, 1).footprints(350_000)[0][0].blocks
    assert blocks == pytest.approx(ASU1 * -np.expm1(-350_000 / ASU1), rel=0.002)


# ---- the walk ----


@pytest.mark.parametrize(("low", "high"), [(7, 16), (6, 16), (7, 10), (7, 22)])
def test_levels_of_the_walk(low: int, high: int) -> None:
    rng = FFI.new("struct spek_rng *")
    LIB.spek_rng_seed(rng, 1)
    counts = np.zeros(32, dtype=np.uint64)
    LIB.shim_walk_level_count(rng, low, high, FFI.cast("u64 *", counts.ctypes.data), 10 * MILLION)
    law = 0.56 * 0.44 ** np.arange(high - low + 1)
    law[-1] = 0.44 ** (high - low)
    if (low, high) == (7, 16):
        assert law[:4] == pytest.approx([0.56, 0.2464, 0.10842, 0.04770], abs=5e-6)
        assert law[-1] == pytest.approx(0.000618, abs=5e-7)
    assert counts[:low].sum() == counts[high + 1 :].sum() == 0
    assert stats.chisquare(counts[low : high + 1], law * 10 * MILLION).pvalue > 0.001


def test_share_of_rewrites() -> None:
    """0.15 / 1.15 of all writes repeat the one before."""
    workload = spc1(1)
    workload.c.stream[0] = workload.c.stream[1]
    leaves = FFI.new("u8[]", 73728)
    rewrites = LIB.shim_walk_rewrites(workload.c, 1, leaves, MILLION)
    assert rewrites / MILLION == pytest.approx(0.13043, abs=0.0013)


def test_repeated_blocks_are_rewrites_and_little_chance(ops: Ops) -> None:
    """A write that is not a rewrite hits the previous block by chance: in the smallest window, half
    of all, it goes to the same one of 16 leaves, and there to the same block half of the time."""
    repeats = others = 0
    for stream in (1, 3, 5):
        for replica in range(BSUS):
            mine = ops[(ops["stream"] == stream) & (ops["replica"] == replica)]
            writes = mine["addr"][mine["write"] == 1]
            repeats += int((writes[1:] == writes[:-1]).sum())
            others += len(writes) - 1
    assert 0.13 < repeats / others < 0.13 + 0.87 * 0.56 / 16


def test_walk_writes_hit_every_eighth_leaf_of_a_tree(ops: Ops) -> None:
    for stream in (1, 3, 5):
        for replica in range(3):
            mine = ops[(ops["stream"] == stream) & (ops["replica"] == replica)]
            leaf = mine["addr"][mine["write"] == 1].astype(np.int64) // BLOCK // 8
            assert len(set(leaf % 8)) == 1


@pytest.mark.parametrize("style", ["classic", "fixed"])
def test_blocks_of_writes(style: Style) -> None:
    """Half of the writes go to any block, the others to the leaf's state: a leaf that was never
    read has state 0, which is block 0 to classic and block 7 to fixed."""
    stream = replace(spc1(1, style=style).streams[1], read_ppm=0, range_bytes=2**16 * 8 * BLOCK)
    workload = Workload([Asu(ASU1 * BLOCK)], [Arrival(depth=1)], [stream])
    ops = Generator(workload, 1).ops(MILLION)
    # a tree starts anywhere, but at a multiple of 8 blocks, of the asu or of the hot spot
    origin = stream.range_start // BLOCK % 8 if style == "fixed" else 0
    block = ((ops["addr"] // BLOCK).astype(np.int64) - origin) % 8
    share = np.bincount(block, minlength=8) / MILLION
    expected = np.full(8, 0.5 / 8)
    expected[0 if style == "classic" else 7] += 0.5
    # rewrites are in both, and do not change the law
    assert share == pytest.approx(expected, abs=0.003)

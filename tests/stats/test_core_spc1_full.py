"""The SPC-1 law at full strength: 10^7 I/Os of 20 BSUs, both styles of walk, one context and three.

A context is what a worker has: BSUs of its own with leaf states of their own. All seeds are
fixed, so a failure is a change, not bad luck. test_core_spc1.py has the parts one by one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from lib.core.spekcore import (
    BLOCK,
    SMIX,
    SPC1_INTENSITY,
    SPC1_NAMES,
    Generator,
    Ops,
    Style,
    WalkSeen,
    Workload,
    follow_walk,
    library,
    spc1,
    walk_starts,
)
from scipy import stats

FFI, LIB = library()
MILLION = 1_000_000
IOS = 10 * MILLION
BSUS = 20
SEED = 11
SHARES = np.array(SPC1_INTENSITY) / 1000
READ_SHARES = np.array([0.5, 0.5, 1, 0.5, 0.3, 0.3, 1, 0])
LENGTHS = (1, 2, 4, 8, 16)
MIXED = (2, 6, 7)  # streams with SMIX; all others have one block
WALKS = (1, 3, 5)


@dataclass(frozen=True)
class Seen:
    """What 10^7 I/Os were, as far as the tests ask."""

    style: Style
    workload: Workload
    at_ns: np.ndarray  # all contexts merged, by time
    series: np.ndarray  # stream * BSUS + BSU of each
    table: np.ndarray  # I/Os by stream, direction, length
    low: np.ndarray  # lowest block by stream
    high: np.ndarray  # block after the highest, by stream
    walks: dict[int, WalkSeen]

    @property
    def ios(self) -> int:
        return int(self.table.sum())


def make(contexts: int, workload: Workload) -> list[Ops]:
    """About 10^7 I/Os, cut where the first context ends."""
    parts = []
    for context in range(contexts):
        bsus = BSUS // contexts + (context < BSUS % contexts)
        # A little more than its part, so that the cut leaves 10^7.
        count = int(IOS * bsus / BSUS) + 4 * int(IOS**0.5) * (contexts > 1)
        parts.append(Generator(workload, SEED, context, contexts).ops(count))
    end = min(part["at_ns"][-1] for part in parts)
    return [part[: np.searchsorted(part["at_ns"], end, side="right")] for part in parts]


def look(style: Style, contexts: int) -> Seen:
    workload = spc1(BSUS, style=style)
    parts = make(contexts, workload)
    table = np.zeros((8, 2, 17), dtype=np.int64)
    low = np.full(8, 2**40)
    high = np.zeros(8, dtype=np.int64)
    for part in parts:
        length = part["bytes"] // BLOCK
        keys = (part["stream"] * np.int64(2) + part["write"]) * 17 + length
        table += np.bincount(keys, minlength=table.size).reshape(table.shape)
        block = (part["addr"] // BLOCK).astype(np.int64)
        np.minimum.at(low, part["stream"], block)
        np.maximum.at(high, part["stream"], block + length)
    at_ns = np.concatenate([part["at_ns"] for part in parts])
    series = np.concatenate([part["stream"] * BSUS + part["replica"] for part in parts])
    order = np.argsort(at_ns, kind="stable")
    walks = {
        stream: follow_walk(workload, SEED, stream, group_law(style), parts) for stream in WALKS
    }
    return Seen(style, workload, at_ns[order], series[order], table, low, high, walks)


@pytest.fixture(
    scope="module",
    params=[("classic", 1), ("classic", 3), ("fixed", 1), ("fixed", 3)],
    ids=lambda param: f"{param[0]}-{param[1]}",
)
def seen(request: pytest.FixtureRequest) -> Seen:
    return look(*request.param)


# ---- what and how much ----


def test_shares_of_streams(seen: Seen) -> None:
    assert seen.ios == pytest.approx(IOS, rel=0.005)
    counts = seen.table.sum(axis=(1, 2))
    assert counts / seen.ios == pytest.approx(SHARES, abs=0.0003)


def size_law() -> np.ndarray:
    """Share of all I/Os by stream, direction and length in blocks."""
    law = np.zeros((8, 2, 17))
    for stream in range(8):
        sizes = {size // BLOCK: weight / 25 for size, weight in SMIX.items()}
        for length, share in sizes.items() if stream in MIXED else [(1, 1.0)]:
            directions = np.array([READ_SHARES[stream], 1 - READ_SHARES[stream]])
            law[stream, :, length] = SHARES[stream] * share * directions
    return law


def test_sizes_by_direction(seen: Seen) -> None:
    """Per cent of all I/Os within 0.15 points; each stream's own table by chance alone."""
    percent = 100 * seen.table.sum(axis=0) / seen.ios
    assert percent[0, LENGTHS] == pytest.approx([33.14, 2.52, 2.10, 0.84, 0.84], abs=0.15)
    assert percent[1, LENGTHS] == pytest.approx([43.70, 6.744, 5.62, 2.248, 2.248], abs=0.15)
    law = size_law()
    assert law.sum() == pytest.approx(1)
    possible = law > 0
    assert not seen.table[~possible].any()
    expected = law[possible] / law.sum() * seen.ios
    assert stats.chisquare(seen.table[possible], expected).pvalue > 0.001


def test_mean_sizes(seen: Seen) -> None:
    by_length = seen.table.sum(axis=0)
    kib = np.arange(17) * BLOCK / 1024
    reads, writes = by_length @ kib / by_length.sum(axis=1)
    assert reads == pytest.approx(6.7688, abs=0.03)
    assert writes == pytest.approx(8.8256, abs=0.03)
    assert by_length.sum(axis=0) @ kib / seen.ios == pytest.approx(8.0144, abs=0.03)
    assert by_length[0].sum() / seen.ios == pytest.approx(0.3944, abs=0.0006)


# ---- when ----


def ks_pvalue(gaps: np.ndarray, mean_ns: float) -> float:
    """Kolmogorov and Smirnov's test for an exponential distribution with that mean."""
    law = -np.expm1(-np.sort(gaps) / mean_ns)
    n = len(gaps)
    ranks = np.arange(n + 1) / n
    distance = max((law - ranks[:-1]).max(), (ranks[1:] - law).max())
    return float(stats.kstwobign.sf(distance * np.sqrt(n)))


def autocorrelations(gaps: np.ndarray, lags: int) -> list[float]:
    """In standard deviations of what independent gaps have."""
    centred = gaps - gaps.mean()
    power = centred @ centred
    return [
        float(centred[lag:] @ centred[:-lag] / power * np.sqrt(len(gaps)))
        for lag in range(1, lags + 1)
    ]


def gaps_by(seen: Seen, key: np.ndarray, kinds: int) -> list[np.ndarray]:
    """Gaps between arrivals of each kind, the first one from the start."""
    order = np.argsort(key.astype(np.uint8), kind="stable")
    at_ns = seen.at_ns[order].astype(np.int64)
    ends = np.cumsum(np.bincount(key, minlength=kinds))
    return [np.diff(times, prepend=0).astype(float) for times in np.split(at_ns, ends[:-1])]


def test_offered_rate(seen: Seen) -> None:
    """50 I/Os per second and BSU; 0.1 % is three standard deviations."""
    assert seen.ios / seen.at_ns[-1] * 1e9 == pytest.approx(50 * BSUS, rel=0.001)


def test_gaps_of_each_stream_are_exponential_and_independent(seen: Seen) -> None:
    for stream, gaps in enumerate(gaps_by(seen, seen.series // BSUS, 8)):
        mean_ns = 2e10 / SPC1_INTENSITY[stream] / BSUS
        assert ks_pvalue(gaps, mean_ns) > 0.001, SPC1_NAMES[stream]
        assert np.abs(autocorrelations(gaps, 10)).max() < 4, SPC1_NAMES[stream]


def test_gaps_of_each_stream_of_each_bsu_are_exponential_and_independent(seen: Seen) -> None:
    """160 sequences: their p-values are as evenly spread as chance makes them."""
    all_gaps = gaps_by(seen, seen.series, 8 * BSUS)
    means = np.repeat(2e10 / np.array(SPC1_INTENSITY), BSUS)
    pvalues = [ks_pvalue(gaps, mean) for gaps, mean in zip(all_gaps, means, strict=True)]
    assert min(pvalues) > 0.001 / len(pvalues)
    assert stats.kstest(pvalues, "uniform").pvalue > 0.001
    lags = np.array([autocorrelations(gaps, 3) for gaps in all_gaps]).ravel()
    assert np.abs(lags).max() < 4.5
    assert stats.kstest(lags, "norm").pvalue > 0.001


def test_streams_and_bsus_do_not_know_of_each_other(seen: Seen) -> None:
    """Counts in seconds: Poisson each, and uncorrelated."""
    seconds = int(seen.at_ns[-1] // 10**9)
    second = (seen.at_ns // 10**9).astype(np.int64)
    whole = second < seconds
    keys = seen.series[whole] * np.int64(seconds) + second[whole]
    counts = np.bincount(keys, minlength=8 * BSUS * seconds).reshape(8 * BSUS, seconds)
    matrix = np.asarray(np.corrcoef(counts))
    correlation = matrix[np.triu_indices(8 * BSUS, 1)] * np.sqrt(seconds)
    assert np.abs(correlation).max() < 5
    assert stats.kstest(correlation, "norm").pvalue > 0.001
    dispersion = counts.var(axis=1, ddof=1) / counts.mean(axis=1)
    assert dispersion == pytest.approx(np.ones(8 * BSUS), abs=4.5 * np.sqrt(2 / seconds))


# ---- where ----

ASU1, ASU3 = 11796480, 2621440
# First block and block after the last by stream, of 45, 45 and 10 GiB.
BOUNDS = (
    (0, ASU1),
    (1769472, 2359296),
    (2359296, 8257536),
    (8257536, 8847360),
    (0, ASU1),
    (5544345, 6134169),
    (2359296, 8257536),
    (0, ASU3),
)


def test_addresses_keep_to_their_bounds(seen: Seen) -> None:
    for stream, (first, end) in enumerate(BOUNDS):
        assert first <= seen.low[stream], SPC1_NAMES[stream]
        assert seen.high[stream] <= end, SPC1_NAMES[stream]
        # ... and use what they have: the walks' trees leave a little at both ends
        spare = 0.06 * (end - first) if stream in WALKS else 0.001 * ASU1
        if stream not in MIXED:
            assert seen.low[stream] < first + spare, SPC1_NAMES[stream]
            assert seen.high[stream] > end - spare, SPC1_NAMES[stream]


# ---- the walk, followed step by step ----


def level_law(style: Style, levels: int = 16) -> np.ndarray:
    """Probability that a step climbs to each level."""
    low = 7 if style == "classic" else 6
    law = np.zeros(levels + 1)
    law[low:] = 0.56 * 0.44 ** np.arange(levels + 1 - low)
    law[levels] = 0.44 ** (levels - low)
    return law


def window_law(climb: np.ndarray) -> np.ndarray:
    """Probability that a window of 2^n is the smallest with both places of a step in it, if a step
    goes to any place in a window of 2^level."""
    levels = np.arange(len(climb))
    places = np.where(levels > 0, 2.0 ** (levels - 1), 1)
    reached = np.array([(climb[n:] / 2.0 ** levels[n:]).sum() for n in levels])
    law: np.ndarray = places * reached
    return law


def group_law(style: Style) -> list[float]:
    """Probability that a write goes to one certain group of 8 leaves, see struct shim_walk_law."""
    climb = level_law(style)[3:]
    levels = np.arange(len(climb))
    return [float((climb[n:] / 2.0 ** levels[n:]).sum()) for n in levels]


def test_every_step_of_every_walk_is_one_the_law_allows(seen: Seen) -> None:
    """10^7 I/Os: all in their trees, reads on the leaf's next block, writes on every 8th leaf."""
    for stream, walk in seen.walks.items():
        assert walk.reads == seen.table[stream, 0].sum()
        assert walk.writes == seen.table[stream, 1].sum()
        assert (walk.outside, walk.wrong_block, walk.wrong_leaf) == (0, 0, 0)


def test_levels_of_reads(seen: Seen) -> None:
    law = window_law(level_law(seen.style))
    assert law.sum() == pytest.approx(1)
    counts = np.sum([walk.read_level for walk in seen.walks.values()], axis=0)[: len(law)]
    assert stats.chisquare(counts, law * counts.sum()).pvalue > 0.001


def test_levels_of_writes(seen: Seen) -> None:
    """Of writes that follow a fresh one and repeat it neither by law nor by chance."""
    law = window_law(level_law(seen.style)[3:])
    assert law.sum() == pytest.approx(1)
    walks = seen.walks.values()
    counts = np.sum([walk.write_level for walk in walks], axis=0)[: len(law)]
    chance = np.sum([walk.chance for walk in walks], axis=0)[: len(law)]
    trials = sum(walk.trials for walk in walks)
    expected = trials * law - chance
    expected *= counts.sum() / expected.sum()
    assert stats.chisquare(counts, expected).pvalue > 0.001


def test_share_of_rewrites(seen: Seen) -> None:
    """After a fresh write the next one repeats it with 15 %, or by chance, which is computed for
    each. No rewrite follows a rewrite, so 0.15 / 1.15 of all writes are rewrites."""
    walks = seen.walks.values()
    trials, repeats = sum(walk.trials for walk in walks), sum(walk.repeats for walk in walks)
    chance = sum(walk.chance.sum() for walk in walks)
    assert trials > 2 * MILLION
    rewrites = (repeats - chance) / (trials - chance)
    assert rewrites == pytest.approx(0.15, abs=4 * np.sqrt(0.15 * 0.85 / trials))
    assert rewrites / (1 + rewrites) == pytest.approx(0.1304, abs=0.001)


@pytest.mark.parametrize("style", ["classic", "fixed"])
@pytest.mark.parametrize("contexts", [1, 7])
def test_trees_lie_anywhere_in_the_hot_spot(style: Style, contexts: int) -> None:
    """And walks begin anywhere in their trees; 60,000 BSUs."""
    workload = spc1(60_000, style=style)
    leaves = ASU1 // 20 // 8
    room = 8 * (leaves - 2**16)
    for stream in WALKS:
        origins, starts = [], []
        for context in range(contexts):
            walks = walk_starts(workload, SEED, stream, context, contexts)
            mine = 60_000 // contexts + (context < 60_000 % contexts)
            origins += [walks[i].origin for i in range(mine)]
            starts += [walks[i].leaf for i in range(mine)]
        first = BOUNDS[stream][0]
        lowest = first - first % 8 if style == "classic" else first
        shift = np.array(origins) - lowest
        # a tree that would be rounded to before the hot spot starts with it
        assert set(shift[shift % 8 != 0]) <= {first - lowest}
        assert min(origins) >= first
        assert shift.max() <= room + first - lowest
        assert stats.kstest(shift / room, "uniform").pvalue > 0.001
        assert max(starts) < 2**16
        assert stats.kstest((np.array(starts) + 0.5) / 2**16, "uniform").pvalue > 0.001


@pytest.mark.parametrize("style", ["classic", "fixed"])
def test_a_context_is_a_smaller_spc1_of_its_own(style: Style) -> None:
    """Footprints: 7 of 20 BSUs in a context of three do what 7 BSUs alone do."""
    first = Generator(spc1(BSUS, style=style), 5, 0, 3).footprints(3_500_000)[0]
    alone = Generator(spc1(7, style=style), 6).footprints(3_500_000)[0]
    for name in ("1-1", "1-2", "1-4"):
        stream = SPC1_NAMES.index(name)
        assert first[stream].blocks == pytest.approx(alone[stream].blocks, rel=0.04), name


# ---- runs ----


@pytest.mark.parametrize("style", ["classic", "fixed"])
@pytest.mark.parametrize("contexts", [1, 3])
def test_runs_on_a_small_disk(style: Style, contexts: int) -> None:
    """The smallest disk there may be: runs are short and every BSU begins many. Every I/O follows
    the one before until it would reach the end of the run; runs begin anywhere in their range."""
    asu1, asu3 = 20480, 4551
    workload = spc1(BSUS, asu1, asu3, style)
    grain = 16 if style == "classic" else 1
    parts = [
        Generator(workload, SEED, k, contexts).ops(4 * MILLION // contexts) for k in range(contexts)
    ]
    for stream, size in ((2, asu1), (6, asu1), (7, asu3)):
        first, range_blocks, run = (
            size * p // 100 for p in ((0, 70, 30) if stream == 7 else (20, 40, 10))
        )
        starts = []
        for part in parts:
            mine = part[part["stream"] == stream]
            for replica in np.unique(mine["replica"]):
                starts.append(runs_of(mine[mine["replica"] == replica], run, grain))
        start = np.concatenate(starts)
        assert start.min() >= first // grain * grain
        assert start.max() < first + range_blocks
        assert not (start % grain).any()
        assert len(start) > 200
        assert stats.kstest((start - first + grain / 2) / range_blocks, "uniform").pvalue > 0.001


def runs_of(ops: Ops, run: int, grain: int) -> np.ndarray:
    """First blocks of the runs of one BSU, each checked for its end."""
    begin = (ops["addr"] // BLOCK).astype(np.int64)
    length = (ops["bytes"] // BLOCK).astype(np.int64)
    end = begin + length
    new = np.concatenate([[True], begin[1:] != end[:-1]])
    for _ in range(3):
        start = begin[np.maximum.accumulate(np.where(new, np.arange(len(new)), 0))]
        # Start and end are rounded down together: what is known of the end is its grain.
        low = start + run // grain * grain
        high = low + (grain if run % grain else 0)
        too_long = np.flatnonzero((end >= high) & ~new)
        if not len(too_long):
            break
        # A run may begin by chance where the one before ended, but that is rare.
        new[too_long[0]] = True
    assert not len(too_long)
    assert (end[:-1] + length[1:] >= low[:-1])[new[1:]].all()
    first: np.ndarray = begin[new]
    return first

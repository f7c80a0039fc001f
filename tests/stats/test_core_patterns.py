"""Address patterns with a law of their own, by statistics with fixed seeds."""

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from lib.core.spekcore import BLOCK, Arrival, Asu, Generator, Stream, Workload
from scipy import stats

from spekctl.workload import laws

MILLION = 1_000_000


def slots(
    stream: Stream, count: int = MILLION, seed: int = 1, skip: int = 0
) -> npt.NDArray[np.int64]:
    """The addresses of a stream, in blocks from the start of its range, after the first @skip."""
    workload = Workload([Asu(1 << 42)], [Arrival(depth=1)], [stream])
    addresses = Generator(workload, seed).ops(skip + count)["addr"][skip:]
    return (addresses - np.uint64(stream.range_start)).astype(np.int64) // BLOCK


def flat(numbers: npt.NDArray[np.int64], bins: int) -> float:
    return float(stats.chisquare(np.bincount(numbers, minlength=bins)).pvalue)


@pytest.mark.parametrize("blocks", [MILLION, (1 << 20) + 1, 3 << 18])
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("number", [0, 1, 4])
def test_a_pass_of_once_is_in_random_order(blocks: int, seed: int, number: int) -> None:
    """Its parts are spread evenly, and a block says nothing about the ones after it.

    Draws without replacement are evener than chi-square expects, which hides nothing here: an
    order that is not random fails by many orders of magnitude.
    """
    stream = Stream("once", range_start=BLOCK, range_bytes=blocks * BLOCK)
    order = slots(stream, blocks, seed, number * blocks)
    assert (np.sort(order) == np.arange(blocks)).all()
    for first in (blocks // 16, blocks // 3):
        assert flat(order[:first] * 1000 // blocks, 1000) > 0.001
        assert flat(order[:first] % 64, 64) > 0.001
    eighth = order * 8 // blocks
    for lag in (1, 2, 3, 8, 64, 1024):
        assert flat(eighth[:-lag] * 8 + eighth[lag:], 64) > 0.0001, lag
        assert flat((order[lag:] - order[:-lag]) % blocks * 64 // blocks, 64) > 0.0001, lag
    # As many ascents and turning points as a random order has.
    ups = np.diff(order) > 0
    assert abs(int(ups.sum()) - blocks / 2) < 4 * np.sqrt(blocks / 12)
    turns = int((ups[1:] != ups[:-1]).sum())
    assert abs(turns - 2 / 3 * blocks) < 4 * np.sqrt(16 / 90 * blocks)


def test_passes_of_once_are_in_independent_orders() -> None:
    """Where a block comes in a pass says nothing about where it comes in another one."""
    blocks, passes = 1 << 18, 6
    places = slots(Stream("once", range_bytes=blocks * BLOCK), passes * blocks)
    place = np.argsort(places.reshape(passes, blocks), axis=1) * 32 // blocks
    for later in range(passes):
        for earlier in range(later):
            assert flat(place[later] * 32 + place[earlier], 1024) > 0.0001, (later, earlier)


def test_jitter_is_uniform_and_independent() -> None:
    stream = Stream("strided", stride_bytes=100 * BLOCK, jitter_bytes=63 * BLOCK)
    jitter = slots(stream) % 100
    assert flat(jitter, 64) > 0.001
    assert flat(jitter[:-1] * 64 + jitter[1:], 4096) > 0.001


def in_zones(blocks: int, order: int, count: int) -> npt.NDArray[np.int64]:
    """Places in their zones, all of whose blocks are touched, zone by zone."""
    length = blocks * BLOCK
    stream = Stream("strided", stride_bytes=2 * length, zone_size_bytes=length, zone_order=order)
    return (slots(stream, blocks * count) % (2 * blocks)).reshape(count, blocks)


@pytest.mark.parametrize("blocks", [4, 16, 100, 1024])
def test_random_places_in_zones_are_uniform_and_independent(blocks: int) -> None:
    places = in_zones(blocks, 1, (1 << 18) // blocks)
    assert flat(places.ravel(), blocks) > 0.001
    quarters = places * 4 // blocks
    assert flat((quarters[:, :-1] * 4 + quarters[:, 1:]).ravel(), 16) > 0.001


@pytest.mark.parametrize("blocks", [2, 3, 4, 5, 16, 100, 1024])
def test_few_blocks_of_a_zone_are_in_any_order(blocks: int) -> None:
    """Each order of up to 5 blocks is equally likely; of more, what comes where, and the distance
    of one to the next."""
    orders = in_zones(blocks, 2, min(40_000, (1 << 23) // blocks))
    assert (np.sort(orders, axis=1) == np.arange(blocks)).all()
    if blocks <= 5:
        ranks = {order: rank for rank, order in enumerate(itertools.permutations(range(blocks)))}
        seen = np.array([ranks[tuple(order)] for order in orders.tolist()])
        assert flat(seen, len(ranks)) > 0.001
    for place in (0, 1, blocks - 1):
        assert flat(orders[:, place], blocks) > 0.0005
    for later in {1, blocks // 2, blocks - 1}:
        apart = (orders[:, later] - orders[:, 0]) % blocks - 1
        assert blocks == 2 or flat(apart, blocks - 1) > 0.0005


@pytest.mark.parametrize("blocks", [1025, 3000, 1 << 14])
def test_many_blocks_of_a_zone_are_in_a_random_order(blocks: int) -> None:
    orders = in_zones(blocks, 2, 64)
    assert (np.sort(orders, axis=1) == np.arange(blocks)).all()
    for place in range(0, blocks, blocks // 7):
        assert flat(orders[:, place] * 8 // blocks, 8) > 0.0001
    pieces = orders * 8 // blocks
    for lag in (1, 2, 3, 8, 64):
        pairs = pieces[:, :-lag] * 8 + pieces[:, lag:]
        assert flat(pairs.ravel(), 64) > 0.0001, lag


# --- tables: the laws themselves, computed in another way -----------------------------------------

N = 300_000
RANKS = np.arange(1, N + 1)


def table(parts: laws.Parts, spread: int = 0) -> Stream:
    return Stream("table", range_start=BLOCK, range_bytes=N * BLOCK, parts=parts, spread=spread)


def fits(places: npt.NDArray[np.int64], law: npt.NDArray[Any]) -> None:
    """Kolmogorov-Smirnov over all addresses; chi-square over the first ones and 100 groups."""
    law = law / law.sum()
    counts = np.bincount(places, minlength=N)
    distance = np.abs(np.cumsum(counts) / len(places) - np.cumsum(law)).max()
    assert distance < 1.95 / np.sqrt(len(places))
    single = np.arange(60 if law[0] > 1e-4 else 0)
    hundredths = np.searchsorted(np.cumsum(law), np.arange(1, 100) / 100)
    edges = np.unique([0, *single, *hundredths])
    seen, wanted = (
        np.add.reduceat(frequencies, edges) for frequencies in (counts, law * len(places))
    )
    assert stats.chisquare(seen, wanted).pvalue > 0.001


LAWS: dict[str, tuple[laws.Parts, npt.NDArray[Any]]] = {
    "zipf 1.1": (laws.zipf(N, 1.1, 255), RANKS**-1.1),
    "zipf 1": (laws.zipf(N, 1, 255), RANKS**-1.0),
    "zipf 0.8": (laws.zipf(N, 0.8, 255), RANKS**-0.8),
    "pareto 0.2": (
        laws.pareto(N, 0.2, 255),
        np.diff((np.arange(N + 1) / N) ** (np.log(0.8) / np.log(0.2))),
    ),
    "normal": (
        laws.normal(N, 0.1, 0.3, 255),
        np.diff(stats.norm.cdf(np.arange(N + 1) / N, 0.3, 0.1)),
    ),
    "zoned": (
        laws.zoned(N, [(Fraction(6, 10), N // 10), (Fraction(4, 10), N)]),
        np.where(np.arange(N) < N // 10, 0.6 / (N // 10), 0.4 / (N - N // 10)),
    ),
}


@pytest.mark.parametrize("name", LAWS)
def test_a_law_comes_out(name: str) -> None:
    parts, law = LAWS[name]
    fits(slots(table(parts)), law)


def test_a_law_that_is_spread_is_the_same_law() -> None:
    parts, law = LAWS["zipf 1.1"]
    places = slots(table(parts, spread=1))
    # Sorted back to ranks: place = rank * factor + offset, and rank 1 is the most frequent.
    factor = N * 618033989 // 10**9
    while np.gcd(factor, N) > 1:
        factor -= 1
    offset = int(np.bincount(places).argmax())
    fits((places - offset) * pow(factor, -1, N) % N, law)
    # The ten most frequent addresses lie in different twentieths of the range.
    hot = np.argsort(np.bincount(places, minlength=N))[-10:]
    assert len(set((hot * 20 // N).tolist())) >= 8


def test_addresses_of_a_table_are_independent() -> None:
    places = slots(table(LAWS["normal"][0]))
    upper = (places > np.median(places)).astype(np.int64)
    assert flat(upper[:-1] * 2 + upper[1:], 4) > 0.001
    # Within a part, too, and from part to part.
    odd = places % 7
    assert flat(odd[:-1] * 7 + odd[1:], 49) > 0.001

"""Address patterns with a law of their own, by statistics with fixed seeds."""

import numpy as np
import numpy.typing as npt
import pytest
from lib.core.spekcore import BLOCK, Arrival, Asu, Generator, Stream, Workload
from scipy import stats

MILLION = 1_000_000


def slots(stream: Stream, count: int = MILLION, seed: int = 1) -> npt.NDArray[np.int64]:
    """The addresses of a stream, in blocks from the start of its range."""
    workload = Workload([Asu(1 << 42)], [Arrival(depth=1)], [stream])
    addresses = Generator(workload, seed).ops(count)["addr"]
    return (addresses - np.uint64(stream.range_start)).astype(np.int64) // BLOCK


def flat(numbers: npt.NDArray[np.int64], bins: int) -> float:
    return float(stats.chisquare(np.bincount(numbers, minlength=bins)).pvalue)


@pytest.mark.parametrize("blocks", [MILLION, (1 << 20) + 1, 3 << 18])
@pytest.mark.parametrize("seed", [1, 2])
def test_a_pass_of_once_is_in_random_order(blocks: int, seed: int) -> None:
    """Its parts are spread evenly, and a block says nothing about the ones after it.

    Draws without replacement are evener than chi-square expects, which hides nothing here: an
    order that is not random fails by many orders of magnitude.
    """
    found = slots(Stream("once", range_start=BLOCK, range_bytes=blocks * BLOCK), blocks, seed)
    assert (np.sort(found) == np.arange(blocks)).all()
    for first in (blocks // 16, blocks // 3):
        assert flat(found[:first] * 1000 // blocks, 1000) > 0.001
        assert flat(found[:first] % 64, 64) > 0.001
    eighth = found * 8 // blocks
    for lag in (1, 2, 3, 8, 64, 1024):
        assert flat(eighth[:-lag] * 8 + eighth[lag:], 64) > 0.0001, lag
        assert flat((found[lag:] - found[:-lag]) % blocks * 64 // blocks, 64) > 0.0001, lag
    # As many ascents and turning points as a random order has.
    ups = np.diff(found) > 0
    assert abs(int(ups.sum()) - blocks / 2) < 4 * np.sqrt(blocks / 12)
    turns = int((ups[1:] != ups[:-1]).sum())
    assert abs(turns - 2 / 3 * blocks) < 4 * np.sqrt(16 / 90 * blocks)


def test_jitter_is_uniform_and_independent() -> None:
    stream = Stream("strided", stride_bytes=100 * BLOCK, jitter_bytes=63 * BLOCK)
    jitter = slots(stream) % 100
    assert flat(jitter, 64) > 0.001
    assert flat(jitter[:-1] * 64 + jitter[1:], 4096) > 0.001

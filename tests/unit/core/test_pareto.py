# SPDX-License-Identifier: GPL-2.0
"""Pareto numbers against the closed form; their law at a million is in tests/stats."""

import numpy as np
import numpy.typing as npt
import pytest
from lib.core.spekcore import library

FFI, LIB = library()
NEVER = 2**64 - 1
SHAPES = pytest.mark.parametrize("shape", [1.001, 1.05, 1.4, 1.5, 2, 3.1, 16])


def draws(kind: str, seed: int, count: int, *more: int) -> npt.NDArray[np.uint64]:
    rng = FFI.new("struct spek_rng *")
    LIB.spek_rng_seed(rng, seed)
    out = np.zeros(count, dtype=np.uint64)
    getattr(LIB, f"shim_{kind}")(rng, *more, FFI.cast("u64 *", out.ctypes.data), count)
    return out


@SHAPES
def test_a_number_is_a_power_of_an_exponential_one(shape: float) -> None:
    exponent = draws("expo", 7, 100_000) / 2.0**32
    drawn = draws("pareto", 7, 100_000, 10**9, round(shape * 1000))
    exact = 1e9 * np.minimum(np.exp(exponent / shape), 2.0**20)
    assert np.allclose(drawn, exact, rtol=1e-8)


@SHAPES
def test_the_least_follows_from_the_mean_with_the_cut(shape: float) -> None:
    for mean in (10_000, 10**9, 10**15):
        least = mean * (shape - 1) / (shape - 2 ** (-20 * (shape - 1)))
        lowest = LIB.spek_pareto_least(mean, round(shape * 1000))
        assert lowest == pytest.approx(least, rel=1e-7, abs=1)


def test_large_numbers_are_cut() -> None:
    drawn = draws("pareto", 1, 1_000_000, 1000, 200)
    assert drawn.max() == 1000 << 20
    share = float((drawn == 1000 << 20).mean())
    assert share == pytest.approx(2**-4, abs=0.001)


def test_numbers_beyond_64_bits_are_the_largest() -> None:
    drawn = draws("pareto", 1, 10_000, 1 << 62, 1000)
    assert (drawn[drawn < NEVER] >= 1 << 62).all()
    assert (drawn == NEVER).mean() == pytest.approx(0.5, abs=0.02)

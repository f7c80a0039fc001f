"""Random numbers: published vectors, seeding, uniform draws."""

import random
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lib.core.spekcore import library

FFI, LIB = library()
U64 = st.integers(0, 2**64 - 1)


def draws(rng: object, n: int) -> list[int]:
    out = FFI.new("u64[]", n)
    LIB.shim_rng_fill(rng, out, n)
    return list(out)


def test_splitmix64_gives_its_published_sequence() -> None:
    state = FFI.new("u64 *", 1234567)
    assert [LIB.spek_splitmix64(state) for _ in range(5)] == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


def test_xoshiro256starstar_gives_its_published_sequence() -> None:
    rng = FFI.new("struct spek_rng *", {"s": [1, 2, 3, 4]})
    assert draws(rng, 10) == [
        11520,
        0,
        1509978240,
        1215971899390074240,
        1216172134540287360,
        607988272756665600,
        16172922978634559625,
        8476171486693032832,
        10595114339597558777,
        2904607092377533576,
    ]


def test_seeding_takes_the_first_numbers_of_splitmix64() -> None:
    rng = FFI.new("struct spek_rng *")
    LIB.spek_rng_seed(rng, 1234567)
    assert list(rng.s) == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
    ]


def test_every_key_has_a_sequence_of_its_own() -> None:
    seen = set()
    for seed, worker, arrival, purpose in product((0, 1, 2**63), range(16), range(16), range(2)):
        rng = FFI.new("struct spek_rng *")
        LIB.spek_rng_init(rng, seed, worker, arrival, purpose)
        seen.add(tuple(rng.s))
    assert len(seen) == 3 * 16 * 16 * 2


def test_sequences_of_neighbouring_workers_are_uncorrelated() -> None:
    columns = []
    for worker in range(8):
        rng = FFI.new("struct spek_rng *")
        LIB.spek_rng_init(rng, 1, worker, 0, 1)
        columns.append(np.array(draws(rng, 20_000), dtype=np.uint64) / 2.0**64)
    correlation = np.corrcoef(columns) - np.eye(8)
    assert np.abs(correlation).max() < 5 / np.sqrt(20_000)


@given(U64, U64)
def test_mulhi64_is_the_upper_half(a: int, b: int) -> None:
    assert LIB.shim_mulhi64(a, b) == a * b >> 64


@given(st.integers(0, 2**64 - 1), st.integers(1, 2**64 - 1))
def test_numbers_below_n_are_below_n(seed: int, n: int) -> None:
    rng = FFI.new("struct spek_rng *")
    LIB.spek_rng_seed(rng, seed)
    assert all(LIB.shim_rng_below(rng, n) < n for _ in range(10))


@pytest.mark.parametrize(
    ("ppm", "threshold"),
    [(0, 0), (500_000, 2**31), (1_000_000, 2**32), (250_000, 2**30), (1, 4295)],
)
def test_shares_become_thresholds(ppm: int, threshold: int) -> None:
    assert LIB.shim_ppm_threshold(ppm) == threshold


@given(U64, U64, st.integers(1, 2**64 - 1))
def test_muldiv_is_exact(a: int, b: int, divisor: int) -> None:
    left = FFI.new("u64 *")
    if a * b // divisor < 2**64:
        assert (LIB.spek_muldiv64(a, b, divisor, left), left[0]) == divmod(a * b, divisor)
        assert LIB.spek_muldiv64(a, b, divisor, FFI.NULL) == a * b // divisor


def test_muldiv_is_exact_for_the_largest_quotients_of_every_divisor_width() -> None:
    left = FFI.new("u64 *")
    draw = random.Random(7)
    for bits in range(1, 65):
        for _ in range(300):
            divisor = draw.getrandbits(bits) | 1 << (bits - 1)
            a = draw.getrandbits(64)
            b = min(2**64 - 1, (2**64 * divisor - 1) // max(a, 1))
            assert (LIB.spek_muldiv64(a, b, divisor, left), left[0]) == divmod(a * b, divisor)

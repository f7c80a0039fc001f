# SPDX-License-Identifier: GPL-2.0
"""Fields of workloads as numbers."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lib.ctl.resolved import HEAD, STREAM

from spekctl.errors import UsageError
from spekctl.workload import file, meaning
from spekctl.workload.model import Stream


def test_a_minimal_file_is_enough() -> None:
    parsed = file.parse(HEAD + STREAM)
    assert [asu.name for asu in meaning.asus_of(parsed)] == ["all"]
    assert meaning.arrivals_of(parsed)[0].depth == 1


def test_spc1_has_the_weights_of_the_standard() -> None:
    loaded = file.load("spc1")
    shares = [(stream.name, stream.share) for stream in loaded.stream]
    assert meaning.weights_of(shares, "") == [35, 281, 70, 210, 18, 70, 35, 281]
    sizes = meaning.size_weights(next(stream for stream in loaded.stream if stream.name == "3-1"))
    assert sizes == [(4096, 10), (8192, 6), (16384, 5), (32768, 2), (65536, 2)]


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=8))
def test_weights_keep_the_ratios_of_shares_in_either_notation(parts: list[int]) -> None:
    total = sum(parts)
    weights = meaning.weights_of([("a", part) for part in parts], "")
    assert [Fraction(weight, sum(weights)) for weight in weights] == [
        Fraction(part, total) for part in parts
    ]
    tenths = [round(part / total * 1000) for part in parts[:-1]]
    tenths.append(1000 - sum(tenths))
    if min(tenths) > 0:
        percent = [("a", f"{tenth / 10}%") for tenth in tenths]
        weights = meaning.weights_of(percent, "")
        assert [Fraction(weight, sum(weights)) for weight in weights] == [
            Fraction(tenth, 1000) for tenth in tenths
        ]


@pytest.mark.parametrize(("rate", "milli"), [(0.001, 1), (2000, 2_000_000), (33.3335, 33_334)])
def test_a_rate_is_rounded_to_the_kernels_step(rate: float, milli: int) -> None:
    assert meaning.rate_milli(rate) == milli


@pytest.mark.parametrize(
    ("rate", "sentence"),
    [
        (0, "a rate must be a number above 0, not 0"),
        (float("nan"), "a rate must be a number above 0, not nan"),
        (0.0004, "a rate of 0.0004 is less than 0.001 I/Os per second"),
        (10**9 + 1, "a rate of 1000000001 is more than 1000000000 I/Os per second"),
    ],
)
def test_a_rate_that_the_kernel_does_not_have_is_refused(rate: float, sentence: str) -> None:
    with pytest.raises(UsageError) as refused:
        meaning.rate_milli(rate)
    assert refused.value.message == sentence


@pytest.mark.parametrize(
    ("value", "meant"), [("45%", Fraction(9, 20)), ("4KiB", 4096), (512, 512), ("0%", 0)]
)
def test_a_place_is_a_share_or_bytes(value: int | str, meant: Fraction | int) -> None:
    assert meaning.fraction_or_bytes(value) == meant
    assert meaning.is_percent(value) == (isinstance(value, str) and "%" in value)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        (None, ("none", 0)),
        ("idle", ("idle", 0)),
        ("rt:0", ("rt", 0)),
        ("be:7", ("be", 7)),
    ],
)
def test_a_priority_has_a_class_and_a_level(text: str | None, meant: tuple[str, int]) -> None:
    assert meaning.priority_of(Stream(name="s", priority=text)) == meant


def test_data_of_a_stream_are_its_own_only_if_it_says_so() -> None:
    assert meaning.data_of(Stream(name="s")) is None
    assert meaning.data_of(Stream(name="s", fill="0xdead")) == (1_000_000, 0, b"\xde\xad")
    assert meaning.data_of(Stream(name="s", compressible="40%", duplicate="5%")) == (
        400_000,
        50_000,
        b"",
    )


def test_other_operations_read_nothing() -> None:
    assert meaning.read_ppm(Stream(name="s")) == 1_000_000
    assert meaning.read_ppm(Stream(name="s", operation="discard")) == 0
    assert meaning.read_ppm(Stream(name="s", read="12.5%")) == 125_000


def test_a_share_is_written_as_a_user_writes_it() -> None:
    assert meaning.percent_text(Fraction(9, 10)) == "90%"
    assert meaning.percent_text(Fraction(1, 800)) == "0.125%"

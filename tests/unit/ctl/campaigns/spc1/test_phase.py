# SPDX-License-Identifier: GPL-2.0
"""A phase from the result of its run."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lib.ctl import results
from lib.fakes.kernel import SECOND, START_NS, interval_cell
from msgspec.structs import replace

from spekctl.campaigns.spc1.phase import PARTS, parts_of, phase_of, variation
from spekctl.documents.result_parts import Interval
from spekctl.documents.spc1 import Limits, Step
from spekctl.kernel.records import Phase

STEP = Step("search", "search-20", 100, 20, 0, 10 * SECOND)


def row(*streams: tuple[int, int], phase: Phase = Phase.MEASURE) -> Interval:
    """An interval with (reads, writes) of each stream."""
    ios = [(reads, 4096 * reads, writes, 4096 * writes) for reads, writes in streams]
    times = (START_NS, START_NS + SECOND, 0, 0, 0, 0)
    return Interval(0, phase, *times, interval_cell(), interval_cell(), ios)


@given(st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99)), max_size=45))
def test_every_interval_is_in_one_part(counts: list[tuple[int, int]]) -> None:
    parts = parts_of([row(count, (1, 0)) for count in counts])
    assert len(parts) == min(PARTS, len(counts))
    assert sum(part[0] for part in parts) == sum(map(sum, counts))
    lengths = [part[1] for part in parts]
    assert sum(lengths) == len(counts)
    assert not lengths or max(lengths) - min(lengths) <= 1


@given(st.integers(1, 50), st.integers(1, 50), st.integers(2, 10))
def test_a_share_that_stays_does_not_vary(first: int, second: int, parts: int) -> None:
    cov, chance = variation([[first * at, second * at] for at in range(1, parts + 1)], 0)
    assert cov == pytest.approx(0, abs=1e-12)
    assert chance is not None and chance > 0


def test_what_chance_makes_of_a_share_is_about_its_variation() -> None:
    draw = random.Random(5)
    ratios = []
    for _ in range(200):
        parts = []
        for _ in range(PARTS):
            mine = sum(draw.random() < 0.1 for _ in range(400))
            parts.append([mine, 400 - mine])
        cov, chance = variation(parts, 0)
        assert cov is not None and chance is not None
        ratios.append(cov / chance)
    assert sum(ratios) / len(ratios) == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize(
    "parts", [[], [[5, 5]], [[5, 5], [0, 0]], [[0, 5], [0, 7]]], ids=["no", "one", "idle", "never"]
)
def test_too_few_ios_have_no_variation(parts: list[list[int]]) -> None:
    assert variation(parts, 0) == (None, None)


def test_a_stream_that_comes_and_goes_varies_by_more_than_chance() -> None:
    cov, chance = variation([[100, 900], [300, 700], [100, 900], [300, 700]], 0)
    assert cov == pytest.approx(0.5 * (4 / 3) ** 0.5)
    assert chance is not None and cov is not None and cov > 5 * chance


def test_only_the_measure_phase_counts() -> None:
    rows = [row((9, 9), phase=Phase.RAMP), row((7, 3)), row((7, 3)), row((5, 5), phase=Phase.DRAIN)]
    result = replace(results.build(), intervals=rows)
    measured = phase_of(STEP, result, Limits(), "x.json")
    (stream,) = measured.streams
    (asu,) = measured.asus
    assert (measured.parts, measured.point.result_file, measured.beyond) == (2, "x.json", "")
    # 20 reads of the ramp-up are in the result, too.
    assert (stream.ios, stream.share, stream.intended) == (100, 1.0, 1.0)
    assert (stream.read_share, stream.mean_bytes) == (0.7, 8192)
    assert stream.response is not None and stream.response.max == results.WRITES[-1]
    assert (asu.ios, asu.read_share, asu.intended) == (100, 0.7, 1.0)


def test_a_run_that_did_nothing_has_shares_of_0() -> None:
    measured = phase_of(STEP, results.build(cells=()), Limits(), "x.json")
    (stream,) = measured.streams
    assert (stream.ios, stream.share, stream.read_share, stream.mean_bytes) == (0, 0, 0, 0)
    assert (stream.response, stream.share_cov, measured.beyond) == (None, None, "no I/O completed")

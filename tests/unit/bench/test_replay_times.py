# SPDX-License-Identifier: GPL-2.0
"""How late a replayer was, from the times of its requests."""

from __future__ import annotations

import pytest
from bench.replay_times import percentile, report_feed, report_slip, slips_us
from bench.replay_times_guest import Found, Issued

DUE = [1000, 1500, 4000]


def measured(fed_ns: int = 200_000_000, underruns: int = 0, late: int = 900) -> Found:
    """Spek is up to 9 us late; fio's lateness adds up to @late."""
    spek = Issued("spek", [50_001, 50_510, 53_005])
    fio = [Issued(name, [90_000, 90_500, 93_000 + late]) for name in ("fio io_uring", "fio libaio")]
    slip = {"p50": 1000, "p99": 2000, "max": 3000}
    fed = {20_000: 5_000_000, 200_000: 5_000_000 + fed_ns}
    return Found(fed, {200: 4_000_000, 2000: 40_000_000}, 600, underruns, slip, DUE, [spek, *fio])


def test_lateness_counts_from_the_request_that_was_earliest() -> None:
    assert slips_us(DUE, [51_007, 51_500, 54_001]) == [0, 1, 7]


def test_lateness_that_adds_up_is_seen() -> None:
    assert slips_us([0, 10, 20, 30], [5, 16, 27, 38]) == [0, 1, 2, 3]


def test_a_percentile_is_of_the_sorted_values() -> None:
    assert [percentile(list(range(100)), part) for part in (0.5, 0.99, 1)] == [50, 99, 99]


@pytest.mark.parametrize(("late", "good"), [(900, True), (90, True), (89, False)])
def test_fio_is_ten_times_later(late: int, good: bool, capsys: pytest.CaptureFixture[str]) -> None:
    assert report_slip(measured(late=late)) is good
    assert f"p99 of fio's best to that of spek: {late / 9:,.0f}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("fed_ns", "underruns", "good"),
    [(360_000_000, 0, True), (361_000_000, 0, False), (100_000_000, 1, False)],
)
def test_feeding_is_fast_enough_without_underruns(
    fed_ns: int, underruns: int, good: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    assert report_feed(measured(fed_ns, underruns)) is good
    shown = capsys.readouterr().out
    assert "200 of them in the kernel" in shown
    assert f"{underruns} underruns" in shown

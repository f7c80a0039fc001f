# SPDX-License-Identifier: GPL-2.0
"""Rate curves: shapes as points, means in closed form, and what --rate and results make of them."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from spekctl.errors import UsageError
from spekctl.workload import curves, file
from spekctl.workload.config import RunConfig
from spekctl.workload.model import Arrival, RatePoint
from spekctl.workload.resolve import Options, Target, resolve

NS = 10**9
HOUR = 3600 * NS


def test_a_ramp_has_two_points_and_keeps_its_last_rate() -> None:
    ramp = Arrival(name="a", law="poisson", shape="ramp", rate=100, to=500.5, period="1m")
    assert curves.points_of(ramp) == [(0, 100_000), (60 * NS, 500_500)]
    assert not curves.repeats(ramp)


@pytest.mark.parametrize(("swing", "share"), [(None, 0.5), ("20%", 0.2), ("100%", 1.0)])
def test_a_diurnal_wave_has_its_mean_and_its_swing(swing: str | None, share: float) -> None:
    wave = Arrival(name="a", law="constant", shape="diurnal", rate=1000, swing=swing)
    points = curves.points_of(wave)
    rates = [rate for _, rate in points]
    assert (points[0][0], points[-1][0], curves.repeats(wave)) == (0, 24 * HOUR, True)
    assert (rates[0], rates[48]) == (round(1e6 * (1 - share)), round(1e6 * (1 + share)))
    assert (min(rates), max(rates)) == (rates[0], rates[48])
    assert curves.mean_milli(points, True) == pytest.approx(10**6, abs=1)
    for at, rate in points:
        expected = 1e6 * (1 - share * math.cos(2 * math.pi * at / (24 * HOUR)))
        assert rate == pytest.approx(expected, abs=1)


def test_means_are_areas_over_times() -> None:
    points = [(0, 0), (10 * NS, 1000), (10 * NS, 4000), (20 * NS, 4000)]
    assert curves.mean_milli(points, False) == Fraction(2250)
    assert curves.mean_milli(points, False, 5 * NS, 10 * NS) == 750
    assert curves.mean_milli(points, False, 20 * NS, 40 * NS) == 4000
    assert curves.mean_milli(points, True, 15 * NS, 25 * NS) == Fraction(4000 * 5 + 250 * 5, 10)
    assert curves.mean_milli(points, True, 0, 40 * NS) == 2250


def test_a_curve_beyond_what_the_kernel_takes_is_refused() -> None:
    def points(*steps: tuple[str, float]) -> Arrival:
        curve = [RatePoint(at=at, rate=rate) for at, rate in steps]
        return Arrival(name="a", law="poisson", curve=curve)

    for arrival, text in (
        (points(("0", 1), ("300h", 1)), "11 days"),
        (points(("0", 1), ("1s", 10**10)), "more than 1000000000 I/Os per second"),
    ):
        with pytest.raises(UsageError, match=text):
            curves.points_of(arrival)


TEXT = """
[workload]
name = "w"
summary = "a curve"
[[arrival]]
name = "a"
law = "poisson"
curve = [{ at = "0", rate = 0 }, { at = "10s", rate = 1000 }]
[[stream]]
name = "s"
size = "4KiB"
"""


def resolved(text: str = TEXT, **options: object) -> RunConfig:
    disk = Target("/dev/x", 8, 0, 1 << 30, 512, 5)
    return resolve(file.parse(text), Options(available_cpus=(0,), **options), [disk])  # type: ignore[arg-type]


def test_the_rate_that_is_offered_is_the_mean_while_it_is_measured() -> None:
    assert resolved(time_ns=10 * NS).offered_rate == 500
    assert resolved(time_ns=5 * NS, ramp_ns=5 * NS).offered_rate == 750
    assert resolved(time_ns=20 * NS).offered_rate == 750
    assert resolved(count=100).offered_rate == 500


def test_the_rate_that_was_offered_is_that_of_the_time_that_was_run() -> None:
    """A ramp to 1,000 within 10 s."""
    ramp = resolved(time_ns=10 * NS)
    assert ramp.offered_between(0, 2 * NS) == 100
    assert ramp.offered_between(2 * NS, 4 * NS) == 300
    assert resolved(count=100).offered_between(0, 10 * NS) == ramp.offered_rate == 500
    steady = resolved(TEXT.replace("curve = [", "rate = 70 #"), time_ns=10 * NS)
    assert steady.offered_between(3 * NS, 4 * NS) == steady.offered_rate == 70
    closed = resolved(TEXT.replace("curve = [", "depth = 3 #").replace("poisson", "closed"))
    assert closed.offered_between(0, NS) is closed.offered_rate is None


def test_rate_scales_a_curve_to_that_mean() -> None:
    (arrival,) = resolved(count=1, rate=2000).arrivals
    assert arrival.points == [(0, 0), (10 * NS, 4_000_000)]
    assert (arrival.law, arrival.rate_milli) == ("poisson", 0)
    with pytest.raises(UsageError, match="the highest of the curve"):
        resolved(count=1, rate=600_000_000)


def test_there_is_room_for_so_many_points() -> None:
    points = ", ".join(f'{{ at = "{at}s", rate = 1 }}' for at in range(256))
    head = TEXT[: TEXT.index("[[arrival]]")]
    for number in range(5):
        head += f'[[arrival]]\nname = "a{number}"\nlaw = "constant"\ncurve = [{points}]\n'
        head += f'[[stream]]\nname = "s{number}"\nsize = 4096\narrival = "a{number}"\n'
    with pytest.raises(UsageError, match="have 1280 points together; at most 1024"):
        resolved(head, count=1)

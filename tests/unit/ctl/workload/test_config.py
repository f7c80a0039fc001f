# SPDX-License-Identifier: GPL-2.0
"""What a resolved run says about itself: whether it writes, and what arrives by itself."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from lib.ctl.resolved import HEAD, STREAM, run_config
from msgspec.structs import replace

from spekctl.workload.config import ResolvedArrival


def arrival(**lines: object) -> str:
    return '[[arrival]]\nname = "a"\n' + "".join(
        f"{key} = {value}\n" for key, value in lines.items()
    )


@pytest.mark.parametrize(
    ("lines", "offered", "known"),
    [
        ("", None, 0),
        (arrival(law='"closed"', depth=4, limit=100), None, 0),
        (arrival(law='"poisson"', rate=250), 250, 250),
        (arrival(law='"burst"', length=64, interval='"10ms"'), 6400, 6400),
        (arrival(law='"constant"', rate=100, on='"1s"', off='"3s"'), 25, 25),
    ],
)
def test_only_open_loops_offer_a_rate(lines: str, offered: float | None, known: float) -> None:
    config = run_config(HEAD + STREAM + lines)
    assert config.offered_rate == offered
    assert config.arrival_rate == pytest.approx(known)


def test_a_closed_loop_beside_an_open_one_hides_what_is_offered() -> None:
    config = run_config("random-read-4k")
    closed = config.arrivals[0]
    opened = ResolvedArrival("b", "poisson", rate_milli=5000)
    mixed = replace(config, arrivals=[closed, opened])
    assert (mixed.offered_rate, mixed.arrival_rate) == (None, 5)
    assert replace(config, arrivals=[opened]).offered_rate == 5


@pytest.mark.parametrize(
    ("lengths", "rate"),
    [
        # From 0 to 1000 per s in 10 s, and at 1000 from there.
        ({"time_ns": 10 * 10**9}, 500),
        ({"time_ns": 5 * 10**9}, 250),
        ({"time_ns": 5 * 10**9, "ramp_ns": 5 * 10**9}, 750),
        ({"time_ns": 20 * 10**9}, 750),
        ({"count": 1000}, 500),
        ({"time_ns": 20 * 10**9, "ramp_count": 5}, 500),
    ],
)
def test_a_curve_has_its_mean_over_what_is_measured(lengths: dict[str, Any], rate: float) -> None:
    curve = ResolvedArrival("a", "poisson", points=[(0, 0), (10 * 10**9, 10**6)])
    config = replace(run_config("random-read-4k", **lengths), arrivals=[curve])
    assert config.offered_rate == pytest.approx(rate)


@pytest.mark.parametrize(
    ("on_ns", "off_ns", "share"), [(0, 0, 1), (1, 3, Fraction(1, 4)), (10**18, 1, None)]
)
def test_the_share_of_on_periods_is_exact(on_ns: int, off_ns: int, share: Fraction | None) -> None:
    exact = ResolvedArrival("a", "poisson", on_ns=on_ns, off_ns=off_ns).on_share
    assert exact == (share if share is not None else Fraction(10**18, 10**18 + 1))


@pytest.mark.parametrize(
    ("read", "weight", "writes"), [(10**6, 1, False), (999_999, 1, True), (0, 0, False)]
)
def test_a_stream_without_weight_writes_nothing(read: int, weight: int, writes: bool) -> None:
    config = run_config("random-read-4k")
    streams = [*config.streams, replace(config.streams[0], read_ppm=read, weight=weight)]
    assert replace(config, streams=streams).writes is writes

# SPDX-License-Identifier: GPL-2.0
"""On and off periods: what a file says in numbers, and what --rate and --depth make of them."""

from __future__ import annotations

from fractions import Fraction

import pytest
from lib.core.config import core_of

from spekctl.errors import UsageError
from spekctl.workload import file, onoff
from spekctl.workload.config import RunConfig
from spekctl.workload.model import Arrival
from spekctl.workload.resolve import Options, Target, resolve

MS = 10**6
TEXT = """
[workload]
name = "w"
summary = "pauses"
[[arrival]]
name = "a"
law = "constant"
rate = 1000
on = "100ms"
off = "900ms"
tail = 1.5
[[stream]]
name = "s"
size = "4KiB"
"""
OTHER = """
[[arrival]]
name = "b"
law = "poisson"
rate = 300
[[stream]]
name = "t"
size = "4KiB"
arrival = "b"
"""


def resolved(text: str = TEXT, **options: object) -> RunConfig:
    disk = Target("/dev/x", 8, 0, 1 << 30, 512, 5)
    asked = Options(available_cpus=(0,), count=1, **options)  # type: ignore[arg-type]
    return resolve(file.parse(text), asked, [disk])


def test_periods_are_means_and_a_shape() -> None:
    def of(**fields: object) -> onoff.Periods:
        return onoff.periods_of(Arrival(name="a", law="poisson", rate=1e4, **fields))  # type: ignore[arg-type]

    assert of() == (0, 0, 0)
    assert of(on="100ms", off="2s") == (100 * MS, 2000 * MS, 0)
    assert of(on="10us", off="1s", tail=1.4) == (10_000, 1000 * MS, 1400)
    assert of(on="1s", off="1s", tail=16).tail_milli == 16_000


def test_a_run_has_them_and_its_rate_is_the_mean() -> None:
    config = resolved()
    (arrival,) = config.arrivals
    assert (arrival.law, arrival.rate_milli) == ("constant", 1_000_000)
    assert (arrival.on_ns, arrival.off_ns, arrival.tail_milli) == (100 * MS, 900 * MS, 1500)
    assert arrival.on_share == Fraction(1, 10)
    assert config.offered_rate == pytest.approx(100)
    core_of(config).check()


def test_rate_is_the_mean_of_all_processes_together() -> None:
    paused, steady = resolved(TEXT + OTHER, rate=800).arrivals
    assert (paused.rate_milli, steady.rate_milli) == (2_000_000, 600_000)
    assert (paused.on_ns, paused.off_ns, paused.tail_milli) == (100 * MS, 900 * MS, 1500)
    assert (steady.on_ns, steady.off_ns) == (0, 0) and steady.on_share == 1


def test_a_depth_makes_it_a_closed_loop_without_pauses() -> None:
    (loop,) = resolved(depth=7).arrivals
    assert (loop.law, loop.depth, loop.on_ns, loop.tail_milli) == ("closed", 7, 0, 0)


@pytest.mark.parametrize(
    ("rate", "text"),
    [
        (0.9, "arrival 'a': an on period must have at least one I/O on average: .* 111111112ns"),
        (200_000_000, "arrival 'a': in on periods, its rate is above 1000000000 I/Os per second"),
    ],
)
def test_a_rate_that_the_periods_do_not_allow_is_refused(rate: float, text: str) -> None:
    with pytest.raises(UsageError, match=text):
        resolved(rate=rate)


@pytest.mark.parametrize("rate_milli", [1, 3, 142_858, 10**12])
def test_the_shortest_on_period_is_that_of_the_kernel(rate_milli: int) -> None:
    """What is allowed here is allowed there, and one ns less by neither."""
    least = max(10_000, -(-(10**12) // rate_milli))
    onoff.check_rate(rate_milli, least)
    if least > 10_000:
        with pytest.raises(UsageError, match="at least one I/O"):
            onoff.check_rate(rate_milli, least - 1)

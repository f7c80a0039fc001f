# SPDX-License-Identifier: GPL-2.0
"""Distributions as tables: what their parts are, against the laws computed in another way."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spekctl.errors import UsageError
from spekctl.workload import file, laws
from spekctl.workload.config import ResolvedStream
from spekctl.workload.resolve import Options, Target, resolve

GIB = 1 << 30
WHOLE = laws.WEIGHT
MAKERS: dict[str, Callable[[int, int], laws.Parts]] = {
    "zipf 1.1": lambda slots, budget: laws.zipf(slots, 1.1, budget),
    "zipf 1": lambda slots, budget: laws.zipf(slots, 1, budget),
    "zipf 0.3": lambda slots, budget: laws.zipf(slots, 0.3, budget),
    "zipf 16": lambda slots, budget: laws.zipf(slots, 16, budget),
    "pareto 0.2": lambda slots, budget: laws.pareto(slots, 0.2, budget),
    "pareto 0.9": lambda slots, budget: laws.pareto(slots, 0.9, budget),
    "pareto 1e-9": lambda slots, budget: laws.pareto(slots, 1e-9, budget),
    "normal 10 %": lambda slots, budget: laws.normal(slots, 0.1, 0.5, budget),
    "normal, narrow": lambda slots, budget: laws.normal(slots, 1e-6, 1, budget),
    "normal, wide": lambda slots, budget: laws.normal(slots, 1, 0, budget),
    "normal and uniform": lambda slots, budget: laws.normal(slots, 0.1, 0.5, budget, 0.3),
    "normal, hardly uniform": lambda slots, budget: laws.normal(slots, 0.1, 0.5, budget, 2e-7),
    "normal, mostly uniform": lambda slots, budget: laws.normal(slots, 1e-6, 0.2, budget, 1),
}


def ends(parts: laws.Parts) -> tuple[list[int], list[float]]:
    """The edges of the parts and the distribution function there."""
    return (
        list(itertools.accumulate(slots for slots, _ in parts)),
        [total / WHOLE for total in itertools.accumulate(weight for _, weight in parts)],
    )


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(sorted(MAKERS)),
    st.one_of(st.integers(1, 600), st.integers(1, laws.SLOTS_MAX)),
    st.integers(63, 255),
    st.integers(0, 2**40),
)
def test_every_table_is_one_that_the_kernel_takes(
    name: str, slots: int, budget: int, by: int
) -> None:
    parts = MAKERS[name](slots, budget)
    assert len(parts) <= budget
    for table in (parts, laws.rotated(parts, by % slots)):
        assert len(table) <= budget + 1
        assert sum(part for part, _ in table) == slots and min(part for part, _ in table) > 0
        assert (
            sum(weight for _, weight in table) == WHOLE and min(weight for _, weight in table) >= 0
        )


@pytest.mark.parametrize("theta", [0.5, 1, 1.1, 2.5])
def test_zipf_is_exact_at_the_edges_and_for_the_first_addresses(theta: float) -> None:
    slots = 2_000_000
    exact = np.cumsum(np.arange(1, slots + 1, dtype=np.longdouble) ** -theta)
    exact /= exact[-1]
    edges, shares = ends(laws.zipf(slots, theta, 255))
    assert edges[:63] == list(range(1, 64))
    for edge, value in zip(edges, shares, strict=True):
        assert value == pytest.approx(float(exact[edge - 1]), abs=2e-12)
    # Between the edges the distribution function is a line: how far that is off.
    line = np.interp(np.arange(1, slots + 1), [0, *edges], [0, *shares])
    assert float(np.abs(line - exact).max()) < 1e-4


def test_pareto_follows_its_law() -> None:
    edges, shares = ends(laws.pareto(1 << 30, 0.2, 255))
    power = math.log(0.8) / math.log(0.2)
    for edge, value in zip(edges, shares, strict=True):
        assert value == pytest.approx((edge / 2**30) ** power, abs=2e-12)
    grid = np.linspace(0, 1, 100_001)
    assert np.abs(np.interp(grid * 2**30, [0, *edges], [0, *shares]) - grid**power).max() < 1e-3
    # A fifth of the addresses has four fifths of the I/Os, and so on within it.
    for share, wanted in ((0.2, 0.8), (0.04, 0.64)):
        assert np.interp(share * 2**30, edges, shares) == pytest.approx(wanted, abs=1e-3)


def test_normal_is_cut_off_at_the_ends() -> None:
    slots = 10**9
    edges, shares = ends(laws.normal(slots, 0.2, 0.9, 255))

    def cdf(x: float) -> float:
        return (1 + math.erf((x - 0.9) / 0.2 / math.sqrt(2))) / 2

    inside = cdf(1) - cdf(0)
    for edge, value in zip(edges, shares, strict=True):
        assert value == pytest.approx((cdf(edge / slots) - cdf(0)) / inside, abs=2e-12)


@pytest.mark.parametrize(
    ("deviation", "width"), [(1 / 12, 0.2), (0.2, 0.5), (0.3, 1e-4), (1e-3, 1)]
)
def test_normal_of_a_width_is_the_sum_of_two_laws(deviation: float, width: float) -> None:
    slots = 10**9
    edges, shares = ends(laws.normal(slots, deviation, 0.4, 255, width))
    # The mean of normal distributions side by side, by the midpoint rule.
    offsets = (np.arange(20_000) + 0.5) / 20_000 * width - width / 2
    erf = np.frompyfunc(math.erf, 1, 1)

    def cdf(x: float) -> float:
        return float(np.mean(1 + erf((x - 0.4 - offsets) / deviation / math.sqrt(2)))) / 2

    first, inside = cdf(0), cdf(1) - cdf(0)
    for edge, value in list(zip(edges, shares, strict=True))[::8]:
        assert value == pytest.approx((cdf(edge / slots) - first) / inside, abs=1e-6)


def test_rotation_moves_the_parts_around() -> None:

    assert laws.rotated([(1, 8), (6, 6)], 3) == [(3, 3), (1, 8), (3, 3)]
    assert laws.rotated([(4, 1), (4, 2)], 4) == [(4, 2), (4, 1)]
    assert laws.rotated([(4, 1), (4, 2)], 0) == [(4, 1), (4, 2)]


# --- in a workload -------------------------------------------------------------------------------


def resolved(fields: str, size: int = GIB) -> ResolvedStream:
    text = (
        '[workload]\nname = "w"\nsummary = "s"\n[[stream]]\nname = "main"\nsize = 4096\n' + fields
    )
    disk = Target("/dev/x", 8, 0, size, 512)
    return resolve(file.parse(text), Options(available_cpus=(0,)), (disk,)).streams[0]


def test_zipf_is_spread_unless_it_has_a_center() -> None:
    stream = resolved('pattern = "zipf"\ntheta = 1.2\n')
    assert (stream.pattern, stream.spread) == ("table", 1)
    assert sum(slots for slots, _ in stream.parts) == GIB // 4096
    assert stream.parts[0][0] == 1 and stream.parts[0][1] > stream.parts[1][1]
    hot = resolved('pattern = "zipf"\ntheta = 1.2\ncenter = "25%"\n')
    assert hot.spread == 0
    edges, _ = ends(hot.parts)
    hottest = max(range(len(hot.parts)), key=lambda index: hot.parts[index][1])
    assert edges[hottest - 1] == GIB // 4096 // 4 and hot.parts[hottest][0] == 1
    assert resolved('pattern = "pareto"\nh = 0.2\nspread = false\n').spread == 0


def test_normal_is_spread_where_its_stream_says_so() -> None:
    bell = 'pattern = "normal"\ndeviation = "10%"\n'
    around, scattered = resolved(bell), resolved(bell + "spread = true\n")
    assert (around.spread, scattered.spread) == (0, 1) and around.parts == scattered.parts
    wider = resolved(bell + 'width = "40%"\nspread = true\n')
    assert max(weight / slots for slots, weight in wider.parts) < max(
        weight / slots for slots, weight in scattered.parts
    )


def test_zones_have_their_shares() -> None:
    stream = resolved(
        'pattern = "zoned"\n[[stream.zones]]\nshare = "60%"\nsize = "10%"\n'
        '[[stream.zones]]\nshare = "40%"\nsize = "512MiB"\n'
    )
    slots = GIB // 4096
    first, second, rest = stream.parts
    assert [part[0] for part in stream.parts] == [slots // 10, slots // 2, rest[0]]
    assert first[1] == pytest.approx(0.6 * WHOLE, abs=1) and rest[1] == 0
    assert first[1] + second[1] == WHOLE
    whole = resolved(
        'pattern = "zoned"\n'
        'zones = [{ share = "0%", size = "50%" }, { share = "100%", size = "50%" }]\n'
    )
    assert whole.parts == [(slots // 2, 0), (slots // 2, WHOLE)]


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ('pattern = "zipf"', "pattern zipf needs 'theta'"),
        ('pattern = "zipf"\ntheta = 0', "theta must be more than 0 and at most 16"),
        ('pattern = "zipf"\ntheta = inf', "theta must be more than 0 and at most 16"),
        ('pattern = "pareto"\nh = 1', "h must be more than 0 and less than 1"),
        ('pattern = "normal"\ndeviation = "0%"', "deviation must be more than 0%"),
        ('pattern = "normal"\nwidth = "1%"', "pattern normal needs 'deviation'"),
        ('pattern = "normal"\ndeviation = "3%"\nwidth = "101%"', "'101%' is more than 100%"),
        (
            'pattern = "normal"\ndeviation = "3%"\ncenter = "9%"\nspread = true',
            "remove one of the two",
        ),
        ('pattern = "zipf"\ntheta = 1\nwidth = "3%"', "'width' belongs to pattern normal"),
        ('pattern = "normal"\ntheta = 1\ndeviation = "3%"', "'theta' belongs to pattern zipf"),
        ('pattern = "zipf"\ntheta = 1\ncenter = "9%"\nspread = true', "remove one of the two"),
        ('pattern = "zoned"', "pattern zoned needs 'zones'"),
        ('zones = [{ share = "100%", size = "1%" }]', "'zones' belongs to pattern zoned"),
        (
            'pattern = "zoned"\nzones = [{ share = "90%", size = "1%" }]',
            "the shares of the zones sum to 90%, not to 100%",
        ),
        (
            'pattern = "zoned"\nzones = [{ share = "100%", size = "101%" }]',
            "'101%' is more than 100%",
        ),
        (
            'pattern = "zoned"\nzones = [{ share = "100%", size = "2GiB" }]',
            "zone 1 ends beyond its range, which has 1 GiB",
        ),
        (
            'pattern = "zoned"\nzones = [{ share = "100%", size = 512 }]',
            "the size of zone 1, 512, is not a multiple of its align, 4 KiB",
        ),
        (
            'pattern = "zoned"\nzones = [{ share = "100%", size = "0.0001%" }]',
            "zone 1 is too small: no I/O starts in it",
        ),
    ],
)
def test_wrong_parameters_are_refused(fields: str, sentence: str) -> None:
    with pytest.raises(UsageError) as refusal:
        resolved(fields + "\n")
    assert sentence in refusal.value.message


def test_a_range_with_too_many_addresses_is_refused() -> None:
    with pytest.raises(UsageError, match="can have 4294967296 if they are spread; give it a larg"):
        resolved('pattern = "zipf"\ntheta = 1\n', 2**44 + 4096)
    resolved('pattern = "zipf"\ntheta = 1\nspread = false\n', 2**44 + 4096)


def test_many_streams_share_the_room_for_parts() -> None:
    section = '[[stream]]\nname = "s{}"\nsize = 4096\npattern = "zipf"\ntheta = 1.1\n'
    text = '[workload]\nname = "w"\nsummary = "s"\n' + "".join(map(section.format, range(64)))
    config = resolve(
        file.parse(text), Options(available_cpus=(0,)), (Target("/dev/x", 8, 0, GIB, 512),)
    )
    assert sum(len(stream.parts) for stream in config.streams) <= laws.PARTS_IN_ALL

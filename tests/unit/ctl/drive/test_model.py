# SPDX-License-Identifier: GPL-2.0
"""A modelled drive, and what follows when it is changed."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spekctl.drive import file
from spekctl.drive.model import (
    TURN,
    Lee,
    curve_ns,
    deepest_fall,
    hpl_points,
    table_distances,
)
from spekctl.errors import UsageError

LEE = Lee(800_000, 8_500_000, 17_000_000)


@given(st.integers(1, 8))
def test_arms_are_mounted_at_equal_angles(arms: int) -> None:
    model = file.load("mach2").with_arms(arms)
    assert model.arm_angles == tuple(TURN * arm // arms for arm in range(arms))
    # No more arms can work than there are.
    assert model.channels == min(2, arms) and model.moving <= arms


def test_speed_changes_the_power_of_the_spindle_only() -> None:
    model = file.load("barracuda-es")
    slow = model.at_rpm(3600)
    assert slow.rpm == pytest.approx(3600) and slow.period_ps == 60 * 10**12 // 3600
    assert slow.watts.base[0] == (3_055_000, round(4_245_000 / 2**2.8))
    assert slow.watts.base[1:] == model.watts.base[1:] and slow.watts.hold == model.watts.hold
    assert slow.with_profile("isca08-watts").watts.base[0][1] == round(8_645_000 / 2**2.8)
    assert slow.at_rpm(7200).watts.base[0][1] == pytest.approx(4_245_000, abs=1)


def test_a_profile_that_is_none_is_refused() -> None:
    model = file.load("barracuda-es")
    with pytest.raises(UsageError, match="there is no profile 'x'; those of this model: datasheet"):
        model.with_profile("x")
    with pytest.raises(UsageError, match="those of this model: none"):
        file.load("cheetah9lp").with_profile("x")


def test_the_capacity_is_that_of_the_zones_unless_given() -> None:
    model = file.load("cheetah9lp")
    held = 12 * sum(zone.cylinders * zone.spt for zone in model.zones)
    assert model.capacity == held
    assert replace(model, stacks=2).capacity == 2 * held
    assert replace(model, sectors=5).capacity == 5
    assert model.cylinders == 6518 + 444


def test_three_parameters_meet_their_points() -> None:
    cylinders = 100_000
    assert curve_ns(LEE, 0, cylinders) == 0
    assert curve_ns(LEE, 1, cylinders) == LEE.min_ns
    assert curve_ns(LEE, cylinders, cylinders) == pytest.approx(LEE.max_ns, rel=0.01)
    # The mean over random pairs, whose distances have the density 2 (1 - x / C) / C.
    steps = 2000
    weights = [(2 * (1 - (at + 0.5) / steps), (at + 0.5) / steps) for at in range(steps)]
    mean = sum(w * curve_ns(LEE, round(x * cylinders), cylinders) for w, x in weights) / steps
    assert mean == pytest.approx(LEE.avg_ns, rel=0.01)


def test_a_table_is_joined_by_lines_and_continued_by_the_last() -> None:
    curve = ((2, 100), (10, 500), (20, 600))
    times = [curve_ns(curve, distance, 1000) for distance in (0, 1, 2, 6, 10, 15, 20, 30)]
    assert times == [0, 100, 100, 300, 500, 550, 600, 700]
    assert [curve_ns(((1, 7),), distance, 1000) for distance in (-3, 0, 1, 999)] == [0, 0, 7, 7]


def test_the_deepest_fall_is_a_share_of_the_point_before() -> None:
    assert deepest_fall(((1, 100), (2, 90), (3, 45), (4, 200), (5, 180))) == (0.5, 3)
    assert deepest_fall(((1, 100), (2, 100)))[0] == 0
    assert deepest_fall(((1, 100), (2, 101))) == deepest_fall(LEE) == (0.0, 0)


@given(st.integers(1, 2**22))
def test_distances_of_a_table_rise_to_the_last_cylinder(cylinders: int) -> None:
    distances = table_distances(cylinders)
    assert distances[-1] == cylinders
    assert all(near < far for near, far in pairwise(distances))
    assert all(far <= near * 1.02 + 1 for near, far in pairwise(distances))
    assert len(distances) < 700


def test_six_parameters_are_two_curves_and_a_point() -> None:
    points = dict(hpl_points((100, 3.0, 0.2, 4.0, 0.01, 1.5), 5000))
    assert points[1] == 1_500_000
    assert points[64] == round((3 + 0.2 * 8) * 1e6)
    far = next(distance for distance in points if distance >= 100)
    assert points[far] == round((4 + 0.01 * far) * 1e6)
    assert points[5000] == 54_000_000


def test_the_mean_seek_of_a_table_is_that_over_random_pairs() -> None:
    model = replace(file.load("cheetah9lp"), seek=((1, 10**6),))
    assert model.mean_seek_ns() == pytest.approx(10**6, rel=1e-3)
    line = replace(model, seek=((1, 1000), (2, 2000)))
    # A third of all cylinders, 1000 ns each.
    assert line.mean_seek_ns() == pytest.approx(1000 * model.cylinders / 3, rel=1e-3)


def test_a_change_of_track_costs_its_skew_or_another_turn() -> None:
    model = file.load("barracuda-es")
    zone = model.zones[0]
    turn_ns = model.period_ps / 1000

    skew_ns = zone.track_skew / TURN * turn_ns
    assert skew_ns == pytest.approx(10**6, rel=1e-6)
    assert model.sustained_rate(zone) == pytest.approx(zone.spt * 512e9 / (turn_ns + skew_ns))
    slow = replace(model, head_switch_ns=math.ceil(skew_ns) + 1)
    assert slow.sustained_rate(zone) == pytest.approx(
        zone.spt * 512e9 / (2 * turn_ns + skew_ns), rel=1e-9
    )
    assert model.media_rate(zone) == pytest.approx(zone.spt * 512e9 / turn_ns)

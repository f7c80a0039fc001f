# SPDX-License-Identifier: GPL-2.0
"""Figures that follow from a model."""

from __future__ import annotations

from itertools import pairwise

import pytest

from spekctl.drive import file
from spekctl.drive.facts import facts_of


@pytest.mark.parametrize(
    "name", [model for model in file.names() if file.load(model).flash is None]
)
def test_zones_cover_the_drive(name: str) -> None:
    model = file.load(name)
    facts = facts_of(model)
    assert facts.zones[0].first_lba == 0
    for zone, following in pairwise(facts.zones):
        held = zone.cylinders * zone.sectors_per_track * facts.heads
        assert zone.first_lba + held == following.first_lba
    last = facts.zones[-1]
    assert last.first_lba < facts.sectors
    assert all(zone.sustained_rate <= zone.media_rate for zone in facts.zones)


def test_times_follow_from_the_speed_and_the_curve() -> None:
    facts = facts_of(file.load("barracuda-es", ["overhead_ms=0.5"]))
    assert (facts.one_cylinder_seek_ms, facts.mean_seek_ms) == (0.8, 8.5)
    assert facts.full_seek_ms == pytest.approx(17, rel=1e-3)
    assert facts.mean_rotation_ms == pytest.approx(60_000 / 7200 / 2)
    # Of 8 sectors on a track of the mean length.
    transfer = 8 * facts.turn_ms / (facts.sectors / (facts.heads * facts.cylinders))
    assert facts.random_read_ms == pytest.approx(
        0.5 + 8.5 + facts.mean_rotation_ms + transfer, rel=1e-4
    )


def test_watts_of_an_activity_are_above_those_of_all_arms_at_rest() -> None:
    one_arm, four_arms = (
        facts_of(file.load("barracuda-es").with_arms(arms)).watts[0] for arms in (1, 4)
    )
    assert (one_arm.idle, four_arms.idle) == pytest.approx((9.3, 15.3))
    assert (one_arm.seeking, one_arm.waiting, one_arm.reading) == pytest.approx((13.975, 9.3, 10.6))
    assert four_arms.seeking == pytest.approx(15.3 + 4.675)
    assert (one_arm.all_arms_moving, four_arms.all_arms_moving) == pytest.approx((13.975, 34.0))
    assert (one_arm.standby, one_arm.starting) == pytest.approx((0.8, 20))
    assert facts_of(file.load("cheetah9lp")).watts == ()


def test_the_kind_of_seek_curve_is_said() -> None:
    assert facts_of(file.load("barracuda-es")).seek_curve == "three parameters"
    assert facts_of(file.load("barracuda-es", ["seek_constant_ms=3"])).seek_curve == "constant"
    points = "seek_points=[[1, 1.0], [9, 2.0]]"
    assert facts_of(file.load("barracuda-es", [points])).seek_curve == "table of 2 points"

# SPDX-License-Identifier: GPL-2.0
"""The claims of paper 003, judged by what came out."""

from __future__ import annotations

from typing import Any

import pytest
from lib.ctl.study import arrays_of
from msgspec.structs import replace

from spekctl.campaigns.paper003 import claims
from spekctl.documents.drive import Claim, DriveStudy, StudyArrays, StudySystem
from spekctl.drive import file
from spekctl.drive.model import Model


def test_claims_are_judged_by_what_came_out(made: DriveStudy) -> None:
    found = {one.what: one for one in made.claims}
    assert found["four arms, all moving (datasheet-arms)"].found == "34.0 W"
    assert found["1 ms, 10% of each drive: p90 of 16 : 8 : 4 drives"].holds is True
    assert found["1 ms, 100% of each drive: p90 of 16 : 8 : 4 drives"].holds is False
    assert {one.place for one in made.claims} >= {"Table 1", *(f"Figure {n}" for n in range(2, 7))}


@pytest.fixture(scope="module")
def large() -> Model:
    return file.load("barracuda-es")


def judged(made: DriveStudy, large: Model, **changes: Any) -> dict[str, Claim]:
    """The claims on @made, of which loads or arrays are others."""
    one = replace(made, **changes)
    return {f.what: f for f in claims.of(large, one.loads, one.arrays, one.profiles)}


def test_they_are_those_of_the_document(made: DriveStudy, large: Model) -> None:
    assert judged(made, large) == {one.what: one for one in made.claims}


def test_table_1_is_judged_by_the_watts_of_the_model(made: DriveStudy, large: Model) -> None:
    hungry = large.with_spindle(1.1)
    assert judged(made, large)["four arms, all moving (datasheet-arms)"].holds
    assert not judged(made, hungry)["four arms, all moving (datasheet-arms)"].holds
    assert judged(made, large)["conventional drive at work (datasheet-arms)"].holds
    busy = large.with_spindle(2)
    assert not judged(made, busy)["conventional drive at work (isca08-watts)"].holds


def test_more_arms_that_wait_longer_refute_figure_5(made: DriveStudy, large: Model) -> None:
    first, *others = made.loads
    *fewer, four = first.single
    worse = replace(four, rotation_ms=fewer[0].rotation_ms + 1)
    loads = [replace(first, single=[*fewer, worse]), *others]
    what = f"{first.name}: mean rotational wait of SA(1..4)"
    assert judged(made, large)[what].holds is True
    assert judged(made, large, loads=loads)[what].holds is False


def test_a_saturated_system_has_no_mean(made: DriveStudy, large: Model) -> None:
    first, *others = made.loads
    single = [replace(one, saturated=True) for one in first.single]
    found = judged(made, large, loads=[replace(first, single=single), *others])
    assert found[f"{first.name}: mean response of MD and HC-SD"].found.endswith("saturated")


def test_slower_drives_that_are_not_even_are_none(made: DriveStudy, large: Model) -> None:
    first, *others = made.loads
    slower = [replace(one, saturated=True) for one in first.slower]
    found = judged(made, large, loads=[replace(first, slower=slower), *others])
    (claim,) = (one for what, one in found.items() if what.startswith(f"{first.name}: slower"))
    assert (claim.found, claim.holds) == ("none", False)


def with_system(arrays: StudyArrays, other: StudySystem) -> StudyArrays:
    systems = [
        other if (one.drives, one.arms) == (other.drives, other.arms) else one
        for one in arrays.systems
    ]
    return replace(arrays, systems=systems)


def test_arrays_that_save_nothing_refute_section_7_3(made: DriveStudy, large: Model) -> None:
    what = "1 ms: savings of SA(2), SA(4) (isca08-watts)"
    assert judged(made, large)[what].holds is True
    busy = arrays_of(made, 1.0, 0.1)
    four = claims.system_of(busy, 4, 4)
    same = replace(four, watts=claims.system_of(busy, 16, 1).watts)
    arrays = [with_system(one, same) if one is busy else one for one in made.arrays]
    found = judged(made, large, arrays=arrays)[what]
    assert found.holds is False and ", 0% (" in found.found


def test_arrays_break_even_within_what_a_figure_shows(made: DriveStudy, large: Model) -> None:
    light = arrays_of(made, 8.0, 0.1)
    one, two = claims.system_of(light, 4, 1), claims.system_of(light, 2, 2)
    what = "8 ms, 10% of each drive: p90 of 4 : 2 : 1 drives"
    for factor, holds in ((claims.EVEN, True), (claims.EVEN + 0.01, False)):
        slower = with_system(light, replace(two, p90_ms=one.p90_ms * factor))
        arrays = [slower if some is light else some for some in made.arrays]
        assert judged(made, large, arrays=arrays)[what].holds is holds

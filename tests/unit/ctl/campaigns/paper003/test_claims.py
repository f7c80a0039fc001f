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


def test_claims_are_judged_by_what_came_out(drive_study: DriveStudy) -> None:
    by_what = {claim.what: claim for claim in drive_study.claims}
    assert by_what["four arms, all moving (datasheet-arms)"].found == "34.0 W"
    assert by_what["1 ms, 10% of each drive: p90 of 16 : 8 : 4 drives"].holds is True
    assert by_what["1 ms, 100% of each drive: p90 of 16 : 8 : 4 drives"].holds is False
    assert {claim.place for claim in drive_study.claims} >= {
        "Table 1",
        *(f"Figure {n}" for n in range(2, 7)),
    }


@pytest.fixture(scope="module")
def large() -> Model:
    return file.load("barracuda-es")


def judged(drive_study: DriveStudy, large: Model, **changes: Any) -> dict[str, Claim]:
    """The claims on @drive_study, of which loads or arrays are others."""
    changed = replace(drive_study, **changes)
    return {f.what: f for f in claims.of(large, changed.loads, changed.arrays, changed.profiles)}


def test_they_are_those_of_the_document(drive_study: DriveStudy, large: Model) -> None:
    assert judged(drive_study, large) == {claim.what: claim for claim in drive_study.claims}


def test_table_1_is_judged_by_the_watts_of_the_model(drive_study: DriveStudy, large: Model) -> None:
    hungry = large.with_spindle(1.1)
    assert judged(drive_study, large)["four arms, all moving (datasheet-arms)"].holds
    assert not judged(drive_study, hungry)["four arms, all moving (datasheet-arms)"].holds
    assert judged(drive_study, large)["conventional drive at work (datasheet-arms)"].holds
    busy = large.with_spindle(2)
    assert not judged(drive_study, busy)["conventional drive at work (isca08-watts)"].holds


def test_more_arms_that_wait_longer_refute_figure_5(drive_study: DriveStudy, large: Model) -> None:
    first, *others = drive_study.loads
    *fewer, four = first.single
    worse = replace(four, rotation_ms=fewer[0].rotation_ms + 1)
    loads = [replace(first, single=[*fewer, worse]), *others]
    what = f"{first.name}: mean rotational wait of SA(1..4)"
    assert judged(drive_study, large)[what].holds is True
    assert judged(drive_study, large, loads=loads)[what].holds is False


def test_a_saturated_system_has_no_mean(drive_study: DriveStudy, large: Model) -> None:
    first, *others = drive_study.loads
    single = [replace(system, saturated=True) for system in first.single]
    by_what = judged(drive_study, large, loads=[replace(first, single=single), *others])
    assert by_what[f"{first.name}: mean response of MD and HC-SD"].found.endswith("saturated")


def test_slower_drives_that_are_not_even_are_none(drive_study: DriveStudy, large: Model) -> None:
    first, *others = drive_study.loads
    slower = [replace(system, saturated=True) for system in first.slower]
    by_what = judged(drive_study, large, loads=[replace(first, slower=slower), *others])
    (claim,) = (
        claim for what, claim in by_what.items() if what.startswith(f"{first.name}: slower")
    )
    assert (claim.found, claim.holds) == ("none", False)


def with_system(arrays: StudyArrays, replacement: StudySystem) -> StudyArrays:
    systems = [
        replacement
        if (system.drives, system.arms) == (replacement.drives, replacement.arms)
        else system
        for system in arrays.systems
    ]
    return replace(arrays, systems=systems)


def test_arrays_that_save_nothing_refute_section_7_3(drive_study: DriveStudy, large: Model) -> None:
    what = "1 ms: savings of SA(2), SA(4) (isca08-watts)"
    assert judged(drive_study, large)[what].holds is True
    busy = arrays_of(drive_study, 1.0, 0.1)
    four = claims.system_of(busy, 4, 4)
    same = replace(four, watts=claims.system_of(busy, 16, 1).watts)
    arrays = [with_system(array, same) if array is busy else array for array in drive_study.arrays]
    claim = judged(drive_study, large, arrays=arrays)[what]
    assert claim.holds is False and ", 0% (" in claim.found


def test_arrays_break_even_within_what_a_figure_shows(
    drive_study: DriveStudy, large: Model
) -> None:
    light = arrays_of(drive_study, 8.0, 0.1)
    four_drives, two_arms = claims.system_of(light, 4, 1), claims.system_of(light, 2, 2)
    what = "8 ms, 10% of each drive: p90 of 4 : 2 : 1 drives"
    for factor, holds in ((claims.EVEN, True), (claims.EVEN + 0.01, False)):
        slower = with_system(light, replace(two_arms, p90_ms=four_drives.p90_ms * factor))
        arrays = [slower if array is light else array for array in drive_study.arrays]
        assert judged(drive_study, large, arrays=arrays)[what].holds is holds

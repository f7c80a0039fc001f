# SPDX-License-Identifier: GPL-2.0
"""The claims of paper 003, judged by what came out."""

from __future__ import annotations

from typing import Any

import pytest
from lib.ctl.study import arrays_of
from msgspec.structs import replace

from spekctl.campaigns.paper003 import claims
from spekctl.campaigns.paper003.judgement import EVEN
from spekctl.documents.drive import Claim, DriveStudy, StudyArrays, StudyLoad, StudySystem
from spekctl.drive import file
from spekctl.drive.model import Model


def test_claims_are_judged_by_what_came_out(drive_study: DriveStudy) -> None:
    by_what = {claim.what: claim for claim in drive_study.claims}
    assert by_what["four arms, all moving (datasheet-arms)"].found == "34.0 W"
    assert by_what["1 ms, 10% of each drive: p90 of 16 : 8 : 4 drives"].holds is True
    assert by_what["1 ms, 100% of each drive: p90 of 16 : 8 : 4 drives"].holds is False
    assert {claim.place for claim in drive_study.claims} == {
        *("Table 1", "Table 2", "Table 9(a)", "Figure 1(a)", "Figure 1(b)", "Figure 9(b)"),
        *(f"Figure {number}" for number in range(2, 9)),
        *(f"Section {number}" for number in ("7.1", "7.2", "7.3", "8")),
        "Sections 7.1 and 7.2",
    }


@pytest.fixture(scope="module")
def large() -> Model:
    return file.load("barracuda-es")


def judged(drive_study: DriveStudy, large: Model, **changes: Any) -> dict[str, Claim]:
    """The claims on @drive_study, of which loads or arrays are others."""
    changed = replace(drive_study, **changes)
    parts = (changed.loads, changed.arrays, changed.profiles, changed.costs, changed.fits)
    return {claim.what: claim for claim in claims.of(large, *parts)}


def test_they_are_those_of_the_document(drive_study: DriveStudy, large: Model) -> None:
    assert judged(drive_study, large) == {claim.what: claim for claim in drive_study.claims}


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


@pytest.mark.parametrize(("name", "holds"), [("Financial", True), ("Websearch", False)])
def test_slower_drives_that_are_not_even_are_none(
    drive_study: DriveStudy, large: Model, name: str, holds: bool
) -> None:
    load = load_of(drive_study, name)
    slower = [replace(system, saturated=True) for system in load.slower]
    by_what = judged(drive_study, large, loads=[replace(load, slower=slower)])
    claim = by_what[f"{load.name}: slower drives as fast as MD"]
    assert (claim.found, claim.holds) == ("none", holds)


def test_slower_drives_that_are_even_are_several(drive_study: DriveStudy, large: Model) -> None:
    load = load_of(drive_study, "TPC-H")
    even = load.array.p90_ms
    fast = [replace(system, saturated=False, p90_ms=even) for system in load.slower]
    slow = [replace(system, saturated=True) for system in load.slower]
    for slower, word in ((fast, "yes"), ([fast[0], *slow[1:]], "partly"), (slow, "no")):
        by_what = judged(drive_study, large, loads=[replace(load, slower=slower)])
        assert by_what[f"{load.name}: slower drives as fast as MD"].word == word


def test_a_wait_that_gets_no_shorter_refutes_figure_5(
    drive_study: DriveStudy, large: Model
) -> None:
    for name, arm in (("TPC-C", 1), ("Financial", 2)):
        load = load_of(drive_study, name)
        single = list(load.single)
        single[arm] = replace(single[arm], rotation_pdf=single[arm - 1].rotation_pdf)
        what = f"{load.name}: rotational wait that 1% exceed, SA(1..3)"
        by_what = judged(drive_study, large, loads=[replace(load, single=single)])
        assert by_what[what].holds is False
        assert judged(drive_study, large)[what].found.count(" ms") == 3


def drawing(system: StudySystem, watts: float) -> StudySystem:
    return replace(system, watts={profile: {"idle": watts} for profile in system.watts})


@pytest.mark.parametrize(
    ("md_w", "sa4_w", "sa4_ms", "word"),
    [(90, 9, 7, "yes"), (60, 12, 7, "partly"), (90, 9, 9, "no"), (8, 9, 7, "no")],
)
def test_websearch_is_faster_on_a_drive_that_draws_less(
    drive_study: DriveStudy, large: Model, md_w: float, sa4_w: float, sa4_ms: float, word: str
) -> None:
    load = load_of(drive_study, "Websearch", md=8.0, sa4=sa4_ms)
    single = [*load.single[:3], drawing(load.single[3], sa4_w)]
    changed = replace(load, single=single, array=drawing(load.array, md_w))
    by_what = judged(drive_study, large, loads=[changed])
    what = f"{load.name}: watts of MD over those of SA(4), and mean responses"
    assert by_what[what].word == word


def test_tpc_c_draws_the_least_if_no_drive_draws_less(
    drive_study: DriveStudy, large: Model
) -> None:
    load = load_of(drive_study, "TPC-C")
    what = f"{load.name}: watts of HC-SD, SA(2) and SA(4) among those of all loads"
    others = [each for each in drive_study.loads if each.name != load.name]
    for watts, holds in ((5.0, True), (99.0, False)):
        single = [drawing(system, watts) for system in load.single]
        loads = [*others, replace(load, single=single)]
        assert judged(drive_study, large, loads=loads)[what].holds is holds


@pytest.mark.parametrize(("factor", "holds"), [(EVEN - 0.01, True), (EVEN + 0.01, False)])
def test_two_drives_are_steady_if_many_are_no_faster(
    drive_study: DriveStudy, large: Model, factor: float, holds: bool
) -> None:
    array = arrays_of(drive_study, 8.0, 0.1)
    systems = [
        replace(system, p90_ms=factor * 5 if system.drives == 2 else 5.0)
        for system in array.systems
    ]
    by_what = judged(drive_study, large, arrays=[replace(array, systems=systems)])
    assert by_what["8 ms, 10% of each drive: p90 of 2 and of 16 SA(2), SA(4)"].holds is holds


def in_ms(system: StudySystem, mean_ms: float) -> StudySystem:
    return replace(system, mean_ms=mean_ms, saturated=False)


def load_of(study: DriveStudy, name: str, **means: float) -> StudyLoad:
    """A load whose systems have these means: md, hcsd, sa2, sa3, sa4, s0, r4."""
    load = next(load for load in study.loads if load.name.startswith(name))
    single, scaled = list(load.single), list(load.scaled)
    for number, system in enumerate(("hcsd", "sa2", "sa3", "sa4")):
        if system in means:
            single[number] = in_ms(single[number], means[system])
    for number, system in ((2, "s0"), (4, "r4")):
        if system in means:
            scaled[number] = in_ms(scaled[number], means[system])
    array = in_ms(load.array, means.get("md", load.array.mean_ms))
    return replace(load, array=array, single=single, scaled=scaled)


@pytest.mark.parametrize(
    ("name", "means", "what", "word"),
    [
        ("TPC-H", {"md": 3.9, "hcsd": 4.9}, "mean response of MD and HC-SD", "yes"),
        ("TPC-H", {"md": 8.0, "hcsd": 9.7}, "mean response of MD and HC-SD", "partly"),
        ("TPC-H", {"md": 11.3, "hcsd": 8.2}, "mean response of MD and HC-SD", "no"),
        ("TPC-C", {"md": 8, "hcsd": 12}, "mean response of MD and HC-SD", "yes"),
        ("TPC-C", {"md": 8, "hcsd": 9}, "mean response of MD and HC-SD", "partly"),
        ("TPC-C", {"md": 8, "hcsd": 7}, "mean response of MD and HC-SD", "no"),
        ("TPC-C", {"hcsd": 12, "s0": 11}, "mean response of HC-SD, and without seeks", "yes"),
        ("TPC-C", {"hcsd": 12, "s0": 5}, "mean response of HC-SD, and without seeks", "no"),
        ("TPC-C", {"r4": 4, "md": 7}, "mean response of (1/4)R and MD", "yes"),
        ("TPC-C", {"r4": 8, "md": 7}, "mean response of (1/4)R and MD", "no"),
        ("Websearch", {"sa2": 7.4, "md": 7.8}, "mean response of SA(2) and MD", "yes"),
        ("Websearch", {"sa2": 4.0, "md": 7.8}, "mean response of SA(2) and MD", "partly"),
        ("Websearch", {"sa2": 9.4, "md": 7.8}, "mean response of SA(2) and MD", "no"),
        ("Websearch", {"sa3": 6.1, "md": 7.8}, "mean response of SA(3) and MD", "yes"),
        ("Websearch", {"sa3": 7.9, "md": 7.8}, "mean response of SA(3) and MD", "no"),
        ("TPC-H", {"hcsd": 8, "sa2": 7, "md": 9}, "mean response of SA(1), SA(2) and MD", "yes"),
        ("TPC-H", {"hcsd": 8, "sa2": 4, "md": 9}, "mean response of SA(1), SA(2) and MD", "partly"),
        ("TPC-H", {"hcsd": 8, "sa2": 7, "md": 6}, "mean response of SA(1), SA(2) and MD", "no"),
        (
            "Websearch",
            {"hcsd": 12, "sa2": 7, "sa3": 6, "sa4": 5.5},
            "mean response of SA(1..4)",
            "yes",
        ),
        (
            "Websearch",
            {"hcsd": 12, "sa2": 9, "sa3": 5, "sa4": 2},
            "mean response of SA(1..4)",
            "partly",
        ),
        (
            "Websearch",
            {"hcsd": 12, "sa2": 9, "sa3": 8, "sa4": 4},
            "mean response of SA(1..4)",
            "no",
        ),
    ],
)
def test_an_order_and_its_sizes_are_judged(
    drive_study: DriveStudy,
    large: Model,
    name: str,
    means: dict[str, float],
    what: str,
    word: str,
) -> None:
    load = load_of(drive_study, name, **means)
    claim = judged(drive_study, large, loads=[load])[f"{load.name}: {what}"]
    assert claim.word == word


def test_systems_that_do_not_keep_up_tell_nothing_of_seeks(
    drive_study: DriveStudy, large: Model
) -> None:
    load = load_of(drive_study, "Financial")
    scaled = [replace(system, saturated=True) for system in load.scaled]
    single = [replace(system, saturated=True) for system in load.single]
    by_what = judged(drive_study, large, loads=[replace(load, single=single, scaled=scaled)])
    claim = by_what[f"{load.name}: mean response of HC-SD, and without seeks"]
    assert (claim.found, claim.word) == ("saturated, saturated", "-")


@pytest.mark.parametrize(
    ("shares", "word"),
    [
        ((0.55, 0.83, 0.90), "yes"),
        ((0.50, 0.78, 0.86), "yes"),
        ((0.66, 0.67, 0.70), "partly"),
        ((0.66, 0.65, 0.70), "no"),
    ],
)
def test_shares_of_seeks_are_held_to_their_steps(
    drive_study: DriveStudy, large: Model, shares: tuple[float, float, float], word: str
) -> None:
    load = load_of(drive_study, "Websearch")
    single = list(load.single)
    for arms, share in zip((1, 2, 4), shares, strict=True):
        single[arms - 1] = replace(single[arms - 1], moved=share)
    by_what = judged(drive_study, large, loads=[replace(load, single=single)])
    what = f"{load.name}: share of seeks that are not 0, SA(1), SA(2), SA(4)"
    assert by_what[what].word == word


@pytest.mark.parametrize(
    ("tails", "word"), [((11.0, 7.0), "yes"), ((15.0, 7.0), "partly"), ((4.5, 7.0), "no")]
)
def test_tails_are_the_waits_that_few_exceed(
    drive_study: DriveStudy, large: Model, tails: tuple[float, float], word: str
) -> None:
    def until(system: StudySystem, tail_ms: float) -> StudySystem:
        bins = [0.0] * len(system.rotation_pdf)
        bins[0], bins[int(tail_ms / 0.5) - 1], bins[-1] = 0.9, 0.092, 0.008
        if tail_ms == 15:
            bins[-1] = 0.1
        return replace(system, rotation_pdf=bins)

    load = load_of(drive_study, "Websearch")
    scaled, single = list(load.scaled), list(load.single)
    scaled[3], single[1] = until(scaled[3], tails[0]), until(single[1], tails[1])
    by_what = judged(drive_study, large, loads=[replace(load, scaled=scaled, single=single)])
    claim = by_what[f"{load.name}: rotational wait that 1% exceed, (1/2)R, SA(2)"]
    assert (claim.found, claim.word) == (f"{tails[0]:g} ms, {tails[1]:g} ms", word)


def test_watts_far_from_those_of_the_paper_hold_in_part(drive_study: DriveStudy) -> None:
    by_what = {claim.what: claim for claim in drive_study.claims}
    assert by_what["8 ms: watts (datasheet-arms)"].word == "partly"
    fit = by_what["8 ms: watts (isca08-watts)"]
    assert (fit.word, fit.found) == ("-", "60.3 W, 36.8 W, 25.1 W")
    assert fit.remark.startswith("a fit to the watts of the paper; 26.2 W on average")


@pytest.mark.parametrize(
    ("above", "word"), [((2.0, 6.0), "-"), ((1.0, 3.0), "partly"), ((6.0, 2.0), "no")]
)
def test_watts_of_financial_prove_nothing_if_they_hold(
    drive_study: DriveStudy, large: Model, above: tuple[float, float], word: str
) -> None:
    load = load_of(drive_study, "Financial")
    single = list(load.single)
    for arms, watts in ((1, 10.0), (2, 10 + above[0]), (4, 10 + above[1])):
        single[arms - 1] = drawing(single[arms - 1], watts)
    by_what = judged(drive_study, large, loads=[replace(load, single=single)])
    assert by_what[f"{load.name}: SA(2) and SA(4) above HC-SD"].word == word


def with_system(arrays: StudyArrays, replacement: StudySystem) -> StudyArrays:
    systems = [
        replacement
        if (system.drives, system.arms) == (replacement.drives, replacement.arms)
        else system
        for system in arrays.systems
    ]
    return replace(arrays, systems=systems)


def test_arrays_that_save_nothing_refute_section_7_3(drive_study: DriveStudy, large: Model) -> None:
    what = "1 ms: savings of SA(2), SA(4) (datasheet-arms)"
    assert judged(drive_study, large)[what].word == "-"
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
    for factor, holds in ((EVEN, True), (EVEN + 0.01, False)):
        slower = with_system(light, replace(two_arms, p90_ms=four_drives.p90_ms * factor))
        arrays = [slower if array is light else array for array in drive_study.arrays]
        assert judged(drive_study, large, arrays=arrays)[what].holds is holds


def with_means(systems: list[StudySystem], *means: float) -> list[StudySystem]:
    return [in_ms(system, mean) for system, mean in zip(systems, means, strict=True)]


@pytest.mark.parametrize(
    ("small", "big", "word"), [(12.0, 12.1, "yes"), (12.0, 9.0, "no"), (9.0, 12.0, "no")]
)
def test_a_larger_cache_has_negligible_impact(
    drive_study: DriveStudy, large: Model, small: float, big: float, word: str
) -> None:
    load = load_of(drive_study, "TPC-H")
    cached = with_means(load.cached, small, big)
    by_what = judged(drive_study, large, loads=[replace(load, cached=cached)])
    what = f"{load.name}: mean response of HC-SD with caches of 8 and 64 MB"
    assert by_what[what].word == word
    # A fit beside the default is not judged.
    fit = by_what[f"{load.name}: mean response of HC-SD with its cache of 8 MB"]
    assert (fit.word, fit.found) == ("-", f"{small:.1f} ms")


@pytest.mark.parametrize(
    ("moved", "word"),
    [((8.0, 6.0), "yes"), ((7.5, 5.5), "yes"), ((8.0, 4.0), "partly"), ((8.5, 6.0), "no")],
)
def test_arms_that_all_move_are_little_benefit(
    drive_study: DriveStudy, large: Model, moved: tuple[float, float], word: str
) -> None:
    load = load_of(drive_study, "TPC-C", sa2=8.0, sa4=6.0)
    relaxed = with_means(load.relaxed, moved[0], 8.0, moved[1], 6.0)
    by_what = judged(drive_study, large, loads=[replace(load, relaxed=relaxed)])
    what = f"{load.name}: mean response of SA(2), SA(4), and with"
    assert by_what[f"{what} several arms in motion"].word == word
    channels = by_what[f"{what} several channels as well"]
    assert (channels.word, channels.found) == ("yes", "8.0 ms, 8.0 ms; 6.0 ms, 6.0 ms")


@pytest.mark.parametrize(
    ("after", "errors", "word"),
    [
        ((12.0, 7.0), 0, "yes"),
        ((12.0, 7.0), 1, "no"),
        ((12.0, 9.0), 0, "partly"),
        ((12.0, 5.0), 0, "no"),
    ],
)
def test_an_arm_that_fails_is_done_without(
    drive_study: DriveStudy,
    large: Model,
    after: tuple[float, float],
    errors: int,
    word: str,
) -> None:
    load = load_of(drive_study, "TPC-C", hcsd=12.0, sa2=8.0, sa3=7.0, sa4=6.0)
    first, second = with_means(load.failed, *after)
    failed = [replace(first, errors=errors), second]
    by_what = judged(drive_study, large, loads=[replace(load, failed=failed)])
    assert by_what[f"{load.name}: SA(2), SA(4) after the loss of an arm"].word == word


def test_older_studies_have_fewer_claims(drive_study: DriveStudy, large: Model) -> None:
    load = replace(drive_study.loads[3], cached=[], relaxed=[], failed=[])
    by_what = judged(drive_study, large, loads=[load], costs=[])
    assert not {claim.place for claim in by_what.values()} & {
        *("Section 7.1", "Section 8", "Table 9(a)", "Figure 9(b)")
    }

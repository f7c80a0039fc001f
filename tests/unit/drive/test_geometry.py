"""LBA to cylinder, head and angle: every sector once, in the order of the layout."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lib.core.drivecore import Drive, Place, Refused

from spekctl.contract.drive_requests import Layout
from spekctl.drive.file import load
from spekctl.drive.model import LAYOUTS, TURN, Model, Zone

Core = tuple[Any, Any]


def small(layout: Layout, heads: int, zones: list[tuple[int, int, int]], band: int) -> Model:
    """A drive with zones of (cylinders, sectors per track, unused cylinders before it)."""
    model_zones, first = [], 0
    for cylinders, spt, unused in zones:
        first += unused
        model_zones.append(Zone(first, cylinders, spt, TURN // 7, TURN // 11))
        first += cylinders
    return Model("small", heads, tuple(model_zones), ((1, 10**6),), 8_333_333_333, layout, band)


zones = st.lists(
    st.tuples(st.integers(1, 9), st.integers(1, 12), st.integers(0, 2)), min_size=1, max_size=4
)


@given(
    layout=st.sampled_from(LAYOUTS), heads=st.integers(1, 4), zones=zones, band=st.integers(1, 5)
)
def test_every_sector_has_one_lba(
    core: Core, layout: Layout, heads: int, zones: list[tuple[int, int, int]], band: int
) -> None:
    model = small(layout, heads, zones, band)
    drive = Drive(core, model)
    places = [drive.locate(lba) for lba in range(drive.sectors)]
    expected = {
        (zone.first_cylinder + cylinder, head, sector)
        for zone in model.zones
        for cylinder in range(zone.cylinders)
        for head in range(heads)
        for sector in range(zone.spt)
    }
    assert len(places) == len(expected)
    assert {(place.cylinder, place.head, place.sector) for place in places} == expected
    for place, following in pairwise(places):
        check_step(model, place, following)


def check_step(model: Model, place: Place, following: Place) -> None:
    """What follows a sector is the next one of its track, or the first one of a track nearby, which
    is turned by the skew of what changes: the cylinder, else the head."""
    zone = model.zones[place.zone]
    sector = (TURN - 1) // zone.spt
    turned = (following.angle - place.angle) % TURN
    if following.zone != place.zone:
        assert (following.zone, following.sector) == (place.zone + 1, 0)
        assert place.sector == zone.spt - 1
        assert following.angle == 0
        assert following.cylinder == model.zones[following.zone].first_cylinder
    elif following.sector:
        assert (following.cylinder, following.head) == (place.cylinder, place.head)
        assert following.sector == place.sector + 1
        assert turned == sector
    else:
        assert place.sector == zone.spt - 1
        moved = following.cylinder != place.cylinder
        assert (following.head != place.head) == changes_head(model, place, moved)
        if not leaves_band(model, place, following):
            assert abs(following.cylinder - place.cylinder) <= 1
        skew = zone.cylinder_skew if moved else zone.track_skew
        assert turned == (skew - place.sector * sector) % TURN


def leaves_band(model: Model, place: Place, following: Place) -> bool:
    first = model.zones[place.zone].first_cylinder
    bands = [
        (place.cylinder - first) // max(1, model.band_cylinders) for place in (place, following)
    ]
    return model.layout == "banded" and bands[0] != bands[1]


def changes_head(model: Model, place: Place, moved: bool) -> bool:
    """Whether the track after that of @place has another head."""
    if not moved:
        return True
    if model.layout == "serpentine" or model.heads == 1:
        return False
    # a new cylinder begins with head 0; a band only once its last head is through
    return model.layout == "cylinder" or (place.head == model.heads - 1 and ends_band(model, place))


def ends_band(model: Model, place: Place) -> bool:
    """Whether @place is on the last cylinder that its head visits in the band."""
    zone = model.zones[place.zone]
    first = (place.cylinder - zone.first_cylinder) // model.band_cylinders * model.band_cylinders
    last = min(first + model.band_cylinders, zone.cylinders) - 1
    return place.cylinder - zone.first_cylinder == (first if place.head & 1 else last)


def test_heads_of_each_layout() -> None:
    assert LAYOUTS == ("cylinder", "serpentine", "banded")


@pytest.mark.parametrize(
    ("layout", "tracks"),
    [
        ("cylinder", [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1), (3, 0), (3, 1), (4, 0)]),
        ("serpentine", [(0, 0), (0, 1), (1, 1), (1, 0), (2, 0), (2, 1), (3, 1), (3, 0), (4, 0)]),
        ("banded", [(0, 0), (1, 0), (1, 1), (0, 1), (2, 0), (3, 0), (3, 1), (2, 1), (4, 0)]),
    ],
)
def test_order_of_tracks(core: Core, layout: Layout, tracks: list[tuple[int, int]]) -> None:
    drive = Drive(core, small(layout, 2, [(5, 3, 0)], 2))
    places = [drive.locate(3 * track) for track in range(len(tracks))]
    assert [(place.cylinder, place.head) for place in places] == tracks


def test_barracuda_es(core: Core) -> None:
    drive = Drive(core, load("barracuda-es"))
    assert (drive.sectors, drive.cylinders) == (1_465_149_168, 165_000)
    assert drive.locate(0) == Place(0, 0, 0, 0, 0)
    middle, last = drive.locate(732_574_584), drive.locate(1_465_149_167)
    assert (middle.cylinder, middle.sector, middle.zone) == (70_017, 296, 6)
    assert (last.cylinder, last.sector, last.zone) == (164_900, 287, 15)


GOOD = small("cylinder", 2, [(4, 8, 0), (4, 6, 0)], 0)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"heads": 0}, "heads"),
        ({"heads": 65}, "heads"),
        ({"zones": ()}, "zones"),
        ({"zones": (Zone(0, 1, 0, 0, 0),)}, "sectors"),
        ({"zones": (Zone(0, 1, 65537, 0, 0),)}, "sectors"),
        ({"zones": (Zone(0, 0, 1, 0, 0),)}, "cylinders"),
        ({"zones": (Zone(2**22, 1, 1, 0, 0),)}, "cylinders"),
        ({"zones": (Zone(2**32 - 1, 1, 1, 0, 0),)}, "cylinders"),
        ({"zones": (Zone(0, 2, 1, 0, 0), Zone(1, 2, 1, 0, 0))}, "overlap"),
        ({"layout": "banded", "band_cylinders": 0}, "band"),
        ({"sectors": 4 * 2 * 14 + 1}, "capacity"),
    ],
)
def test_refuses_a_geometry(core: Core, change: dict[str, Any], sentence: str) -> None:
    Drive(core, GOOD)
    with pytest.raises(Refused, match=sentence):
        Drive(core, replace(GOOD, **change))


# ---- DASH: surfaces that transfer at a time, stacks of platters ----


@given(
    layout=st.sampled_from(LAYOUTS), heads=st.sampled_from([2, 4, 6]), zones=zones,
    band=st.integers(1, 5),
)  # fmt: skip
def test_two_surfaces_are_a_track_of_twice_the_sectors(
    core: Core, layout: Layout, heads: int, zones: list[tuple[int, int, int]], band: int
) -> None:
    model = small(layout, heads, zones, band)
    drive = Drive(core, model, fields={"mechanics.geometry.surfaces": 2})
    doubled = [(cylinders, 2 * spt, unused) for cylinders, spt, unused in zones]
    wide = Drive(core, small(layout, heads // 2, doubled, band))
    assert drive.sectors == wide.sectors
    for lba in range(drive.sectors):
        place, expected = drive.locate(lba), wide.locate(lba)
        assert place == replace(expected, head=2 * expected.head)


def test_stacks_follow_each_other(core: Core) -> None:
    single, three = Drive(core, GOOD), Drive(core, GOOD, fields={
        "mechanics.geometry.stacks": 3, "mechanics.nr_arms": 3,
    })  # fmt: skip
    assert three.sectors == 3 * single.sectors
    for lba in range(three.sectors):
        assert three.locate(lba) == single.locate(lba % single.sectors)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"mechanics.geometry.surfaces": 3}, "multiple of the surfaces"),
        ({"mechanics.geometry.surfaces": 4}, "multiple of the surfaces"),
        ({"mechanics.geometry.stacks": 9}, "1 to 8 stacks"),
        ({"mechanics.geometry.stacks": 2}, "same number of arms"),
        ({"mechanics.geometry.stacks": 2, "mechanics.nr_arms": 3}, "same number of arms"),
    ],
)
def test_refuses_dash(core: Core, fields: dict[str, int], sentence: str) -> None:
    with pytest.raises(Refused, match=sentence):
        Drive(core, GOOD, fields=fields)

"""Models of drives: what the files become, what follows from them, and what is refused."""

from __future__ import annotations

import csv
import json
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from lib.core.drivecore import Drive

from spekctl.drive import file
from spekctl.drive.file import load, names, parse
from spekctl.drive.model import TURN, Lee, Zone, curve_ns
from spekctl.errors import UsageError

Core = tuple[Any, Any]
GOLDEN = Path(__file__).with_name("golden")
TEXT = """
title = "x"
sources = ["nobody"]
heads = 2
layout = "banded"
band_cylinders = 4
rpm = 6000
sectors = 7
head_switch_ms = 0.5
settle_ms = 0.25
overhead_ms = 0.125
zones = [[0, 8, 4, 1, 2]]
seek_points = [[1, 0.000001], [8, 2]]
"""
PAPERS = {"paper003-10k": (19.07, 10_000, 4), "paper003-7200": (35.96, 7200, 6)}


DISKS = [name for name in names() if load(name).flash is None]


@pytest.mark.parametrize("name", DISKS)
def test_every_drive_is_taken_by_the_core(core: Core, name: str) -> None:
    model = load(name)
    drive = Drive(core, model)
    assert (drive.sectors, drive.cylinders) == (model.capacity, model.cylinders)
    assert model.sources


@pytest.mark.parametrize("name", names())
def test_every_file_follows_the_schema(name: str) -> None:
    schema = json.loads(file.SCHEMA_FILE.read_text())
    jsonschema.validate(tomllib.loads((file.MODELS / f"{name}.toml").read_text()), schema)


@pytest.mark.parametrize("name", DISKS)
def test_seek_times_are_those_of_the_core(core: Core, name: str) -> None:
    model = load(name)
    drive = Drive(core, model)
    # The core has a table of a formula, off by less than 0.1 %.
    most = 1e-3 if isinstance(model.seek, Lee) else 1e-6
    for distance in (1, 2, 7, 64, 100, 999, model.cylinders // 2, model.cylinders - 1):
        assert model.seek_ns(distance) == pytest.approx(drive.seek_ns(distance), rel=most, abs=2)


def test_a_misspelt_model_is_named_right() -> None:
    with pytest.raises(UsageError, match="there is no model 'baracuda-es'; did you mean 'barr"):
        load("baracuda-es")
    with pytest.raises(UsageError, match=r"there is no file nosuch\.toml"):
        load("nosuch.toml")


def test_numbers_become_integers() -> None:
    model = parse(TEXT)
    assert (model.heads, model.layout, model.band_cylinders, model.sectors) == (2, "banded", 4, 7)
    assert model.period_ps == 10**10
    assert (model.head_switch_ns, model.settle_ns, model.overhead_ns) == (500_000, 250_000, 125_000)
    assert model.zones == (Zone(0, 8, 4, TURN // 4, TURN // 2),)
    assert model.seek == ((1, 1), (8, 2_000_000))


def test_skew_by_time_and_formula() -> None:
    text = TEXT.replace(", 1, 2]", "]").replace("seek_points = [[1, 0.000001], [8, 2]]", "")
    model = parse(text + "skew_ms = 2.5\nseek_ms = [0.8, 8.5, 17.0]\n")
    assert model.zones == (Zone(0, 8, 4, TURN // 4, TURN // 4),)
    assert model.seek == Lee(800_000, 8_500_000, 17_000_000)


def test_six_parameters_and_a_constant() -> None:
    text = TEXT.replace("seek_points = [[1, 0.000001], [8, 2]]", "").replace("[0, 8,", "[0, 11474,")
    # The fit to the DNES-309170W and its values.
    model = parse(text + "seek_hpl = [1500, 2.697, 0.0716, 4.350, 0.000747, 1.062]")
    for distance, ms in ((1, 1.062), (175, 3.64), (600, 4.45), (4100, 7.41), (9000, 11.07)):
        assert model.seek_ns(distance) / 1e6 == pytest.approx(ms, abs=0.006)
    model = parse(text + "seek_constant_ms = 3")
    assert {model.seek_ns(distance) for distance in (1, 100, 11473)} == {3_000_000}


def test_tables_in_files_are_those_of_the_shipped_model(tmp_path: Path) -> None:
    shipped = load("cheetah9lp")
    lines = ["zone,first_cyl,last_cyl,heads,spt,track_skew_sectors,cyl_skew_sectors"]
    given = tomllib.loads((file.MODELS / "cheetah9lp.toml").read_text())
    for number, (first, cylinders, *rest) in enumerate(given.pop("zones")):
        lines.append(f"{number},{first},{first + cylinders - 1},12,{','.join(map(str, rest))}")
    (tmp_path / "zones.csv").write_text("\n".join(lines))
    points = [f"{distance},{ms}" for distance, ms in given.pop("seek_points")]
    (tmp_path / "seek.csv").write_text("\n".join(["distance_cyl,ms", *points]))
    text = "".join(f"{key} = {json.dumps(value)}\n" for key, value in given.items())
    text += 'zones_table = "zones.csv"\nseek_table = "seek.csv"\n'
    model = parse(text, folder=tmp_path)
    assert (model.zones, model.seek) == (shipped.zones, shipped.seek)
    (tmp_path / "zones.csv").write_text("zone,first_cyl,spt\n0,0,1\n")
    with pytest.raises(UsageError, match=r"zones_table: line 2 of .*columns are first_cyl, last"):
        parse(text, folder=tmp_path)


def test_watts_of_a_file() -> None:
    model = load("barracuda-es")
    watts = model.watts
    assert model.profile == "datasheet-arms"
    assert watts.base[0] == (3_055_000, 4_245_000)
    assert watts.active_uw(1) == 9_300_000
    assert watts.active_uw(4) + 4 * watts.seek == 34_000_000
    assert (watts.seek, watts.rotate, watts.read, watts.write) == (4_675_000, 0, *[1_300_000] * 2)
    assert (watts.starting_ns, watts.stopping_ns) == (10 * 10**9, 12 * 10**9)


def test_both_profiles_of_the_paper_reach_34_w() -> None:
    fit = load("barracuda-es", ["profile=isca08-watts"])
    assert fit.watts.active_uw(1) == 14_900_000
    assert fit.watts.active_uw(4) + 4 * fit.watts.seek == 34_000_000
    assert fit == load("barracuda-es").with_profile("isca08-watts")
    with pytest.raises(UsageError, match="those of this model: datasheet-arms, isca08-watts"):
        fit.with_profile("no")


@pytest.mark.parametrize(
    ("rpm", "q16"),
    [
        *((4200, 14489), (5200, 26349), (5400, 29285), (5900, 37526), (6200, 43117)),
        *((7200, 65536), (10000, 164418), (15000, 511687)),
    ],
)
def test_spindle_follows_speed_to_the_power_of_2_8(rpm: int, q16: int) -> None:
    model = load("barracuda-es")
    scaled = model.at_rpm(rpm)
    assert scaled.watts.base[0][0] == model.watts.base[0][0]
    assert scaled.watts.base[0][1] == pytest.approx(4_245_000 * q16 / 65536, rel=1e-4)
    assert scaled.period_ps == 60 * 10**12 // rpm
    assert load("barracuda-es", [f"rpm={rpm}"]).watts == scaled.watts


@pytest.mark.parametrize(("inches", "q16"), [(1.8, 2382), (2.5, 10796), (3.3, 38718)])
def test_spindle_follows_diameter_to_the_power_of_4_6(inches: float, q16: int) -> None:
    model = load("barracuda-es", [f"diameter_in={inches}", "platters=2"])
    assert model.watts.base[0][1] == pytest.approx(4_245_000 / 2 * q16 / 65536, rel=1e-3)


def test_arms_are_spread_around_the_platters() -> None:
    model = load("barracuda-es").with_arms(3)
    assert model.arm_angles == (0, TURN // 3, TURN * 2 // 3)
    assert load("barracuda-es", ["arms.count=3"]).arm_angles == model.arm_angles


@pytest.mark.parametrize("name", ["cheetah9lp", "dnes-309170w", "st32171w"])
def test_sustained_rates_are_disksims(name: str) -> None:
    model = load(name)
    with (GOLDEN / f"{name}.sequential.csv").open() as table:
        rows = list(csv.DictReader(table))
    starts = [0]
    for part in model.zones:
        starts.append(starts[-1] + part.cylinders * part.spt * model.heads)
    for row in rows:
        zone = model.zones[starts.index(int(row["first_lba"]))]
        # DiskSim's row is a read of 20 cylinders that ends in the middle of a turn.
        assert model.sustained_rate(zone) / 1e6 == pytest.approx(
            float(row["sustained_mb"]), rel=0.005
        )


def test_mean_seek_of_a_curve_with_three_parameters_is_its_second() -> None:
    lee = load("barracuda-es")
    assert lee.mean_seek_ns() == 8_500_000
    distances = [*range(1, 65), *range(65, 165_001, 64)]
    points = tuple(
        (distance, curve_ns(lee.seek, distance, lee.cylinders)) for distance in distances
    )
    assert replace(lee, seek=points).mean_seek_ns() == pytest.approx(8_500_000, rel=1e-3)


def test_members_of_the_papers_arrays() -> None:
    for name, (gigabytes, rpm, platters) in PAPERS.items():
        model = load(name)
        assert model.capacity * 512 / 1e9 == pytest.approx(gigabytes, rel=1e-6)
        assert (round(model.rpm), model.heads) == (rpm, 2 * platters)


def test_parts_that_work_together() -> None:
    base = 'title = "x"'
    text = TEXT.replace(
        base, base + "\nstacks = 2\nsurfaces = 2\nhead_angles = [0, 0.25]\nzero_latency = true"
    )
    model = parse(text + "[arms]\ncount = 2\nmoving = 2\n")
    assert (model.stacks, model.surfaces, model.moving, model.channels) == (2, 2, 2, 1)
    assert model.head_angles == (0, TURN // 4)
    assert model.zero_latency


def test_a_cache() -> None:
    sizes = "segments = 7\nsegment_kib = 256\nahead_kib = 128\nwrite_kib = 1024\n"
    cache = parse(TEXT + f"[cache]\n{sizes}hit_ms = 0.1\nbus_mb_s = 40").cache
    assert (cache.segments, cache.segment_sectors, cache.ahead_sectors) == (7, 512, 256)
    assert (cache.write_sectors, cache.hit_ns, cache.sector_ps) == (2048, 100_000, 12_800_000)
    assert parse(TEXT).cache.sector_ps == 0


def test_falls_of_a_curve() -> None:
    def points(last: float, force: bool = False) -> tuple[str, ...]:
        text = TEXT.replace("[[1, 0.000001], [8, 2]]", f"[[1, 1], [8, {last}]]")
        return parse(text, force=force).remarks

    assert points(0.91) == ()
    assert points(0.89) == ("the seek curve falls by 11% at 8 cylinders",)
    with pytest.raises(UsageError, match="falls by 41% at 8 cylinders; falls of up to 40% are"):
        points(0.59)
    assert points(0.59, force=True) == ("the seek curve falls by 41% at 8 cylinders",)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("settle_ms = 0.25", "settle_ms = -1", "settle_ms: -1 is out of range; allowed are 0 to"),
        ("settle_ms = 0.25", "settle_ms = nan", "settle_ms: nan is out of range"),
        ("settle_ms = 0.25", "settle_ms = 0.0000001", "finer than 1 ns, the smallest step"),
        ("settle_ms = 0.25", "settle = 1", "unknown key 'settle'; did you mean 'settle_ms'?"),
        ('"banded"', '"spiral"', "layout: unknown value 'spiral'; it is one of banded"),
        ("band_cylinders = 4", "", "band_cylinders: required by layout banded"),
        ("heads = 2", "", "the key 'heads' is missing"),
        ("heads = 2", "heads = 65", "heads: 65 is out of range; allowed are 1 to 64"),
        ("heads = 2", 'heads = "2"', 'heads: expected a whole number, got the string "2"'),
        ("heads = 2", "heads = true", "heads: expected a whole number, got true"),
        ("rpm = 6000", "", "rpm: missing; give 60 to 60000, or period_ps"),
        ("rpm = 6000", "rpm = 0", "rpm: 0 is out of range; allowed are 60 to 60000"),
        (
            "rpm = 6000",
            "rpm = 60\nperiod_ps = 1000000000",
            "period_ps: give rpm or period_ps, not both",
        ),
        ("sectors = 7", "sectors = 65", "sectors: 65 is out of range; the zones hold 64"),
        ("[8, 2]", "8", "seek_points.2: expected a list, got 8"),
        ("[8, 2]", "[1, 2]", "seek_points.2: 1 cylinders; allowed are whole numbers above 1"),
        ("[8, 2]", "[8, 1001]", "seek_points.2: 1001 ms; allowed are more than 0 up to 1000"),
        ("zones = [[0, 8, 4, 1, 2]]", "zones = [[0, 8]]", "zones.1: 2 numbers; allowed"),
        ("zones = [[0, 8, 4, 1, 2]]", "zones = []", "zones: 0 zones; allowed are 1 to 256"),
        ("zones = [[0, 8, 4, 1, 2]]", 'zones_table = "no"', "zones_table: cannot read no: No"),
        ("[[0, 8, 4, 1, 2]]", "[[0, 8, 4, 1, 2], [7, 8, 4, 1, 2]]", "first cylinder 7; allo"),
        ("[[0, 8, 4, 1, 2]]", "[[0, 8, 0, 1, 2]]", "8 cylinders of 0 sectors per track; allowed"),
        ("seek_points = [[1, 0.000001], [8, 2]]", "", "seek: missing; allowed is exactly"),
        ("seek_points = [[1, 0.000001], [8, 2]]", "seek_ms = [1, 1, 9]", "9.0 ms for all is out"),
        ('sources = ["nobody"]', "sources = []", "sources: 0 entries; allowed are 1 or mo"),
        ("heads = 2", "heads = 3\nsurfaces = 2", "surfaces: 2 does not divide the 3 heads; all"),
        ("heads = 2", "heads = 2\nstacks = 2", "stacks: 2 does not divide the 1 arms; allowed"),
        ("heads = 2", "heads = 2\ncache = {hit_ms = 1001}", "cache.hit_ms: 1001 is out of range"),
        ('title = "x"', "title =", "not valid TOML"),
        (
            'title = "x"',
            "title = 'x'\narms = {count = 2, angles = [0.5]}",
            "arms.angles: 1 given for 2 arm",
        ),
        ('title = "x"', "title = 'x'\nprofile = 'y'", "there is no profile 'y'; allowed are: none"),
    ],
)
def test_refuses_a_description(old: str, new: str, sentence: str) -> None:
    assert old in TEXT
    with pytest.raises(UsageError) as refused:
        parse(TEXT.replace(old, new))
    assert sentence in refused.value.message
    assert "\n" not in refused.value.message


@pytest.mark.parametrize("setting", ["rpm", "rpm=", "=5", "title.x=1", "rpm=59", "nosuch=1"])
def test_refuses_a_setting(setting: str) -> None:
    with pytest.raises(UsageError):
        load("barracuda-es", [setting])


@pytest.mark.parametrize("name", ["atlas-iii", "atlas10k", "cheetah4lp"])
def test_a_model_is_the_same_as_disksims_tables(name: str) -> None:
    model = load(name)
    lines = (file.MODELS / f"{name}.toml").read_text().splitlines()
    kept = [
        line for line in lines if not line.startswith(("    ", "zones =", "seek_points =", "]"))
    ]
    kept = [line for line in kept if not line.startswith("sources")]
    text = "\n".join([*kept, "sources = ['x']"])
    text += f'\nzones_table = "{name}.zones.csv"\nseek_table = "{name}.seekpoints.csv"\n'
    tables = parse(text, folder=GOLDEN)
    assert (tables.zones, tables.seek) == (model.zones, model.seek)

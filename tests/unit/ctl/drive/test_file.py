# SPDX-License-Identifier: GPL-2.0
"""Model files: what they say in integers, what --set changes, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path

import jsonschema
import pytest

from spekctl import toml
from spekctl.drive import file
from spekctl.drive.model import TURN, Lee
from spekctl.errors import UsageError

SMALL = """
title = "Small"
sources = ["made up"]
heads = 2
layout = "cylinder"
rpm = 6000
skew_ms = 1
zones = [[0, 100, 200], [100, 100, 100]]
seek_constant_ms = 5
"""
POWER = """
[power.one]
active = [1, 4]
standby = [0.5, 0]
stopped = [0.5, 0]
starting = [1, 9]
to_standby = [0.5, 0]
to_stopped = [0.5, 0]
hold = 0.5
seek = 2
rotate = 0
read = 1
write = 1.5
starting_s = 5
stopping_s = 3
"""


def test_decimals_become_integers() -> None:
    model = file.parse(SMALL + "head_switch_ms = 0.25\nsettle_ms = 0.000001\n" + POWER, "small")
    assert (model.period_ps, model.head_switch_ns, model.settle_ns) == (10**10, 250_000, 1)
    assert model.seek == ((1, 5_000_000),)
    assert [zone.track_skew for zone in model.zones] == [TURN // 10] * 2
    assert model.watts.base[0] == (1_000_000, 4_000_000)
    assert (model.watts.write, model.watts.starting_ns) == (1_500_000, 5 * 10**9)
    assert (model.name, model.profile, model.sources) == ("small", "one", ("made up",))


@pytest.mark.parametrize("name", file.names())
def test_models_follow_the_schema(name: str) -> None:
    text = (file.MODELS / f"{name}.toml").read_text()
    jsonschema.validate(toml.parse(text), file.json_schema())


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ("heads=0", "heads: 0 is out of range; allowed are 1 to 64"),
        ("heads=true", "heads: expected a whole number, got true"),
        ("heads=1.5", "heads: expected a whole number, got 1.5"),
        ("title=''", "title: empty; any other text is allowed"),
        (
            "layout=spiral",
            "layout: unknown value 'spiral'; it is one of banded, cylinder, serpentine",
        ),
        ("layout=banded", "band_cylinders: required by layout banded"),
        ("band_cylinders=3", "band_cylinders: required by layout banded, 1 to 4194304, and for no"),
        ("head=3", "--set head=3: there is no field 'head'; did you mean 'heads'?"),
        ("arms.angle=[0]", "--set arms.angle=[0]: there is no field 'arms.angle'; did you mean"),
        ("arms=3", "--set arms=3: 'arms' is a section; say which field of it: count, "),
        ("arms.count=2.5", "arms.count: expected a whole number, got 2.5"),
        ("arms.angles=[0, 0.5]", "arms.angles: 2 given for 1 arms; give one for each arm"),
        ("arms.channels=2", "arms.channels: 2 is out of range; allowed are 1 to 1"),
        ("arms.moving=2", "arms.moving: 2 is out of range; allowed are 1 to 1"),
        ("surfaces=3", "surfaces: 3 does not divide the 2 heads"),
        ("stacks=2", "stacks: 2 does not divide the 1 arms"),
        ("profile=two", "profile: there is no profile 'two'; allowed are: one"),
        ("power.one.hold=-1", "power.one.hold: -1 is out of range; allowed are 0 to 1000"),
        ("power.one.active=[1]", "power.one.active: 1 entries; allowed are 2"),
        ("power.two.hold=1", "power.two: the key 'active' is missing"),
        ("settle_ms=nan", "settle_ms: nan is out of range; allowed are 0 to 1000"),
        ("settle_ms=1e-7", "settle_ms: 1e-07 is finer than 1 ns, the smallest step"),
        ("sectors=60001", "sectors: 60001 is out of range; the zones hold 60000"),
        ("zones=[]", "zones: 0 zones; allowed are 1 to 256"),
        ("zones=[[0, 9]]", "zones.1: 2 numbers; allowed are 3, without skews, since skew_ms is"),
        ("zones=[[0, 9, 9], [8, 9, 9]]", "zones.2: first cylinder 8; allowed are 9 or more"),
        ("zones=[[-1, 9, 9]]", "zones.1: first cylinder -1; allowed are 0 or more"),
        ("zones=[[0, 0, 9]]", "zones.1: 0 cylinders of 9 sectors per track; allowed are 1 to"),
        ("zones=[[0, 9, 65537]]", "zones.1: 9 cylinders of 65537 sectors per track"),
        ("zones=[[0, 9, 9.5]]", "zones.1.3: expected a whole number, got 9.5"),
        ("zones_table='none.csv'", "zones_table: cannot read none.csv: No such file"),
        ("seek_table='none.csv'", "seek_table: cannot read none.csv: No such file"),
        ("seek_points=[[1, 1], [1, 2]]", "seek_points.2: 1 cylinders; allowed are whole numbers"),
        ("seek_points=[[1.5, 1]]", "seek_points.1: 1.5 cylinders; allowed are whole numbers above"),
        ("seek_points=[[1, 0]]", "seek_points.1: 0 ms; allowed are more than 0 up to 1000"),
        ("seek_points=[[1, 1, 1]]", "seek_points.1: 3 entries; allowed are 2"),
        ("seek_points=[]", "seek_points: 0 entries; allowed are 1 to 4096"),
        (
            "seek_points=[[1, 10], [2, 5]]",
            "seek: the seek curve falls by 50% at 2 cylinders; falls",
        ),
        ("seek_ms=[1, 5, 5]", "seek_ms: with 1.0 ms for one cylinder and a mean of 5.0 ms, 5.0 ms"),
        ("seek_ms=[1, 5]", "seek_ms: 2 entries; allowed are 3"),
        ("rpm=59", "rpm: 59 is out of range; allowed are 60 to 60000"),
        ("rpm=fast", 'rpm: expected a number, got the string "fast"'),
        ("cache.bus_mb_s=0", "cache.bus_mb_s: 0 is out of range; allowed are 0.6 to 10000"),
        ("rpm", "--set rpm: write FIELD=VALUE, for example settle_ms=0.2"),
        ("=3", "--set =3: write FIELD=VALUE"),
        ("heads=", "the key 'heads' is missing"),
        ("power.one=3", "--set power.one=3: 'power' has sections; write power.NAME.FIELD"),
        ("heads.x=3", "--set heads.x=3: 'heads' has no fields"),
    ],
)
def test_a_field_that_cannot_be_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, setting: str, sentence: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=re.escape(sentence)) as refused:
        file.parse(SMALL + POWER, given=[setting])
    assert refused.value.message.startswith(sentence)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("rpm = 6000\n", "rpm: missing; give 60 to 60000, or period_ps instead"),
        ("zones = [[0, 100, 200], [100, 100, 100]]\n", "zones: give exactly one of zones and"),
        ("seek_constant_ms = 5\n", "seek: missing; allowed is exactly one of seek_points, seek"),
        ('title = "Small"\n', "the key 'title' is missing"),
    ],
)
def test_a_field_that_is_needed_is_missed(line: str, sentence: str) -> None:
    assert line in SMALL
    with pytest.raises(UsageError, match=re.escape(sentence)):
        file.parse(SMALL.replace(line, ""))


def test_fields_that_exclude_each_other_are_refused_in_a_file_and_replaced_by_set() -> None:
    with pytest.raises(UsageError, match="seek: seek_ms and seek_constant_ms are given"):
        file.parse(SMALL + "seek_ms = [1, 5, 9]\n")
    with pytest.raises(UsageError, match="period_ps: give rpm or period_ps, not both"):
        file.parse(SMALL + "period_ps = 10000000000\n")
    assert isinstance(file.parse(SMALL, given=["seek_ms=[1, 5, 9]"]).seek, Lee)
    assert file.parse(SMALL, given=["period_ps=20000000000"]).rpm == 3000
    assert file.parse(SMALL, given=["zones=[[0, 5, 9]]"]).cylinders == 5


def test_what_is_set_scales_the_power_of_the_spindle() -> None:
    before = file.parse(SMALL + POWER).watts.base
    twice = file.parse(SMALL + POWER, given=["platters=2"]).watts.base
    assert twice[0] == (before[0][0], 2 * before[0][1]) and twice[1:] == before[1:]
    wide = file.parse(SMALL + POWER + "", given=["diameter_in=2.0"]).watts.base
    assert wide[0][1] == round(before[0][1] * 2**4.6)
    slow = file.parse(SMALL + POWER, given=["rpm=3000"]).watts.base
    assert slow[0][1] == round(before[0][1] / 2**2.8)


def test_a_fall_is_remarked_and_a_deep_one_is_forced() -> None:
    def fall(ms: float, force: bool = False) -> tuple[str, ...]:
        return file.parse(SMALL, "", [f"seek_points=[[1, 10], [2, {ms}]]"], force).remarks

    assert fall(9.1) == ()
    assert fall(8) == ("the seek curve falls by 20% at 2 cylinders",)
    assert fall(5, force=True) == ("the seek curve falls by 50% at 2 cylinders",)


@pytest.mark.parametrize(
    "table",
    [
        "first_cyl,last_cyl,spt\n0,99,200\n100,199,100\n",
        "first_cyl,cylinders,spt\n0,100,200\n100,100,100\n",
        "zone,spt,end_cyl_exclusive,first_cyl\nouter,200,100,0\ninner,100,200,100\n",
    ],
)
def test_tables_are_read_beside_the_file(tmp_path: Path, table: str) -> None:
    (tmp_path / "zones.csv").write_text(table)
    (tmp_path / "seek.csv").write_text("distance_cyl,ms\n1,5\n")
    text = SMALL.replace("zones = [[0, 100, 200], [100, 100, 100]]", 'zones_table = "zones.csv"')
    text = text.replace("seek_constant_ms = 5", 'seek_table = "seek.csv"')
    (tmp_path / "small.toml").write_text(text)
    model = file.load(str(tmp_path / "small.toml"))
    assert (model.zones, model.seek) == (file.parse(SMALL).zones, file.parse(SMALL).seek)
    assert model.name == "small"


@pytest.mark.parametrize(
    ("name", "table"),
    [
        ("zones", "first_cyl,last_cyl,spt\n0,99\n"),
        ("zones", "first_cyl,last_cyl,spt\n0,99,many\n"),
        ("zones", "first_cyl,cylinders,spt\n0,,200\n"),
        ("zones", "first,last_cyl,spt\n0,99,200\n"),
        ("seek", "distance_cyl,ms\n1\n"),
        ("seek", "distance_cyl,ms\n1,soon\n"),
        ("seek", "distance,ms\n1,5\n"),
    ],
)
def test_a_table_that_is_wrong_says_its_columns(tmp_path: Path, name: str, table: str) -> None:
    (tmp_path / "x.csv").write_text(table)
    with pytest.raises(UsageError, match=rf"^{name}_table: .*x\.csv is wrong .*the columns are"):
        file.parse(SMALL, given=[f"{name}_table='x.csv'"], folder=tmp_path)


def test_a_file_is_named_in_its_complaint(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text(SMALL.replace("heads = 2", "heads = 99"))
    with pytest.raises(UsageError, match=r"^x\.toml: heads: 99 is out of range"):
        file.load(str(path))
    path.write_text("heads = ")
    with pytest.raises(UsageError, match=r"^x\.toml: not valid TOML: "):
        file.load(str(path))


def test_a_model_is_found_by_its_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").write_text(SMALL)
    assert file.find("mach2") == file.MODELS / "mach2.toml"
    with pytest.raises(UsageError, match=r"no model 'mine'; to use the file, write \./mine"):
        file.find("mine")
    with pytest.raises(UsageError, match="there is no model 'mach'; did you mean 'mach2'"):
        file.find("mach")
    assert file.load("./mine").title == "Small"

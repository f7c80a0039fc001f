# SPDX-License-Identifier: GPL-2.0
"""Figures of data sheets beside measured ones, and sheets that are no such thing."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import pytest
from lib.ctl import report_files
from lib.ctl.plot_files import OPEN, a_curve
from lib.ctl.results import build
from msgspec import structs

from spekctl.documents import data_sheet, energy
from spekctl.documents.curve import Power
from spekctl.documents.data_sheet import Claim, DataSheet
from spekctl.documents.result import load_result
from spekctl.drive import facts as drive_facts
from spekctl.drive import file, flash
from spekctl.errors import UsageError

SHEET = """
title = "OCZ Vertex 2"
sources = ["data sheet of August 2010"]
drives = 2
[watts]
idle = 0.5
active = 2
[[claim]]
name = "random reads"
direction = "read"
iops = 100
latency = "100us"
latency_p99 = "1ms"
[[claim]]
name = "any"
mb_s = 250.5
[[claim]]
name = "streams"
workloads = ["sequential-*"]
mb_s = 1
"""


def loaded(tmp_path: Path, text: str = SHEET) -> DataSheet:
    path = tmp_path / "sheet.toml"
    path.write_text(text)
    return data_sheet.load(str(path))


def test_a_sheet_is_read(tmp_path: Path) -> None:
    sheet = loaded(tmp_path)
    assert (sheet.title, sheet.drives, sheet.idle_w, sheet.active_w) == ("OCZ Vertex 2", 2, 0.5, 2)
    reads, any_load, streams = sheet.claims
    assert (reads.direction, reads.mean_ns, reads.p99_ns) == ("read", 100_000, 1_000_000)
    assert any_load.mb_s == 250.5 and any_load.is_of("random-read-4k")
    assert streams.is_of("sequential-read-128k") and not streams.is_of("random-read-4k")


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("iops = 100", "iops = 0", "claim 'random reads': iops is 0; it must be more than 0"),
        ("iops = 100", "iops = inf", "iops is inf; it must be more than 0"),
        ("iops = 100", "iop = 100", "iop"),
        ('"100us"', '"soon"', "claim 'random reads': latency: 'soon' is not a duration"),
        ('"100us"', '"0"', "claim 'random reads': latency: it must be more than 0"),
        ('"read"', '"reads"', "direction"),
        ("mb_s = 250.5", "", "claim 'any': it states no figure: give iops, mb_s, latency"),
        ("active = 2", "active = 0.2", "watts: idle, 0.5 W, is more than active, 0.2 W"),
        ("idle = 0.5", "idle = -1", "watts.idle is -1; it must be more than 0"),
        ('["data sheet of August 2010"]', "[]", "sources is empty: say where"),
        ("drives = 2", "drives = 0", "drives"),
        ('"OCZ Vertex 2"', '" "', "title: ' ' is not a line of text"),
        ('"any"', '"a\\nb"', "the name 'a\\nb' is not a line of text"),
    ],
)
def test_what_is_wrong_in_a_sheet_gets_one_sentence(
    old: str, new: str, sentence: str, tmp_path: Path
) -> None:
    assert old in SHEET
    with pytest.raises(UsageError) as refusal:
        loaded(tmp_path, SHEET.replace(old, new, 1))
    assert sentence in refusal.value.message and "\n" not in refusal.value.message
    assert str(tmp_path) in refusal.value.message


def test_a_sheet_without_figures_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="it states no figure"):
        loaded(tmp_path, 'title = "x"\nsources = ["y"]\nclaim = []\n')
    with pytest.raises(UsageError, match="there is no model 'nothing'"):
        data_sheet.load("nothing")


def test_a_drive_model_states_watts_and_its_outer_zone() -> None:
    sheet = data_sheet.load("barracuda-es")
    assert sheet.sources and sheet.idle_w and sheet.active_w and sheet.active_w > sheet.idle_w
    (outer,) = sheet.claims
    assert outer.is_of("sequential-read-128k") and not outer.is_of("spc1")
    assert outer.mb_s is not None and 50 < outer.mb_s < 150


@pytest.mark.parametrize(("name", "watts"), [("vertex2", 1.5), ("mtron-msd", 2.43)])
def test_an_ssd_is_active_with_all_of_its_channels(name: str, watts: float) -> None:
    sheet = data_sheet.load(name)
    model = file.load(name)
    (facts,) = (
        each for each in flash.facts_of(model).watts if model.profiles[each.profile] == model.watts
    )
    assert (sheet.idle_w, sheet.active_w) == pytest.approx((facts.idle, facts.writing))
    assert sheet.active_w == pytest.approx(watts)


def test_a_model_without_watts_or_platters_states_nothing(tmp_path: Path) -> None:
    text = (resources.files("spekctl.drive") / "models/vertex2.toml").read_text()
    path = tmp_path / "dark.toml"
    path.write_text(text.partition("[power.")[0])
    with pytest.raises(UsageError) as refusal:
        data_sheet.load(str(path))
    assert refusal.value.message == (f"the drive model {path} states neither watts nor a data rate")


def test_a_drive_is_active_with_all_of_its_arms() -> None:
    sheet = data_sheet.load("mach2")
    facts = drive_facts.facts_of(file.load("mach2"))
    assert sheet.active_w == pytest.approx(13.2)
    assert sheet.active_w == pytest.approx(facts.watts[0].all_arms_moving)


def test_rates_are_of_all_drives_and_times_are_not() -> None:
    result = build()
    total = result.totals.read
    response = total.times.response
    assert response is not None
    claim = Claim("reads", "read", (), 2 * total.iops, None, round(response.mean_ns), None)
    sheet = DataSheet("s.toml", "t", ["s"], 3, claims=[claim])
    assert len(result.targets) == 1 and data_sheet.drives_of(sheet, result) == 3
    iops, mean = data_sheet.compare(sheet, result)
    assert (iops.what, mean.what) == ("reads, IOPS", "reads, mean response")
    assert iops.difference == pytest.approx(1 / 6 - 1)
    assert mean.difference == pytest.approx(0, abs=1e-4)
    nothing = DataSheet("s.toml", "t", ["s"], claims=[Claim("x", workloads=["y"], iops=1)])
    with pytest.raises(UsageError, match=r"^s.toml has no figure that was measured here$"):
        data_sheet.compare(nothing, result)
    with pytest.raises(UsageError, match="a data sheet can be compared with results of runs"):
        data_sheet.compare(sheet, object())


def test_a_device_that_hosts_share_counts_once() -> None:
    result = build()
    (target,) = result.targets
    wwns = ["naa.5000c500", "", "naa.5000c500", "", "naa.5000c501"]
    facts = [structs.replace(target.facts, wwn=wwn) for wwn in wwns]
    targets = [structs.replace(target, facts=each) for each in facts]
    sheet = DataSheet("s.toml", "t", ["s"], 3)
    assert data_sheet.drives_of(sheet, structs.replace(result, targets=targets)) == 3 * 4
    curve = structs.replace(a_curve(OPEN), targets=facts)
    assert data_sheet.drives_of(sheet, curve) == 3 * 4
    assert data_sheet.drives_of(sheet, structs.replace(result, targets=[])) == 3


def test_active_power_is_that_of_the_run_less_the_baseline(tmp_path: Path) -> None:
    result = load_result(report_files.powered_result(tmp_path / "r.json"))
    assert result.power is not None and result.power.measure.total.mean_w is not None
    (comparison,) = data_sheet.compare(DataSheet("s", "t", ["s"], active_w=2), result)
    net_w = result.power.measure.total.mean_w - result.power.baseline_w
    assert (comparison.what, comparison.measured) == ("active power", net_w)
    assert comparison.stated == 2 * max(1, len(result.targets))


def test_power_that_is_hardly_known_is_not_compared(tmp_path: Path) -> None:
    result = load_result(report_files.powered_result(tmp_path / "r.json"))
    assert result.power is not None
    measure = result.power.measure
    lost = structs.replace(measure.total, gap_s=measure.total.known_s / 15)
    power = structs.replace(result.power, measure=structs.replace(measure, total=lost))
    sheet = DataSheet("s", "t", ["s"], active_w=2)
    with pytest.raises(UsageError, match="has no figure that was measured here"):
        data_sheet.compare(sheet, structs.replace(result, power=power))
    point = structs.replace(OPEN[0], measured_ns=10**10)
    kept = structs.replace(point, power=Power(9.0, {}, gap_s=0.5))
    gap = structs.replace(point, power=Power(90.0, {}, gap_s=0.6))
    (row,) = data_sheet.compare(sheet, a_curve([kept, gap]))
    assert row.measured == 9.0
    with pytest.raises(UsageError, match="has no figure that was measured here"):
        data_sheet.compare(sheet, a_curve([gap]))


def test_of_a_curve_the_best_point_counts() -> None:
    curve = a_curve(OPEN)
    direction = data_sheet._direction(OPEN[0])
    claim = Claim("mixed", direction, ("spc1",), 1000, 10, 10**6, 10**6)
    count = max(1, len(curve.targets))
    iops, mb_s, mean, p99 = data_sheet.compare(DataSheet("s", "t", ["s"], claims=[claim]), curve)
    times = [point.response for point in OPEN if point.response is not None]
    assert (iops.stated, iops.measured) == (1000 * count, max(point.iops for point in OPEN))
    assert mb_s.measured == pytest.approx(max(point.mib_s for point in OPEN) * 1.048576)
    assert (mean.measured, p99.measured) == (
        min(each.mean for each in times),
        min(each.p99 for each in times),
    )


def test_a_point_of_a_curve_that_failed_does_not_count() -> None:
    """Its device was gone after a moment in the cache."""
    best = structs.replace(max(OPEN, key=lambda point: point.iops), iops=10**6, ok=False)
    (direction, *_) = {data_sheet._direction(point) for point in OPEN}
    claim = Claim("mixed", direction, ("spc1",), 1000, 10, 10**6, 10**6)
    sheet = DataSheet("s", "t", ["s"], claims=[claim])
    sound, more = (
        [(each.what, each.measured) for each in data_sheet.compare(sheet, a_curve(points))]
        for points in (OPEN, [*OPEN, best])
    )
    assert more == sound
    with pytest.raises(UsageError, match="has no figure that was measured here"):
        data_sheet.compare(sheet, a_curve([best]))


def test_levels_of_an_energy_test_are_idle_and_active_power(tmp_path: Path) -> None:
    report = energy.load_spc1e(report_files.energy_spc1e(tmp_path / "e.json"))
    comparisons = data_sheet.compare(DataSheet("s", "t", ["s"], idle_w=100, active_w=200), report)
    watts = {level.name: float(level.watts) for level in report.levels if level.watts}
    assert {each.what: each.measured for each in comparisons} == {
        "active (heavy) power": watts["heavy"],
        "idle power": watts["idle"],
    }

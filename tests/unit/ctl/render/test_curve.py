# SPDX-License-Identifier: GPL-2.0
"""A load curve as a table and as CSV."""

from __future__ import annotations

import csv

import msgspec
import pytest
from lib.ctl.plot_files import CLOSED, OPEN, a_curve, point
from lib.ctl.shown import row_of, shown

from spekctl.documents.curve import Load, LoadKind, Power
from spekctl.documents.power import UNMETERED
from spekctl.render.curve import csv_of, print_curve

POWERED = msgspec.structs.replace(OPEN[0], power=Power(5.0, {"12V": 5.0}, 5.0, 0.0, 2.5))


def test_a_row_has_the_load_and_the_figures() -> None:
    text = shown(print_curve, a_curve(OPEN))
    assert text.startswith("spc1 (SPC-1-like) on /dev/x: 4 points, 1s each")
    row = row_of(text, "20")
    assert row[1:4] == ["1,000", "1,000", "7.8"] and "power" not in text
    assert "CPU and context switches are those of the workers alone" in text


@pytest.mark.parametrize(
    ("kind", "value", "head", "cell"),
    [
        ("bsu", 1.5, "BSU", "1.5"),
        ("rate", 2_500_000, "rate", "2,500,000"),
        ("depth", 8, "depth", "8"),
    ],
)
def test_the_first_column_is_the_load(kind: LoadKind, value: float, head: str, cell: str) -> None:
    point = msgspec.structs.replace(CLOSED[0], load=Load(kind, value))
    text = shown(print_curve, a_curve([point], name="x"))
    assert "on /dev/x: 1 point," in text
    assert row_of(text, head)[0] == head and row_of(text, cell)[0] == cell


def test_power_is_shown_where_one_point_has_it() -> None:
    text = shown(print_curve, a_curve([POWERED, OPEN[1]]), 200)
    assert row_of(text, "10")[-4:] == ["5.00", "W", "5", "200"]
    assert row_of(text, "20")[-3:] == ["-", "-", "-"]
    assert "are of the power less a baseline of 2.50 W" in text


def test_for_how_long_power_is_unknown_is_said() -> None:
    assert "unknown" not in shown(print_curve, a_curve([POWERED]))
    gap = msgspec.structs.replace(POWERED, power=Power(5.0, {"12V": 5.0}, 5.0, 0.75))
    text = shown(print_curve, a_curve([gap, OPEN[1]]))
    assert f"{gap.name}: power is unknown for 0.75 s of 1 s" in text


def test_why_power_is_unknown_is_said_once_if_it_is_true_of_all_points() -> None:
    why = "the fleet's power is not known: not measured on beta"
    without = [msgspec.structs.replace(point, power_text=why) for point in OPEN]
    text = " ".join(shown(print_curve, a_curve(without)).split())
    assert text.count(why) == 1 and f": {why}" not in text
    text = " ".join(shown(print_curve, a_curve([POWERED, *without[1:]])).split())
    assert text.count(why) == len(OPEN) - 1 and f"{without[1].name}: {why}" in text


@pytest.mark.parametrize("why", UNMETERED)
def test_a_machine_without_a_meter_is_not_told_so_unless_it_had_one(why: str) -> None:
    without = [msgspec.structs.replace(point, power_text=why) for point in OPEN]
    assert why not in shown(print_curve, a_curve(without))
    text = " ".join(shown(print_curve, a_curve([POWERED, without[1]])).split())
    assert f"{without[1].name}: {why}" in text


def test_a_failed_run_and_an_empty_curve_are_said() -> None:
    failed = point(10, 1e6, 10, ok=False, text="3 I/Os failed")
    assert "0.2 BSU: 3 I/Os failed" in shown(print_curve, a_curve([failed]))
    empty = msgspec.structs.replace(a_curve([]), targets=[])
    assert shown(print_curve, empty).startswith("spc1 (SPC-1-like): nothing measured")


def test_a_load_without_io_is_said_unless_a_search_has_judged_it() -> None:
    nothing = msgspec.structs.replace(OPEN[0], ios=0, iops=0.0)
    said = f"{nothing.name}: no I/O completed in the measure phase"
    assert said in shown(print_curve, a_curve([nothing, *OPEN[1:]]))
    judged = msgspec.structs.replace(nothing, beyond="no I/O completed")
    assert said not in shown(print_curve, a_curve([judged, *OPEN[1:]]))
    assert "no I/O completed in" not in shown(print_curve, a_curve(OPEN))


def test_csv_has_a_line_for_each_point_and_nothing_for_what_is_unknown() -> None:
    rows = list(csv.DictReader(csv_of(a_curve([POWERED, CLOSED[0]])).splitlines()))
    assert [row["load_kind"] for row in rows] == ["bsu", "depth"]
    assert float(rows[0]["response_p99_ns"]) == POWERED.response.p99  # type: ignore[union-attr]
    assert (rows[0]["watts"], rows[0]["ok"]) == ("5.0", "1")
    # 2.5 W are left for 500 I/Os per second.
    assert float(rows[0]["iops_per_w"]) == pytest.approx(200)
    assert [rows[1][name] for name in ("offered_iops", "watts", "slip_p50_ns")] == ["", "", ""]
    assert csv_of(a_curve([])) == ""


def test_csv_holds_no_formula() -> None:
    hostile = msgspec.structs.replace(OPEN[0], at={"=1+1": '@SUM("a")', "think": "-5"})
    header, values = csv.reader(csv_of(a_curve([hostile])).splitlines())
    assert (header[0], values[0]) == ("'=1+1", '\'@SUM("a")')
    assert (header[1], values[1]) == ("think", "-5")


def test_csv_says_whether_a_point_counts() -> None:
    """A run without I/O came to its end, and no figure of it is one of the device."""
    points = [
        OPEN[0],
        msgspec.structs.replace(OPEN[0], ios=0, iops=0.0),
        msgspec.structs.replace(OPEN[0], limit_missed=True),
        msgspec.structs.replace(OPEN[0], ok=False),
    ]
    rows = list(csv.DictReader(csv_of(a_curve(points)).splitlines()))
    told = [(row["ok"], row["limit_missed"]) for row in rows]
    assert told == [("1", "0"), ("0", "0"), ("1", "1"), ("0", "0")]

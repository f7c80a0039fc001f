# SPDX-License-Identifier: GPL-2.0
"""Power in pictures: rails over the time of a run, and what an I/O takes over the load."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np
import pytest
from lib.core.railcore import Rail
from lib.ctl import report_files
from lib.ctl.plot_files import OPEN
from lib.ctl.plot_seen import our_style, xs, ys
from lib.fakes.metered import FakeFeed, FakeLink, build, metered, rails

from spekctl import files
from spekctl.campaigns import points
from spekctl.documents import curve, result
from spekctl.documents.curve import Load
from spekctl.errors import UsageError
from spekctl.plots import curves, power, style

rail = pytest.fixture(rails)
drawing = pytest.fixture(autouse=True)(our_style)


def write(path: Path, made: result.Result) -> Path:
    path.write_bytes(files.encode(made))
    return path


def test_picture_of_a_run_shows_each_rail_over_time(
    tmp_path: Path, rail: Callable[..., Rail]
) -> None:
    feed = FakeFeed(1, "board", {"5V": rail(5.0), "12V": rail(3.0, last_s=4.0)})
    found = power.of_result(write(tmp_path / "a.json", build(metered(FakeLink([feed])))))
    assert list(found.rails) == ["5V", "12V"]
    assert list(found.total.mean_w[:4]) == [8.0] * 4 and np.isnan(found.total.mean_w[4])
    assert list(found.edges_s) == [0, 1, 2, 3, 4, 5]
    figure = power.draw_line(found)
    assert [one.get_label() for one in figure.axes[0].patches] == ["5V", "12V", "total"]
    assert figure.axes[0].get_ylabel().startswith("power (W)")
    with pytest.raises(
        UsageError, match="no power data: power not measured: the run had no prober"
    ):
        power.of_result(write(tmp_path / "b.json", build()))


def test_picture_of_curves_compares_power_and_what_an_io_takes(
    rail: Callable[..., Rail],
) -> None:
    origin = style.Origin("a.json", "random-read-4k", ("/dev/x",))
    found = metered(FakeLink([FakeFeed(1, "board", {"5V": rail(5.0)})]))
    point = points.point_of(build(found), Load("depth", 32))
    figure = power.draw_curves([curves.Curve(origin, [point])])
    assert figure.axes[0].get_ylabel() == "power (W)"
    line = figure.axes[1].get_lines()[0]
    assert (line.get_label(), xs(line), ys(line)) == (
        "a.json", [1000.0], [5.0],
    )  # fmt: skip
    bare = points.point_of(build(), Load("depth", 16))
    with pytest.raises(UsageError, match=r"a\.json has no power data"):
        power.draw_curves([curves.Curve(origin, [bare])])


def test_intervals_without_power_are_gaps(tmp_path: Path) -> None:
    found = power.of_result(report_files.powered_result(tmp_path / "r.json"))
    assert list(np.flatnonzero(np.isnan(found.total.mean_w))) == [4]
    assert all(np.isnan(one.mean_w[4]) for one in found.rails.values())
    assert len(found.edges_s) == len(found.iops) + 1
    # The drain says nothing about the device.
    assert np.isnan(found.iops[-1])
    (first, *_) = power.draw_line(found).axes
    assert first.get_ylim()[0] == 0


def test_a_rail_below_zero_is_not_cut_off(tmp_path: Path) -> None:
    whole = result.load_result(report_files.powered_result(tmp_path / "r.json"))
    row = whole.intervals[1]
    assert row.power is not None
    low = msgspec.structs.replace(row.power.rails[0], mean_w=-0.5, min_w=-2.0)
    changed = msgspec.structs.replace(
        row, power=msgspec.structs.replace(row.power, rails=[low, *row.power.rails[1:]])
    )
    rows = [whole.intervals[0], changed, *whole.intervals[2:]]
    path = write(tmp_path / "low.json", msgspec.structs.replace(whole, intervals=rows))
    assert power.draw_line(power.of_result(path)).axes[0].get_ylim()[0] == -2


def test_a_run_that_reported_at_its_end_has_no_course(tmp_path: Path) -> None:
    whole = result.load_result(report_files.powered_result(tmp_path / "r.json"))
    path = write(tmp_path / "e.json", msgspec.structs.replace(whole, intervals=[]))
    with pytest.raises(UsageError, match=r"e\.json has no intervals: its run reported only at its"):
        power.of_result(path)


@pytest.mark.parametrize(("watts", "scale"), [((1.0, 2.0), "linear"), ((1.0, 90.0), "log")])
def test_costs_that_differ_widely_are_on_a_logarithmic_axis(
    watts: tuple[float, float], scale: str
) -> None:
    made = []
    for point, w in zip(OPEN, watts, strict=False):
        power_of = curve.Power(w * point.iops / 1000, {})
        made.append(msgspec.structs.replace(point, power=power_of))
    origin = style.Origin("a.json", "oltp", ())
    figure = power.draw_curves([curves.Curve(origin, made)])
    assert figure.axes[1].get_yscale() == scale

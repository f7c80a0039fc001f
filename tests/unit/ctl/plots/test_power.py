# SPDX-License-Identifier: GPL-2.0
"""The picture of power over the time of a run: a line with its range for each rail."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np
import pytest
from lib.core.railcore import Rail
from lib.ctl import report_files
from lib.ctl.fleets import Spec, facts_of, power_of, result_of
from lib.ctl.plot_seen import our_style
from lib.fakes.metered import FakeFeed, FakeLink, build, metered, rails
from matplotlib.patches import StepPatch

from spekctl import files
from spekctl.documents import result
from spekctl.errors import UsageError
from spekctl.fleet.merge import merge, of_host
from spekctl.plots import power

rail = pytest.fixture(rails)
drawing = pytest.fixture(autouse=True)(our_style)


def write(path: Path, contents: result.Result) -> Path:
    path.write_bytes(files.encode(contents))
    return path


def test_picture_of_a_run_shows_each_rail_over_time(
    tmp_path: Path, rail: Callable[..., Rail]
) -> None:
    feed = FakeFeed(1, "board", {"5V": rail(5.0), "12V": rail(3.0, last_s=4.0)})
    line = power.of_result(write(tmp_path / "a.json", build(metered(FakeLink([feed])))))
    assert list(line.rails) == ["5V", "12V"]
    assert list(line.total.mean_w[:4]) == [8.0] * 4 and np.isnan(line.total.mean_w[4])
    assert list(line.edges_s) == [0, 1, 2, 3, 4, 5]
    figure = power.draw(line)
    assert [patch.get_label() for patch in figure.axes[0].patches] == ["5V", "12V", "total"]
    assert figure.axes[0].get_ylabel().startswith("power (W)")
    with pytest.raises(
        UsageError, match="no power data: power not measured: the run had no prober"
    ):
        power.of_result(write(tmp_path / "b.json", build()))


def test_intervals_without_power_are_gaps(tmp_path: Path) -> None:
    line = power.of_result(report_files.powered_result(tmp_path / "r.json"))
    assert list(np.flatnonzero(np.isnan(line.total.mean_w))) == [4]
    assert all(np.isnan(rail.mean_w[4]) for rail in line.rails.values())
    assert len(line.edges_s) == len(line.iops) + 1
    # The drain says nothing about the device.
    assert np.isnan(line.iops[-1])
    (first, *_) = power.draw(line).axes
    assert first.get_ylim()[0] == 0


@pytest.mark.parametrize(
    ("times", "unit", "unit_s"), [(1, "s", 1), (120, "min", 60), (3600, "h", 3600)]
)
def test_the_unit_of_time_follows_the_length(
    tmp_path: Path, times: int, unit: str, unit_s: int
) -> None:
    line = power.of_result(report_files.powered_result(tmp_path / "r.json"))
    assert line.measure_s is not None
    start_s, end_s = line.measure_s
    line = dataclasses.replace(
        line, edges_s=line.edges_s * times, measure_s=(start_s * times, end_s * times)
    )
    expected = line.edges_s / unit_s
    rails, iops = power.draw(line).axes
    assert iops.get_xlabel() == f"time since the start of the run ({unit})"
    for axes in (rails, iops):
        assert axes.get_xlim() == (expected[0], expected[-1])
        for patch in axes.patches:
            assert isinstance(patch, StepPatch)
            _, edges, _ = patch.get_data()
            assert list(edges) == list(expected)
    (shaded, *_) = rails.collections
    corners = [np.asarray(path.vertices) for path in shaded.get_paths()]
    places = set(np.concatenate(corners)[:, 0].tolist())
    assert min(places) == expected[0] and places <= set(expected.tolist())
    marks = [float(np.asarray(line.get_xdata())[0]) for line in iops.lines]
    assert marks == [start_s * times / unit_s, end_s * times / unit_s]


def test_intervals_that_were_never_read_are_gaps(tmp_path: Path) -> None:
    whole = result.load_result(report_files.powered_result(tmp_path / "r.json"))
    rows = [*whole.intervals[:3], *whole.intervals[8:]]
    path = write(tmp_path / "g.json", msgspec.structs.replace(whole, intervals=rows))
    line = power.of_result(path)
    assert list(line.edges_s[:6]) == [0, 1, 2, 3, 8, 9]
    for values in (line.total.mean_w, line.iops, *(rail.max_w for rail in line.rails.values())):
        assert list(np.isnan(values[:5])) == [False, False, False, True, False]
    assert len(line.edges_s) == len(line.iops) + 1 == len(rows) + 2
    power.draw(line)


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
    assert power.draw(power.of_result(path)).axes[0].get_ylim()[0] == -2


def test_a_run_that_reported_at_its_end_has_no_course(tmp_path: Path) -> None:
    whole = result.load_result(report_files.powered_result(tmp_path / "r.json"))
    path = write(tmp_path / "e.json", msgspec.structs.replace(whole, intervals=[]))
    with pytest.raises(UsageError, match=r"e\.json has no intervals: its run reported only at its"):
        power.of_result(path)


def test_a_fleet_has_the_sum_of_its_hosts(tmp_path: Path) -> None:
    hosts = []
    for name in ("alpha", "beta"):
        own = result_of(Spec(name, watts=20.0))
        measure = power_of(20.0, 1.0).measure
        rows = [msgspec.structs.replace(row, power=measure) for row in own.intervals]
        own = msgspec.structs.replace(own, intervals=rows)
        hosts.append(of_host(own, facts_of(Spec(name))))
    line = power.of_result(write(tmp_path / "f.json", merge(hosts)))
    assert list(line.rails) == ["2 hosts"] and list(line.rails["2 hosts"].mean_w) == [40.0] * 4
    figure = power.draw(line)
    assert [patch.get_label() for patch in figure.axes[0].patches] == ["2 hosts"]

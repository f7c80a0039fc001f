# SPDX-License-Identifier: GPL-2.0
"""Load curves: points in order of load, those that did not keep up, power, searches."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from lib.ctl.plot_files import CLOSED, OPEN, point, write_curve, write_report
from lib.ctl.plot_seen import lines, our_style, points, xs, ys

from spekctl.documents import curve
from spekctl.documents.document import Kind, identify
from spekctl.plots import curves, source, style

drawing = pytest.fixture(autouse=True)(our_style)


def test_the_curve_goes_through_its_points_in_order_of_load(tmp_path: Path) -> None:
    found = source.load_points(write_curve(tmp_path / "c.json", OPEN))
    response, achieved = curves.draw([found]).axes
    mean, p99 = lines(response)["mean"], lines(response)["p99"]
    assert xs(mean) == [500, 1000, 1400, 1500]
    assert ys(mean) == pytest.approx([2, 3, 9, 400])
    assert ys(p99) == pytest.approx([8, 12, 36, 1600])
    assert response.get_ylabel() == "response time (ms)"
    assert response.get_yscale() == "log"
    line = lines(achieved)["c.json"]
    assert xs(line) == [500, 1000, 1400, 3000]
    assert ys(line) == [500, 1000, 1400, 1500]
    ideal = lines(achieved)["as offered"]
    assert xs(ideal) == ys(ideal) == [0, 3000]
    assert achieved.get_xlabel() == "offered load (I/Os per s)"


def test_points_that_did_not_keep_up_are_hollow_and_failed_ones_crossed(tmp_path: Path) -> None:
    failed = msgspec.structs.replace(OPEN[1], ok=False)
    found = source.load_points(write_curve(tmp_path / "c.json", [OPEN[0], failed, OPEN[2]]))
    response, _ = curves.draw([found]).axes
    assert lines(response)["mean"].get_markevery() == [0, 1]
    hollow = [one for one in response.lines if one.get_markerfacecolor() == "white"]
    assert {points(one)[0] for one in hollow} == {(1500, 400), (1500, 1600)}
    crossed = [one for one in response.lines if one.get_marker() == "x"]
    assert {points(one)[0] for one in crossed} == {(1000, 3), (1000, 12)}
    legend = response.get_legend()
    assert legend is not None
    texts = " ".join(text.get_text() for text in legend.get_texts())
    assert "fell behind" in texts
    assert "failed" in texts


def test_a_closed_loop_is_drawn_over_its_depth(tmp_path: Path) -> None:
    found = source.load_points(write_curve(tmp_path / "c.json", CLOSED))
    response, achieved = curves.draw([found]).axes
    assert xs(lines(response)["mean"]) == [900, 1700, 2600]
    assert xs(lines(achieved)["c.json"]) == [1, 2, 8]
    assert achieved.get_xlabel() == "queue depth (I/Os outstanding)"
    assert "as offered" not in lines(achieved)
    legend = response.get_legend()
    assert legend is not None
    texts = [text.get_text() for text in legend.get_texts()]
    assert texts == ["mean", "p99"]


def test_power_gets_panels_when_points_have_it(tmp_path: Path) -> None:
    powered = [
        msgspec.structs.replace(one, power=curve.Power(watts, {"12V": watts}))
        for one, watts in zip(OPEN[:2], (5.0, 8.0), strict=True)
    ]
    found = source.load_points(write_curve(tmp_path / "c.json", [*powered, *OPEN[2:]]))
    figure = curves.draw([found])
    assert len(figure.axes) == 4
    assert points(lines(figure.axes[2])["power"]) == [(500, 5), (1000, 8)]
    assert points(lines(figure.axes[3])["per I/O"]) == [(500, 10), (1000, 8)]
    assert figure.axes[2].get_ylabel() == "power (W)"


def test_curves_are_compared_by_name(tmp_path: Path) -> None:
    found = [
        source.load_points(write_curve(tmp_path / name, made))
        for name, made in (("a.json", OPEN), ("b.json", CLOSED))
    ]
    response, achieved = curves.draw(found, labels=["disk", "flash"]).axes
    named = lines(response)
    assert list(named) == ["disk: mean", "disk: p99", "flash: mean", "flash: p99"]
    assert named["disk: mean"].get_color() != named["flash: mean"].get_color()
    assert named["disk: mean"].get_marker() != named["flash: mean"].get_marker()
    # a closed loop was offered nothing
    assert set(lines(achieved)) == {"disk", "as offered"}


def test_many_curves_are_told_apart_by_colour_and_marker() -> None:
    origin = style.Origin("c.json", "spc1", ("/dev/x",))
    many = [curves.of_points("c.json", origin, OPEN) for _ in range(20)]
    response, _ = curves.draw(many, labels=[str(number) for number in range(20)]).axes
    looks = {
        (line.get_color(), line.get_marker())
        for name, line in lines(response).items()
        if name.endswith("mean")
    }
    assert len(looks) == 20


def test_a_report_shows_its_limit_and_the_search_beside_its_curve(tmp_path: Path) -> None:
    path = write_report(tmp_path / "r.json", [OPEN[0], OPEN[1]], [OPEN[2], OPEN[3]])
    assert identify(path, [Kind.CURVE, Kind.SPC1]) is Kind.SPC1
    response, achieved = curves.draw([source.load_points(path)]).axes
    assert points(lines(response)["mean"]) == [(500, 2), (1000, 3)]
    assert points(lines(response)["search (mean)"]) == [(1400, 9), (1500, 400)]
    assert points(lines(achieved)["search"]) == [(1400, 1400), (3000, 1500)]
    assert achieved.get_xlim()[1] > 3000
    limits = [ys(one)[0] for one in response.lines if one.get_linestyle() == ":"]
    assert limits == [20]
    assert [text.get_text() for text in response.texts] == ["limit of the mean: 20 ms"]


def test_a_report_without_a_curve_shows_its_search(tmp_path: Path) -> None:
    path = write_report(tmp_path / "r.json", [], OPEN)
    response, _ = curves.draw([source.load_points(path)]).axes
    assert xs(lines(response)["mean"]) == [500, 1000, 1400, 1500]
    assert "search (mean)" not in lines(response)


def test_a_few_ios_left_over_are_no_saturation() -> None:
    assert point(40, 1e6, 45).kept_up
    assert not point(400, 1e6, 450).kept_up
    assert point(40_000, 1e6, 40_100).kept_up

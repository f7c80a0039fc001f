# SPDX-License-Identifier: GPL-2.0
"""Pictures of load curves and tests: each panel is a plot of the report, none is missing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from lib.ctl import probes
from lib.ctl.plot_files import (
    CLOSED,
    OPEN,
    intervals,
    write_curve,
    write_report,
    write_result,
    write_rounds,
    write_streams,
)
from lib.ctl.plot_seen import lines, our_style, points, shows, unbroken
from lib.ctl.study import short_study
from matplotlib.figure import Figure

from spekctl import files
from spekctl.documents import curve, pts, spc2
from spekctl.documents.drive import DriveStudy
from spekctl.documents.result import load_result
from spekctl.errors import UsageError
from spekctl.plots import documents
from spekctl.plots.documents import CURVE, POWER, ROUNDS, STREAMS, Choice
from spekctl.report import drives, read
from spekctl.report.sheet import Bars, Plot

drawing = pytest.fixture(autouse=True)(our_style)
WATTS = [
    msgspec.structs.replace(point, power=curve.Power(watts, {"12V": watts}))
    for point, watts in zip(OPEN[:2], (5.0, 8.0), strict=True)
]


def powered_curve(path: Path) -> Path:
    return write_curve(path, [*WATTS, *OPEN[2:]])


def report_of_spc1(path: Path) -> Path:
    return write_report(path, OPEN[:2], OPEN[2:])


def keys(path: Path, *wanted: str) -> dict[str, Plot]:
    """The plots of the page, of these keys, in the order of these."""
    (sheet,) = read.sheets([path])
    every = {plot.key: plot for plot in sheet.plots}
    return {key: every[key] for prefix in wanted for key in every if key.startswith(prefix)}


@pytest.mark.parametrize(
    ("choice", "write", "wanted", "heading"),
    [
        (CURVE, powered_curve,
         ["curve-response", "curve-achieved", "curve-power", "curve-cost"],
         "Load curve: spc1 on /dev/x (10 GiB)"),
        (CURVE, report_of_spc1, ["curve-response", "curve-achieved"],
         "Load curve: spc1 on /dev/x (10 GiB)"),
        (POWER, powered_curve, ["curve-power", "curve-cost"],
         "Power over load: spc1 on /dev/x (10 GiB)"),
        (STREAMS, write_streams, ["streams-rate", "streams-response", "streams-power"],
         "Streams: SPC-2-like, unaudited on /dev/x (10 GiB)"),
        (ROUNDS, write_rounds,
         ["rounds-iops", "matrix-iops", "rounds-throughput-1024k", "rounds-latency",
          "matrix-latency", "saturation-iops", "saturation-response"],
         "Rounds: PTS-like, unaudited on /dev/x (10 GiB)"),
    ],
)  # fmt: skip
def test_panels_are_the_plots_of_the_report(
    choice: Choice, write: Callable[[Path], Path], wanted: list[str], heading: str, tmp_path: Path
) -> None:
    path = write(tmp_path / "d.json")
    figure = documents.draw(choice, [path])
    described = keys(path, *wanted)
    assert list(described) == wanted
    assert len(figure.axes) == len(wanted)
    for axes, plot in zip(figure.axes, described.values(), strict=True):
        shows(axes, plot)
    assert figure.get_suptitle() == heading
    assert documents.draw(choice, [path], "mine").get_suptitle() == "mine"


def test_a_scale_may_be_chosen(tmp_path: Path) -> None:
    path = write_streams(tmp_path / "s.json")
    scales = [
        [axes.get_yscale() for axes in documents.draw(STREAMS, [path], log_scale=log).axes]
        for log in (None, False)
    ]
    assert scales == [["linear", "log", "linear"], ["linear"] * 3]


def test_curves_are_laid_over_each_other_with_all_of_their_lines(tmp_path: Path) -> None:
    paths = [
        write_curve(tmp_path / "a.json", [OPEN[0], OPEN[1]]),
        write_curve(tmp_path / "b.json", CLOSED),
    ]
    figure = documents.draw(CURVE, paths, labels=["disk", "flash"])
    response, achieved, depth = figure.axes
    named = lines(response)
    assert list(named) == ["disk: mean", "disk: p99", "flash: mean", "flash: p99"]
    assert points(named["flash: mean"]) == [(900, 1), (1700, 1.5), (2600, 3)]
    assert named["disk: mean"].get_color() == named["disk: p99"].get_color()
    assert named["disk: mean"].get_color() != named["flash: mean"].get_color()
    assert named["disk: mean"].get_marker() != named["flash: mean"].get_marker()
    # A closed loop is offered nothing, and has a panel over its depth.
    assert list(lines(achieved)) == ["disk: achieved", "offered"]
    assert points(lines(depth)["flash: achieved"]) == [(1, 900), (2, 1700), (8, 2600)]
    assert figure.get_suptitle() == "Load curve: spc1"
    unnamed = documents.draw(CURVE, paths).axes[0]
    assert list(lines(unnamed)) == ["a: mean", "a: p99", "b: mean", "b: p99"]


def test_many_curves_are_told_apart_by_colour_and_marker(tmp_path: Path) -> None:
    paths = [write_curve(tmp_path / f"{number}.json", OPEN[:2]) for number in range(20)]
    response = documents.draw(CURVE, paths).axes[0]
    looks = {(line.get_color(), line.get_marker()) for line in lines(response).values()}
    assert len(looks) == 40


def test_the_limit_and_the_search_of_a_report_are_beside_its_curve(tmp_path: Path) -> None:
    response, achieved = documents.draw(CURVE, [report_of_spc1(tmp_path / "r.json")]).axes
    assert points(lines(response)["search, mean"]) == [(1400, 9), (1500, 400)]
    assert {y for _, y in points(lines(response)["limit of the mean"])} == {20}
    assert points(lines(achieved)["search"]) == [(1400, 1400), (3000, 1500)]


def test_points_that_did_not_keep_up_or_failed_are_ringed(tmp_path: Path) -> None:
    failed = msgspec.structs.replace(OPEN[1], ok=False)
    path = write_curve(tmp_path / "c.json", [OPEN[0], failed, OPEN[2]])
    for axes, behind, broken in zip(
        documents.draw(CURVE, [path]).axes,
        ((1500.0, 400.0), (3000.0, 1500.0)),
        ((1000.0, 3.0), (1000.0, 1000.0)),
        strict=True,
    ):
        ringed = {unbroken(line): set(points(line)) for line in axes.lines}
        assert behind in ringed["fell behind the offered load"]
        assert broken in ringed["run failed or had I/O errors"]


def emptied(path: Path, choice: Choice) -> Path:
    """A document of the kind that has nothing to draw."""
    if choice is STREAMS:
        streams = spc2.load_report(write_streams(path))
        path.write_bytes(files.encode(msgspec.structs.replace(streams, runs=[])))
    elif choice is ROUNDS:
        rounds = pts.load_report(write_rounds(path))
        path.write_bytes(files.encode(msgspec.structs.replace(rounds, tests=[], saturation=[])))
    else:
        write_curve(path, [msgspec.structs.replace(OPEN[0], response=None)])
    return path


@pytest.mark.parametrize("choice", [CURVE, POWER, STREAMS, ROUNDS], ids=lambda choice: choice.name)
def test_a_file_with_nothing_to_draw_is_refused(choice: Choice, tmp_path: Path) -> None:
    path = emptied(tmp_path / "e.json", choice)
    with pytest.raises(UsageError, match=rf"e\.json has {choice.missing}"):
        documents.draw(choice, [path])


def test_each_of_several_curves_needs_power(tmp_path: Path) -> None:
    paths = [powered_curve(tmp_path / "a.json"), write_curve(tmp_path / "b.json", OPEN)]
    with pytest.raises(UsageError, match=r"b\.json has no power data"):
        documents.draw(POWER, paths)


# --- figures of paper 003 ------------------------------------------------------------------------


@pytest.fixture
def study() -> DriveStudy:
    return short_study()


def panels_of(figure: Figure, described: list[Plot | Bars]) -> None:
    assert len(figure.axes) == len(described)
    for axes, part in zip(figure.axes, described, strict=True):
        if isinstance(part, Plot):
            shows(axes, part)
        else:
            assert axes.get_title(loc="left") == part.title
            assert len(axes.patches) == len(part.rows) * len(part.parts)


@pytest.mark.parametrize("number", drives.FIGURES)
def test_a_figure_has_a_panel_for_each_of_its_parts(study: DriveStudy, number: int) -> None:
    figure = documents.draw_figure(study, number, "study.json")
    assert len(figure.axes) == {2: 4, 3: 1, 4: 8, 5: 8, 6: 4, 7: 4, 8: 5, 9: 1}[number]
    panels_of(figure, list(drives.figure_parts(study, number)))


def test_the_title_of_a_figure_can_be_another(study: DriveStudy) -> None:
    assert "figure 3: watts of MD" in documents.draw_figure(study, 3, "s").get_suptitle()
    assert documents.draw_figure(study, 3, "s", "mine").get_suptitle() == "mine"


def test_results_are_lines_across_a_curve(tmp_path: Path) -> None:
    curve = write_curve(tmp_path / "spc1.json", OPEN)
    mix = write_result(tmp_path / "mix.json", intervals())
    total = load_result(mix).totals.all
    figure = documents.draw(documents.CURVE, [mix, curve], labels=["8 KiB mix", "SPC-1"])
    of_mix = {
        axes.get_title(loc="left"): line
        for axes in figure.axes
        for line in axes.lines
        if str(line.get_label()).startswith("8 KiB mix")
    }
    assert set(of_mix) == {"Response time over load", "Achieved over offered load"}
    ys = np.asarray(of_mix["Achieved over offered load"].get_ydata()).tolist()
    assert ys == [pytest.approx(total.iops)] * 2
    with pytest.raises(UsageError, match="results are lines across a load curve: name a curve"):
        documents.draw(documents.CURVE, [mix])


def test_a_result_without_an_io_has_no_line(tmp_path: Path) -> None:
    curve = write_curve(tmp_path / "spc1.json", OPEN)
    mix = write_result(tmp_path / "mix.json", intervals())
    result = load_result(mix)

    def with_total(**changes: Any) -> None:
        total = msgspec.structs.replace(result.totals.all, **changes)
        totals = msgspec.structs.replace(result.totals, all=total)
        mix.write_bytes(files.encode(msgspec.structs.replace(result, totals=totals)))

    with_total(ios=0)
    with pytest.raises(UsageError, match=r"mix\.json has no I/O that completed in its measure"):
        documents.draw(documents.CURVE, [curve, mix])
    # Its I/Os have no times.
    with_total(times=msgspec.structs.replace(result.totals.all.times, response=None))
    figure = documents.draw(documents.CURVE, [curve, mix], labels=["SPC-1", "mix"])
    of_mix = {
        axes.get_title(loc="left")
        for axes in figure.axes
        for line in axes.lines
        if str(line.get_label()).startswith("mix")
    }
    assert of_mix == {"Achieved over offered load"}


def test_dcse_needs_power_over_time(tmp_path: Path) -> None:
    path = tmp_path / "samples.json"
    path.write_bytes(files.encode(probes.report(0)))
    with pytest.raises(UsageError, match=r"samples\.json has no DCsE over time"):
        documents.draw(documents.DCSE, [path])


def test_dcse_of_samples_is_drawn(tmp_path: Path) -> None:
    path = tmp_path / "samples.json"
    path.write_bytes(files.encode(probes.report()))
    figure = documents.draw(documents.DCSE, [path])
    titles = {axes.get_title(loc="left") for axes in figure.axes}
    assert {"DCsE workload", "DCsE throughput", "power"} <= titles

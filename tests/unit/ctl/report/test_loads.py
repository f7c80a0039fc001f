# SPDX-License-Identifier: GPL-2.0
"""Load curves and tests of SPC's kinds over their loads."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from lib.ctl import report_files
from lib.ctl.plot_files import CLOSED, OPEN, write_curve, write_streams
from lib.ctl.report_page import data_of, report

from spekctl import files, units
from spekctl.documents import curve, spc1, spc2
from spekctl.report import drawing, loads


def test_a_curve_that_turns_back_keeps_its_order(tmp_path: Path) -> None:
    points = [*OPEN[:2], msgspec.structs.replace(OPEN[2], iops=700.0)]
    (response, *_) = data_of(report(write_curve(tmp_path / "c.json", points)))
    (table,) = response["tables"]
    assert table["x"] == [500, 700, 1000]
    assert table["path"][0][0] == [500, 1000, 700]


def test_an_empty_curve_says_so(tmp_path: Path) -> None:
    whole = curve.load_curve(write_curve(tmp_path / "c.json", OPEN))
    path = tmp_path / "empty.json"
    path.write_bytes(files.encode(msgspec.structs.replace(whole, points=[], complete=False)))
    page = report(path)
    assert "nothing was measured" in page.words
    assert page.all("figure") == [] and data_of(page) == []


@pytest.mark.parametrize(
    ("ramp_s", "time_s", "said"),
    [
        (1, 3, "3 s each after a ramp-up of 1 s"),
        (0, 3, "3 s each"),
        (2, 0, "after a ramp-up of 2 s"),
        (0, 0, None),
    ],
)
def test_a_length_that_is_not_set_is_no_condition(
    ramp_s: int, time_s: int, said: str | None, tmp_path: Path
) -> None:
    """Runs of a sweep may end by passes, and hosts have workers of their own."""
    whole = curve.load_curve(write_curve(tmp_path / "c.json", OPEN))
    changed = msgspec.structs.replace(
        whole, ramp_ns=ramp_s * 10**9, time_ns=time_s * 10**9, cpus=[2, 3] if time_s else []
    )
    told = dict(loads.curve_sheet("c", changed).conditions)
    assert told.get("length") == said
    assert told.get("workers") == ("CPU 2-3" if time_s else None)


@pytest.mark.parametrize("values", [["0", "64MiB"], ["64KiB", "64MiB"]])
def test_every_size_of_a_sweep_has_a_place(values: list[str], tmp_path: Path) -> None:
    whole = curve.load_curve(write_curve(tmp_path / "c.json", OPEN[:2]))
    points = [
        msgspec.structs.replace(point, at={"start": value})
        for point, value in zip(whole.points, values, strict=True)
    ]
    over = [curve.Over("start", values)]
    (plot, *_) = loads.over_plots(msgspec.structs.replace(whole, points=points, over=over))
    shown = drawing.drawn(plot)
    assert shown is not None
    places = {x for series in shown.series for x in series.xs}
    assert places == {float(units.parse_size(value)) for value in values}
    assert drawing.ticks(shown.x)


def test_points_at_which_nothing_completed_are_in_no_plot() -> None:
    silent = msgspec.structs.replace(OPEN[1], response=None)
    for plot in loads.point_plots([OPEN[0], silent, *OPEN[2:]]):
        for strand in plot.strands:
            assert len(strand.xs) == len(OPEN) - 1
    assert loads.point_plots([silent]) == []


def test_a_closed_loop_is_drawn_over_its_depth() -> None:
    plots = {plot.key: plot for plot in loads.point_plots(CLOSED)}
    assert list(plots) == ["curve-response", "curve-depth"]
    (strand,) = plots["curve-depth"].strands
    assert list(strand.xs) == [1, 2, 8]
    assert [list(line.ys) for line in strand.lines] == [[900, 1700, 2600]]
    assert [plot.key for plot in loads.point_plots(OPEN)] == ["curve-response", "curve-achieved"]


def test_points_that_fell_behind_or_failed_are_there_once_more() -> None:
    failed = msgspec.structs.replace(OPEN[1], ok=False)
    for plot in loads.point_plots([OPEN[0], failed, OPEN[2]]):
        lines = {line.name: line for line in plot.strands[0].lines}
        first, *_ = lines.values()
        for name, place in ((loads.BEHIND, 2), (loads.FAILED, 1)):
            flagged = lines[name]
            expected = [y if at == place else None for at, y in enumerate(first.ys)]
            assert (flagged.look, list(flagged.ys)) == ("points", expected)
    names = [line.name for line in loads.point_plots(CLOSED)[0].strands[0].lines]
    assert names == ["mean", "p99"]


def test_the_search_lies_beside_what_was_achieved() -> None:
    plots = {plot.key: plot for plot in loads.point_plots(OPEN[:2], None, OPEN[2:])}
    beside = plots["curve-achieved"].strands[1]
    assert (list(beside.xs), list(beside.lines[0].ys)) == ([1400, 3000], [1400, 1500])


def test_power_per_io_rate_leaves_out_the_baseline() -> None:
    power = curve.Power(7.5, {"12V": 7.5}, baseline_w=2.5)
    point = msgspec.structs.replace(OPEN[1], power=power)
    plots = {plot.key: plot for plot in loads.point_plots([point])}
    for key, expected in (("power", 7.5), ("cost", 5.0), ("efficiency", 200.0)):
        (value,) = plots[f"curve-{key}"].strands[0].lines[0].ys
        assert value == pytest.approx(expected)
    assert plots["curve-cost"].y.unit == "mW/IOPS"


@pytest.mark.parametrize(("watts", "log"), [((1.0, 2.0), False), ((1.0, 90.0), True)])
def test_costs_that_differ_widely_are_on_a_logarithmic_axis(
    watts: tuple[float, float], log: bool
) -> None:
    points = [
        msgspec.structs.replace(point, power=curve.Power(w * point.iops / 1000, {}))
        for point, w in zip(OPEN, watts, strict=False)
    ]
    (cost,) = (plot for plot in loads.point_plots(points) if plot.key == "curve-cost")
    drawn = drawing.drawn(cost)
    assert drawn is not None and drawn.y.log is log


def test_power_is_of_the_points_that_have_it() -> None:
    watts = curve.Power(7.5, {"12V": 7.5})
    points = [OPEN[0], msgspec.structs.replace(OPEN[1], power=watts)]
    (power,) = (plot for plot in loads.point_plots(points) if plot.key == "curve-power")
    assert [(list(strand.xs), list(strand.lines[0].ys)) for strand in power.strands] == [
        ([OPEN[1].offered_iops], [7.5])
    ]


@pytest.mark.parametrize(
    ("points", "key", "asked"),
    [(OPEN, "curve-power", [500, 1000, 1400, 3000]), (CLOSED, "curve-power-depth", [1, 2, 8])],
)
def test_power_does_not_turn_back_beyond_the_peak(
    points: list[curve.Point], key: str, asked: list[float]
) -> None:
    """The highest load is served at the rate of the lowest, and is drawn at its own place."""
    loaded = sorted(points, key=lambda point: (point.offered_iops or 0, point.load.value))
    powered = [
        msgspec.structs.replace(point, power=curve.Power(watts, {}))
        for watts, point in enumerate(loaded, 5)
    ]
    powered[-1] = msgspec.structs.replace(powered[-1], iops=powered[0].iops)
    plots = [plot for plot in loads.point_plots(powered) if plot.key.startswith("curve-power")]
    (power,) = plots
    assert power.key == key
    (strand,) = power.strands
    assert list(strand.xs) == asked
    assert list(strand.lines[0].ys) == list(range(5, 5 + len(points)))


def test_the_search_lies_beside_the_curve_with_the_limit(tmp_path: Path) -> None:
    whole = spc1.load_report(report_files.checked_report(tmp_path / "r.json"))
    sheet = loads.spc1_sheet("r", whole)
    (response,) = (plot for plot in sheet.plots if plot.key == "curve-response")
    looks = [(line.name, line.look) for strand in response.strands for line in strand.lines]
    assert ("limit of the mean", "limit") in looks
    assert looks[-1] == ("search, mean", "points")
    assert [verdict.passed for verdict in sheet.verdicts][:2] == [True, False]


@pytest.mark.parametrize(
    ("failed", "complete", "verdict", "good"),
    [
        (0, True, "all loads were measured", True),
        (1, True, "all loads were measured; 1 ended with errors", False),
        (0, False, "not all loads were measured", False),
    ],
)
def test_a_curve_with_errors_is_not_good(
    failed: int, complete: bool, verdict: str, good: bool, tmp_path: Path
) -> None:
    whole = curve.load_curve(write_curve(tmp_path / "c.json", OPEN))
    points = [
        msgspec.structs.replace(point, ok=number >= failed)
        for number, point in enumerate(whole.points)
    ]
    sheet = loads.curve_sheet("c", msgspec.structs.replace(whole, points=points, complete=complete))
    assert (sheet.verdict, sheet.good) == (verdict, good)


def test_a_load_that_missed_its_steady_state_or_met_a_threshold_had_no_errors(
    tmp_path: Path,
) -> None:
    whole = curve.load_curve(write_curve(tmp_path / "c.json", OPEN))
    points = [
        msgspec.structs.replace(whole.points[0], limit_missed=True),
        msgspec.structs.replace(whole.points[1], limit_missed=True, ok=False),
        *whole.points[2:],
    ]
    sheet = loads.curve_sheet("c", msgspec.structs.replace(whole, points=points))
    said = "all loads were measured; 2 ended at a threshold, or without the steady state"
    assert (sheet.verdict, sheet.good) == (said, False)
    lines = [line.name for plot in sheet.plots for strand in plot.strands for line in strand.lines]
    assert lines and loads.FAILED not in lines


@pytest.mark.parametrize(
    ("load", "complete", "good"), [(200.0, True, True), (None, True, False), (200.0, False, False)]
)
def test_a_search_is_good_if_a_load_is_within_its_limit(
    load: float | None, complete: bool, good: bool, tmp_path: Path
) -> None:
    whole = curve.load_curve(write_curve(tmp_path / "c.json", OPEN))
    failed = msgspec.structs.replace(whole.points[-1], ok=False, beyond="2 I/Os failed")
    searched = msgspec.structs.replace(
        whole,
        points=[*whole.points[:-1], failed],
        complete=complete,
        within=curve.Within("p99 < 1ms", 5.0, load, 400.0, "the outcome of the search"),
    )
    sheet = loads.curve_sheet("c", searched)
    assert (sheet.verdict, sheet.good) == ("the outcome of the search", good)


def test_a_curve_with_a_load_without_io_is_not_good(tmp_path: Path) -> None:
    whole = curve.load_curve(write_curve(tmp_path / "c.json", OPEN))
    points = [msgspec.structs.replace(whole.points[0], ios=0), *whole.points[1:]]
    sheet = loads.curve_sheet("c", msgspec.structs.replace(whole, points=points))
    assert sheet.verdict == "all loads were measured; in 1 no I/O completed"
    assert not sheet.good


def test_tests_by_streams_have_their_searches_as_points(tmp_path: Path) -> None:
    whole = spc2.load_report(write_streams(tmp_path / "s.json"))
    for plot in loads.spc2_sheet("s", whole).plots:
        for strand in plot.strands:
            (line,) = strand.lines
            beside = line.name.endswith(", search") or line.name in (loads.BEYOND, loads.FAILED)
            assert line.look == ("points" if beside else "line")
            assert list(strand.xs) == sorted(strand.xs)


def test_runs_that_missed_their_condition_or_failed_are_there_once_more(tmp_path: Path) -> None:
    whole = spc2.load_report(write_streams(tmp_path / "s.json"))
    plots = {plot.key: plot for plot in loads.spc2_sheet("s", whole).plots}
    flagged = {
        key: {
            line.name: list(zip(strand.xs, line.ys, strict=True))
            for strand in plot.strands
            for line in strand.lines
            if line.name in (loads.BEYOND, loads.FAILED)
        }
        for key, plot in plots.items()
    }
    assert flagged["streams-rate"] == {loads.BEYOND: [(140, 100.1)], loads.FAILED: [(8, 160)]}
    # The run with too many streams has no power.
    assert flagged["streams-power"] == {loads.FAILED: [(8, 6.6)]}


def test_runs_in_which_nothing_completed_are_in_no_plot(tmp_path: Path) -> None:
    whole = spc2.load_report(write_streams(tmp_path / "s.json"))
    runs = [msgspec.structs.replace(run, response=None) for run in whole.runs]
    assert loads.spc2_sheet("s", msgspec.structs.replace(whole, runs=runs)).plots == []


def test_parts_of_a_test_have_their_names_and_the_whole_is_told_once(tmp_path: Path) -> None:
    def part(name: str, streams: int | None, value: int) -> spc2.Composite:
        return spc2.Composite(name, streams, report_files.figure(value), None, None)

    whole = spc2.load_report(write_streams(tmp_path / "s.json"))
    composites = [part("lfp", 8, 160), part("vod", 120, 94), part("spc2", None, 127)]
    composed = msgspec.structs.replace(whole, composites=composites, mbps=report_files.figure(127))
    assert loads.spc2_sheet("s", composed).figures == [
        ("SPC-2-like MBPS", "127.00"),
        ("large file processing, MB/s", "160.00"),
        ("video on demand, MB/s", "94.00"),
        ("video streams", "120"),
    ]

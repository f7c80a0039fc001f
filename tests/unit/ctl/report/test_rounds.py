# SPDX-License-Identifier: GPL-2.0
"""PTS-like tests: rounds, the line of least squares, the matrix, write saturation."""

from __future__ import annotations

import pytest
from lib.ctl.plot_files import write_rounds
from lib.ctl.shown import shown
from msgspec.structs import replace

from spekctl.documents import pts
from spekctl.render import pts as render
from spekctl.render.console import print_parts
from spekctl.report import rounds
from spekctl.report.sheet import Plot


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> pts.Report:
    return pts.load_report(write_rounds(tmp_path_factory.mktemp("pts") / "pts.json"))


def plots(report: pts.Report) -> dict[str, Plot]:
    return {plot.key: plot for plot in rounds.pts_sheet("p", report).plots}


def test_the_fit_is_that_of_the_window(whole: pts.Report) -> None:
    (test,) = (test for test in whole.tests if test.name == "iops")
    window = test.window
    assert window is not None
    fit = plots(whole)["rounds-iops"].strands[-1]
    assert list(fit.xs) == [window.first, window.last]
    (line,) = fit.lines
    low, high = (y for y in line.ys if y is not None)
    # It goes through the mean, with the slope per round.
    assert (low + high) / 2 == pytest.approx(window.average)
    assert high - low == pytest.approx(window.slope * (window.last - window.first))


def test_rates_of_data_are_in_the_unit_of_their_axis(whole: pts.Report) -> None:
    (test,) = (test for test in whole.tests if test.metric == "bandwidth")
    plot = plots(whole)[f"rounds-{test.name}"]
    assert plot.y.unit == "MB/s"
    assert list(plot.strands[0].lines[0].ys) == [round_.values[0] / 1e6 for round_ in test.rounds]


def test_the_matrix_has_a_line_for_each_share_of_reads(whole: pts.Report) -> None:
    (test,) = (test for test in whole.tests if test.name == "iops")
    (strand,) = plots(whole)["matrix-iops"].strands
    assert list(strand.xs) == sorted(test.sizes)
    assert {line.name for line in strand.lines} == {
        f"{cell.read_percent} % reads" for cell in test.cells
    }
    for cell in test.cells:
        (line,) = (line for line in strand.lines if line.name == f"{cell.read_percent} % reads")
        assert line.ys[list(strand.xs).index(cell.bytes)] == pts.metric_of(cell, "iops")


def test_a_time_of_no_io_is_no_value_and_a_rate_of_0_is_one(whole: pts.Report) -> None:
    tests = []
    for test in whole.tests:
        first, *rest = test.rounds
        cells = [replace(test.cells[0], iops=0.0, mean_ns=None), *test.cells[1:]]
        quiet = replace(first, values=[0.0] * len(first.values))
        tests.append(replace(test, rounds=[quiet, *rest], cells=cells))
    changed = replace(whole, tests=tests)
    drawn = plots(changed)
    for name, value in (("iops", 0.0), ("latency", None)):
        (test,) = (test for test in changed.tests if test.name == name)
        assert [line.ys[0] for line in drawn[f"rounds-{name}"].strands[0].lines] == (
            [value] * len(test.sizes)
        )
        (strand,) = drawn[f"matrix-{name}"].strands
        (line,) = (
            line for line in strand.lines if line.name == f"{test.cells[0].read_percent} % reads"
        )
        assert line.ys[list(strand.xs).index(test.cells[0].bytes)] == value
    text = shown(lambda report, out: print_parts(render.parts(report), 115, out), changed)
    assert " 0 ns" not in text


def test_a_test_without_a_window_has_neither_figure_nor_fit(whole: pts.Report) -> None:
    tests = [replace(test, window=None, steady=None) for test in whole.tests]
    sheet = rounds.pts_sheet("p", replace(whole, tests=tests))
    assert sheet.figures == []
    assert all("not complete" in plot.title for plot in sheet.plots if plot.key[:6] == "rounds")
    assert all(plot.strands[1:] == [] for plot in sheet.plots)


def test_without_saturation_there_is_no_plot_of_it(whole: pts.Report) -> None:
    assert {"saturation-iops", "saturation-response"} <= set(plots(whole))
    assert not any("saturation" in key for key in plots(replace(whole, saturation=[])))


def test_a_run_that_failed_is_among_the_verdicts(whole: pts.Report) -> None:
    first, *others = whole.runs
    bad = replace(first, ok=False, text="the device is gone")
    verdicts = rounds.pts_sheet("p", replace(whole, runs=[bad, *others])).verdicts
    assert [(verdict.text, verdict.passed) for verdict in verdicts][-1] == (
        "the device is gone",
        False,
    )


def test_a_run_without_io_is_among_the_verdicts_unless_it_is_a_purge(whole: pts.Report) -> None:
    runs = [replace(run, ios=0) for run in whole.runs if run.step.kind in ("purge", "precondition")]
    verdicts = rounds.pts_sheet("p", replace(whole, runs=runs)).verdicts[len(whole.tests) :]
    wrote = [run.step.name for run in runs if run.step.kind == "precondition"]
    said = "no I/O completed in the measure phase"
    assert wrote and len(wrote) < len(runs)
    assert [(verdict.what, verdict.text, verdict.passed) for verdict in verdicts] == [
        (name, said, False) for name in wrote
    ]


def test_outstanding_ios_of_a_fleet_are_those_of_its_clients(whole: pts.Report) -> None:
    def told(**changes: object) -> str:
        parameters = replace(whole.parameters, depth=32, workers=4, **changes)
        return dict(rounds.pts_sheet("p", replace(whole, parameters=parameters)).conditions)[
            "outstanding"
        ]

    assert told() == "32 I/Os of 4 workers; latency: 1 of 1"
    assert told(fleet="a (weight 1)", clients=2) == "32 I/Os of 2 clients; latency: 1 of each"

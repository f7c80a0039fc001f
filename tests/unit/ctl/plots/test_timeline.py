# SPDX-License-Identifier: GPL-2.0
"""Timelines: intervals of a result, and the same counted from a log."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest
from lib.ctl.fleets import Spec, fleet_of, three
from lib.ctl.plot_files import (
    DRAIN_NS,
    MEASURE_NS,
    MIB,
    interval,
    intervals,
    write_result,
)
from lib.ctl.plot_seen import lines, our_style, ys
from lib.fakes.kernel import SECOND, START_NS
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.text import Annotation

from spekctl import files
from spekctl.documents.result import Result, load_result
from spekctl.fleet.merge import merge
from spekctl.kernel.records import Phase
from spekctl.plots import timeline

drawing = pytest.fixture(autouse=True)(our_style)


def levels(line: Line2D) -> dict[tuple[float, float], float]:
    """The level of a line from each start to each end."""
    x, y = (np.asarray(values, dtype=float) for values in line.get_data())
    return {
        (x[i], x[i + 1]): y[i] for i in range(len(x) - 1) if y[i] == y[i + 1] and x[i] < x[i + 1]
    }


def test_the_timeline_of_a_result_shows_its_intervals(tmp_path: Path) -> None:
    rows = intervals()
    figure = timeline.draw(timeline.of_result(write_result(tmp_path / "r.json", rows)))
    ios, mib, response, queue = figure.axes
    for row in rows:
        span = ((row.start_ns - START_NS) / 1e9, (row.end_ns - START_NS) / 1e9)
        seconds = span[1] - span[0]
        both = row.read.ios + row.write.ios
        assert levels(lines(response)["read mean"])[span] == pytest.approx(300)
        assert levels(lines(response)["write p99"])[span] == pytest.approx(2800)
        assert levels(lines(queue)["outstanding"])[span] == row.outstanding
        assert levels(lines(queue)["backlog"])[span] == row.backlog
        if row.phase is Phase.DRAIN:
            # Nothing is issued there: it would look like a drop.
            assert all(span not in levels(line) for line in lines(ios).values())
            continue
        assert levels(lines(ios)["read"])[span] == pytest.approx(row.read.ios / seconds)
        assert levels(lines(ios)["write"])[span] == pytest.approx(row.write.ios / seconds)
        assert levels(lines(ios)["all"])[span] == pytest.approx(both / seconds)
        assert levels(lines(mib)["all"])[span] == pytest.approx(both * 8192 / MIB / seconds)
    assert ys(lines(ios)["offered (whole run)"])[0] == 1000
    assert response.get_ylabel() == "response time (µs)"
    assert queue.get_xlabel() == "time since the start of the run (s)"
    assert queue.get_xlim() == (0, 12.25)


def names_of(figure: Figure) -> dict[str, float]:
    """Where the name of each phase is written."""
    texts = [note for note in figure.axes[0].texts if isinstance(note, Annotation)]
    return {note.get_text(): note.xy[0] for note in texts}


def test_phases_are_shaded_and_named(tmp_path: Path) -> None:
    figure = timeline.draw(timeline.of_result(write_result(tmp_path / "r.json", intervals())))
    for axes in figure.axes:
        shades = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
        spans = [(shade.get_x(), shade.get_width()) for shade in shades]
        assert spans == [pytest.approx(span) for span in ((0, 2), (2, 10), (12, 0.25))]
        ramp, measure, drain = (to_hex(patch.get_facecolor()) for patch in axes.patches)
        assert ramp == drain != measure == "#ffffff"
    assert names_of(figure) == {"ramp": 0, "measure": 2, "drain": 12}


def test_a_phase_that_took_no_time_is_not_named(tmp_path: Path) -> None:
    path = write_result(tmp_path / "r.json", intervals()[2:])
    whole = load_result(path)
    ramp = msgspec.structs.replace(whole.phases[0], start_ns=MEASURE_NS)
    phases = [ramp, *whole.phases[1:]]
    path.write_bytes(files.encode(msgspec.structs.replace(whole, phases=phases)))
    figure = timeline.draw(timeline.of_result(path))
    assert names_of(figure) == {"measure": 0, "drain": 10}


def test_a_missing_interval_leaves_a_gap(tmp_path: Path) -> None:
    rows = [row for row in intervals() if row.seq not in (5, 6)]
    figure = timeline.draw(timeline.of_result(write_result(tmp_path / "r.json", rows)))
    x, y = lines(figure.axes[3])["outstanding"].get_data()
    assert np.asarray(x)[np.isnan(y)].tolist() == [5, 12.25]


def test_an_interval_too_short_for_a_rate_is_left_out(tmp_path: Path) -> None:
    rows = intervals()
    end = rows[-1].start_ns + SECOND // 20
    figure = timeline.draw(
        timeline.of_result(
            write_result(
                tmp_path / "r.json", [*rows[:-1], interval(12, DRAIN_NS, end, Phase.DRAIN, 90)]
            )
        )
    )
    assert max(levels(lines(figure.axes[0])["all"])) == (11, 12)
    assert max(levels(lines(figure.axes[3])["outstanding"])) == (11, 12)


def test_response_times_far_apart_get_a_logarithmic_scale(tmp_path: Path) -> None:
    rows = intervals()
    near = timeline.of_result(write_result(tmp_path / "r.json", rows))
    assert timeline.draw(near).axes[2].get_yscale() == "linear"
    assert timeline.draw(near, log_scale=True).axes[2].get_yscale() == "log"
    near.course.directions["read"].p99_ns[3] *= 100
    assert timeline.draw(near).axes[2].get_yscale() == "log"
    assert timeline.draw(near, log_scale=False).axes[2].get_yscale() == "linear"


def written(path: Path, fleets: list[Result]) -> Path:
    path.write_bytes(files.encode(merge(fleets)))
    return path


def test_a_fleet_has_a_line_for_each_host(tmp_path: Path) -> None:
    figure = timeline.draw(timeline.of_result(written(tmp_path / "f.json", three())))
    drawn = lines(figure.axes[0])
    assert {"read", "write", "all", "alpha", "beta", "gamma"} <= set(drawn)
    assert ys(drawn["alpha"]) == pytest.approx([90.0] * 8)
    assert "read p99" not in lines(figure.axes[2])


def test_many_hosts_share_a_label(tmp_path: Path) -> None:
    fleets = [fleet_of(Spec(f"host{number}")) for number in range(9)]
    shown = timeline.of_result(written(tmp_path / "f.json", fleets))
    assert len(shown.hosts) == 9
    labels = [line.get_label() for line in timeline.draw(shown).axes[0].lines]
    assert "9 hosts" in labels and "host0" not in labels

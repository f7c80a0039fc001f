# SPDX-License-Identifier: GPL-2.0
"""Pictures of every kind: labelled with units, nothing overlaps, always the same bytes."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from lib.ctl import probes
from lib.ctl.plot_files import (
    CLOSED,
    OPEN,
    intervals,
    records,
    write_curve,
    write_log,
    write_report,
    write_result,
    write_rounds,
    write_streams,
)
from lib.ctl.plot_seen import foot, our_style
from lib.ctl.report_files import written
from lib.ctl.study import short_study
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from spekctl.documents import curve
from spekctl.plots import addresses, cdf, documents, machine, style, timeline, trace
from spekctl.trace.trace import open_trace

drawing = pytest.fixture(autouse=True)(our_style)


def make_addresses(path: Path) -> Figure:
    return addresses.draw(addresses.read(write_log(path / "a.parquet", records(3000))))


def make_timeline(path: Path) -> Figure:
    return timeline.draw(timeline.of_result(write_result(path / "r.json", intervals())))


def make_log_timeline(path: Path) -> Figure:
    return timeline.draw(timeline.of_log(write_log(path / "a.parquet", records(3000))))


def make_cdf(path: Path) -> Figure:
    of_result = cdf.of_result(write_result(path / "r.json", []), "response")
    return cdf.draw(
        [of_result, cdf.of_log(write_log(path / "a.parquet", records(999)), "response")]
    )


def make_curve(path: Path) -> Figure:
    power = curve.Power(5.0, {})
    powered = [msgspec.structs.replace(point, power=power) for point in OPEN]
    paths = [
        write_curve(path / f"{name}.json", points)
        for name, points in (("with a rather long name", powered), ("b", CLOSED), ("c", OPEN))
    ]
    return documents.draw(documents.CURVE, paths)


def make_report(path: Path) -> Figure:
    return documents.draw(documents.CURVE, [write_report(path / "r.json", OPEN[:2], OPEN)])


def make_rounds(path: Path) -> Figure:
    return documents.draw(documents.ROUNDS, [write_rounds(path / "p.json")])


def make_streams(path: Path) -> Figure:
    return documents.draw(documents.STREAMS, [write_streams(path / "s.json")])


def make_machine(path: Path) -> Figure:
    return machine.draw(written(path / "m.json", probes.report(50)))


def make_study(path: Path) -> Figure:
    return documents.draw_figure(short_study(), 8, "study.json")


def make_trace(path: Path) -> Figure:
    file = path / "t.csv"
    rows = [
        f"{n * n},sd{'ab'[n % 2]},{n % 97 * 8192},{512 << n % 9},{'rwd'[n % 3]}"
        for n in range(3000)
    ]
    text = "\n".join(["at_us,device,offset_bytes,bytes,op", *rows]).replace(",d\n", ",discard\n")
    file.write_text(text)
    return trace.draw(trace.read(open_trace([file])))


MAKERS = [
    make_rounds,
    make_study,
    make_streams,
    make_machine,
    make_trace,
    make_addresses,
    make_timeline,
    make_log_timeline,
    make_cdf,
    make_curve,
    make_report,
]
# Numbers of things and sizes with their unit at each tick have none in their label.
COUNTS = ("round", "streams", "I/Os outstanding", "block size", "drives")
all_pictures = pytest.mark.parametrize("make", MAKERS)


@all_pictures
def test_every_axis_has_a_unit(make: Callable[[Path], Figure], tmp_path: Path) -> None:
    figure = make(tmp_path)
    for axes in figure.axes:
        bars = axes.get_xlabel() == "power (W)"
        assert axes.get_ylabel().endswith(")") or bars
        shown = any(text.get_visible() for text in axes.get_xticklabels())
        if axes is figure.axes[-1] or axes.get_xlabel():
            assert "(" in axes.get_xlabel() or axes.get_xlabel() in COUNTS
            assert shown


@all_pictures
def test_nothing_overlaps(make: Callable[[Path], Figure], tmp_path: Path) -> None:
    figure = make(tmp_path)
    style.settle(figure)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()  # type: ignore[no-untyped-call]  # matplotlib's
    renderer = canvas.get_renderer()  # type: ignore[no-untyped-call]  # matplotlib's
    boxes = [box for axes in figure.axes if (box := axes.get_tightbbox(renderer))]
    legends = [*figure.legends, *(key for axes in figure.axes if (key := axes.get_legend()))]
    plain = [axes.get_window_extent(renderer) for axes in figure.axes]
    marks = [artist.get_window_extent(renderer) for artist in [*figure.texts, *legends]]
    for first, second in itertools.combinations(boxes, 2):
        assert not overlap(first, second)
    for mark in marks:
        assert not any(overlap(mark, box) for box in plain)
        assert mark.x0 >= 0 and mark.y0 >= 0
        assert mark.x1 <= figure.bbox.x1 and mark.y1 <= figure.bbox.y1
    for first, second in itertools.combinations(marks, 2):
        assert not overlap(first, second)
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            extents = [text.get_window_extent(renderer) for text in visible_ticks(axes, axis)]
            assert not any(overlap(a, b) for a, b in itertools.pairwise(extents))
            if axis is axes.yaxis or axes.get_xlabel():
                assert len(extents) >= 2


def visible_ticks(axes: Axes, axis: Any) -> list[Any]:
    low, high = sorted(axes.get_ylim() if axis is axes.yaxis else axes.get_xlim())
    return [
        tick.label1
        for tick in axis.get_major_ticks()
        if low <= tick.get_loc() <= high and tick.label1.get_text() and tick.label1.get_visible()
    ]


def overlap(first: Any, second: Any) -> bool:
    """More than a pixel in both directions."""
    wide = min(first.x1, second.x1) - max(first.x0, second.x0)
    high = min(first.y1, second.y1) - max(first.y0, second.y0)
    return bool(wide > 1 and high > 1)


def test_the_foot_names_file_workload_and_device(tmp_path: Path) -> None:
    rows = intervals()
    text = foot(timeline.draw(timeline.of_result(write_result(tmp_path / "r.json", rows))))
    assert text.startswith("r.json: mixed-70-30-8k on /dev/x (Fast disk, 10 GiB)")
    assert style.UNAUDITED not in text
    text = foot(timeline.draw(timeline.of_result(write_result(tmp_path / "s.json", rows, "spc1"))))
    assert text.endswith("\nSPC-1-like, unaudited")
    assert "SPC-1-like, unaudited" in foot(make_curve(tmp_path))


@all_pictures
def test_the_same_input_gives_the_same_bytes(
    make: Callable[[Path], Figure], tmp_path: Path
) -> None:
    first, second = ([tmp_path / f"{number}.{kind}" for kind in style.FORMATS] for number in (1, 2))
    for paths in (first, second):
        style.save(make(tmp_path), paths, dpi=60)
    for file, again in zip(first, second, strict=True):
        assert file.read_bytes() == again.read_bytes()
        assert b"<dc:date>" not in file.read_bytes()

# SPDX-License-Identifier: GPL-2.0
"""Distributions: the curve passes through the percentiles of its file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lib.ctl.plot_files import MEASURE_NS, READS, WRITES, records, write_log, write_result
from lib.ctl.plot_seen import lines, our_style

from spekctl.documents import times
from spekctl.documents.result import load_result
from spekctl.plots import cdf

drawing = pytest.fixture(autouse=True)(our_style)


def test_the_cdf_passes_through_the_percentiles_of_the_result(tmp_path: Path) -> None:
    path = write_result(tmp_path / "r.json", [])
    totals = load_result(path).totals
    figure = cdf.draw([cdf.of_result(path, "response")])
    (axes,) = figure.axes
    assert axes.get_xlabel() == "response time (µs)"
    for name, total in (("read", totals.read), ("write", totals.write), ("all", totals.all)):
        line = next(line for label, line in lines(axes).items() if label.startswith(f"{name}\n"))
        x, y = (np.asarray(values) for values in line.get_data())
        assert line.get_drawstyle() == "steps-post"
        assert total.times.response is not None
        for percentile, ppm in times.PERCENTILES.items():
            reached = x[np.flatnonzero(y >= ppm / 1e6 - 1e-12)[0]]
            ns = total.times.response.percentiles_ns[percentile]
            assert reached * 1e3 == pytest.approx(ns), (name, percentile)
        assert (y[0], y[-1]) == (0, 1)
        assert x[-1] * 1e3 == total.times.response.max_ns
        assert f"({total.times.response.count:,} I/Os)" in str(line.get_label())


def test_every_nine_has_the_same_height(tmp_path: Path) -> None:
    figure = cdf.draw([cdf.of_result(write_result(tmp_path / "r.json", []), "response")])
    (axes,) = figure.axes
    heights = [axes.transData.transform((1, share))[1] for share in (0, 0.9, 0.99, 0.999, 0.9999)]
    assert np.diff(heights) == pytest.approx([np.diff(heights)[0]] * 4)
    assert axes.get_xscale() == "log"
    assert tick_texts(axes.yaxis) == ["0", "50", "90", "99", "99.9", "99.99"]


def tick_texts(axis: Any) -> list[str]:
    return [text.get_text() for text in axis.get_ticklabels()]


def test_a_log_and_a_result_of_the_same_times_have_the_same_cdf(tmp_path: Path) -> None:
    times = READS + WRITES
    at = np.full(len(times), MEASURE_NS, dtype=np.uint64)
    rows = records(
        len(times),
        at_ns=at,
        issue_ns=at + np.array([ns // 100 + 1 for ns in times], dtype=np.uint64),
        done_ns=at + np.array(times, dtype=np.uint64),
        write=[0] * len(READS) + [1] * len(WRITES),
    )
    log = write_log(tmp_path / "a.parquet", rows)
    path = write_result(tmp_path / "r.json", [])
    for metric in ("response", "slip"):
        of_log, of_result = cdf.of_log(log, metric).times, cdf.of_result(path, metric).times
        assert list(of_log) == list(of_result) == ["read", "write", "all"]
        for name, logged in of_log.items():
            counted = of_result[name]
            assert (logged.sum_ns, logged.min_ns) == (counted.sum_ns, counted.min_ns)
            for logged_step, counted_step in zip(
                cdf.steps(logged), cdf.steps(counted), strict=True
            ):
                assert logged_step.tolist() == counted_step.tolist()


def test_several_files_are_told_apart(tmp_path: Path) -> None:
    of_result = cdf.of_result(write_result(tmp_path / "r.json", []), "response")
    log = cdf.of_log(write_log(tmp_path / "a.parquet", records(2000)), "response")
    curves = lines(cdf.draw([of_result, log]).axes[0])
    assert [name.split("\n")[0] for name in curves] == ["r.json", "a.parquet"]
    assert len({line.get_color() for line in curves.values()}) == 2
    assert len({str(line.get_linestyle()) for line in curves.values()}) == 2
    curves = lines(
        cdf.draw([of_result, log], labels=["A", "B"], directions=["read", "write"]).axes[0]
    )
    assert [name.split("\n")[0] for name in curves] == ["A read", "A write", "B read", "B write"]

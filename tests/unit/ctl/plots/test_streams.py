# SPDX-License-Identifier: GPL-2.0
"""The picture of an SPC-2-like report: its tests as lines over their streams."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest
from lib.ctl.plot_files import write_streams
from lib.ctl.plot_seen import our_style
from matplotlib.lines import Line2D

from spekctl import files
from spekctl.documents import spc2
from spekctl.errors import UsageError
from spekctl.plots import streams

drawing = pytest.fixture(autouse=True)(our_style)


def x(line: Line2D) -> list[float]:
    return [float(one) for one in np.asarray(line.get_xdata())]


def y(line: Line2D) -> list[float]:
    return [float(one) for one in np.asarray(line.get_ydata())]


def test_each_test_is_a_line_over_its_streams(tmp_path: Path) -> None:
    found = streams.of_report(write_streams(tmp_path / "s.json"))
    figure = streams.draw(found)
    rate, response, power = figure.axes
    lines = {str(one.get_label()): one for one in rate.lines}
    assert x(lines["ldq-64k-1"]) == [1, 8]
    assert y(lines["ldq-64k-1"]) == [25, 60]
    assert x(lines["vod"]) == [120, 140]
    assert x(lines["_search"]) == [100]
    # From 1 to 140 streams, and from 2 to 900 ms.
    assert (rate.get_xscale(), response.get_yscale()) == ("log", "log")
    assert response.get_ylabel() == "mean response time (ms)"
    # One run has no power.
    watts = {str(one.get_label()): y(one) for one in power.lines}
    assert watts["vod"] == [pytest.approx(5.944)]
    legend = rate.get_legend()
    assert legend is not None
    told = [one.get_text() for one in legend.get_texts()]
    assert told[-3:] == [
        "search for streams",
        "more streams than\nwere served in time",
        "run failed or\nhad I/O errors",
    ]
    assert figure.get_suptitle() == "Streams: SPC-2-like, unaudited on /dev/x (10 GiB)"


def test_a_report_without_a_run_is_refused(tmp_path: Path) -> None:
    path = write_streams(tmp_path / "s.json")
    empty = msgspec.structs.replace(spc2.load_report(path), runs=[])
    path.write_bytes(files.encode(empty))
    with pytest.raises(UsageError, match=r"s\.json has no run in which I/Os completed"):
        streams.of_report(path)

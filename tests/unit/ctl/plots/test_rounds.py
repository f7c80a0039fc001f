# SPDX-License-Identifier: GPL-2.0
"""The picture of a PTS-like report: rounds, the matrix of the last ones, and write saturation."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest
from lib.ctl.plot_files import write_rounds
from lib.ctl.plot_seen import our_style

from spekctl import files
from spekctl.documents import pts
from spekctl.errors import UsageError
from spekctl.plots import rounds

drawing = pytest.fixture(autouse=True)(our_style)


def values(line: object) -> list[float]:
    return [float(one) for one in np.asarray(line.get_ydata())]  # type: ignore[attr-defined]


def test_each_test_has_its_rounds_and_its_matrix(tmp_path: Path) -> None:
    report, origin = rounds.of_report(write_rounds(tmp_path / "p.json"))
    figure = rounds.draw(report, origin)
    titles = [axes.get_title() for axes in figure.axes]
    assert titles == [
        "iops, PTS-like: steady state, 0 % reads",
        "iops, PTS-like: mean of the last rounds",
        "throughput-1024k, PTS-like: steady state, 0 % reads",
        "latency, PTS-like: not complete, 0 % reads",
        "latency, PTS-like: mean of the last rounds",
        "write saturation, PTS-like",
    ]
    iops, matrix, rate = figure.axes[0], figure.axes[1], figure.axes[2]
    lines = {str(one.get_label()): values(one) for one in iops.lines}
    settling = [1000 + 300 * 0.5**count for count in range(1, 7)]
    assert lines["4 KiB"] == pytest.approx(settling[: len(lines["4 KiB"])])
    window = report.tests[0].window
    assert window is not None
    first, last = lines["least squares"]
    assert last - first == pytest.approx(window.slope * (len(window.values) - 1))
    assert (first + last) / 2 == pytest.approx(window.average)
    assert len(matrix.lines) == 7 and len(values(matrix.lines[0])) == 8
    # 10^6 bytes per second of 1 MiB each.
    whole = [one * (1 << 20) / 1e6 for one in settling]
    assert values(rate.lines[0]) == pytest.approx(whole[: len(values(rate.lines[0]))])
    assert figure.get_suptitle() == "Rounds: PTS-like, unaudited on /dev/x (10 GiB)"


def test_a_report_without_a_round_is_refused(tmp_path: Path) -> None:
    path = write_rounds(tmp_path / "p.json")
    empty = msgspec.structs.replace(pts.load_report(path), tests=[], saturation=[])
    path.write_bytes(files.encode(empty))
    with pytest.raises(UsageError, match="no whole round and no write saturation"):
        rounds.of_report(path)

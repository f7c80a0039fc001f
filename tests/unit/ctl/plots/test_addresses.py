# SPDX-License-Identifier: GPL-2.0
"""Addresses over time: every I/O of a log is a point, and nothing else is."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from lib.ctl.plot_files import DRAIN_NS, MEASURE_NS, MIB, STREAMS, in_measure, records, write_log
from lib.ctl.plot_seen import foot, lines, our_style, points, rounded, xs
from matplotlib.colors import to_hex

from spekctl.plots import addresses, style

drawing = pytest.fixture(autouse=True)(our_style)


def test_every_io_is_a_point_at_its_time_and_address(tmp_path: Path) -> None:
    rows = records(3000)
    figure = addresses.draw(addresses.read(write_log(tmp_path / "a.parquet", rows)))
    data, wide = figure.axes
    mine = in_measure(rows)
    assert sum(len(xs(line)) for axes in figure.axes for line in axes.lines) == len(mine)
    for axes, stream, op in itertools.product((data, wide), range(3), (0, 1)):
        name = f"{STREAMS[stream]} {('read', 'write')[op]}"
        if (axes is wide) != (stream == 2):
            assert name not in lines(axes)
            continue
        chosen = mine[(mine["stream"] == stream) & (mine["write"] == op)]
        seconds = (chosen["at_ns"].astype(np.int64) - MEASURE_NS) / 1e9
        assert points(lines(axes)[name]) == rounded(seconds, chosen["addr"] / MIB)
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["data: 64 MiB", "wide: 16 MiB"]
    assert data.get_ylim() == (0, 64)
    assert wide.get_ylim() == (0, 16)
    assert data.get_ylabel() == "address (MiB)"
    assert wide.get_xlim()[0] == 0
    assert wide.get_xlabel() == "intended arrival (s since the start of the measure phase)"


def test_streams_differ_by_colour_and_directions_by_marker(tmp_path: Path) -> None:
    log = write_log(tmp_path / "a.parquet", records(3000))
    figure = addresses.draw(addresses.read(log))
    drawn = {name: line for axes in figure.axes for name, line in lines(axes).items()}
    colours = {to_hex(line.get_color()) for line in drawn.values()}
    assert len(colours) == 3
    for stream in STREAMS:
        read, write = drawn[f"{stream} read"], drawn[f"{stream} write"]
        assert read.get_color() == write.get_color()
        assert (read.get_marker(), write.get_marker()) == ("o", "^")
        assert read.get_markersize() == write.get_markersize()
    assert all(line.get_rasterized() for line in drawn.values())
    (legend,) = figure.legends
    names = [text.get_text() for text in legend.get_texts()]
    assert [name.split(" ")[0] for name in names] == [*STREAMS, "read", "write"]
    shown = [to_hex(handle.get_color()) for handle in legend.get_lines()[:3]]
    assert shown == [to_hex(drawn[f"{stream} read"].get_color()) for stream in STREAMS]


def test_legend_tells_the_share_of_each_stream(tmp_path: Path) -> None:
    rows = records(4000)
    figure = addresses.draw(addresses.read(write_log(tmp_path / "a.parquet", rows)))
    counts = np.bincount(in_measure(rows)["stream"], minlength=3)
    names = [text.get_text() for text in figure.legends[0].get_texts()][:3]
    assert names == [
        f"{name} ({count / counts.sum():.1%})" for name, count in zip(STREAMS, counts, strict=True)
    ]


def test_by_device_the_stripes_are_resolved(tmp_path: Path) -> None:
    rows = records(2000)
    log = write_log(tmp_path / "a.parquet", rows)
    figure = addresses.draw(addresses.read(log, by_device=True))
    assert [axes.get_title(loc="left") for axes in figure.axes] == [
        "/dev/x: 128 MiB",
        "/dev/y: 128 MiB",
    ]
    mine = in_measure(rows)
    for device, axes in enumerate(figure.axes):
        expected = []
        for row in mine:
            addr = int(row["addr"])
            if row["asu"] == 0:
                target, byte = 0, 4 * MIB + addr
            else:
                unit, rest = divmod(addr, 65536)
                target, byte = unit % 2, 68 * MIB + unit // 2 * 65536 + rest
            if target == device:
                expected.append(((int(row["at_ns"]) - MEASURE_NS) / 1e9, byte / MIB))
        drawn = sorted(itertools.chain(*(points(line) for line in axes.lines)))
        assert drawn == rounded(*zip(*expected, strict=True))
        assert axes.get_ylim() == (0, 128)


def test_arrival_decides_not_completion(tmp_path: Path) -> None:
    """What was due in the measure phase is shown, whenever the device got round to it."""
    times = np.array([MEASURE_NS - 1, MEASURE_NS, DRAIN_NS - 1, DRAIN_NS], dtype=np.uint64)
    rows = records(4, at_ns=times, done_ns=times + np.uint64(5000), stream=0, asu=0)
    scatter = addresses.read(write_log(tmp_path / "a.parquet", rows))
    drawn = sorted(float(at_s) for cloud in scatter.clouds for at_s in cloud.time_s)
    assert drawn == pytest.approx([0, 10], abs=1e-8)


def test_a_window_and_a_direction_can_be_chosen(tmp_path: Path) -> None:
    rows = records(3000)
    log = write_log(tmp_path / "a.parquet", rows)
    scatter = addresses.read(log, window=addresses.Window(2.5, 4.0, write=True))
    after = rows["at_ns"].astype(np.int64) - MEASURE_NS
    expected = ((after >= 2.5e9) & (after < 4e9) & (rows["write"] == 1)).sum()
    assert sum(len(cloud.time_s) for cloud in scatter.clouds) == expected > 50
    assert all(cloud.write for cloud in scatter.clouds)
    assert addresses.draw(scatter).axes[-1].get_xlim() == (2.5, 4.0)


def test_more_points_than_can_be_drawn_are_thinned_and_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(addresses, "MOST_POINTS", 1000)
    rows = records(3500)
    scatter = addresses.read(write_log(tmp_path / "a.parquet", rows))
    assert scatter.every == 4
    kept = rows[::4]
    expected = np.sort((in_measure(kept)["at_ns"].astype(np.int64) - MEASURE_NS) / 1e9)
    drawn = np.sort(np.concatenate([cloud.time_s for cloud in scatter.clouds]))
    assert drawn == pytest.approx(expected)
    assert "one of 4 I/Os is drawn" in foot(addresses.draw(scatter))


def test_many_streams_have_colours_of_their_own() -> None:
    for count in (1, 8, 9, 13, 64):
        assert len({to_hex(colour) for colour in style.colours(count)}) == count


def test_a_long_log_makes_a_small_svg(tmp_path: Path) -> None:
    log = write_log(tmp_path / "a.parquet", records(200_000))
    figure = addresses.draw(addresses.read(log))
    style.save(figure, [tmp_path / "a.svg"], dpi=100)
    assert (tmp_path / "a.svg").stat().st_size < 2_000_000

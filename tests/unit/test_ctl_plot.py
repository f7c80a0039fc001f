# SPDX-License-Identifier: GPL-2.0
"""Pictures: what is drawn is what the files say, labelled with units, and nothing overlaps."""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from lib.fake_kernel import SECOND, START_NS, histogram
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from spekctl import cli, curve, files, logfile, method, report, result, stats, workload
from spekctl.commands import plot
from spekctl.config import Extent, ResolvedAsu
from spekctl.plots import addresses, buckets, cdf, curves, source, style, timeline
from spekctl.records import (
    CellRow,
    Direction,
    IntervalRow,
    Metric,
    Phase,
    Reason,
    RunInfo,
    RunState,
    StatsCell,
    TargetInfo,
)
from spekctl.resolve import Options, Target, resolve

MIB = 1 << 20
MEASURE_NS = START_NS + 2 * SECOND
DRAIN_NS = START_NS + 12 * SECOND
ENDED_NS = DRAIN_NS + SECOND // 4


@pytest.fixture(autouse=True)
def our_style() -> Iterator[None]:
    with style.ready():
        yield


# ---- logs ----


ASUS = (
    ResolvedAsu("data", 64 * MIB, 0, [Extent(0, 4 * MIB)]),
    ResolvedAsu("wide", 16 * MIB, 65536, [Extent(0, 68 * MIB), Extent(1, 68 * MIB)]),
)
STREAMS = ("first", "second", "third")


def records(count: int, seed: int = 1, **changes: Any) -> np.ndarray:
    """Records of a run of 12 seconds, 2 of them ramp-up; a quarter second of drain."""
    rng = np.random.default_rng(seed)
    made = np.zeros(count, logfile.record_type())
    at = np.sort(rng.integers(START_NS, DRAIN_NS, count))
    made["at_ns"] = at
    made["issue_ns"] = at + rng.integers(1000, 50_000, count)
    made["done_ns"] = made["issue_ns"] + rng.integers(100_000, 200_000_000, count).astype(np.uint64)
    made["stream"] = rng.integers(0, 3, count)
    made["asu"] = made["stream"] == 2
    room = np.where(made["asu"] == 1, 16 * MIB, 64 * MIB) // 4096
    made["addr"] = rng.integers(0, room) * 4096
    made["bytes"] = rng.choice([4096, 8192, 65536], count)
    made["write"] = rng.random(count) < 0.4
    for name, value in changes.items():
        made[name] = value
    done = made["done_ns"]
    made["phase"] = np.where(done < MEASURE_NS, 0, np.where(done < DRAIN_NS, 1, 2))
    return made[np.argsort(done, kind="stable")]


def write_log(path: Path, rows: np.ndarray, **changes: Any) -> Path:
    writer = logfile.LogWriter(path)
    for part in np.array_split(rows, 3):
        writer.add(part)
    header = logfile.LogHeader(
        workload="mixed",
        streams=list(STREAMS),
        asus=list(ASUS),
        targets=[logfile.LogTarget("/dev/x", 128 * MIB), logfile.LogTarget("/dev/y", 128 * MIB)],
        seed=7,
        workers=1,
        started_ns=START_NS,
        measure_ns=MEASURE_NS,
        drain_ns=DRAIN_NS,
        ended_ns=ENDED_NS,
        start_real_ns=0,
        module_version="0.1.0",
        reason="completed",
        records=len(rows),
        lost=0,
        complete=True,
    )
    writer.finish(msgspec.structs.replace(header, **changes))
    return path


def in_measure(rows: np.ndarray) -> np.ndarray:
    return rows[(rows["at_ns"] >= MEASURE_NS) & (rows["at_ns"] < DRAIN_NS)]


def lines(axes: Axes) -> dict[str, Line2D]:
    """Lines with a name."""
    return {str(one.get_label()): one for one in axes.lines if str(one.get_label())[0] != "_"}


def points(line: Line2D) -> list[tuple[float, float]]:
    """Ordered, and rounded where arithmetic leaves its noise."""
    return rounded(*line.get_data())


def rounded(x: Any, y: Any) -> list[tuple[float, float]]:
    pairs = zip(np.asarray(x, float).tolist(), np.asarray(y, float).tolist(), strict=True)
    return sorted((round(one, 7), round(other, 7)) for one, other in pairs)


def test_every_io_is_a_point_at_its_time_and_address(tmp_path: Path) -> None:
    rows = records(3000)
    figure = addresses.draw(addresses.read(write_log(tmp_path / "a.parquet", rows)))
    data, wide = figure.axes
    mine = in_measure(rows)
    assert sum(len(one.get_xdata()) for axes in figure.axes for one in axes.lines) == len(mine)
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
    found = {name: one for axes in figure.axes for name, one in lines(axes).items()}
    colours = {to_hex(one.get_color()) for one in found.values()}
    assert len(colours) == 3
    for stream in STREAMS:
        read, write = found[f"{stream} read"], found[f"{stream} write"]
        assert read.get_color() == write.get_color()
        assert (read.get_marker(), write.get_marker()) == ("o", "^")
        assert read.get_markersize() == write.get_markersize()
    assert all(one.get_rasterized() for one in found.values())
    (legend,) = figure.legends
    names = [text.get_text() for text in legend.get_texts()]
    assert [name.split(" ")[0] for name in names] == [*STREAMS, "read", "write"]
    shown = [to_hex(handle.get_color()) for handle in legend.get_lines()[:3]]
    assert shown == [to_hex(found[f"{stream} read"].get_color()) for stream in STREAMS]


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
        drawn = sorted(itertools.chain(*(points(one) for one in axes.lines)))
        assert drawn == rounded(*zip(*expected, strict=True))
        assert axes.get_ylim() == (0, 128)


def test_arrival_decides_not_completion(tmp_path: Path) -> None:
    """What was due in the measure phase is shown, whenever the device got round to it."""
    times = np.array([MEASURE_NS - 1, MEASURE_NS, DRAIN_NS - 1, DRAIN_NS], dtype=np.uint64)
    rows = records(4, at_ns=times, done_ns=times + np.uint64(5000), stream=0, asu=0)
    scatter = addresses.read(write_log(tmp_path / "a.parquet", rows))
    drawn = sorted(float(one) for cloud in scatter.clouds for one in cloud.time_s)
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
        assert len({to_hex(one) for one in style.colours(count)}) == count


def test_a_long_log_makes_a_small_svg(tmp_path: Path) -> None:
    log = write_log(tmp_path / "a.parquet", records(200_000))
    figure = addresses.draw(addresses.read(log))
    style.save(figure, [tmp_path / "a.svg"], dpi=100)
    assert (tmp_path / "a.svg").stat().st_size < 2_000_000


# ---- results ----


def write_result(path: Path, rows: Sequence[IntervalRow], name: str = "mixed-70-30-8k") -> Path:
    found = workload.load(name)
    options = Options(available_cpus=(0,), write=True, rate=1000.0 if name != "spc1" else None)
    if name == "spc1":
        options = Options(available_cpus=(0,), write=True, bsu=20)
    plan = result.Plan(
        run=1,
        started_ns=START_NS,
        command=["run", name],
        workload=found,
        config=resolve(found, options, [Target("/dev/x", 8, 16, 10 << 30, 512, 5)]),
        targets=[facts("Fast disk")],
        remarks=[],
    )
    info = RunInfo(
        id=1,
        name=name,
        state=RunState.DONE,
        phase=Phase.DRAIN,
        reason=Reason.COMPLETED,
        started_ns=START_NS,
        measure_ns=MEASURE_NS,
        drain_ns=DRAIN_NS,
        ended_ns=ENDED_NS,
        now_ns=ENDED_NS,
        module_version="0.1.0",
        targets=(TargetInfo(8, 16, "x", 5, 10 << 30, 512, 1 << 20, "bio", "why"),),
    )
    cells = [
        StatsCell(phase, 0, direction, len(times), 0, 0, 0, {}, counted(times, phase))
        for phase in (Phase.RAMP, Phase.MEASURE)
        for direction, times in ((Direction.READ, READS), (Direction.WRITE, WRITES))
    ]
    made = report.build(plan, info, cells, rows, [None], None)
    path.write_bytes(result.encode(made))
    return path


READS = np.random.default_rng(3).lognormal(12, 0.8, 5000).astype(int).tolist()
WRITES = np.random.default_rng(4).lognormal(11, 0.5, 2000).astype(int).tolist()


def counted(times: list[int], phase: Phase) -> dict[Metric, Any]:
    if phase is not Phase.MEASURE:
        return {}
    return {
        Metric.RESPONSE: histogram(times),
        Metric.SERVICE: histogram([one // 2 + 1 for one in times]),
        Metric.SLIP: histogram([one // 100 + 1 for one in times]),
    }


def interval(seq: int, start_ns: int, end_ns: int, phase: Phase, ios: int = 100) -> IntervalRow:
    def cell(direction: Direction, ios: int, ns: int) -> CellRow:
        return CellRow(
            direction,
            ios=ios,
            bytes=ios * 8192,
            response_sum_ns=ios * ns,
            response_max_ns=9 * ns,
            response_p99_ns=4 * ns,
        )

    return IntervalRow(
        seq, phase, start_ns, end_ns, 5 + seq, 2 * seq, 0, 0,
        cell(Direction.READ, ios + seq, 300_000), cell(Direction.WRITE, ios // 2, 700_000),
    )  # fmt: skip


def intervals() -> list[IntervalRow]:
    """One for each second, and the drain."""
    made = [
        interval(
            seq,
            START_NS + seq * SECOND,
            START_NS + (seq + 1) * SECOND,
            Phase.RAMP if seq < 2 else Phase.MEASURE,
        )
        for seq in range(12)
    ]
    return [*made, interval(12, DRAIN_NS, ENDED_NS, Phase.DRAIN, 2)]


def levels(line: Line2D) -> dict[tuple[float, float], float]:
    """The level of a line from each start to each end."""
    x, y = (np.asarray(one, dtype=float) for one in line.get_data())
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
        assert levels(lines(ios)["read"])[span] == pytest.approx(row.read.ios / seconds)
        assert levels(lines(ios)["write"])[span] == pytest.approx(row.write.ios / seconds)
        assert levels(lines(ios)["all"])[span] == pytest.approx(both / seconds)
        assert levels(lines(mib)["all"])[span] == pytest.approx(both * 8192 / MIB / seconds)
        assert levels(lines(response)["read mean"])[span] == pytest.approx(300)
        assert levels(lines(response)["write p99"])[span] == pytest.approx(2800)
        assert levels(lines(queue)["outstanding"])[span] == row.outstanding
        assert levels(lines(queue)["backlog"])[span] == row.backlog
    assert lines(ios)["offered (whole run)"].get_ydata()[0] == 1000
    assert response.get_ylabel() == "response time (µs)"
    assert queue.get_xlabel() == "time since the start of the run (s)"
    assert queue.get_xlim() == (0, 12.25)


def test_phases_are_shaded_and_named(tmp_path: Path) -> None:
    figure = timeline.draw(timeline.of_result(write_result(tmp_path / "r.json", intervals())))
    for axes in figure.axes:
        spans = [(patch.get_x(), patch.get_width()) for patch in axes.patches]
        assert spans == [pytest.approx(one) for one in ((0, 2), (2, 10), (12, 0.25))]
        ramp, measure, drain = (to_hex(patch.get_facecolor()) for patch in axes.patches)
        assert ramp == drain != measure == "#ffffff"
    names = {text.get_text(): text.xy[0] for text in figure.axes[0].texts}
    assert names == {"ramp": 0, "measure": 2, "drain": 12}


def test_a_phase_that_took_no_time_is_not_named(tmp_path: Path) -> None:
    path = write_result(tmp_path / "r.json", intervals()[2:])
    whole = source.load_result(path)
    ramp = msgspec.structs.replace(whole.phases[0], start_ns=MEASURE_NS)
    phases = [ramp, *whole.phases[1:]]
    path.write_bytes(result.encode(msgspec.structs.replace(whole, phases=phases)))
    figure = timeline.draw(timeline.of_result(path))
    assert {text.get_text(): text.xy[0] for text in figure.axes[0].texts} == {
        "measure": 0,
        "drain": 10,
    }


def test_a_missing_interval_leaves_a_gap(tmp_path: Path) -> None:
    rows = [row for row in intervals() if row.seq not in (5, 6)]
    figure = timeline.draw(timeline.of_result(write_result(tmp_path / "r.json", rows)))
    x, y = lines(figure.axes[0])["read"].get_data()
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


def test_response_times_far_apart_get_a_logarithmic_scale(tmp_path: Path) -> None:
    rows = intervals()
    near = timeline.of_result(write_result(tmp_path / "r.json", rows))
    assert timeline.draw(near).axes[2].get_yscale() == "linear"
    assert timeline.draw(near, log_scale=True).axes[2].get_yscale() == "log"
    near.directions["read"].p99_ns[3] *= 100
    assert timeline.draw(near).axes[2].get_yscale() == "log"
    assert timeline.draw(near, log_scale=False).axes[2].get_yscale() == "linear"


def test_the_timeline_of_a_log_counts_what_a_loop_over_its_records_counts(tmp_path: Path) -> None:
    rows = records(5000)
    rows["error"][::50] = 5
    made = timeline.of_log(write_log(tmp_path / "a.parquet", rows), SECOND // 2)
    edges = np.append(made.start_s, made.end_s[-1])
    assert edges == pytest.approx([*np.arange(0, 12.1, 0.5), 12.25])
    done, at, issue = (rows[name].astype(np.int64) for name in ("done_ns", "at_ns", "issue_ns"))
    for slot, (start, end) in enumerate(itertools.pairwise(START_NS + np.round(edges * 1e9))):
        inside = (done >= start) & (done < end)
        if slot == len(edges) - 2:
            inside |= done >= end
        else:
            assert made.outstanding[slot] == ((issue < end) & (done >= end)).sum()
            assert made.backlog[slot] == ((at < end) & (issue >= end)).sum()
        for op, name in enumerate(("read", "write")):
            mine = inside & (rows["write"] == op) & (rows["error"] == 0)
            one = made.directions[name]
            assert one.ios[slot] == mine.sum()
            assert one.bytes[slot] == rows["bytes"][mine].sum()
            if mine.sum():
                times = np.sort((done - at)[mine])
                assert one.mean_ns[slot] == pytest.approx(times.mean())
                exact = times[int(np.ceil(len(times) * 0.99)) - 1]
                assert one.p99_ns[slot] == pytest.approx(exact, rel=1 / 128)
            else:
                assert np.isnan(one.mean_ns[slot])
    assert sum(made.directions["read"].ios) + sum(made.directions["write"].ios) == 4900


@pytest.mark.parametrize("step", [SECOND // 3, SECOND, 7 * SECOND, 60 * SECOND, 0])
def test_intervals_of_a_log_keep_to_phases_and_are_no_slivers(tmp_path: Path, step: int) -> None:
    made = timeline.of_log(write_log(tmp_path / "a.parquet", records(3000)), step)
    assert (made.start_s[1:] == made.end_s[:-1]).all()
    assert (made.start_s[0], made.end_s[-1]) == (0, 12.25)
    assert {2, 12} <= set(made.start_s.tolist())
    lengths = (made.end_s - made.start_s)[:-1]  # the drain is as short as it was
    assert lengths.min() >= min(2, (step or 0.2e9) / 2e9)
    assert [one.name for one in made.phases] == ["ramp", "measure", "drain"]
    if not step:
        assert 60 <= len(made.start_s) <= 130


# ---- distributions ----


def test_the_cdf_passes_through_the_percentiles_of_the_result(tmp_path: Path) -> None:
    path = write_result(tmp_path / "r.json", [])
    totals = source.load_result(path).totals
    figure = cdf.draw([cdf.of_result(path, "response")])
    (axes,) = figure.axes
    assert axes.get_xlabel() == "response time (µs)"
    for name, total in (("read", totals.read), ("write", totals.write), ("all", totals.all)):
        line = next(one for label, one in lines(axes).items() if label.startswith(f"{name}\n"))
        x, y = (np.asarray(one) for one in line.get_data())
        assert line.get_drawstyle() == "steps-post"
        assert total.times.response is not None
        for percentile, ppm in result.PERCENTILES.items():
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
        issue_ns=at + np.array([one // 100 + 1 for one in times], dtype=np.uint64),
        done_ns=at + np.array(times, dtype=np.uint64),
        write=[0] * len(READS) + [1] * len(WRITES),
    )
    log = write_log(tmp_path / "a.parquet", rows)
    one = write_result(tmp_path / "r.json", [])
    for metric in ("response", "slip"):
        assert cdf.of_log(log, metric).times == cdf.of_result(one, metric).times


def test_each_metric_is_between_its_own_two_events(tmp_path: Path) -> None:
    rows = records(2000)
    log = write_log(tmp_path / "a.parquet", rows)
    mine = rows[rows["phase"] == 1]
    for metric, (first, then) in {
        "response": ("at_ns", "done_ns"),
        "service": ("issue_ns", "done_ns"),
        "slip": ("at_ns", "issue_ns"),
    }.items():
        times = cdf.of_log(log, metric).times["all"]
        assert stats.count_of(times) == len(mine)
        assert times.sum_ns == int((mine[then] - mine[first]).sum())


def test_failed_ios_have_no_response_time(tmp_path: Path) -> None:
    rows = records(1000)
    rows["error"][: len(rows) // 2] = 5
    found = cdf.of_log(write_log(tmp_path / "a.parquet", rows), "response")
    expected = ((rows["phase"] == 1) & (rows["error"] == 0)).sum()
    assert stats.count_of(found.times["all"]) == expected


def test_arrays_fall_into_the_same_buckets_as_single_times() -> None:
    picks = {0, 1, 63, 64, 127, 128, 129, 2**40 - 1, 2**40, 2**63}
    picks |= {2**power + delta for power in range(2, 41) for delta in (-1, 0, 1)}
    picks |= set(np.random.default_rng(1).integers(0, 2**41, 2000).tolist())
    ordered = sorted(picks)
    found = buckets.index(np.array(ordered, dtype=np.uint64))
    assert found.tolist() == [stats.bucket_index(one, buckets.BITS) for one in ordered]


def test_several_files_are_told_apart(tmp_path: Path) -> None:
    one = cdf.of_result(write_result(tmp_path / "r.json", []), "response")
    log = cdf.of_log(write_log(tmp_path / "a.parquet", records(2000)), "response")
    found = lines(cdf.draw([one, log]).axes[0])
    assert [name.split("\n")[0] for name in found] == ["r.json", "a.parquet"]
    assert len({line.get_color() for line in found.values()}) == 2
    assert len({str(line.get_linestyle()) for line in found.values()}) == 2
    found = lines(cdf.draw([one, log], labels=["A", "B"], directions=["read", "write"]).axes[0])
    assert [name.split("\n")[0] for name in found] == ["A read", "A write", "B read", "B write"]


# ---- curves ----


def point(
    iops: float,
    mean_ns: float,
    offered: float | None = None,
    depth: int = 0,
    **changes: Any,
) -> curve.Point:
    times = curve.TimeFigures(
        mean_ns, int(mean_ns), int(2 * mean_ns), int(4 * mean_ns), int(5 * mean_ns), int(9e9)
    )
    load = curve.Load("depth", depth) if offered is None else curve.Load("bsu", offered / 50)
    made = curve.Point(
        load, offered, SECOND, int(iops), int(iops), 0, iops, iops / 128, times, times, None,
        0, int((offered or iops) - iops), offered / iops if offered else None, None, None,
        "workers", 0, True, "fine",
    )  # fmt: skip
    return msgspec.structs.replace(made, **changes)


def facts(model: str = "") -> result.TargetFacts:
    return result.TargetFacts(
        "/dev/x", "x", 8, 16, 5, 10 << 30, 512, 4096, model, "S", "", "sd", True, "none",
        "none", "1", "0", None,
    )  # fmt: skip


OPEN = [
    point(500, 2e6, 500),
    point(1000, 3e6, 1000),
    point(1500, 400e6, 3000),
    point(1400, 9e6, 1400),
]
CLOSED = [point(900, 1e6, None, 1), point(2600, 3e6, None, 8), point(1700, 1.5e6, None, 2)]


def a_curve(made: Sequence[curve.Point], name: str = "spc1") -> curve.Curve:
    return curve.Curve(
        "spek-curve", 1, "2026-01-01T00:00:00Z", ["sweep"], name, 1, [0], 0, SECOND, [facts()],
        None, True, list(made), [],
    )  # fmt: skip


def write_curve(path: Path, made: Sequence[curve.Point]) -> Path:
    path.write_bytes(files.encode(a_curve(made)))
    return path


def write_report(path: Path, made: Sequence[curve.Point], search: Sequence[curve.Point]) -> Path:
    shape = method.Shape(1, [0], 65536, "classic", None, "auto", False, None, None, 0, None)
    limits = method.Limits(response_ns=20 * method.MS)
    parameters = method.Parameters(method.QUICK, limits, shape, 1, 100)
    whole = method.Report(
        "spek-spc1", 1, method.NOTICE, "2026-01-01T00:00:00Z", ["spc1"], True, True, "passed",
        28, 1400.0, 2e6, method.Capacity(1, 1, 1), parameters, [facts()], None,
        a_curve(made), a_curve(search), [], [], [],
    )  # fmt: skip
    path.write_bytes(files.encode(whole))
    return path


def test_the_curve_goes_through_its_points_in_order_of_load(tmp_path: Path) -> None:
    found = source.load_points(write_curve(tmp_path / "c.json", OPEN))
    response, achieved = curves.draw([found]).axes
    mean, p99 = lines(response)["mean"], lines(response)["p99"]
    assert list(mean.get_xdata()) == [500, 1000, 1400, 1500]
    assert list(mean.get_ydata()) == pytest.approx([2, 3, 9, 400])
    assert list(p99.get_ydata()) == pytest.approx([8, 12, 36, 1600])
    assert response.get_ylabel() == "response time (ms)"
    assert response.get_yscale() == "log"
    line = lines(achieved)["c.json"]
    assert list(line.get_xdata()) == [500, 1000, 1400, 3000]
    assert list(line.get_ydata()) == [500, 1000, 1400, 1500]
    ideal = lines(achieved)["as offered"]
    assert list(ideal.get_xdata()) == list(ideal.get_ydata()) == [0, 3000]
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
    assert "did not keep up" in texts
    assert "failed" in texts


def test_a_closed_loop_is_drawn_over_its_depth(tmp_path: Path) -> None:
    found = source.load_points(write_curve(tmp_path / "c.json", CLOSED))
    response, achieved = curves.draw([found]).axes
    assert list(lines(response)["mean"].get_xdata()) == [900, 1700, 2600]
    assert list(lines(achieved)["c.json"].get_xdata()) == [1, 2, 8]
    assert achieved.get_xlabel() == "queue depth (I/Os outstanding)"
    assert "as offered" not in lines(achieved)
    texts = [text.get_text() for text in response.get_legend().get_texts()]  # type: ignore[union-attr]
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
    assert source.kind_of(path) is source.Kind.REPORT
    response, achieved = curves.draw([source.load_points(path)]).axes
    assert points(lines(response)["mean"]) == [(500, 2), (1000, 3)]
    assert points(lines(response)["search (mean)"]) == [(1400, 9), (1500, 400)]
    assert points(lines(achieved)["search"]) == [(1400, 1400), (3000, 1500)]
    assert achieved.get_xlim()[1] > 3000
    limits = [one.get_ydata()[0] for one in response.lines if one.get_linestyle() == ":"]
    assert limits == [20]
    assert [text.get_text() for text in response.texts] == ["limit of the mean: 20 ms"]


def test_a_report_without_a_curve_shows_its_search(tmp_path: Path) -> None:
    path = write_report(tmp_path / "r.json", [], OPEN)
    response, _ = curves.draw([source.load_points(path)]).axes
    assert list(lines(response)["mean"].get_xdata()) == [500, 1000, 1400, 1500]
    assert "search (mean)" not in lines(response)


def test_a_few_ios_left_over_are_no_saturation() -> None:
    assert curves.kept_up(point(40, 1e6, 45))
    assert not curves.kept_up(point(400, 1e6, 450))
    assert curves.kept_up(point(40_000, 1e6, 40_100))


# ---- what all pictures have ----


def foot(figure: Figure) -> str:
    (text,) = figure.texts[-1:]
    return text.get_text()


def make_addresses(path: Path) -> Figure:
    return addresses.draw(addresses.read(write_log(path / "a.parquet", records(3000))))


def make_timeline(path: Path) -> Figure:
    return timeline.draw(timeline.of_result(write_result(path / "r.json", intervals())))


def make_log_timeline(path: Path) -> Figure:
    return timeline.draw(timeline.of_log(write_log(path / "a.parquet", records(3000))))


def make_cdf(path: Path) -> Figure:
    one = cdf.of_result(write_result(path / "r.json", []), "response")
    return cdf.draw([one, cdf.of_log(write_log(path / "a.parquet", records(999)), "response")])


def make_curve(path: Path) -> Figure:
    power = curve.Power(5.0, {})
    powered = [msgspec.structs.replace(one, power=power) for one in OPEN]
    found = [
        source.load_points(write_curve(path / f"{name}.json", made))
        for name, made in (("with a rather long name", powered), ("b", CLOSED), ("c", OPEN))
    ]
    return curves.draw(found)


def make_report(path: Path) -> Figure:
    return curves.draw([source.load_points(write_report(path / "r.json", OPEN[:2], OPEN))])


MAKERS = [
    make_addresses,
    make_timeline,
    make_log_timeline,
    make_cdf,
    make_curve,
    make_report,
]
all_pictures = pytest.mark.parametrize("make", MAKERS)


@all_pictures
def test_every_axis_has_a_unit(make: Callable[[Path], Figure], tmp_path: Path) -> None:
    figure = make(tmp_path)
    for axes in figure.axes:
        assert axes.get_ylabel().endswith(")")
        shown = any(one.get_visible() for one in axes.get_xticklabels())
        if axes is figure.axes[-1] or axes.get_xlabel():
            assert "(" in axes.get_xlabel()
            assert shown


@all_pictures
def test_nothing_overlaps(make: Callable[[Path], Figure], tmp_path: Path) -> None:
    figure = make(tmp_path)
    style.settle(figure)
    FigureCanvasAgg(figure).draw()
    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    boxes = [axes.get_tightbbox(renderer) for axes in figure.axes]
    legends = [*figure.legends, *(one for axes in figure.axes if (one := axes.get_legend()))]
    plain = [axes.get_window_extent(renderer) for axes in figure.axes]
    marks = [one.get_window_extent(renderer) for one in [*figure.texts, *legends]]
    for one, other in itertools.combinations(boxes, 2):
        assert not overlap(one, other)
    for mark in marks:
        assert not any(overlap(mark, box) for box in plain)
        assert mark.x0 >= 0 and mark.y0 >= 0
        assert mark.x1 <= figure.bbox.x1 and mark.y1 <= figure.bbox.y1
    for one, other in itertools.combinations(marks, 2):
        assert not overlap(one, other)
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


def overlap(one: Any, other: Any) -> bool:
    """More than a pixel in both directions."""
    wide = min(one.x1, other.x1) - max(one.x0, other.x0)
    high = min(one.y1, other.y1) - max(one.y0, other.y0)
    return bool(wide > 1 and high > 1)


def test_the_foot_names_file_workload_and_device(tmp_path: Path) -> None:
    rows = intervals()
    text = foot(timeline.draw(timeline.of_result(write_result(tmp_path / "r.json", rows))))
    assert text.startswith("r.json: mixed-70-30-8k on /dev/x (Fast disk, 10 GiB)")
    assert style.UNAUDITED not in text
    text = foot(timeline.draw(timeline.of_result(write_result(tmp_path / "s.json", rows, "spc1"))))
    assert text.endswith("\nSPC-1-like, unaudited")
    assert "SPC-1-like, unaudited" in foot(make_curve(tmp_path))


def test_the_foot_names_the_machine_if_it_has_a_name(tmp_path: Path) -> None:
    whole = source.load_result(write_result(tmp_path / "r.json", []))
    for name, end in (("rig7", " on rig7"), ("(none)", "Linux 6.1"), ("", "Linux 6.1")):
        machine = msgspec.structs.replace(whole.environment, hostname=name, kernel="6.1")
        made = msgspec.structs.replace(whole, environment=machine)
        assert source.result_origin(Path("r.json"), made).details.endswith(end)


def test_lost_records_and_early_ends_are_told(tmp_path: Path) -> None:
    log = write_log(tmp_path / "a.parquet", records(900), lost=100, reason="stopped")
    text = foot(addresses.draw(addresses.read(log)))
    assert "100 of 1,000 I/Os not logged" in text
    assert "run ended early (stopped)" in text


@all_pictures
@pytest.mark.parametrize("kind", ["png", "svg"])
def test_the_same_input_gives_the_same_bytes(
    make: Callable[[Path], Figure], kind: str, tmp_path: Path
) -> None:
    paths = [tmp_path / f"{number}.{kind}" for number in (1, 2)]
    for path in paths:
        style.save(make(tmp_path), [path])
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert b"<dc:date>" not in paths[0].read_bytes()


# ---- the command ----


@dataclass
class Outcome:
    code: int
    out: str
    err: str


@pytest.fixture
def spekctl(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Outcome]:
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> Outcome:
        capfd.readouterr()
        code = cli.run(["plot", *arguments])
        captured = capfd.readouterr()
        return Outcome(code, captured.out, captured.err)

    return call


Spekctl = Callable[..., Outcome]


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    """A directory with a file of each kind, good and bad."""
    write_log(tmp_path / "good.parquet", records(500))
    write_log(tmp_path / "empty.parquet", records(500)[:0])
    write_log(tmp_path / "ramp.parquet", records(500), measure_ns=0, drain_ns=0)
    write_log(tmp_path / "late.parquet", records(500, at_ns=DRAIN_NS, done_ns=DRAIN_NS + 9))
    write_result(tmp_path / "r.json", intervals())
    write_result(tmp_path / "quiet.json", [])
    write_curve(tmp_path / "c.json", OPEN)
    write_report(tmp_path / "spc1.json", OPEN[:2], OPEN)
    write_curve(tmp_path / "dead.json", [point(1, 1, 50, response=None)])
    (tmp_path / "other.json").write_text('{"jobs": []}')
    (tmp_path / "text.txt").write_text("hello\n")
    (tmp_path / "broken.json").write_text('{"schema": "spek-result", ')
    (tmp_path / "old.json").write_text('{"schema": "spek-result", "schema_version": 1}')
    (tmp_path / "cut.parquet").write_bytes((tmp_path / "good.parquet").read_bytes()[:2000])
    return tmp_path


def test_the_kind_of_the_file_says_what_is_drawn(spekctl: Spekctl, inputs: Path) -> None:
    for name, picture in (
        ("good.parquet", "addresses"),
        ("r.json", "timeline"),
        ("c.json", "curve"),
    ):
        outcome = spekctl(name)
        stem = f"{Path(name).stem}-{picture}"
        assert outcome == Outcome(0, f"{stem}.png\n{stem}.svg\n", "")
        assert (inputs / f"{stem}.png").read_bytes().startswith(b"\x89PNG")
        assert b"</svg>" in (inputs / f"{stem}.svg").read_bytes()


@pytest.mark.parametrize(
    ("options", "made"),
    [
        (["-o", "x.png"], ["x.png"]),
        (["-o", "x.SVG"], ["x.SVG"]),
        (["-o", "x.png", "-o", "y.svg"], ["x.png", "y.svg"]),
        (["-o", "x"], ["x.png", "x.svg"]),
        (["-o", "run.2", "--dpi", "60"], ["run.2.png", "run.2.svg"]),
    ],
)
def test_names_of_the_output(
    spekctl: Spekctl, inputs: Path, options: list[str], made: list[str]
) -> None:
    before = set(inputs.iterdir())
    assert spekctl("cdf", "r.json", *options).out.split() == made
    assert {path.name for path in set(inputs.iterdir()) - before} == set(made)


def test_resolution_is_as_asked(spekctl: Spekctl, inputs: Path) -> None:
    assert spekctl("cdf", "r.json", "-o", "x.png", "--dpi", "60").code == 0
    width = int.from_bytes((inputs / "x.png").read_bytes()[16:20], "big")
    assert width == 60 * style.WIDTH_IN


WRONG = {
    "no such file": ("addresses no.parquet", "there is no file no.parquet"),
    "picture misspelt": ("adresses good.parquet", "did you mean 'addresses'?"),
    "not ours": ("timeline other.json", "other.json is no file of spek"),
    "not JSON": ("text.txt", "text.txt is no file of spek"),
    "broken JSON": ("timeline broken.json", "broken.json is no file of spek"),
    "no whole result": ("timeline old.json", "old.json is not a result that this spekctl knows"),
    "cut log": ("addresses cut.parquet", "cut.parquet is not a log"),
    "directory": ("timeline .", ". is not a file"),
    "result for addresses": ("addresses r.json", "r.json is a result of a run; addresses is drawn"),
    "log for a curve": ("curve c.json good.parquet", "good.parquet is a per-I/O log; a curve is"),
    "curve for a timeline": ("timeline c.json", "c.json is a load curve; a timeline is drawn from"),
    "empty log": ("addresses empty.parquet", "empty.parquet holds no I/Os"),
    "empty log over time": ("timeline empty.parquet", "empty.parquet holds no I/Os"),
    "empty log for a CDF": ("cdf empty.parquet", "empty.parquet holds no I/Os"),
    "no measure phase": ("addresses ramp.parquet", "ramp.parquet has no measure phase"),
    "none in the phase": ("addresses late.parquet", "late.parquet holds no such I/Os"),
    "none completed in it": ("cdf late.parquet", "late.parquet has no response times"),
    "no intervals": ("timeline quiet.json", "quiet.json has no intervals"),
    "no point": ("curve dead.json", "dead.json has no point at which I/Os completed"),
    "empty window": ("addresses good.parquet --from 5s --to 5s", "--to must be after --from"),
    "beyond the end": ("addresses good.parquet --from 1h", "holds no such I/Os"),
    "interval of a result": ("timeline r.json --interval 1s", "--interval is for logs"),
    "interval too short": ("timeline good.parquet --interval 1us", "more than 4096 intervals"),
    "labels": ("cdf r.json c.json --label a", "there are 1 for 2 files"),
    "other format": ("cdf r.json -o x.pdf", "ends in neither .png nor .svg"),
    "no directory": ("cdf r.json -o no/x.png", "there is no directory no"),
    "one of two is wrong": ("cdf r.json -o x.png -o no/x.svg", "there is no directory no"),
    "output is a directory": ("cdf r.json -o dir.png", "it is a directory"),
    "several without a picture": ("r.json quiet.json", "say which picture to draw"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_said_in_one_sentence(spekctl: Spekctl, inputs: Path, case: str) -> None:
    arguments, sentence = WRONG[case]
    (inputs / "dir.png").mkdir()
    before = sorted(inputs.iterdir())
    outcome = spekctl(*arguments.split())
    assert outcome.code == 2
    assert outcome.out == ""
    (line,) = outcome.err.splitlines()
    assert line.startswith("spekctl: ")
    assert sentence in line
    assert sorted(inputs.iterdir()) == before


def test_a_failing_write_leaves_nothing_behind(
    spekctl: Spekctl, inputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    (inputs / "x.png").write_bytes(b"before")
    before = sorted(inputs.iterdir())
    monkeypatch.setattr(Path, "replace", fail)
    outcome = spekctl("cdf", "r.json", "-o", "x.png")
    assert outcome.code == 1
    assert outcome.err == "spekctl: cannot write x.png: No space left on device\n"
    assert sorted(inputs.iterdir()) == before
    assert (inputs / "x.png").read_bytes() == b"before"


def test_without_matplotlib_it_says_what_to_install(
    spekctl: Spekctl, inputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.style", None)
    outcome = spekctl("cdf", "r.json")
    assert outcome.code == 2
    assert outcome.err == "spekctl: drawing needs matplotlib: pip install 'spekctl[plot]'\n"


def test_matplotlib_is_imported_only_to_draw() -> None:
    code = (
        "import sys, spekctl.cli as cli\n"
        "assert cli.run(['plot', 'cdf', '--help']) == 0\n"
        "assert cli.run(['plot', 'addresses', 'missing']) == 2\n"
        "print([name for name in ('matplotlib', 'numpy', 'pyarrow') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_settings_of_the_user_do_not_change_the_picture(
    inputs: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    made = []
    for settings in ("", "font.size: 20\nsavefig.dpi: 30\nsvg.hashsalt: x\nbackend: TkAgg\n"):
        directory = tmp_path_factory.mktemp("settings")
        (directory / "matplotlibrc").write_text(settings)
        out = directory / "x.svg"
        command = [sys.executable, "-m", "spekctl", "plot", "cdf", "r.json", "-o", str(out)]
        environment = {"MATPLOTLIBRC": str(directory), "PATH": "/usr/bin", "HOME": str(directory)}
        subprocess.run(command, check=True, cwd=inputs, env=environment, capture_output=True)
        made.append(out.read_bytes())
    assert made[0] == made[1]


def test_the_pictures_are_listed_and_the_guess_is_not(spekctl: Spekctl) -> None:
    outcome = spekctl("--help")
    assert outcome.code == 0
    listed = outcome.out[outcome.out.index("Commands:") :].split()[1:]
    assert {"addresses", "timeline", "curve", "cdf"} <= set(listed)
    assert plot.GUESS not in listed

# SPDX-License-Identifier: GPL-2.0
"""The watch over a run's report intervals: when it ends the run, and what it says."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest
from lib.fakes.kernel import SECOND, START_NS, interval_cell

from spekctl.kernel.records import IntervalRow, Phase
from spekctl.run.until import Watch, value_of
from spekctl.workload.endings import parse_metric, parse_threshold, parse_until


def row(seq: int, ios: int = 100, writes: int = 0, **changes: object) -> IntervalRow:
    """An interval of a second."""
    interval = IntervalRow(
        seq=seq,
        phase=Phase.MEASURE,
        start_ns=START_NS + seq * SECOND,
        end_ns=START_NS + (seq + 1) * SECOND,
        outstanding=4,
        backlog=7,
        worker_cpu_ns=0,
        worker_switches=0,
        read=interval_cell(
            ios=ios,
            bytes=4096 * ios,
            response_sum_ns=ios * 1000,
            response_p99_ns=5000,
            response_max_ns=9000,
        ),
        write=interval_cell(
            ios=writes,
            bytes=512 * writes,
            errors=2,
            response_sum_ns=writes * 3000,
            response_p99_ns=8000,
            response_max_ns=8500,
        ),
        streams=[],
    )
    return msgspec.structs.replace(interval, **changes)


def until(text: str, rows: Sequence[IntervalRow]) -> Watch:
    watch = Watch(parse_until(text), (), SECOND)
    watch.take(rows)
    return watch


def stop_when(text: str, rows: Sequence[IntervalRow]) -> Watch:
    watch = Watch(None, (parse_threshold(text),), SECOND)
    watch.take(rows)
    return watch


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        ("iops", 150),
        ("read.iops", 100),
        ("bandwidth", 4096 * 100 + 512 * 50),
        ("latency", (100 * 1000 + 50 * 3000) / 150),
        ("write.latency", 3000),
        ("p99", 8000),
        ("read.p99", 5000),
        ("max", 9000),
        ("errors", 2),
        ("read.errors", 0),
        ("backlog", 7),
        ("outstanding", 4),
    ],
)
def test_each_metric_is_that_of_the_interval(metric: str, value: float) -> None:
    assert value_of(row(0, 100, 50), parse_metric(metric)) == pytest.approx(value)


def test_an_interval_without_a_worker_is_no_round_and_has_no_rate() -> None:
    partial = row(1, 10, coverage_ppm=500_000)
    assert not stop_when("iops<50", [row(0), partial]).over
    assert stop_when("errors>1", [partial]).over
    watch = until("steady:window=2,range=20%,slope=20%", [row(0), partial, row(2)])
    assert not watch.over and watch.result().rounds == 2
    watch.take([row(3)])
    assert watch.over


def test_an_interval_that_is_longer_is_a_round_of_its_own_rate() -> None:
    long = row(1, 300, end_ns=START_NS + 4 * SECOND)
    assert value_of(long, parse_metric("iops")) == 100
    assert until("steady:window=2,range=1%,slope=1%", [row(0), long]).over


def test_times_of_nothing_are_no_times() -> None:
    for metric in ("latency", "p99", "max", "write.latency", "write.p99"):
        assert value_of(row(0, 0, 0), parse_metric(metric)) is None
    # Only a direction with I/Os has percentiles.
    assert value_of(row(0, 10, 0), parse_metric("p99")) == 5000


def test_a_known_series_is_steady_at_its_round() -> None:
    series = [400, 300, 200, 150, 120, 105, 100, 101, 99, 100]
    # Rounds 5 to 9, 120 105 100 101 99: range 20 % of 105 exactly, slope too much; 6 to 10 fits.
    for count in range(len(series) + 1):
        watch = until("steady", [row(at, ios) for at, ios in enumerate(series[:count])])
        assert watch.over is (count == 10), count
    result = watch.result()
    assert result.steady and not result.missed and result.ended and result.rounds == 10
    (window,) = result.windows
    assert (window.first, window.values) == (6, [105, 100, 101, 99, 100])
    assert result.text == "steady state of iops was reached after 10 rounds of 1s"


def test_rows_may_come_one_by_one_and_end_nothing_twice() -> None:
    watch = Watch(parse_until("steady:window=3"), (), SECOND)
    for seq in range(8):
        watch.take([row(seq)])
    assert watch.over and watch.result().rounds == 3


def test_all_metrics_have_to_be_steady() -> None:
    rows = [
        msgspec.structs.replace(
            row(seq), read=interval_cell(ios=100, bytes=1, response_sum_ns=100 * 1000 * (seq + 1))
        )
        for seq in range(30)
    ]
    assert until("steady:iops", rows).result().rounds == 5
    both = until("steady:iops,latency", rows).result()
    # A line of slope 1 has an excursion of 4, a tenth of the average from 40 on: rounds 38 to 42.
    assert both.steady is False and [window.steady for window in both.windows] == [True, False]
    more = [
        msgspec.structs.replace(
            row(seq), read=interval_cell(ios=100, bytes=1, response_sum_ns=100 * 1000 * (seq + 1))
        )
        for seq in range(60)
    ]
    assert until("steady:iops,latency", more).result().rounds == 42


def test_what_was_not_reached_says_by_what_it_was_missed() -> None:
    watch = until("steady:range=5%", [row(seq, 100 + 30 * (seq % 2)) for seq in range(8)])
    result = watch.result()
    assert not watch.over and result.missed and result.steady is False
    assert result.text == (
        "steady state of iops was not reached in 8 rounds of 1s; iops of the last 5 rounds:"
        " range 25.4 % (limit 5 %)"
    )


def test_a_threshold_that_is_true_of_the_last_interval_did_not_end_the_run() -> None:
    watch = stop_when("errors>1", [row(0)])
    assert watch.text == "--stop-when errors > 1 ended the run: errors was 2 in interval 1"
    assert watch.result().text == watch.text
    done = watch.result(stopped=False)
    assert done.text == "--stop-when errors > 1 was true: errors was 2 in interval 1"
    assert done.stopped_by == "errors > 1"


def test_too_few_rounds_are_not_steady() -> None:
    result = until("steady", [row(seq) for seq in range(4)]).result()
    assert result.text == "steady state of iops was not reached in 4 rounds of 1s"


def test_a_device_that_does_nothing_is_not_steady() -> None:
    result = until("steady", [row(seq, 0) for seq in range(9)]).result()
    assert result.steady is False and "iops: no I/O completed" in result.text
    assert until("steady:latency", [row(seq, 0) for seq in range(9)]).result().windows == []


def test_only_whole_intervals_of_the_measure_phase_in_a_row_count() -> None:
    ramp = [row(seq, phase=Phase.RAMP) for seq in range(9)]
    assert not until("steady", ramp).over
    short = [row(seq, end_ns=START_NS + seq * SECOND + SECOND // 2) for seq in range(9)]
    assert until("steady", short).result().rounds == 0
    gap = [row(seq) for seq in (0, 1, 2, 3, 5, 6, 7, 8)]
    assert not until("steady", gap).over
    watch = until("steady", [*gap, row(9)])
    assert watch.over and watch.result().windows[0].first == 5


@pytest.mark.parametrize(
    ("text", "seq"),
    [
        ("iops < 50", 3),
        ("iops <= 100", 0),
        ("p99 > 10us", None),
        ("p99 >= 5us", 0),
        ("write.errors > 1", 0),
        ("read.errors > 0", None),
        ("iops < 50 and errors > 2", None),
        ("iops < 50 and errors > 1", 3),
    ],
)
def test_the_first_interval_beyond_a_threshold_ends_the_run(text: str, seq: int | None) -> None:
    rows = [row(at, 100 - 20 * at) for at in range(5)]
    watch = stop_when(text, rows)
    assert watch.over is (seq is not None)
    result = watch.result()
    assert result.steady is None and result.missed is watch.over
    if seq is None:
        assert (result.stopped_by, result.text) == ("", "")
    else:
        assert result.stopped_by == text
        assert result.text.startswith(f"--stop-when {text} ended the run: ")
        assert result.text.endswith(f"in interval {seq + 1}")


def test_the_rate_of_an_interval_cut_short_is_not_compared() -> None:
    cut = row(0, 1, end_ns=START_NS + 1000)
    assert not stop_when("iops < 10000000", [cut]).over
    assert stop_when("errors > 0", [cut]).over
    assert not stop_when("errors > 0", [row(0, phase=Phase.RAMP)]).over


def test_any_of_several_thresholds_ends_the_run() -> None:
    both = (parse_threshold("p99 > 1s"), parse_threshold("errors > 0"))
    watch = Watch(parse_until("steady"), both, SECOND)
    watch.take([row(0)])
    result = watch.result()
    assert result.stopped_by == "errors > 0" and result.steady is False
    assert result.text == "--stop-when errors > 0 ended the run: errors was 2 in interval 1"

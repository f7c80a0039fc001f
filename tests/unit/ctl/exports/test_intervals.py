# SPDX-License-Identifier: GPL-2.0
"""The report intervals of a result as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path

import pytest
from lib.ctl import results
from lib.ctl.command_line import Spekctl
from lib.ctl.fleets import T0, three
from lib.fakes.kernel import SECOND, FakeKernel
from msgspec.structs import replace

from spekctl.documents.result import Result, load_result
from spekctl.documents.result_parts import IntervalPower, RailPower
from spekctl.errors import ExitCode
from spekctl.exports import intervals
from spekctl.fleet.merge import merge
from spekctl.kernel.records import Phase

STORED = Path(__file__).parents[1] / "documents/version1/result.json"


def rows(result: Result) -> list[dict[str, str]]:
    return list(csv.DictReader(intervals.encode(result).decode().splitlines()))


def test_an_interval_has_a_row_for_each_direction_and_stream(ours: Result) -> None:
    table = rows(ours)
    assert [(row["interval"], row["stream"], row["direction"]) for row in table[:5]] == [
        *(("1", "", "read"), ("1", "", "write")),
        *(("1", "main", "read"), ("1", "main", "write"), ("2", "", "read")),
    ]
    assert len(table) == 4 * len(ours.intervals)
    for name in ("ios", "bytes"):
        whole = [int(row[name]) for row in table if not row["stream"]]
        assert sum(whole) == sum(int(row[name]) for row in table if row["stream"])
    assert sum(int(row["ios"]) for row in table if not row["stream"]) == 100


def test_values_are_those_of_the_result(ours: Result) -> None:
    first = ours.intervals[0]
    cell = replace(
        first.read,
        **{"response_p50_ns": 1, "response_p90_ns": 2, "response_p99_ns": 3},
        **{"response_p999_ns": 4, "response_max_ns": 5},
        **{"service_p50_ns": 6, "service_p99_ns": 7, "service_max_ns": 8, "errors": 9},
    )
    rail = RailPower("all", 7.5, 7.5, 7.0, 8.0, 1.0, 0.0, 10)
    power = IntervalPower([], rail)
    end_ns = first.start_ns + SECOND // 2
    interval = replace(first, phase=Phase.RAMP, read=cell, end_ns=end_ns, power=power)
    row = rows(replace(ours, intervals=[interval]))[0]
    assert row["phase"] == "ramp"
    assert int(row["start_ns"]) == first.start_ns - ours.start.monotonic_ns
    assert int(row["end_ns"]) - int(row["start_ns"]) == SECOND // 2
    assert int(row["end_unix_ns"]) - ours.start.realtime_ns == int(row["end_ns"])
    assert (float(row["iops"]), float(row["bytes_per_s"])) == (20, 20 * 8192)
    assert (float(row["response_mean_ns"]), float(row["service_mean_ns"])) == (5000, 4000)
    times = [row[f"response_{name}_ns"] for name in ("p50", "p90", "p99", "p99_9", "max")]
    times += [row[f"service_{name}_ns"] for name in ("p50", "p99", "max")]
    assert times == list("12345678")
    assert (row["errors"], row["power_w"]) == ("9", "7.5")
    assert (row["outstanding"], row["backlog"], row["coverage_ppm"]) == ("16", "0", "1000000")


@pytest.mark.parametrize(
    "build",
    [lambda: results.build(), lambda: merge(three()), lambda: load_result(STORED)],
    ids=["run", "fleet", "stored"],
)
def test_rows_of_streams_add_up_and_rates_are_of_the_interval(build: Callable[[], Result]) -> None:
    result = build()
    table = rows(result)
    assert len({row["interval"] for row in table}) == len(result.intervals)
    for interval in {row["interval"] for row in table}:
        for direction in ("read", "write"):
            own = [
                row for row in table if (row["interval"], row["direction"]) == (interval, direction)
            ]
            whole, *streams = own
            assert whole["stream"] == "" and all(row["stream"] for row in streams)
            for name in ("ios", "bytes"):
                assert int(whole[name]) == sum(int(row[name]) for row in streams)
            seconds = (int(whole["end_ns"]) - int(whole["start_ns"])) / 1e9
            assert float(whole["iops"]) == pytest.approx(int(whole["ios"]) / seconds, abs=0.001)
            known = [whole[f"response_{name}_ns"] for name in ("p50", "p90", "p99", "p99_9", "max")]
            times = [float(text) for text in known if text]
            assert times == sorted(times) and bool(times) is (int(whole["ios"]) > 0)


def test_reads_of_a_stream_that_writes_have_a_row(ours: Result) -> None:
    """Otherwise the rows of streams would not add up to those of all."""
    (stream,) = ours.config.streams
    config = replace(ours.config, streams=[replace(stream, read_ppm=0)])
    names = [(row["stream"], row["direction"]) for row in rows(replace(ours, config=config))[:4]]
    assert ("main", "read") in names and ("main", "write") in names


def test_no_cell_is_a_formula(ours: Result) -> None:
    """Result files come from others, too. Numbers stay what they are."""
    (stream,) = ours.config.streams
    config = replace(ours.config, streams=[replace(stream, name="=HYPERLINK(1)")])
    power = IntervalPower([], RailPower("total", 0.0, -0.25, -0.5, 0.0, 1.0, 0.0, 1))
    first = replace(ours.intervals[0], power=power)
    table = rows(replace(ours, config=config, intervals=[first]))
    assert {row["stream"] for row in table} == {"", "'=HYPERLINK(1)"}
    assert {row["power_w"] for row in table} == {"-0.25"}


def test_what_is_not_known_is_empty(ours: Result) -> None:
    first = ours.intervals[0]
    quiet = replace(first, read=replace(first.read, ios=0, bytes=0))
    read, write, _, of_stream = rows(replace(ours, intervals=[quiet]))
    assert (read["ios"], read["iops"], read["errors"]) == ("0", "0.0", "0")
    assert {read[name] for name in intervals.COLUMNS if "response" in name} == {""}
    assert write["response_p99_ns"] == "9" and of_stream["response_p99_ns"] == ""
    assert {row["power_w"] for row in rows(ours)} == {""}


def test_a_result_without_intervals_has_nothing_to_write() -> None:
    assert intervals.lacks(results.build()).startswith("the result has no report intervals")


def test_a_run_writes_them(spekctl: Spekctl, kernel: FakeKernel, tmp_path: Path) -> None:
    words = ("run", "random-read-4k", "--device", "/dev/fake0", "--progress", "none")
    assert spekctl(*words, "--csv", "r.csv").code == ExitCode.OK
    with (tmp_path / "r.csv").open() as file:
        table = list(csv.DictReader(file))
    # A stream that only reads has no row of writes.
    assert {(row["stream"], row["direction"]) for row in table} == {
        *(("", "read"), ("", "write"), ("main", "read")),
    }


def test_a_run_without_intervals_is_refused_before_it_starts(
    spekctl: Spekctl, kernel: FakeKernel, tmp_path: Path
) -> None:
    words = ("run", "random-read-4k", "--device", "/dev/fake0", "--interval", "0")
    done = spekctl(*words, "--csv", "r.csv")
    assert done.code == ExitCode.USAGE
    assert done.sentence.endswith("--csv writes report intervals; --interval 0 has none")
    assert not kernel.calls and not (tmp_path / "r.csv").exists()


def test_rows_of_a_fleet_are_sums_without_percentiles() -> None:
    rows = list(csv.DictReader(io.StringIO(intervals.encode(merge(three())).decode())))
    first = rows[0]
    assert (first["interval"], first["direction"], first["ios"]) == ("0", "read", "120")
    assert first["response_p50_ns"] == "" and first["response_max_ns"] != ""
    assert int(first["end_unix_ns"]) == T0 + 2 * SECOND - 35_000
    assert sum(int(row["ios"]) for row in rows if not row["stream"]) == 720

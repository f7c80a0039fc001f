# SPDX-License-Identifier: GPL-2.0
"""Ends by steady state and by thresholds, the search within a limit, and pts, on null_blk.

A disk that takes a fixed time for each request, and as many at a time as it has requests, is in
steady state from the start: its rate is known, and so is the load that exceeds a response time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lib.ctl.command_line import Spekctl
from lib.guest.disks import null_disk
from lib.guest.drive import sysfs
from lib.guest.spekctl import in_process

from spekctl.documents import curve, pts, result
from spekctl.documents.document import read
from spekctl.errors import ExitCode

pytestmark = pytest.mark.any_kernel
MS = 1_000_000
MIB = 1 << 20
SERVICE_NS = 5 * MS
QUIET = ("--progress", "none", "--no-prober")
# An emulated processor may be away for long, which is no change of the disk.
LENIENT = "steady:window=4,range=100%,slope=100%"


@pytest.fixture(scope="module")
def disk(spek_module: Path) -> Iterator[str]:
    """Takes 5 ms for each request, by a timer of its own."""
    with null_disk(irqmode=2, completion_nsec=SERVICE_NS, hw_queue_depth=128) as node:
        yield node


@pytest.fixture(scope="module")
def flash(spek_module: Path) -> Iterator[str]:
    """Small, with discards, and it holds what is written."""
    with null_disk(64, memory_backed=1, discard=1) as node:
        yield node


@pytest.fixture
def call(capfd: pytest.CaptureFixture[str]) -> Iterator[Spekctl]:
    """call("run", ...) in this process; afterwards no run is left in the kernel."""
    with in_process(capfd) as spekctl:
        yield spekctl


def run(
    call: Spekctl, disk: str, path: Path, *more: str, time: tuple[str, ...] = ("--time", "60s")
) -> tuple[int, result.Result]:
    outcome = call(
        *("run", "random-read-4k", "--device", disk, "--depth", "8", "--interval", "500ms"),
        *(*time, "-o", path, *more, *QUIET),
    )
    assert path.exists(), outcome.err
    return outcome.code, read(path, result.Result)


def test_a_run_ends_in_steady_state(call: Spekctl, disk: str, tmp_path: Path) -> None:
    code, kept = run(call, disk, tmp_path / "r.json", "--until", LENIENT)
    assert code == ExitCode.OK
    assert kept.outcome.reason == "stopped" and kept.outcome.ok
    ending = kept.ending
    assert ending is not None and ending.steady and ending.rounds >= 4
    (measure,) = [phase for phase in kept.phases if phase.phase == "measure"]
    assert 2_000 * MS <= measure.duration_ns < 60_000 * MS
    # The window holds what the intervals of the result say.
    (window,) = ending.windows
    rows = [
        row
        for row in kept.intervals
        if row.phase == "measure" and row.end_ns - row.start_ns >= 450 * MS
    ]
    rates = [
        (row.read.ios + row.write.ios) * 1e9 / (row.end_ns - row.start_ns)
        for row in rows[window.first - 1 : window.last]
    ]
    assert window.values == pytest.approx(rates)
    assert 0 < window.average <= 8 * 1e9 / SERVICE_NS * 1.05


def test_steady_state_that_is_not_reached_is_said(call: Spekctl, disk: str, tmp_path: Path) -> None:
    """The run ends by its count, long before there are as many rounds."""
    code, kept = run(
        *(call, disk, tmp_path / "r.json"),
        *("--until", "steady:window=1000", "--count", "2000"),
        time=(),
    )
    assert code == ExitCode.LIMIT_MISSED
    assert kept.outcome.reason == "completed" and kept.outcome.ok
    assert kept.totals.all.ios == 2000
    assert kept.ending is not None and kept.ending.steady is False
    assert "steady state of iops was not reached in " in kept.outcome.text


@pytest.mark.parametrize(
    "condition", ["iops > 1", "latency >= 1ms", "p99 > 1ms and errors < 1", "outstanding < 100"]
)
def test_a_threshold_ends_the_run(condition: str, call: Spekctl, disk: str, tmp_path: Path) -> None:
    code, kept = run(
        call, disk, tmp_path / "r.json", "--stop-when", "errors > 0", "--stop-when", condition
    )
    assert code == ExitCode.LIMIT_MISSED
    assert kept.ending is not None and kept.ending.stopped_by == condition
    assert kept.outcome.reason == "stopped" and not kept.outcome.errors
    (measure,) = [phase for phase in kept.phases if phase.phase == "measure"]
    assert measure.duration_ns < 50_000 * MS


def test_the_highest_load_within_a_response_time(
    call: Spekctl, spek_module: Path, tmp_path: Path
) -> None:
    """Four requests at a time, 5 ms each: depth 4 has 5 ms and depth 64 has 80 ms."""
    with null_disk(
        irqmode=2, completion_nsec=SERVICE_NS, hw_queue_depth=4, submit_queues=1
    ) as node:
        path = tmp_path / "c.json"
        outcome = call(
            *("sweep", "random-read-4k", "--device", node, "--depth", "1,128", "--time", "1s"),
            *("--within", "latency < 40ms", "-o", path, "--resolution", "10", *QUIET),
        )
        assert outcome.code == ExitCode.OK, outcome.err
        sweep = curve.load_curve(path)
        within = sweep.within
        assert sweep.complete and within is not None
        assert within.load is not None and within.beyond is not None
        # By Little's law 40 ms are at most depth 32, and what comes next is as close as was asked.
        assert 1 <= within.load <= 32
        assert within.load < within.beyond <= max(within.load + 1, within.load * 1.1)
        assert {within.load, within.beyond} <= {point.load.value for point in sweep.points}
        for point in sweep.points:
            assert point.response is not None
            assert (point.response.mean < 40 * MS) is not bool(point.beyond)


def discarded_bytes(node: str) -> int:
    return 512 * int((sysfs(node) / "stat").read_text().split()[13])


@pytest.mark.at_length
def test_a_whole_test_of_solid_state_storage(call: Spekctl, flash: str, tmp_path: Path) -> None:
    folder, before = tmp_path / "t", discarded_bytes(flash)
    outcome = call(
        *("pts", "--device", flash, "--write", "--folder", folder, "--time", "250ms"),
        *("--sizes", "64K,4K", "--reads", "100,0", "--throughput-sizes", "1M"),
        *("--latency-sizes", "4K", "--latency-reads", "100,0", "--saturation", "100"),
        *("--rounds", "6", "--until", LENIENT, *QUIET),
    )
    assert outcome.code in (ExitCode.OK, ExitCode.LIMIT_MISSED), outcome.out + outcome.err
    report = pts.load_report(folder / "report.json")
    assert report.complete and report.notice == "PTS-like, unaudited"
    assert [entry.name for entry in report.tests] == ["iops", "throughput-1024k", "latency"]
    # A purge before each of the four tests.
    assert discarded_bytes(flash) - before == 4 * 64 * MIB
    for test in report.tests:
        assert test.purged and test.preconditioned_bytes == 2 * 64 * MIB
        assert 4 <= len(test.rounds) <= 6 and test.window is not None
    writes = [fill.written_bytes for fill in report.saturation]
    assert writes == sorted(writes) and writes[-1] <= 64 * MIB
    (saturation,) = [entry for entry in report.runs if entry.step.kind == "saturation"]
    assert saturation.bytes == 64 * MIB
    for entry in report.runs:
        assert entry.ok and entry.result_file is not None
        kept = read(folder / entry.result_file, result.Result)
        assert (kept.replay is not None) == (entry.step.kind == "purge")
    data: dict[str, Any] = json.loads((folder / "state.json").read_text())
    assert data["kind"] == "spek-pts-state"


def test_a_disk_without_discards_cannot_be_purged(call: Spekctl, disk: str, tmp_path: Path) -> None:
    outcome = call(
        *("pts", "--device", disk, "--write", "--quick", "--folder", tmp_path / "t", *QUIET)
    )
    assert outcome.code == ExitCode.USAGE and "no support for discards" in outcome.sentence
    assert not (tmp_path / "t").exists()

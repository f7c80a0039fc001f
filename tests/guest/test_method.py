# SPDX-License-Identifier: GPL-2.0
"""sweep and spc1 on disks whose capacity is known: Q requests at a time, a fixed time each.

Little's law leaves such a disk Q / t I/Os per second and no more, whatever is offered. The timer
of each request never fires early, so it can only be less: in an emulated guest on a busy host
timers are late by tenths of a millisecond and sometimes by more. That lateness is part of the
measured service time s, and Q / s has to be what comes out. tests/stats/test_saturation.py shows
the law for t itself where timers are exact. t is long here, so that what is compared from one run
to the next is the disk even if the machine becomes several times slower in between.
"""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from lib.ctl.command_line import Spekctl
from lib.guest.disks import null_disk, settle
from lib.guest.spekctl import in_process
from lib.waiting import LONG_S, eventually

from spekctl.documents import curve, result, spc1
from spekctl.errors import ExitCode

pytestmark = pytest.mark.any_kernel

MS = 1_000_000
SERVICE_NS = 20 * MS
SLOTS = 8
CAPACITY = SLOTS * 1_000_000_000 / SERVICE_NS  # 400 I/Os per second
WIDE_NS = 40 * MS
WIDE_SLOTS = 80
WIDE_CAPACITY = WIDE_SLOTS * 1_000_000_000 / WIDE_NS  # 2000 I/Os per second
QUIET = ("--progress", "none", "--no-prober")
PER_BSU = 50


@pytest.fixture(scope="module")
def disk(spek_module: Path) -> Iterator[str]:
    """Takes 20 ms for each request, by a timer of its own."""
    with null_disk(size_mb=1024, irqmode=2, completion_nsec=SERVICE_NS, hw_queue_depth=64) as node:
        yield node


@pytest.fixture(scope="module")
def wide_disk(spek_module: Path) -> Iterator[str]:
    """40 ms, for so many at a time that timers may be late by 13 ms before it does no more than
    three quarters of its capacity."""
    with null_disk(size_mb=1024, irqmode=2, completion_nsec=WIDE_NS, hw_queue_depth=128) as node:
        yield node


@pytest.fixture
def call(spek_module: Path, capfd: pytest.CaptureFixture[str]) -> Iterator[Spekctl]:
    """call("sweep", ...) in this process; afterwards no run is left in the kernel."""

    with in_process(capfd) as spekctl:
        yield spekctl


def swept(call: Spekctl, disk: str, slots: int, *more: str) -> curve.Curve:
    outcome = call(
        *("sweep", "random-read-4k", "--device", disk, "--max-outstanding", slots, "--json"),
        *(*QUIET, *more),
    )
    assert outcome.code == ExitCode.OK, outcome.err
    sweep = msgspec.json.decode(outcome.out, type=curve.Curve)
    assert sweep.complete and all(point.ok for point in sweep.points)
    return sweep


# --- sweep ---------------------------------------------------------------------------------------


def assert_arrived(point: curve.Point, rate: float, seconds: float) -> None:
    """What was completed and what is left over arrived: that is Poisson, and off by five standard
    deviations at most."""
    assert point.ios + point.left_over == pytest.approx(
        rate * seconds, abs=5 * math.sqrt(rate * seconds)
    )


def test_a_sweep_saturates_where_the_disk_must(call: Spekctl, disk: str) -> None:
    seconds = 8
    sweep = swept(
        *(call, disk, SLOTS, "--rate", "100,250,600,1000", "--time", f"{seconds}s"),
        *("--ramp", "500ms"),
    )
    for point in sweep.points[:2]:
        assert_arrived(point, point.load.value, seconds)
        assert point.stretch is not None
        # What arrives while the guest is not let run at the end of the phase is left over.
        assert 1 <= point.stretch < 1.1
        assert point.service is not None
        assert SERVICE_NS <= point.service.p50 < 2 * SERVICE_NS
    for point in sweep.points[2:]:
        rate = point.load.value
        assert point.service is not None and point.response is not None
        # Slots that are always taken: Little's law. Between an I/O and the next one a slot is free
        # for as long as the host keeps the guest from running.
        # What was under way when the phase began counts whole.
        busy = point.iops * point.service.mean / 1e9
        begun = point.service.max / (seconds * 1e9)
        assert 0.7 * SLOTS < busy <= SLOTS * (1.005 + begun)
        assert point.iops <= CAPACITY * 1.005
        assert SERVICE_NS <= point.service.p50 < 2 * SERVICE_NS
        # Arrivals in eight seconds are off by 7 % at five standard deviations.
        assert point.stretch == pytest.approx(rate / point.iops, rel=0.12)
        assert point.stretch == pytest.approx(1 + point.left_over / point.ios)
        assert point.response.p50 > 10 * point.service.p50
    assert sweep.points[3].backlog > sweep.points[2].backlog


def test_a_disk_saturates_at_what_one_request_at_a_time_foretells(call: Spekctl, disk: str) -> None:
    """Eight slots do more than four times what one does, and no more than eight in 20 ms.

    Eight times is exact only where nothing else runs: tests/stats/test_saturation.py.
    """
    single = swept(call, disk, 1, "--depth", "1", "--time", "2s").points[0]
    assert single.service is not None and SERVICE_NS <= single.service.p50 < 2 * SERVICE_NS
    seconds = 4
    below, above = swept(
        *(call, disk, SLOTS, "--rate", "160,2000", "--time", f"{seconds}s", "--ramp", "500ms")
    ).points
    assert_arrived(below, 160, seconds)
    assert below.service is not None and SERVICE_NS <= below.service.p50 < 2 * SERVICE_NS
    assert above.iops <= CAPACITY * 1.005
    assert above.iops > 4 * single.iops
    # What is not served piles up: the rest of what arrived, in the ramp-up, too.
    assert above.backlog == pytest.approx((2000 - above.iops) * (seconds + 0.5), rel=0.1)


def test_a_closed_loop_sweep_follows_littles_law(call: Spekctl, disk: str, tmp_path: Path) -> None:
    seconds, output, folder = 5, tmp_path / "curve.json", tmp_path / "kept"
    sweep = swept(
        *(call, disk, SLOTS, "--depth", "1,2,4", "--time", f"{seconds}s", "-o", str(output)),
        *("--folder", str(folder)),
    )
    for point in sweep.points:
        assert point.iops <= point.load.value * CAPACITY / SLOTS * 1.005
        assert (point.stretch, point.offered_iops) == (None, None)
    assert sweep.points[0].iops < sweep.points[1].iops < sweep.points[2].iops
    written = curve.load_curve(output)
    assert written.points == sweep.points
    for point in written.points:
        assert point.result_file is not None and point.response is not None
        kept = msgspec.json.decode((tmp_path / point.result_file).read_bytes(), type=result.Result)
        assert kept.totals.all.iops == point.iops
        assert kept.targets[0].disk_agrees is not False
        # A closed loop issues as soon as something is back: its response includes the wait for
        # the worker, and completed per second times the time each takes is what is under way.
        # What was under way when the phase began counts whole. What was when it ended is in no
        # response time of the phase, for as long as the guest is not let run then.
        depth = point.load.value
        busy_ns = point.iops * seconds * point.response.mean + age_ns(kept)
        all_ns = depth * seconds * 1e9
        assert 0.98 * all_ns < busy_ns <= 1.005 * all_ns + depth * point.response.max


def age_ns(kept: result.Result) -> int:
    """Sum over all that was outstanding at the end of the phase: how long it had been under way."""
    in_flight = [cell.in_flight for cell in kept.cells if cell.in_flight]
    return sum(part.response_age.sum_ns for part in in_flight if part.response_age)


# --- spc1 ----------------------------------------------------------------------------------------

SHORT = (
    *("--write", "--max-outstanding", str(WIDE_SLOTS), "--keep-going", *QUIET, "--ramp", "200ms"),
    *("--sustain", "1s", "--iops-time", "500ms", "--phase-time", "500ms", "--search-time", "4s"),
    # The queue of 45 BSU, an eighth more than the disk can do, grows by .11 s in each second: they
    # wait for .28 s in the mean of 4 s after the ramp-up. Less than 40 BSU take 40 ms, and more
    # than this only in a guest that stands still for half a second.
    *("--max-response", "150ms"),
)


def report_of(folder: Path) -> spc1.Report:
    return spc1.load_report(folder / "report.json")


def checked_against_results(folder: Path, report: spc1.Report) -> None:
    """Each phase says what its run says, and the runs were those of the plan."""
    for phase in report.phases:
        path = folder / str(phase.point.result_file)
        kept = msgspec.json.decode(path.read_bytes(), type=result.Result)
        assert kept.config.streams[0].replicas == phase.step.bsu
        assert kept.config.time_ns == phase.step.time_ns
        assert kept.totals.all.ios == phase.point.ios == sum(stream.ios for stream in phase.streams)
        assert kept.totals.all.ios == sum(asu.ios for asu in phase.asus)
        measured = [cell for cell in kept.cells if cell.phase == "measure"]
        for stream in phase.streams:
            assert stream.ios == sum(cell.ios for cell in measured if cell.name == stream.name)
        assert phase.point.ios / phase.step.time_ns * 1e9 == pytest.approx(phase.point.iops)


@pytest.mark.at_length
def test_a_whole_method_finds_the_level_that_the_disk_has(
    call: Spekctl, wide_disk: str, tmp_path: Path
) -> None:
    folder = tmp_path / "t"
    outcome = call(
        *("spc1", "--device", wide_disk, "--folder", str(folder), *SHORT),
        *("--start-bsu", "30", "--max-bsu", "80", "--resolution", "50"),
    )

    assert outcome.code in (ExitCode.OK, ExitCode.LIMIT_MISSED), outcome.err
    report = report_of(folder)
    assert report.complete, outcome.err + outcome.out
    assert outcome.code == (ExitCode.OK if report.passed else ExitCode.LIMIT_MISSED)
    assert outcome.out.startswith("SPC-1-like, unaudited: test of /dev/")
    # 40 BSU are all that it can do; 60 are half as many again.
    assert report.level_bsu is not None
    assert report.level_bsu <= 1.05 * WIDE_CAPACITY / PER_BSU
    searched = {phase.step.bsu: phase for phase in report.phases if phase.step.kind == "search"}
    assert searched[60].beyond.startswith("mean response time")
    overload = searched[60].point
    assert overload.stretch == pytest.approx(60 * PER_BSU / overload.iops, rel=0.1)
    final = [phase.step.name for phase in report.phases if phase.step.kind != "search"]
    assert final[-9:] == [
        *("ramp-95", "ramp-90", "ramp-80", "ramp-50", "ramp-10"),
        *("repeat-1-10", "repeat-1-100", "repeat-2-10", "repeat-2-100"),
    ]
    loads = [point.load.value for point in report.curve.points]
    assert loads == sorted(loads) and len(loads) == 6
    assert report.capacity.asus_bytes == pytest.approx(1 << 30, rel=0.001)
    # Shares are a matter of the seed: chance, and never the device, moves them.
    assert all(
        check.passed for check in report.checks if check.kind in ("intensity", "intensity-cov")
    )
    checked_against_results(folder, report)


def phases_in(state: Path) -> list[Any]:
    phases: list[Any] = json.loads(state.read_text())["done"]
    return phases


def results_in(folder: Path) -> int:
    """Phases that have left their result."""
    return sum(path.name[0].isdigit() for path in folder.glob("*.json"))


def test_an_interrupted_method_is_resumed(call: Spekctl, wide_disk: str, tmp_path: Path) -> None:
    folder = tmp_path / "t"
    line: tuple[str, ...] = ("spc1", "--device", wide_disk, "--folder", str(folder), *SHORT)
    line += ("--start-bsu", "8", "--max-bsu", "8")
    process = subprocess.Popen(
        [sys.executable, "-m", "spekctl", *line],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    state = folder / "state.json"
    try:
        eventually(lambda: results_in(folder) >= 2, "two phases were not finished")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=LONG_S)
    finally:
        process.kill()
        process.wait()

    assert process.returncode == ExitCode.INTERRUPTED, err
    before = phases_in(state)
    assert f"{len(before)} phases are kept in {folder}" in err.splitlines()[-1]
    assert "SPC-1-like, unaudited" in out and "not complete" in out

    refused = call(*line, "--resume", "--seed", "2")
    assert refused.code == ExitCode.USAGE
    assert "another --seed: 1 then, 2 now" in refused.err

    resumed = call(*line, "--resume")
    report = report_of(folder)
    assert resumed.code == (ExitCode.OK if report.passed else ExitCode.LIMIT_MISSED)
    assert report.complete, resumed.err
    after = phases_in(state)
    assert after[: len(before)] == before
    names = [phase.step.name for phase in report.phases]
    assert names[0] == "search-8" and names[-1] == "repeat-2-100"
    assert len(set(names)) == len(names)
    checked_against_results(folder, report)


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (("sweep", "random-read-4k", "--depth", "4-1"), ExitCode.USAGE, "is empty"),
        (("sweep", "random-read-4k", "--rate", "0"), ExitCode.USAGE, "above 0"),
        (("sweep", "spc1", "--bsu", "1-3"), ExitCode.REFUSED, "give --write"),
        (("sweep", "random-read-4k"), ExitCode.USAGE, "say which loads"),
        (("spc1",), ExitCode.REFUSED, "give --write"),
        (("spc1", "--write", "--destroy", "nobody"), ExitCode.REFUSED, "names none of"),
        (("spc1", "--write", "--max-response", "0s"), ExitCode.USAGE, "more than 0"),
        (("spc1", "--write", "--resume", "--folder", "none"), ExitCode.USAGE, "no test to resume"),
    ],
)
def test_wrong_input_gets_one_sentence(
    arguments: tuple[str, ...], code: int, sentence: str, call: Spekctl, disk: str
) -> None:
    settle()  # what was written before, udev reads
    fields = Path("/sys/block", os.path.basename(disk), "stat").read_text().split()
    outcome = call(*arguments, "--device", disk)
    assert outcome.code == code, outcome.err
    assert sentence in outcome.err and outcome.err.count("\n") == 1
    assert outcome.out == ""
    after = Path("/sys/block", os.path.basename(disk), "stat").read_text().split()
    assert (after[0], after[4]) == (fields[0], fields[4])


def head_of(node: str) -> bytes:
    with open(node, "rb") as file:
        return file.read(1 << 20)


def test_data_is_not_overwritten_by_a_method(
    call: Spekctl, spek_module: Path, tmp_path: Path
) -> None:
    with null_disk(size_mb=256, memory_backed=1) as node:
        subprocess.run(["mkfs.ext4", "-q", "-L", "precious", node], check=True)
        settle()
        head = head_of(node)
        line: tuple[str, ...] = ("spc1", "--device", node, "--folder", str(tmp_path / "t"), *SHORT)
        line += ("--start-bsu", "2", "--max-bsu", "2")
        refused = call(*line)
        assert refused.code == ExitCode.REFUSED
        assert "ext4 'precious'" in refused.err
        assert head_of(node) == head

# SPDX-License-Identifier: GPL-2.0
"""spekctl pts: whole tests on a fake device that settles, and their reports."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from lib.ctl.campaign_command import interrupt_in_run
from lib.ctl.command_line import Spekctl
from lib.ctl.pts_command import SHORT, Settling, call, report_of, settling_kernel

from spekctl.errors import ExitCode
from spekctl.kernel.records import Reason, ReplayInfo
from spekctl.run import replay_request
from spekctl.workload.config import RunConfig

kernel = pytest.fixture(settling_kernel)


def test_every_step_leaves_its_result(spekctl: Spekctl, kernel: Settling) -> None:
    call(spekctl, "--tests", "latency")
    names = sorted(os.listdir("t"))
    assert names[:3] == [
        "0001-latency-purge.json",
        "0002-latency-precondition.json",
        "0003-latency-round-1-4k-read-100.json",
    ]
    assert names[-3:] == ["purge.csv", "report.json", "state.json"]


def test_progress_tells_each_round_and_the_time_left(spekctl: Spekctl, kernel: Settling) -> None:
    line = ["lines" if word == "none" else word for word in SHORT]
    outcome = spekctl("pts", "--device", "/dev/fake0", "--write", *line, "--tests", "iops")
    assert "iops, round 4: 5 rounds are needed" in outcome.err
    assert "iops, round 10: range 5.9 %, slope 4.4 % of the average: steady" in outcome.err
    assert ": purge before iops, 0:20 left in all" in outcome.err
    assert "iops, round 1, 4 KiB, 0 % reads, 0:17 left in all" in outcome.err


def test_a_device_without_discards_is_refused(
    spekctl: Spekctl, kernel: Settling, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay_request, "discards", lambda device: False)
    outcome = call(spekctl, "--tests", "latency")
    assert outcome.code == ExitCode.USAGE and not kernel.runs_seen
    assert "/dev/fake0 cannot be purged: no support for discards; with --no-purge" in (
        outcome.sentence
    )
    assert not Path("t").exists()
    without = call(spekctl, "--tests", "latency", "--no-purge")
    assert without.code == ExitCode.OK
    report = report_of()
    assert not report["tests"][0]["purged"] and report["parameters"]["purge"] is False
    assert "--no-purge: the device was not purged" in without.out
    assert all(config.streams[0].pattern != "trace" for config in kernel.runs_seen)


def test_a_purge_that_is_not_complete_ends_the_test(spekctl: Spekctl, kernel: Settling) -> None:
    kernel.replay = ReplayInfo(fed=1, issued=0, ended=1)
    outcome = call(spekctl)
    assert outcome.code == ExitCode.RUN_FAILED
    assert "iops-purge: not all blocks were discarded" in outcome.err
    assert len(kernel.runs_seen) == 1


def test_an_interrupted_test_is_resumed(spekctl: Spekctl, kernel: Settling) -> None:
    assert call(spekctl, "--folder", "whole").code == ExitCode.OK
    whole = report_of("whole")
    kernel.runs_seen.clear()

    interrupt_in_run(30, kernel)
    first = call(spekctl)
    assert first.code == ExitCode.INTERRUPTED
    assert "30 steps are kept in t, --resume continues after iops-round-7" in first.err
    assert report_of()["verdict"] == "not complete: steps are missing"
    refused = call(spekctl)
    assert refused.code == ExitCode.USAGE and "t already holds a test" in refused.sentence
    kernel.before_run = lambda config: None
    for option, value, was, now in (
        ("--time", "2s", "1s", "2s"),
        ("--sizes", "4K", "8192,4096", "4096"),
        ("--until", "steady:window=4", "5", "4"),
        ("--tests", "iops", "iops,throughput,latency,saturation", "iops"),
        ("--depth", "4", "32", "4"),
    ):
        changed = call(spekctl, "--resume", option, value)
        assert (
            f"another {option}" in changed.sentence and f"{was} then, {now} now" in changed.sentence
        )
    changed = call(spekctl, "--resume", "--no-purge")
    assert "another --no-purge" in changed.sentence
    # The interrupted measurement belongs to a round that had begun, and is repeated in it.
    kernel.rounds -= 1 if kernel.runs_seen[-1].streams[0].read_ppm == 0 else 0
    assert call(spekctl, "--resume").code == ExitCode.OK
    report = report_of()
    assert report["passed"] and len(report["runs"]) == len(whole["runs"])
    assert report["saturation"] == whole["saturation"]


def test_a_device_that_goes_away_can_come_back(spekctl: Spekctl, kernel: Settling) -> None:
    def gone(config: RunConfig) -> None:
        if config.name == "pts-latency" and not config.count and len(kernel.runs_seen) > 6:
            kernel.end_reason = Reason.DEVICE_GONE

    kernel.before_run = gone
    outcome = call(spekctl, "--tests", "latency")
    assert outcome.code == ExitCode.RUN_FAILED
    assert "a device was removed during the run; 7 steps are kept" in outcome.err
    kernel.before_run = lambda config: None
    assert call(spekctl, "--tests", "latency", "--resume").code == ExitCode.OK


def test_io_errors_fail_the_test(spekctl: Spekctl, kernel: Settling) -> None:
    def fails(config: RunConfig) -> None:
        kernel.errors = 5 if len(kernel.runs_seen) == 4 else 0

    kernel.before_run = fails
    outcome = call(spekctl, "--tests", "latency")
    assert outcome.code == ExitCode.RUN_FAILED
    assert report_of()["verdict"].startswith("failed: latency-round-2-4k-read-100: the run comp")


def test_a_step_without_io_fails_the_test(
    spekctl: Spekctl, kernel: Settling, monkeypatch: pytest.MonkeyPatch
) -> None:
    stats = kernel.stats
    monkeypatch.setattr(
        kernel, "stats", lambda run: [] if len(kernel.runs_seen) == 4 else stats(run)
    )
    outcome = call(spekctl, "--tests", "latency")
    assert outcome.code == ExitCode.RUN_FAILED
    said = "failed: latency-round-1-4k-read-0: no I/O completed in the measure phase"
    assert report_of()["verdict"] == said


READS = {"iops": ("--reads", "100"), "latency": ("--latency-reads", "100")}


@pytest.mark.parametrize("test", READS)
@pytest.mark.parametrize("before", [(), ("--no-purge",), ("--precondition", "0")])
def test_a_test_whose_rounds_only_read_may_write_before_them(
    spekctl: Spekctl, kernel: Settling, test: str, before: tuple[str, ...]
) -> None:
    steady = ("--until", "steady:window=2,range=100%,slope=100%")
    arguments = ("--tests", test, *READS[test], *before, *steady)
    refused = spekctl("pts", "--device", "/dev/fake0", *SHORT, *arguments)
    assert refused.code == ExitCode.REFUSED and "give --write" in refused.sentence
    assert not kernel.calls and not Path("t").exists()
    assert call(spekctl, *arguments).code == ExitCode.OK
    wrote = [config.streams[0].read_ppm < 1_000_000 for config in kernel.runs_seen]
    assert wrote == [True] * (2 - bool(before)) + [False] * (len(wrote) - (2 - bool(before)))


def test_a_test_that_writes_nothing_claims_its_device_for_reading(
    spekctl: Spekctl, kernel: Settling
) -> None:
    claims: list[bool] = []
    kernel.before_run = lambda config: claims.append(
        bool(kernel.claimed[max(kernel.claimed)].write)
    )
    steady = ("--until", "steady:window=2,range=100%,slope=100%")
    arguments = ("--tests", "iops", "--reads", "100", "--no-purge", "--precondition", "0", *steady)
    assert call(spekctl, *arguments).code == ExitCode.OK
    assert claims and not any(claims)

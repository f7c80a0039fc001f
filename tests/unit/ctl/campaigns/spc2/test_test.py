# SPDX-License-Identifier: GPL-2.0
"""spekctl spc2: whole tests on a queue with a closed form, and their reports."""

from __future__ import annotations

import json
import os
from fractions import Fraction
from pathlib import Path

import pytest
from lib.ctl.campaign_command import interrupt_in_run
from lib.ctl.command_line import Spekctl
from lib.ctl.spc2_command import READ, WRITE, report_of, streams_kernel
from lib.fakes.queue_kernel import QueueKernel

from spekctl.errors import ExitCode
from spekctl.kernel.records import Reason
from spekctl.workload.config import RunConfig

kernel = pytest.fixture(streams_kernel)


def test_every_run_leaves_its_result(spekctl: Spekctl, kernel: QueueKernel) -> None:
    spekctl(*WRITE, "--folder", "t", "--vod-streams", "6")
    names = sorted(os.listdir("t"))
    assert names[0] == "001-lfp-write-1024k-4.json" and names[-2:] == ["report.json", "state.json"]
    runs = report_of("t")["runs"]
    assert len(runs) == 10 * 3 + 1 == len(names) - 2
    for run in runs:
        kept = json.loads(Path("t", run["result_file"]).read_text())
        assert (
            sum(stream["replicas"] for stream in kept["config"]["streams"])
            == (run["step"]["streams"])
        )
        rate = Fraction(str(kept["totals"]["all"]["bytes_per_s"])) / 10**6
        assert Fraction(run["mb_s"]) == rate


def test_the_text_says_what_it_is_and_what_came_out(spekctl: Spekctl, kernel: QueueKernel) -> None:
    outcome = spekctl(*WRITE, "--folder", "t", "--system-price", "12000")
    lines = outcome.out.splitlines()
    assert lines[0] == "SPC-2-like, unaudited: test of /dev/fake0"
    assert lines[1].startswith("  passed: all runs were measured")
    assert lines[2].startswith("  SPC-2-like MBPS 0.2")
    assert "price 12000, for each MB/s" in lines[3]
    assert "streams of video on demand without an underrun" in lines[4]
    for title in ("parts, at", "runs", "search for the streams"):
        assert any(line.startswith(title) for line in lines), title
    assert "…" not in outcome.out
    assert "SPC-2 " not in outcome.out.replace("SPC-2-like", "")
    assert outcome.err == "spekctl: report written to t/report.json\n"


def test_progress_tells_test_streams_and_time_left(spekctl: Spekctl, kernel: QueueKernel) -> None:
    line = [word if word != "none" else "lines" for word in READ]
    outcome = spekctl(*line, "--parts", "ldq", "--folder", "t")
    heads = [text for text in outcome.err.splitlines() if "left in all" in text]
    assert heads[0].endswith("/dev/fake0: ldq-1024k-4, 4 streams, 0:36 left in all")
    assert heads[-1].endswith("/dev/fake0: ldq-64k-1, 1 stream, 0:03 left in all")


def test_an_interrupted_test_is_resumed(spekctl: Spekctl, kernel: QueueKernel) -> None:
    assert spekctl(*WRITE, "--folder", "whole").code == ExitCode.OK
    whole = [config.name for config in kernel.runs_seen]
    kernel.runs_seen.clear()

    interrupt_in_run(32, kernel)
    first = spekctl(*WRITE, "--folder", "t")
    assert first.code == ExitCode.INTERRUPTED
    assert "32 runs are kept in t, --resume continues after vod-search-2" in first.err
    assert report_of("t")["verdict"] == "not complete: runs are missing"
    refused = spekctl(*WRITE, "--folder", "t")
    assert refused.code == ExitCode.USAGE and "t already holds a test" in refused.sentence
    for option, was, now in (
        ("--time", "2s", "3s"),
        ("--streams", "4", "5"),
        ("--parts", "lfp,ldq,vod", "vod"),
        ("--seed", "1", "5"),
        ("--max-late", "0", "0.5"),
    ):
        changed = spekctl(*WRITE, "--folder", "t", "--resume", option, now)
        assert f"another {option}: {was} then, {now} now" in changed.sentence
    kernel.before_run = lambda config: None
    assert spekctl(*WRITE, "--folder", "t", "--resume").code == ExitCode.OK
    done = [config.name for config in kernel.runs_seen]
    assert done[:32] + done[-(len(whole) - 32) :] == whole
    same = ("mbps", "composites", "vod_streams", "passed")
    assert {name: report_of("t")[name] for name in same} == {
        name: report_of("whole")[name] for name in same
    }


def test_a_device_that_goes_away_can_come_back(spekctl: Spekctl, kernel: QueueKernel) -> None:
    def gone(config: RunConfig) -> None:
        if config.name == "spc2-ldq-64k-1":
            kernel.end_reason = Reason.DEVICE_GONE

    kernel.before_run = gone
    outcome = spekctl(*READ, "--folder", "t")
    assert outcome.code == ExitCode.RUN_FAILED
    assert "ldq-64k-1-4: a device was removed during the run; 9 runs are kept" in outcome.err
    kernel.before_run = lambda config: None
    assert spekctl(*READ, "--folder", "t", "--resume").code == ExitCode.OK

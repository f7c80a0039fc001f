# SPDX-License-Identifier: GPL-2.0
"""spekctl spc2: whole tests on a queue with a closed form, and their reports."""

from __future__ import annotations

import json
import os
import signal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from lib.ctl.command_line import Spekctl
from lib.ctl.schemas import validator
from lib.fakes.machine import use_fakes
from lib.fakes.queue_kernel import QueueKernel

from spekctl.campaigns.spc2 import figures
from spekctl.documents import spc2
from spekctl.errors import ExitCode
from spekctl.kernel.records import Reason
from spekctl.workload.config import RunConfig

SHORT = (
    *("--ramp", "1s", "--time", "2s", "--vod-time", "4s", "--search-time", "2s"),
    *("--streams", "4", "--progress", "none"),
)
WRITE = ("spc2", "--device", "/dev/fake0", "--write", *SHORT)
READ = ("spc2", "--device", "/dev/fake0", "--parts", "ldq,vod", *SHORT)


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> QueueKernel:
    fake = QueueKernel(capacity=100.0)
    use_fakes(monkeypatch, fake, tmp_path)
    monkeypatch.chdir(tmp_path)
    return fake


def report_of(folder: str) -> dict[str, Any]:
    """The report; valid, and readable as what it is."""
    path = Path(folder, "report.json")
    data: dict[str, Any] = json.loads(path.read_text())
    validator(spc2.SCHEMA_FILE).validate(data)
    spc2.load_report(path)
    return data


def test_a_whole_test_has_its_report(spekctl: Spekctl, kernel: QueueKernel) -> None:
    outcome = spekctl(*WRITE, "--out", "t", "--system-price", "12000")
    assert outcome.code == ExitCode.OK, outcome.out + outcome.err
    found = report_of("t")
    assert found["notice"] == "SPC-2-like, unaudited"
    assert (found["passed"], found["complete"]) == (True, True)
    # A queue of 100 I/Os per second serves 33 streams of 3 each, if at all.
    assert 25 <= found["vod_streams"] <= 33
    rates = {one["name"]: Fraction(one["mb_s"]["exact"]) for one in found["composites"]}
    # The fake's I/Os have 4 KiB each, half of its capacity in closed loop.
    assert rates["lfp"] == rates["ldq"] == Fraction(50 * 4096, 10**6)
    assert rates["vod"] == Fraction(3 * found["vod_streams"] * 4096, 10**6)
    whole = figures.mean([rates["lfp"], rates["ldq"], rates["vod"]])
    assert Fraction(found["mbps"]["exact"]) == whole == rates["spc2"]
    assert Fraction(found["price_per_mbps"]["exact"]) == 12000 / whole
    assert kernel.deleted and kernel.closed


def test_every_run_leaves_its_result(spekctl: Spekctl, kernel: QueueKernel) -> None:
    spekctl(*WRITE, "--out", "t", "--vod-streams", "6")
    names = sorted(os.listdir("t"))
    assert names[0] == "001-lfp-write-1024k-4.json" and names[-2:] == ["report.json", "state.json"]
    runs = report_of("t")["runs"]
    assert len(runs) == 10 * 3 + 1 == len(names) - 2
    for one in runs:
        kept = json.loads(Path("t", one["result_file"]).read_text())
        assert (
            sum(stream["replicas"] for stream in kept["config"]["streams"])
            == (one["step"]["streams"])
        )
        rate = Fraction(str(kept["totals"]["all"]["bytes_per_s"])) / 10**6
        assert Fraction(one["mb_s"]) == rate


def test_runs_are_what_their_tests_are_called(spekctl: Spekctl, kernel: QueueKernel) -> None:
    spekctl(*WRITE, "--out", "t", "--vod-streams", "40", "--seed", "7")
    runs = {(one.name, sum(s.replicas for s in one.streams)): one for one in kernel.runs_seen}
    writes = runs["spc2-lfp-write-1024k", 4]
    assert {stream.read_ppm for stream in writes.streams} == {0} and writes.write
    assert {stream.pattern for stream in writes.streams} == {"runs"}
    assert [one.depth for one in writes.arrivals] == [1] * 4
    mixed = runs["spc2-lfp-mixed-256k", 4]
    assert [one.read_ppm for one in mixed.streams] == [1_000_000, 0] * 2
    query = runs["spc2-ldq-64k-4", 2]
    assert [one.depth for one in query.arrivals] == [4, 4] and query.max_outstanding == 8
    video = runs["spc2-vod", 40]
    assert video.offered_rate == 120 and {one.law for one in video.arrivals} == {"constant"}
    assert not query.write
    # No two runs begin at the same places.
    seeds = [one.seed for one in kernel.runs_seen]
    assert seeds == list(range(7, 7 + len(seeds)))


def test_the_text_says_what_it_is_and_what_came_out(spekctl: Spekctl, kernel: QueueKernel) -> None:
    outcome = spekctl(*WRITE, "--out", "t", "--system-price", "12000")
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


def test_json_goes_to_standard_output(spekctl: Spekctl, kernel: QueueKernel) -> None:
    outcome = spekctl(*READ, "--out", "t", "--json")
    assert json.loads(outcome.out) == json.loads(Path("t/report.json").read_text())


def test_progress_tells_test_streams_and_time_left(spekctl: Spekctl, kernel: QueueKernel) -> None:
    line = [one if one != "none" else "lines" for one in READ]
    outcome = spekctl(*line, "--parts", "ldq", "--out", "t")
    heads = [text for text in outcome.err.splitlines() if "left in all" in text]
    assert heads[0].endswith("/dev/fake0: ldq-1024k-4, 4 streams, 0:36 left in all")
    assert heads[-1].endswith("/dev/fake0: ldq-64k-1, 1 stream, 0:03 left in all")


def test_a_stream_that_underruns_is_missed(spekctl: Spekctl, kernel: QueueKernel) -> None:
    outcome = spekctl(*READ, "--out", "t", "--parts", "vod", "--vod-streams", "100")
    assert outcome.code == ExitCode.LIMIT_MISSED
    found = report_of("t")
    assert "took longer than 333 ms: their streams underrun" in found["verdict"]
    assert found["vod_streams"] is None and found["runs"][0]["late"] > 0
    patient = spekctl(
        *(*READ, "--out", "u", "--parts", "vod", "--vod-streams", "30"),
        *("--max-response", "1us", "--max-late", "1"),
    )
    assert patient.code == ExitCode.OK
    run = report_of("u")["runs"][0]
    assert run["late"] == run["ios"]


def test_an_interrupted_test_is_resumed(spekctl: Spekctl, kernel: QueueKernel) -> None:
    assert spekctl(*WRITE, "--out", "whole").code == ExitCode.OK
    whole = [one.name for one in kernel.runs_seen]
    kernel.runs_seen.clear()

    def stop(config: RunConfig) -> None:
        if len(kernel.runs_seen) == 32:
            os.kill(os.getpid(), signal.SIGINT)

    kernel.before_run = stop
    first = spekctl(*WRITE, "--out", "t")
    assert first.code == ExitCode.INTERRUPTED
    assert "32 runs are kept in t, --resume continues after vod-search-2" in first.err
    assert report_of("t")["verdict"] == "not complete: runs are missing"
    refused = spekctl(*WRITE, "--out", "t")
    assert refused.code == ExitCode.USAGE and "t already holds a test" in refused.sentence
    for option, was, now in (
        ("--time", "2s", "3s"),
        ("--streams", "4", "5"),
        ("--parts", "lfp,ldq,vod", "vod"),
        ("--seed", "1", "5"),
        ("--max-late", "0", "0.5"),
    ):
        other = spekctl(*WRITE, "--out", "t", "--resume", option, now)
        assert f"another {option}: {was} then, {now} now" in other.sentence
    kernel.before_run = lambda config: None
    assert spekctl(*WRITE, "--out", "t", "--resume").code == ExitCode.OK
    done = [one.name for one in kernel.runs_seen]
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
    outcome = spekctl(*READ, "--out", "t")
    assert outcome.code == ExitCode.RUN_FAILED
    assert "ldq-64k-1-4: a device was removed during the run; 9 runs are kept" in outcome.err
    kernel.before_run = lambda config: None
    assert spekctl(*READ, "--out", "t", "--resume").code == ExitCode.OK


def test_io_errors_fail_the_test(spekctl: Spekctl, kernel: QueueKernel) -> None:
    def fails(config: RunConfig) -> None:
        kernel.errors = 5 if config.name == "spc2-ldq-64k-4" else 0

    kernel.before_run = fails
    outcome = spekctl(*READ, "--out", "t")
    assert outcome.code == ExitCode.RUN_FAILED
    assert report_of("t")["verdict"].startswith("failed: ldq-64k-4-4: ")
    assert "ERRORS" in outcome.out


WRONG: dict[str, tuple[str, ExitCode, str]] = {
    "not allowed": ("", ExitCode.REFUSED, "give --write"),
    "part": ("--parts vdo", ExitCode.USAGE, "no part is called 'vdo'; did you mean 'vod'?"),
    "part twice": ("--parts ldq,vod,ldq", ExitCode.USAGE, "ldq is listed twice"),
    "no streams": ("--streams 0", ExitCode.USAGE, "'--streams'"),
    "no time": ("--parts vod --vod-time 0", ExitCode.USAGE, "--vod-time must be more than 0"),
    "no response": ("--parts vod --max-response 0ns", ExitCode.USAGE, "--max-response must be"),
    "late": ("--parts vod --max-late 2", ExitCode.USAGE, "'--max-late'"),
    "range": ("--parts vod --vod-start 9 --vod-most 3", ExitCode.USAGE, "is more than --vod-most"),
    "price": ("--parts vod --system-price 0", ExitCode.USAGE, "--system-price must be more than"),
    "resume": ("--parts vod --resume --out no", ExitCode.USAGE, "no holds no test to resume"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_input_gets_one_sentence_before_anything_runs(
    case: str, spekctl: Spekctl, kernel: QueueKernel
) -> None:
    line, code, sentence = WRONG[case]
    outcome = spekctl("spc2", "--device", "/dev/fake0", *line.split())
    assert outcome.code == code, outcome.err
    assert sentence in outcome.sentence
    assert outcome.out == "" and "run-new" not in kernel.calls

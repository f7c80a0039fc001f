# SPDX-License-Identifier: GPL-2.0
"""spekctl spc1: whole tests on a queue with a closed form, and their reports."""

from __future__ import annotations

import json
import os
from pathlib import Path

import msgspec
import pytest
from lib.ctl.campaign_command import interrupt_in_run, queue_kernel
from lib.ctl.command_line import Spekctl
from lib.ctl.spc1_command import SECOND, SHORT, WRITE, bsus, report_of
from lib.fakes.queue_kernel import QueueKernel

from spekctl.block import near
from spekctl.documents.spc1 import QUICK
from spekctl.errors import ExitCode
from spekctl.workload.config import RunConfig

kernel = pytest.fixture(queue_kernel)


def test_every_phase_leaves_its_result(
    spekctl: Spekctl, kernel: QueueKernel, tmp_path: Path
) -> None:
    spekctl(*WRITE, "--folder", "t", "--start-bsu", "16", "--max-bsu", "16")
    names = sorted(os.listdir(tmp_path / "t"))
    assert names == [
        *("01-search-16.json", "02-sustain.json", "03-iops.json", "04-ramp-95.json"),
        *("05-ramp-90.json", "06-ramp-80.json", "07-ramp-50.json", "08-ramp-10.json"),
        *("09-repeat-1-10.json", "10-repeat-1-100.json", "11-repeat-2-10.json"),
        *("12-repeat-2-100.json", "report.json", "state.json"),
    ]
    for phase in report_of(tmp_path / "t")["phases"]:
        kept = json.loads((tmp_path / "t" / phase["point"]["result_file"]).read_text())
        assert kept["kind"] == "spek-result"
        assert kept["totals"]["all"]["iops"] == phase["point"]["iops"]
        assert kept["config"]["streams"][0]["replicas"] == phase["step"]["bsu"]


def test_the_text_says_what_it_is_and_what_came_out(spekctl: Spekctl, kernel: QueueKernel) -> None:
    outcome = spekctl(*WRITE, "--folder", "t")
    lines = outcome.out.splitlines()
    assert lines[0] == "SPC-1-like, unaudited: test of /dev/fake0"
    assert lines[1] == "  passed: all limits are met"
    assert "SPC-1-like IOPS 1,100 at 22 BSU, SPC-1-like LRT 940 us" in lines[2]
    assert "total ASU capacity" in lines[3]
    for title in ("phases", "address ranges", "streams", "limits", "search for the level"):
        assert any(line.startswith(title) for line in lines), title
    assert "…" not in outcome.out
    assert outcome.err == "spekctl: report written to t/report.json\n"
    assert "SPC-1 " not in outcome.out.replace("SPC-1-like", "")


def test_json_goes_to_standard_output(spekctl: Spekctl, kernel: QueueKernel) -> None:
    outcome = spekctl(*WRITE, "--folder", "t", "--json")
    assert json.loads(outcome.out) == json.loads(Path("t/report.json").read_text())


def test_progress_tells_phase_load_and_time_left(spekctl: Spekctl, kernel: QueueKernel) -> None:
    line = [word if word != "none" else "lines" for word in WRITE]
    outcome = spekctl(*line, "--folder", "t", "--start-bsu", "20", "--max-bsu", "20")
    heads = [text for text in outcome.err.splitlines() if "left in all" in text]
    assert [text.partition("fake0: ")[2] for text in heads[:4]] == [
        "search, 20 BSU, 0:56 left in all",
        "sustain at 100 %, 20 BSU, 0:38 left in all",
        "IOPS phase at 100 %, 20 BSU, 0:33 left in all",
        "ramp at 95 %, 19 BSU, 0:29 left in all",
    ]
    assert heads[-1].endswith("repetition 2 at 100 %, 20 BSU, 0:04 left in all")


def test_the_folder_has_the_name_of_the_devices(spekctl: Spekctl, kernel: QueueKernel) -> None:
    both = ("spc1", "--device", "/dev/fake0", "--device", "/dev/fake1", "--write", *SHORT)
    assert spekctl(*both, "--stripe", "1MiB", "--max-bsu", "4").code == ExitCode.OK
    assert Path("spc1-fake0-fake1/report.json").exists()
    assert {len(config.targets) for config in kernel.runs_seen} == {2}
    assert {config.asus[0].stripe_bytes for config in kernel.runs_seen} == {1 << 20}


def test_options_reach_every_run(spekctl: Spekctl, kernel: QueueKernel) -> None:
    outcome = spekctl(
        *(*WRITE, "--folder", "t", "--max-bsu", "4", "--seed", "7", "--hrrw", "fixed"),
        *("--iops-per-bsu", "5", "--data", "random", "--max-outstanding", "99"),
    )
    assert outcome.code == ExitCode.OK
    for config in kernel.runs_seen:
        assert (config.seed, config.data, config.max_outstanding) == (7, "random", 99)
        assert config.offered_rate == 5 * config.streams[0].replicas
        assert config.streams[1].walk_style == "fixed"
        assert config.write


def test_the_report_says_which_cpus_auto_has_chosen_and_why(
    spekctl: Spekctl, kernel: QueueKernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    last = max(os.sched_getaffinity(0))
    monkeypatch.setattr(near, "order", lambda nears, available, roots: [last, 0])
    outcome = spekctl(*WRITE, "--folder", "t", "--max-bsu", "1", "--cpus", "auto")
    remark = f"--cpus auto: workers on CPU {last}: /dev/fake0 has no known NUMA node"
    assert report_of(tmp_path / "t")["remarks"].count(remark) == 1
    assert remark in outcome.out
    assert all(config.cpus == [last] for config in kernel.runs_seen)


def test_the_standards_lengths_are_the_default(spekctl: Spekctl, kernel: QueueKernel) -> None:
    interrupt_in_run(2, kernel)
    spekctl("spc1", "--device", "/dev/fake0", "--write", "--folder", "t", "--progress", "none")
    assert [config.ramp_ns // SECOND for config in kernel.runs_seen] == [180, 180, 180]
    state = json.loads(Path("t/state.json").read_text())
    assert state["parameters"]["durations"]["sustain_ns"] == 8 * 3600 * SECOND
    assert state["parameters"]["limits"]["response_ns"] == 30_000_000


def test_limits_are_parameters(spekctl: Spekctl, kernel: QueueKernel, tmp_path: Path) -> None:
    line = (*WRITE, "--folder", "t", "--max-bsu", "4")
    outcome = spekctl(*line, "--limit", "intensity=0", "--limit", "chance_sigmas=0")
    assert outcome.code == ExitCode.LIMIT_MISSED
    report = report_of(tmp_path / "t")
    assert report["parameters"]["limits"]["intensity"] == 0
    missed = {check["kind"] for check in report["checks"] if not check["passed"]}
    assert missed == {"intensity"}


def test_quick_is_a_preset_that_options_change(spekctl: Spekctl, kernel: QueueKernel) -> None:
    line = ("spc1", "--device", "/dev/fake0", "--write", "--quick", "--progress", "none")
    spekctl(*line, "--folder", "t", "--max-bsu", "1", "--sustain", "3s")
    lengths = json.loads(Path("t/state.json").read_text())["parameters"]["durations"]
    assert lengths == msgspec.to_builtins(msgspec.structs.replace(QUICK, sustain_ns=3 * SECOND))


# --- limits that are missed ----------------------------------------------------------------------


def failed_checks(folder: Path) -> set[tuple[str, str]]:
    return {
        (check["kind"], check["phase"])
        for check in report_of(folder)["checks"]
        if not check["passed"]
    }


def test_a_stream_with_another_share_fails(spekctl: Spekctl, kernel: QueueKernel) -> None:
    kernel.skew = {7: 1.3}
    outcome = spekctl(*WRITE, "--folder", "t")
    assert outcome.code == ExitCode.LIMIT_MISSED
    kinds = {kind for kind, _ in failed_checks(Path("t"))}
    assert kinds == {"intensity"}
    assert "missed: sustain: stream 3-1 had 33" in outcome.out
    assert "failed: sustain: stream" in outcome.out


def test_a_stream_that_comes_and_goes_fails(spekctl: Spekctl, kernel: QueueKernel) -> None:
    kernel.wobble = 5.0
    assert spekctl(*WRITE, "--folder", "t").code == ExitCode.LIMIT_MISSED
    assert {kind for kind, _ in failed_checks(Path("t"))} == {"intensity-cov"}


def test_a_repetition_that_is_slower_fails(spekctl: Spekctl, kernel: QueueKernel) -> None:
    kernel.disturb = lambda config, mean_s: (
        mean_s + 0.002 * (bsus(kernel).count(2) == 4 and bsus(kernel)[-1] == 2)
    )
    assert spekctl(*WRITE, "--folder", "t").code == ExitCode.LIMIT_MISSED
    assert failed_checks(Path("t")) == {("repeat-lrt", "repeat-2-10")}


def test_a_ramp_step_that_misses_the_limit_ends_it_with_code_7(
    spekctl: Spekctl, kernel: QueueKernel
) -> None:
    kernel.disturb = lambda config, mean_s: (
        0.050 if config.time_ns == 2 * SECOND and bsus(kernel)[-2:] == [22, 20] else mean_s
    )
    outcome = spekctl(*WRITE, "--folder", "t")
    assert outcome.code == ExitCode.LIMIT_MISSED
    report = report_of(Path("t"))
    assert report["phases"][-1]["step"]["name"] == "ramp-95"
    assert report["verdict"].startswith("failed: ramp-95: mean response time 50.0 ms is above")
    assert (report["complete"], report["level_bsu"], report["lrt_ns"]) == (False, 22, None)

    resumed = spekctl(*WRITE, "--folder", "t", "--resume", "--keep-going")
    assert resumed.code == ExitCode.LIMIT_MISSED
    report = report_of(Path("t"))
    assert report["complete"] and failed_checks(Path("t")) == {
        ("response", "ramp-95"),
        ("served", "ramp-95"),
    }


def test_io_errors_fail_the_test(spekctl: Spekctl, kernel: QueueKernel) -> None:
    def fail(config: RunConfig) -> None:
        kernel.errors = 2 if config.time_ns == 4 * SECOND else 0

    kernel.before_run = fail
    outcome = spekctl(*WRITE, "--folder", "t")
    assert outcome.code == ExitCode.RUN_FAILED
    assert "failed: sustain failed: the run completed; 2 I/Os failed" in outcome.out
    assert spekctl(*WRITE, "--folder", "t", "--resume", "--keep-going").code == ExitCode.RUN_FAILED
    assert report_of(Path("t"))["complete"]
    assert failed_checks(Path("t")) == {("errors", "sustain")}


def test_io_errors_in_the_search_fail_the_test(spekctl: Spekctl, kernel: QueueKernel) -> None:
    def fail(config: RunConfig) -> None:
        kernel.errors = 2 if bsus(kernel) == [] else 0

    kernel.before_run = fail
    outcome = spekctl(*WRITE, "--folder", "t", "--keep-going")
    assert outcome.code == ExitCode.RUN_FAILED
    report = report_of(Path("t"))
    first = report["phases"][0]["step"]
    assert (report["complete"], report["passed"]) == (True, False)
    name = f"{first['name']} ({first['bsu']} BSU)"
    assert failed_checks(Path("t")) == {("errors", name)}
    assert report["verdict"].startswith(f"failed: {name}: the run completed; 2 I/Os failed")
    assert f"missed: {name}: the run completed; 2 I/Os failed" in outcome.out


def test_io_errors_at_a_level_that_was_lowered_fail_the_test(
    spekctl: Spekctl, kernel: QueueKernel
) -> None:
    def is_too_much(config: RunConfig) -> bool:
        return config.time_ns == 4 * SECOND and config.streams[0].replicas > 20

    def fail(config: RunConfig) -> None:
        kernel.errors = 2 if is_too_much(config) else 0

    kernel.before_run = fail
    kernel.disturb = lambda config, mean_s: 0.050 if is_too_much(config) else mean_s
    assert spekctl(*WRITE, "--folder", "t", "--keep-going").code == ExitCode.RUN_FAILED
    report = report_of(Path("t"))
    assert (report["level_bsu"], report["complete"], report["passed"]) == (20, True, False)
    assert failed_checks(Path("t")) == {("errors", "sustain (22 BSU)")}

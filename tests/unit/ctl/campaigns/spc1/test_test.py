# SPDX-License-Identifier: GPL-2.0
"""spekctl spc1: whole tests on a queue with a closed form, and their reports."""

from __future__ import annotations

import json
import os
from pathlib import Path

import msgspec
import pytest
from lib.ctl.campaign_command import interrupt_in_run
from lib.ctl.command_line import Spekctl
from lib.ctl.spc1_command import SECOND, SHORT, WRITE, bsus, queue_kernel, report_of
from lib.fakes.queue_kernel import QueueKernel

from spekctl.documents import curve, spc1
from spekctl.documents.curve import Load
from spekctl.documents.spc1 import QUICK
from spekctl.errors import ExitCode, UsageError
from spekctl.workload.config import RunConfig

kernel = pytest.fixture(queue_kernel)


def test_a_whole_test_has_its_report(spekctl: Spekctl, kernel: QueueKernel, tmp_path: Path) -> None:
    outcome = spekctl(*WRITE, "--out", "t")
    assert outcome.code == ExitCode.OK, outcome.out
    found = report_of(tmp_path / "t")
    assert found["notice"] == "SPC-1-like, unaudited"
    assert (found["passed"], found["complete"], found["level_bsu"]) == (True, True, 22)
    assert found["iops"] == pytest.approx(1100, rel=0.001)
    assert found["lrt_ns"] == pytest.approx(1e9 / (1163.3 - 100), rel=1e-6)
    assert [point["load"]["value"] for point in found["curve"]["points"]] == [
        *(2, 11, 17, 19, 20, 22),
    ]
    assert found["search"]["points"][-1]["load"]["value"] == 32
    assert found["capacity"]["used_share"] == pytest.approx(1.0, abs=1e-4)
    assert found["parameters"]["durations"]["sustain_ns"] == 4 * SECOND
    assert {one["kind"] for one in found["checks"]} == {
        *("response", "served", "errors", "intensity", "intensity-cov", "repeat-iops"),
        *("repeat-lrt", "capacity"),
    }
    full = next(one for one in found["phases"] if one["step"]["kind"] == "iops")
    assert [asu["name"] for asu in full["asus"]] == ["asu1", "asu2", "asu3"]
    shares = [round(asu["share"], 3) for asu in full["asus"]]
    assert shares == [0.596, 0.123, 0.281]
    assert sum(stream["ios"] for stream in full["streams"]) == full["point"]["ios"]
    mean_ns = full["point"]["response"]["mean"]
    assert full["asus"][0]["response"]["mean"] == pytest.approx(mean_ns, rel=1e-6)
    assert kernel.deleted and kernel.closed


def test_every_phase_leaves_its_result(
    spekctl: Spekctl, kernel: QueueKernel, tmp_path: Path
) -> None:
    spekctl(*WRITE, "--out", "t", "--start-bsu", "16", "--max-bsu", "16")
    names = sorted(os.listdir(tmp_path / "t"))
    assert names == [
        *("01-search-16.json", "02-sustain.json", "03-iops.json", "04-ramp-95.json"),
        *("05-ramp-90.json", "06-ramp-80.json", "07-ramp-50.json", "08-ramp-10.json"),
        *("09-repeat-1-10.json", "10-repeat-1-100.json", "11-repeat-2-10.json"),
        *("12-repeat-2-100.json", "report.json", "state.json"),
    ]
    for one in report_of(tmp_path / "t")["phases"]:
        kept = json.loads((tmp_path / "t" / one["point"]["result_file"]).read_text())
        assert kept["kind"] == "spek-result"
        assert kept["totals"]["all"]["iops"] == one["point"]["iops"]
        assert kept["config"]["streams"][0]["replicas"] == one["step"]["bsu"]


def test_the_text_says_what_it_is_and_what_came_out(spekctl: Spekctl, kernel: QueueKernel) -> None:
    outcome = spekctl(*WRITE, "--out", "t")
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
    outcome = spekctl(*WRITE, "--out", "t", "--json")
    assert json.loads(outcome.out) == json.loads(Path("t/report.json").read_text())


def test_progress_tells_phase_load_and_time_left(spekctl: Spekctl, kernel: QueueKernel) -> None:
    line = [one if one != "none" else "lines" for one in WRITE]
    outcome = spekctl(*line, "--out", "t", "--start-bsu", "20", "--max-bsu", "20")
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
        *(*WRITE, "--out", "t", "--max-bsu", "4", "--seed", "7", "--hrrw", "fixed"),
        *("--iops-per-bsu", "5", "--data", "random", "--max-outstanding", "99"),
    )
    assert outcome.code == ExitCode.OK
    for config in kernel.runs_seen:
        assert (config.seed, config.data, config.max_outstanding) == (7, "random", 99)
        assert config.offered_rate == 5 * config.streams[0].replicas
        assert config.streams[1].walk_style == "fixed"
        assert config.write


def test_the_standards_lengths_are_the_default(spekctl: Spekctl, kernel: QueueKernel) -> None:
    interrupt_in_run(2, kernel)
    spekctl("spc1", "--device", "/dev/fake0", "--write", "--out", "t", "--progress", "none")
    assert [config.ramp_ns // SECOND for config in kernel.runs_seen] == [180, 180, 180]
    state = json.loads(Path("t/state.json").read_text())
    assert state["parameters"]["durations"]["sustain_ns"] == 8 * 3600 * SECOND
    assert state["parameters"]["limits"]["response_ns"] == 30_000_000


def test_limits_are_parameters(spekctl: Spekctl, kernel: QueueKernel, tmp_path: Path) -> None:
    line = (*WRITE, "--out", "t", "--max-bsu", "4")
    outcome = spekctl(*line, "--limit", "intensity=0", "--limit", "chance_sigmas=0")
    assert outcome.code == ExitCode.LIMIT_MISSED
    found = report_of(tmp_path / "t")
    assert found["parameters"]["limits"]["intensity"] == 0
    missed = {one["kind"] for one in found["checks"] if not one["passed"]}
    assert missed == {"intensity"}


def test_quick_is_a_preset_that_options_change(spekctl: Spekctl, kernel: QueueKernel) -> None:
    line = ("spc1", "--device", "/dev/fake0", "--write", "--quick", "--progress", "none")
    spekctl(*line, "--out", "t", "--max-bsu", "1", "--sustain", "3s")
    lengths = json.loads(Path("t/state.json").read_text())["parameters"]["durations"]
    assert lengths == msgspec.to_builtins(msgspec.structs.replace(QUICK, sustain_ns=3 * SECOND))


# --- limits that are missed ----------------------------------------------------------------------


def failed_checks(folder: Path) -> set[tuple[str, str]]:
    return {(one["kind"], one["phase"]) for one in report_of(folder)["checks"] if not one["passed"]}


def test_a_stream_with_another_share_fails(spekctl: Spekctl, kernel: QueueKernel) -> None:
    kernel.skew = {7: 1.3}
    outcome = spekctl(*WRITE, "--out", "t")
    assert outcome.code == ExitCode.LIMIT_MISSED
    kinds = {kind for kind, _ in failed_checks(Path("t"))}
    assert kinds == {"intensity"}
    assert "missed: sustain: stream 3-1 had 33" in outcome.out
    assert "failed: sustain: stream" in outcome.out


def test_a_stream_that_comes_and_goes_fails(spekctl: Spekctl, kernel: QueueKernel) -> None:
    kernel.wobble = 5.0
    assert spekctl(*WRITE, "--out", "t").code == ExitCode.LIMIT_MISSED
    assert {kind for kind, _ in failed_checks(Path("t"))} == {"intensity-cov"}


def test_a_repetition_that_is_slower_fails(spekctl: Spekctl, kernel: QueueKernel) -> None:
    kernel.disturb = lambda config, mean_s: (
        mean_s + 0.002 * (bsus(kernel).count(2) == 4 and bsus(kernel)[-1] == 2)
    )
    assert spekctl(*WRITE, "--out", "t").code == ExitCode.LIMIT_MISSED
    assert failed_checks(Path("t")) == {("repeat-lrt", "repeat-2-10")}


def test_a_device_that_tires_has_its_level_lowered_and_that_is_said(
    spekctl: Spekctl, kernel: QueueKernel
) -> None:
    kernel.disturb = lambda config, mean_s: (
        0.050 if config.time_ns == 4 * SECOND and config.streams[0].replicas > 20 else mean_s
    )
    outcome = spekctl(*WRITE, "--out", "t")
    assert outcome.code == ExitCode.OK
    found = report_of(Path("t"))
    assert (found["level_bsu"], found["passed"]) == (20, True)
    said = (
        "the search found 22 BSU; the limit was missed at that level, so it was lowered once, by"
        " 5 % each, to 20 BSU"
    )
    assert said in found["remarks"] and said in outcome.out
    assert Path("t/11-sustain.json").exists() and Path("t/12-sustain-again-1.json").exists()


def test_a_ramp_step_that_misses_the_limit_ends_it_with_code_7(
    spekctl: Spekctl, kernel: QueueKernel
) -> None:
    kernel.disturb = lambda config, mean_s: (
        0.050 if config.time_ns == 2 * SECOND and bsus(kernel)[-2:] == [22, 20] else mean_s
    )
    outcome = spekctl(*WRITE, "--out", "t")
    assert outcome.code == ExitCode.LIMIT_MISSED
    found = report_of(Path("t"))
    assert found["phases"][-1]["step"]["name"] == "ramp-95"
    assert found["verdict"].startswith("failed: ramp-95: mean response time 50.0 ms is above")
    assert (found["complete"], found["level_bsu"], found["lrt_ns"]) == (False, 22, None)

    resumed = spekctl(*WRITE, "--out", "t", "--resume", "--keep-going")
    assert resumed.code == ExitCode.LIMIT_MISSED
    found = report_of(Path("t"))
    assert found["complete"] and failed_checks(Path("t")) == {
        ("response", "ramp-95"),
        ("served", "ramp-95"),
    }


def test_a_device_that_cannot_even_1_bsu(spekctl: Spekctl, kernel: QueueKernel) -> None:
    kernel.capacity = 40
    outcome = spekctl(*WRITE, "--out", "t")
    assert outcome.code == ExitCode.LIMIT_MISSED
    assert "failed: the device cannot sustain even 1 BSU" in outcome.out
    found = report_of(Path("t"))
    assert (found["level_bsu"], found["iops"], len(found["phases"])) == (None, None, 1)


def test_a_device_faster_than_allowed_is_remarked(spekctl: Spekctl, kernel: QueueKernel) -> None:
    outcome = spekctl(*WRITE, "--out", "t", "--max-bsu", "10")
    assert outcome.code == ExitCode.OK
    assert "the device sustains --max-bsu 10 within the limit; its level is higher" in outcome.out


def test_io_errors_fail_the_test(spekctl: Spekctl, kernel: QueueKernel) -> None:
    def fail(config: RunConfig) -> None:
        kernel.errors = 2 if config.time_ns == 4 * SECOND else 0

    kernel.before_run = fail
    outcome = spekctl(*WRITE, "--out", "t")
    assert outcome.code == ExitCode.RUN_FAILED
    assert "failed: sustain failed: the run completed; 2 I/Os failed" in outcome.out
    assert spekctl(*WRITE, "--out", "t", "--resume", "--keep-going").code == ExitCode.RUN_FAILED
    assert report_of(Path("t"))["complete"]
    assert failed_checks(Path("t")) == {("errors", "sustain")}


def test_a_report_is_no_curve_and_a_curve_no_report(spekctl: Spekctl, kernel: QueueKernel) -> None:
    spekctl(*WRITE, "--out", "t", "--max-bsu", "2")
    with pytest.raises(UsageError, match="is a report of `spekctl spc1`; expected a load curve"):
        curve.load_curve(Path("t/report.json"))
    with pytest.raises(
        UsageError,
        match="is the state of a test of `spekctl spc1`; expected a",
    ):
        spc1.load_report(Path("t/state.json"))
    assert spc1.load_report(Path("t/report.json")).search.points[0].load == Load("bsu", 1)

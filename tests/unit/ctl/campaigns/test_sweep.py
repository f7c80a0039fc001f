# SPDX-License-Identifier: GPL-2.0
"""spekctl sweep: lists of loads, one run for each, and the curve that comes out of them."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lib.ctl import frozen
from lib.ctl.campaign_command import interrupt_in_run
from lib.ctl.command_line import Outcome, Spekctl
from lib.ctl.schemas import validator
from lib.ctl.sweep_command import QUIET, READ, a_result, queue_kernel
from lib.fakes.queue_kernel import QueueKernel, mean_response_s

from spekctl import units
from spekctl.block import blkid, safety
from spekctl.campaigns import points
from spekctl.campaigns.sweep import Sweep, beyond
from spekctl.documents import curve, result_parts
from spekctl.documents.curve import Load
from spekctl.errors import ExitCode, SpekError, UsageError
from spekctl.kernel.records import Phase, Reason, RunState
from spekctl.workload.config import RunConfig
from spekctl.workload.endings import parse_threshold

kernel = pytest.fixture(queue_kernel)


# --- points --------------------------------------------------------------------------------------


def sweep(spekctl: Spekctl, *more: str) -> tuple[Outcome, dict[str, Any]]:
    outcome = spekctl("sweep", *READ, *more, "--json")
    data = json.loads(outcome.out)
    validator(curve.SCHEMA_FILE).validate(data)
    return outcome, data


def test_each_load_is_a_run_and_a_point(spekctl: Spekctl, kernel: QueueKernel) -> None:
    outcome, data = sweep(spekctl, "--rate", "100,500-900:200", "--seed", "7", "--ramp", "2s")
    assert outcome.code == ExitCode.OK
    assert [config.offered_rate for config in kernel.runs_seen] == [100, 500, 700, 900]
    assert {config.seed for config in kernel.runs_seen} == {7}
    assert kernel.calls.count("run-delete") == 4 and kernel.closed
    assert (data["kind"], data["version"], data["complete"]) == ("spek-curve", 1, True)
    assert (data["ramp_ns"], data["time_ns"]) == (2 * 10**9, 10 * 10**9)
    for point, rate in zip(data["points"], (100, 500, 700, 900), strict=True):
        assert point["load"] == {"kind": "rate", "value": rate}
        assert point["iops"] == point["offered_iops"] == rate
        assert point["response"]["mean"] == pytest.approx(1e9 / (1000 - rate), rel=1e-6)
        assert point["response"]["p50"] == pytest.approx(0.693e9 / (1000 - rate), rel=0.03)
        assert point["service"]["mean"] == pytest.approx(1e6)
        assert (point["backlog"], point["stretch"], point["result_file"]) == (0, 1.0, None)
        assert (point["reads"], point["writes"], point["errors"]) == (rate * 10, 0, 0)
        assert (point["cpu_of"], point["cpu"]) == ("workers", 0.25)
        assert point["switches_per_io"] == pytest.approx(50 / rate)


@pytest.mark.parametrize("lacking", ["curve.json", "f/curve.json"])
def test_a_curve_that_cannot_be_written_does_not_hide_wrong_data(
    spekctl: Spekctl,
    kernel: QueueKernel,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    lacking: str,
) -> None:
    """Guards the mend of 749a0923. The other of the two files is written."""
    monkeypatch.setattr(Sweep, "exit_code", lambda sweep: ExitCode.DATA_ERRORS)
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    kernel.before_run = lambda config: (tmp_path / lacking).mkdir()
    outcome = spekctl("sweep", *READ, "--rate", "100", "--folder", "f", "-o", "curve.json")
    assert outcome.code == ExitCode.DATA_ERRORS, outcome.err
    assert f"cannot write {lacking}: Is a directory; the result is in" in outcome.err
    written = [name for name in ("curve.json", "f/curve.json") if (tmp_path / name).is_file()]
    assert written == (["curve.json"] if lacking.startswith("f/") else ["f/curve.json"])


def test_the_depth_follows_the_load(spekctl: Spekctl, kernel: QueueKernel, tmp_path: Path) -> None:
    folder = tmp_path / "f"
    spc1 = ("sweep", "spc1", *READ[1:], "--write", "--bsu", "1,4,10", "--folder", folder)
    outcome = spekctl(*spc1, "--max-outstanding-per-bsu", "2")
    assert outcome.code == ExitCode.OK, outcome.sentence
    assert [config.max_outstanding for config in kernel.runs_seen] == [2, 8, 20]
    other = spekctl(*spc1, "--max-outstanding-per-bsu", "3", "--resume")
    assert other.code == ExitCode.USAGE and "--max-outstanding-per-bsu" in other.sentence


def test_beyond_saturation_the_stretch_is_offered_over_achieved(
    spekctl: Spekctl, kernel: QueueKernel
) -> None:
    """30 s of a load that a disk takes 130 s for have a stretch of 130 / 30."""
    kernel.capacity = 5000 * 30 / 130
    outcome, data = sweep(spekctl, "--rate", "500,5000", "--time", "30s")
    below, above = data["points"]
    assert below["stretch"] == pytest.approx(1 + 4 / (500 * 30))  # four are with the device
    assert above["stretch"] * 30 == pytest.approx(130, rel=0.001)
    assert above["iops"] == pytest.approx(kernel.capacity, rel=0.001)
    assert above["backlog"] == pytest.approx((5000 - kernel.capacity) * 30, abs=1)
    expected_s = mean_response_s(5000, kernel.capacity, 30)
    assert above["response"]["mean"] == pytest.approx(expected_s * 1e9, rel=0.001)
    assert outcome.code == ExitCode.OK


def test_what_piled_up_in_the_ramp_up_is_not_counted_again(
    spekctl: Spekctl, kernel: QueueKernel
) -> None:
    _, data = sweep(spekctl, "--rate", "2000", "--ramp", "20s")
    (point,) = data["points"]
    assert point["backlog"] == 30_000
    assert point["left_over"] == 10_000
    assert point["stretch"] == 2.0


def test_a_closed_loop_is_never_stretched(spekctl: Spekctl, kernel: QueueKernel) -> None:
    _, data = sweep(spekctl, "--depth", "1-3")
    assert [config.arrivals[0].depth for config in kernel.runs_seen] == [1, 2, 3]
    assert [(point["offered_iops"], point["stretch"]) for point in data["points"]] == [
        (None, None)
    ] * 3


def test_the_prober_tells_the_cost_of_the_whole_machine(kernel: QueueKernel) -> None:
    times = {f"{name}_ns": 0 for name in ("nice", "irq", "softirq", "steal")}
    machine = {**times, "user_ns": 100, "system_ns": 300, "idle_ns": 500, "iowait_ns": 100}
    prober = result_parts.ProberResult(
        module_version="1",
        interval_ns=10**9,
        samples=3,
        dropped=0,
        missed=0,
        late_max_ns=0,
        cost_mean_ns=0.0,
        cost_max_ns=0,
        start_ns=[],
        end_ns=[],
        tables=[],
        measure_ns=2 * 10**9,
        measure={"machine": {**machine, "switches": 2000}},
        measure_cpus={},
    )
    point = points.point_of(a_result(kernel, prober=prober), Load("depth", 32))
    # 1000 switches per second over the two seconds with samples, 500 I/Os per second.
    assert (point.cpu_of, point.cpu, point.switches_per_io) == ("machine", 0.4, 2.0)
    without = points.point_of(a_result(kernel), Load("depth", 32))
    assert (without.cpu_of, without.cpu) == ("workers", 0.25)


def test_a_run_that_completed_nothing_is_a_point(kernel: QueueKernel) -> None:
    kernel.capacity = 0.001
    contents = a_result(kernel)
    point = points.point_of(contents, Load("depth", 32))
    assert (point.ios, point.iops, point.response, point.stretch) == (0, 0, None, None)
    assert point.switches_per_io is None


# --- where it goes -------------------------------------------------------------------------------


def test_the_table_has_a_line_for_each_point(spekctl: Spekctl, kernel: QueueKernel) -> None:
    outcome = spekctl("sweep", *READ, "--rate", "500,1500")
    assert outcome.code == ExitCode.OK and outcome.err == ""
    title, head, low, high, note = outcome.out.splitlines()
    assert title == "random-read-4k on /dev/fake0: 2 points, 10s each"
    assert head.split()[:4] == ["rate", "IOPS", "MiB/s", "mean"]
    assert head.split()[-2:] == ["backlog", "stretch"]
    assert low.split()[:5] == ["500", "500", "2.0", "2.00", "ms"]
    assert high.split()[-2:] == ["5,000", "1.50"]
    assert "…" not in outcome.out
    assert note.strip() == "CPU and context switches are those of the workers alone"


def test_a_warning_of_one_load_says_which(
    spekctl: Spekctl, kernel: QueueKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    from spekctl.run import remarks

    said = (lambda result: iter([f"{result.outcome.offered_iops:g} is odd"]),)
    monkeypatch.setattr(remarks, "JUDGEMENTS", said)
    out = spekctl("sweep", *READ, "--rate", "500,1500").out
    assert "500 I/Os per second: 500 is odd" in out and "1500 I/Os per second: 1500 is odd" in out


def test_csv_can_be_read_back(spekctl: Spekctl, kernel: QueueKernel) -> None:
    outcome = spekctl("sweep", *READ, "--rate", "500,1500", "--csv")
    low, high = csv.DictReader(io.StringIO(outcome.out))
    assert (low["load_kind"], low["load"], low["iops"]) == ("rate", "500", "500.0")
    assert float(low["response_mean_ns"]) == pytest.approx(2e6)
    assert float(high["stretch"]) == pytest.approx(1.5, rel=0.001)
    assert high["watts"] == "" and high["ok"] == "1"


def test_the_curve_goes_to_a_file_and_comes_back(
    spekctl: Spekctl, kernel: QueueKernel, tmp_path: Path
) -> None:
    path = tmp_path / "curve.json"
    outcome = spekctl("sweep", *READ, "--rate", "500,1500", "-o", str(path))
    assert outcome.err == f"spekctl: curve written to {path}\n"
    stored = curve.load_curve(path)
    assert [point.load for point in stored.points] == [Load("rate", 500), Load("rate", 1500)]
    assert stored.targets[0].path == "/dev/fake0"
    assert stored.environment is not None and stored.environment.module_version == "0.1.0-test"


def test_whole_results_are_kept_when_asked(
    spekctl: Spekctl, kernel: QueueKernel, tmp_path: Path
) -> None:
    path, folder = tmp_path / "curve.json", tmp_path / "results"
    spekctl("sweep", *READ, "--rate", "500,1500.5", "-o", str(path), "--folder", str(folder))
    stored = curve.load_curve(path)
    assert sorted(os.listdir(folder)) == [
        *("1-rate-500.json", "2-rate-1500.5.json", "curve.json", "state.json"),
    ]
    for point in stored.points:
        assert point.result_file is not None
        kept = json.loads((tmp_path / point.result_file).read_text())
        assert kept["kind"] == "spek-result"
        assert kept["totals"]["all"]["iops"] == point.iops


def test_progress_tells_the_point_and_the_time_left(spekctl: Spekctl, kernel: QueueKernel) -> None:
    line = ("random-read-4k", "--device", "/dev/fake0", "--time", "10s", "--progress", "lines")
    outcome = spekctl("sweep", *line, "--rate", "100,200,300", "--ramp", "5s")
    heads = [text for text in outcome.err.splitlines() if "left in all" in text]
    assert [text.partition("fake0: ")[2] for text in heads] == [
        "point 1 of 3, 100 I/Os per second, 0:45 left in all",
        "point 2 of 3, 200 I/Os per second, 0:30 left in all",
        "point 3 of 3, 300 I/Os per second, 0:15 left in all",
    ]
    # A first line for each phase of each run.
    assert outcome.err.count("ramp-up") >= 3


def test_a_live_view_tells_it_too(kernel: QueueKernel, monkeypatch: pytest.MonkeyPatch) -> None:
    from rich.console import Console

    from spekctl.render import progress as render_progress
    from spekctl.render import series
    from spekctl.run import progress

    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=100)
    views: list[render_progress.LiveProgress] = []

    def choose(mode: str, title: str) -> render_progress.LiveProgress:
        views.append(render_progress.LiveProgress(title, console))
        return views[-1]

    monkeypatch.setattr(series, "choose", choose)
    view = series.SeriesProgress("live", "spc1 on /dev/x")
    view.begin("point 2 of 3, 5 BSU", 30.0, 60.0)
    clock = progress.Clock(Phase.MEASURE, RunState.RUNNING, 10.0, 20.0, 0.3)
    view.show(clock, [])
    assert views[0].title == "point 2 of 3, 5 BSU, 1:20 left in all: spc1 on /dev/x"
    view.show(replace(clock, left_s=None, elapsed_s=25.0), [])
    assert "1:05 left in all" in views[0].title
    view.close()
    assert "1:20 left in all" in stream.getvalue()


def test_what_every_run_remarks_is_said_once(
    spekctl: Spekctl, kernel: QueueKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    from spekctl.run import observe

    monkeypatch.setattr(observe, "connect", lambda *wishes: ((), "no prober here"))
    outcome = spekctl("sweep", *READ, "--rate", "100,200,300")
    assert outcome.err == "spekctl: no prober here\n"
    assert spekctl("sweep", *READ, "--rate", "100", "--no-prober").err == ""


# --- what goes wrong -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("signum", "code"),
    [(signal.SIGINT, ExitCode.INTERRUPTED), (signal.SIGTERM, ExitCode.TERMINATED)],
)
def test_ctrl_c_keeps_the_points_so_far(
    signum: int, code: ExitCode, spekctl: Spekctl, kernel: QueueKernel
) -> None:
    def at(second: int) -> None:
        if len(kernel.runs_seen) == 3 and second == 4:
            os.kill(os.getpid(), signum)

    kernel.on_wait = at
    outcome, data = sweep(spekctl, "--rate", "100-900:100")
    assert outcome.code == code
    assert [point["load"]["value"] for point in data["points"]] == [100, 200]
    assert data["complete"] is False
    assert "interrupted at 300 I/Os per second: that point is missing" in data["remarks"]
    assert kernel.deleted and len(kernel.runs_seen) == 3
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


def test_a_refusal_on_the_way_keeps_the_points_so_far(
    spekctl: Spekctl, kernel: QueueKernel
) -> None:
    def busy(config: RunConfig) -> None:
        if config.offered_rate == 300:
            raise SpekError("the terminal burns")

    kernel.before_run = busy
    outcome = spekctl("sweep", *READ, "--rate", "100-900:100", "--json")
    assert outcome.code == ExitCode.RUN_FAILED
    assert outcome.sentence == "the terminal burns"
    data = json.loads(outcome.out)
    assert ([point["iops"] for point in data["points"]], data["complete"]) == ([100, 200], False)


def test_a_load_at_which_no_io_completed_fails_the_sweep(
    spekctl: Spekctl, kernel: QueueKernel
) -> None:
    outcome, data = sweep(spekctl, "--rate", "0.001,100")
    assert [point["ok"] for point in data["points"]] == [True, True]
    assert [point["ios"] > 0 for point in data["points"]] == [False, True]
    assert outcome.code == ExitCode.RUN_FAILED
    said = "0.001 I/Os per second: no I/O completed in the measure phase"
    assert outcome.err.splitlines()[-1] == f"spekctl: {said}"
    assert said in spekctl("sweep", *READ, "--rate", "0.001,100").out


def test_a_device_that_goes_away_ends_the_sweep(spekctl: Spekctl, kernel: QueueKernel) -> None:
    def gone(config: RunConfig) -> None:
        if config.offered_rate == 200:
            kernel.end_reason = Reason.DEVICE_GONE

    kernel.before_run = gone
    outcome, data = sweep(spekctl, "--rate", "100,200,300")
    assert outcome.code == ExitCode.RUN_FAILED
    assert [(point["iops"], point["ok"]) for point in data["points"]] == [(100, True), (200, False)]
    assert "a device was removed" in data["points"][1]["text"]
    assert data["complete"] is False


def test_io_errors_are_counted_and_the_sweep_goes_on(spekctl: Spekctl, kernel: QueueKernel) -> None:
    def fails(config: RunConfig) -> None:
        kernel.errors = 5 if config.offered_rate == 200 else 0

    kernel.before_run = fails
    outcome, data = sweep(spekctl, "--rate", "100,200,300")
    assert outcome.code == ExitCode.RUN_FAILED
    assert [(point["errors"], point["ok"]) for point in data["points"]] == [
        (0, True),
        (5, False),
        (0, True),
    ]
    text = spekctl("sweep", *READ, "--rate", "100,200,300").out
    assert "200 I/Os per second: the run completed; 5 I/Os failed" in text


def test_data_is_refused_under_the_claim_of_every_point(
    spekctl: Spekctl, kernel: QueueKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here somebody who ignores claims writes data after the first point."""

    def signatures(device: object, diskseq: int) -> list[blkid.Signature]:
        started = kernel.calls.count("run-start")
        return [blkid.Signature("xfs", "filesystem", 0)] if started else []

    monkeypatch.setattr(safety, "signatures_on", signatures)
    outcome = spekctl(
        *("sweep", "spc1", "--bsu", "1,2,3", "--device", "/dev/fake0", "--write", "--json"),
        *("--time", "2s", *QUIET),
    )
    assert outcome.code == ExitCode.REFUSED
    assert outcome.sentence == (
        "/dev/fake0 holds data that it did not hold when it was claimed: file system xfs at byte 0;"
        " to overwrite it, start the command again with --destroy S123"
    )
    assert len(json.loads(outcome.out)["points"]) == 1
    assert kernel.calls.count("run-start") == 1 and kernel.deleted


# --- files that are not curves -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (None, "there is no file"),
        ("{", "is not valid JSON"),
        ("[]", "is not a spek file; expected a load curve"),
        ("{}", "is not a spek file; expected a load curve"),
        (
            '{"kind": "spek-spc1", "version": 1}',
            "is a report of `spekctl spc1`; expected a",
        ),
        ('{"kind": "spek-curve", "version": 9}', "has version 9"),
        ('{"kind": "spek-curve", "version": 1}', "is damaged"),
    ],
)
def test_other_files_are_refused(text: str | None, sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(UsageError, match=sentence):
        curve.load_curve(path)


# --- the folder ----------------------------------------------------------------------------------

RATES = ("--rate", "100-500:100")
OVER = ("--over", "size=4KiB,8KiB", "--over", "workers=1")


def stop_in_run(kernel: QueueKernel, number: int) -> None:
    """Ctrl-C in the run of this number."""

    def at(second: int) -> None:
        if len(kernel.runs_seen) == number and second == 4:
            os.kill(os.getpid(), signal.SIGINT)

    kernel.on_wait = at


def figures(path: Path) -> list[tuple[float, float | None, str | None]]:
    """Of a curve, what does not depend on when it was measured."""
    points = curve.load_curve(path).points
    return [
        (point.load.value, point.response.mean if point.response else None, point.result_file)
        for point in points
    ]


def test_an_interrupted_sweep_goes_on_after_its_last_point(
    spekctl: Spekctl, kernel: QueueKernel
) -> None:
    assert spekctl("sweep", *READ, *RATES, "--folder", "whole").code == ExitCode.OK
    kernel.runs_seen.clear()
    stop_in_run(kernel, 3)
    first = spekctl("sweep", *READ, *RATES, "--folder", "t")
    assert first.code == ExitCode.INTERRUPTED
    assert first.err.splitlines()[-1] == (
        "spekctl: interrupted; 2 points are kept in t, --resume continues after 200 I/Os per second"
    )
    partly = curve.load_curve(Path("t/curve.json"))
    assert "interrupted at 300 I/Os per second: that point is missing" in partly.remarks
    kernel.on_wait = lambda second: None
    assert spekctl("sweep", *READ, *RATES, "--folder", "t", "--resume").code == ExitCode.OK
    assert [config.offered_rate for config in kernel.runs_seen] == [100, 200, 300, 300, 400, 500]
    assert figures(Path("t/curve.json")) == figures(Path("whole/curve.json"))
    assert not any("missing" in remark for remark in curve.load_curve(Path("t/curve.json")).remarks)


def test_a_point_whose_device_went_away_is_measured_again(
    spekctl: Spekctl, kernel: QueueKernel
) -> None:
    def gone(config: RunConfig) -> None:
        if config.offered_rate == 200:
            kernel.end_reason = Reason.DEVICE_GONE

    kernel.before_run = gone
    assert spekctl("sweep", *READ, *RATES, "--folder", "t").code == ExitCode.RUN_FAILED
    stored = curve.load_curve(Path("t/curve.json"))
    assert [point.ok for point in stored.points] == [True, False]
    assert stored.points[1].result_file == "2-rate-200.json" and Path("t/2-rate-200.json").exists()
    kernel.before_run = lambda config: None
    assert spekctl("sweep", *READ, *RATES, "--folder", "t", "--resume").code == ExitCode.OK
    assert [point.ok for point in curve.load_curve(Path("t/curve.json")).points] == [True] * 5


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (("random-read-4k", "--rate", "100,200", "--resume"), "another list of loads"),
        (("random-read-4k", *RATES, "--seed", "9", "--resume"), "another --seed: 1 then, 9 now"),
        (("sequential-read-128k", *RATES, "--resume"), "another workload file"),
        (
            ("random-read-4k", *RATES, *OVER, "--resume"),
            "another --over: none then, size=4KiB,8KiB; workers=1 now",
        ),
        (("random-read-4k", *RATES), "t already holds a test: --resume continues it"),
    ],
)
def test_another_sweep_is_not_resumed(
    line: tuple[str, ...], sentence: str, spekctl: Spekctl, kernel: QueueKernel
) -> None:
    stop_in_run(kernel, 2)
    spekctl("sweep", *READ, *RATES, "--folder", "t")
    runs = len(kernel.runs_seen)
    outcome = spekctl("sweep", *line, *READ[1:], "--folder", "t")
    assert outcome.code == ExitCode.USAGE
    assert sentence in outcome.sentence and len(kernel.runs_seen) == runs


def test_what_is_resumed_has_a_folder(spekctl: Spekctl, kernel: QueueKernel) -> None:
    without = spekctl("sweep", *READ, *RATES, "--resume")
    assert (without.code, without.sentence) == (
        ExitCode.USAGE,
        "--resume continues the sweep of a folder: name it with --folder",
    )
    nothing = spekctl("sweep", *READ, *RATES, "--folder", "t", "--resume")
    assert nothing.sentence == ("t holds no test to resume; leave out --resume to start one")


# --- the search for the highest load within a limit ----------------------------------------------

WITHIN = ("--rate", "10,100000", "--resolution", "0")


def highest(capacity: float, limit_s: float, seconds: float) -> int:
    """The highest rate whose p99 is within the limit, by trying all of them.

    The fake answers with quantiles in buckets, so the same percentile is asked of the same times.
    """
    from lib.fakes.queue_kernel import exponential

    from spekctl.documents.histogram import percentile

    def kept(rate: int) -> bool:
        mean_s = mean_response_s(rate, capacity, seconds)
        return percentile(exponential(mean_s * 1e9, int(rate * seconds)), 990_000) < limit_s * 1e9

    return max(rate for rate in range(1, int(capacity)) if kept(rate))


@pytest.mark.parametrize("limit", ["20ms", "50ms"])
def test_the_highest_load_within_a_percentile_is_found(
    limit: str, spekctl: Spekctl, kernel: QueueKernel
) -> None:
    outcome, data = sweep(spekctl, *WITHIN, "--within", f"p99 < {limit}")
    assert outcome.code == ExitCode.OK, outcome.err
    validator(curve.SCHEMA_FILE).validate(data)
    expected = highest(1000.0, units.parse_duration_ns(limit) / 1e9, 10)
    within = data["within"]
    assert data["complete"] and within["load"] == expected
    assert within["beyond"] == expected + 1
    rates = [int(point["load"]["value"]) for point in data["points"]]
    assert rates[:3] == [10, 20, 40] and len(rates) == len(set(rates)) < 25
    for point in data["points"]:
        assert bool(point["beyond"]) is (point["load"]["value"] > expected)
        if point["beyond"]:
            assert point["beyond"].startswith("p99 was ")
    text = spekctl("sweep", *READ, *WITHIN, "--within", f"p99 < {limit}").out
    assert f"the highest load within p99 < {limit} is {expected} I/Os per second" in text


def test_a_load_that_is_not_kept_up_with_is_beyond_every_limit(
    spekctl: Spekctl, kernel: QueueKernel
) -> None:
    outcome, data = sweep(spekctl, *WITHIN, "--within", "errors < 1")
    assert outcome.code == ExitCode.OK
    # Up to 2 % may be left over.
    assert data["within"]["load"] == pytest.approx(1020, abs=2)
    assert any("the queue grew by" in point["beyond"] for point in data["points"])


def test_a_device_that_keeps_the_limit_at_every_load_says_so(
    spekctl: Spekctl, kernel: QueueKernel
) -> None:
    outcome, data = sweep(spekctl, "--rate", "10,50", "--within", "p99 < 1s")
    assert outcome.code == ExitCode.OK
    assert (data["within"]["load"], data["within"]["beyond"]) == (50, None)
    assert "the limit of the device is higher" in data["within"]["text"]
    assert data["within"]["resolution_percent"] == 5


def test_a_limit_that_no_load_keeps_is_code_7(spekctl: Spekctl, kernel: QueueKernel) -> None:
    outcome, data = sweep(spekctl, "--rate", "4,50", "--within", "p99 < 1us")
    assert outcome.code == ExitCode.LIMIT_MISSED
    assert [point["load"]["value"] for point in data["points"]] == [4, 2, 1]
    assert data["within"]["text"] == "no load is within p99 < 1us"


def test_a_load_that_fails_is_beyond_the_limit(spekctl: Spekctl, kernel: QueueKernel) -> None:
    def fails(config: RunConfig) -> None:
        kernel.errors = 5 if (config.offered_rate or 0) > 30 else 0

    kernel.before_run = fails
    outcome, data = sweep(spekctl, *WITHIN, "--within", "p99 < 1s")
    assert (outcome.code, data["within"]["load"]) == (ExitCode.OK, 30)


def test_an_interrupted_search_is_resumed(spekctl: Spekctl, kernel: QueueKernel) -> None:
    arguments = (*WITHIN, "--within", "p99 < 20ms")
    _, whole = sweep(spekctl, *arguments)
    kernel.runs_seen.clear()

    interrupt_in_run(5, kernel)
    outcome, first = sweep(spekctl, *arguments, "--folder", "s")
    assert outcome.code == ExitCode.INTERRUPTED and not first["complete"]
    assert first["within"]["text"] == "the search did not come to its end"
    kernel.before_run = lambda config: None
    refused = spekctl(
        *("sweep", *READ, *WITHIN, "--within", "p99 < 30ms", "--folder", "s", "--resume")
    )
    assert refused.code == ExitCode.USAGE and "another --within" in refused.sentence
    again, second = sweep(spekctl, *arguments, "--folder", "s", "--resume")
    assert again.code == ExitCode.OK and second["within"] == whole["within"]
    assert [point["load"] for point in second["points"]] == [
        point["load"] for point in whole["points"]
    ]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--rate", "10", "--within", "p99 < 1ms"), "--rate with --within has two whole numbers"),
        (("--rate", "10,20,30", "--within", "p99 < 1ms"), "has two whole numbers"),
        (("--rate", "20,10", "--within", "p99 < 1ms"), "the lower first"),
        (("--rate", "1.5,10", "--within", "p99 < 1ms"), "two whole numbers"),
        (("--rate", "0,10", "--within", "p99 < 1ms"), "cannot start at 0"),
        (("--rate", "1,10", "--within", "read.p99 < 1ms"), "a load is judged by all of its I/Os"),
        (("--rate", "1,10", "--within", "outstanding < 5"), "a load is judged by all of its I/Os"),
        (("--rate", "1,10", "--within", "p99"), "is not a threshold"),
        (("--rate", "1,10", "--resolution", "5"), "--resolution needs --within as well"),
    ],
)
def test_other_searches_are_refused(
    spekctl: Spekctl, kernel: QueueKernel, arguments: tuple[str, ...], sentence: str
) -> None:
    outcome = spekctl("sweep", *READ, *arguments)
    assert outcome.code == ExitCode.USAGE and sentence in outcome.sentence
    assert not kernel.runs_seen


@pytest.mark.parametrize(
    ("condition", "ages", "why"),
    [
        (
            "max < 10ms",
            [17 * 10**9],
            "max was at least 17.0 s: 1 I/O had not been answered for up to 17.0 s when the"
            " measurement ended",
        ),
        ("latency < 10ms", [10**9] * 8, "latency was at least 12.9 ms: 8 I/Os had not been"),
        ("p99 < 10ms", [10**9] * 8, ""),
        ("max < 10ms", [9 * 10**6] * 8, ""),
        ("max < 1ms", [17 * 10**9], "max was 5.00 ms"),
    ],
)
def test_a_closed_loop_that_is_stuck_in_the_end_is_beyond(
    condition: str, ages: list[int], why: str
) -> None:
    """It has no stretch that shows it, and what completed was fast."""
    contents = frozen.result(ages, ios=1000, seconds=60, silent=17)
    point = points.point_of(contents, Load("depth", 8))
    assert point.kept_up
    told = beyond(point, parse_threshold(condition))
    assert told.startswith(why) and bool(told) is bool(why)

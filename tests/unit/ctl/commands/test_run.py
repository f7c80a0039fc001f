# SPDX-License-Identifier: GPL-2.0
"""spekctl run on a fake kernel: what it prints and writes, and how it is interrupted."""

from __future__ import annotations

import errno
import json
import os
import signal
import sys
import time
from pathlib import Path

import msgspec
import pytest
from lib.ctl.command_line import Spekctl, run_ok
from lib.ctl.schemas import validator
from lib.fakes.kernel import FakeKernel
from lib.fakes.machine import disk

from spekctl import cli
from spekctl.block import blkid, safety
from spekctl.block import device as block_device
from spekctl.documents import result
from spekctl.documents.result import Result
from spekctl.errors import ExitCode, SpekError
from spekctl.exports import fio_logs
from spekctl.kernel.records import Reason, RunState
from spekctl.render import output
from spekctl.run import ending, observe
from spekctl.workload import file

# --- what is right -------------------------------------------------------------------------------


def test_a_run_prints_a_table(spekctl: Spekctl, kernel: FakeKernel) -> None:
    outcome = run_ok(spekctl)
    assert outcome.code == ExitCode.OK
    assert kernel.calls.index("run-new") < kernel.calls.index("run-start")
    assert kernel.deleted and kernel.closed
    assert "random-read-4k: closed loop of depth 32, measured for 3.000 s" in outcome.out
    assert "the run completed" in outcome.out
    (row,) = [line for line in outcome.out.splitlines() if line.strip().startswith("read")]
    assert row.split()[1:6] == ["300", "100", "0.4", "4", "KiB"]
    assert "…" not in outcome.out
    assert "measure   100 IOPS" in outcome.err


def test_json_goes_to_standard_output_and_is_valid(spekctl: Spekctl, kernel: FakeKernel) -> None:
    outcome = run_ok(spekctl, "--json", "--progress", "none", "--ramp", "1s")
    assert (outcome.code, outcome.err) == (ExitCode.OK, "")
    document = json.loads(outcome.out)
    validator(result.SCHEMA_FILE).validate(document)
    assert document["totals"]["read"]["ios"] == 300
    assert [row["phase"] for row in document["intervals"]] == ["ramp"] + ["measure"] * 3
    assert document["config"]["seed"] == 1


def test_the_result_goes_to_a_file(spekctl: Spekctl, kernel: FakeKernel, tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    outcome = run_ok(spekctl, "-o", str(path))
    assert outcome.code == ExitCode.OK
    validator(result.SCHEMA_FILE).validate(json.loads(path.read_text()))
    assert "measured for" in outcome.out
    assert f"result written to {path}" in outcome.err


def test_names_that_are_not_utf_8_do_not_lose_the_result(
    spekctl: Spekctl, kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    name = os.fsdecode(b"r\xff.json")
    path = tmp_path / name
    strange = msgspec.structs.replace(disk(), path=f"/dev/{name}")
    monkeypatch.setattr(block_device, "find", lambda path: strange)
    signatures = [blkid.Signature("xfs", "filesystem", 0)]
    monkeypatch.setattr(safety, "signatures_on", lambda block_device, diskseq: signatures)
    arguments = ["run", "random-write-4k", "--write", "--destroy", "S123", "--time", "3s", "-d"]
    arguments += [f"/dev/{name}", "-o", str(path), "--progress", "none"]
    monkeypatch.setattr(sys, "argv", ["spekctl", *arguments])
    outcome = spekctl(*arguments)
    assert outcome.code == ExitCode.OK and "/dev/r\ufffd.json" in outcome.out
    document = json.loads(path.read_text())
    assert document["command"][-3] == f"{tmp_path}/r\ufffd.json"
    assert document["targets"][0]["facts"]["path"] == "/dev/r\ufffd.json"
    assert document["remarks"][0].startswith("/dev/r\ufffd.json holds data")
    assert spekctl(*arguments[:-4], "--detach").code == ExitCode.OK
    assert spekctl("watch", "--progress", "none").code == ExitCode.OK


def test_a_command_line_is_recorded_in_one_way_only() -> None:
    root = Path(cli.__file__).parent
    users = {path.name for path in root.rglob("*.py") if "sys.argv[1:]" in path.read_text()}
    # The root helper and an agent read their arguments, and record no command line.
    assert users - {"__main__.py", "agent.py"} == {"cli.py", "recorded.py"}


def test_a_full_disk_does_not_hide_wrong_data(
    spekctl: Spekctl, kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ending, "exit_code_of", lambda *asked, **how: ExitCode.DATA_ERRORS)
    for words in (("-o", "/dev/full"), ("--csv", "/dev/full")):
        outcome = run_ok(spekctl, *words, "--progress", "none")
        assert outcome.code == ExitCode.DATA_ERRORS, words
        assert "No space left on device" in outcome.sentence


def test_a_full_disk_does_not_lose_the_result(
    spekctl: Spekctl, kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def full(fd: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    path = tmp_path / "out.json"
    path.write_text("the one before")
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    outcome = run_ok(spekctl, "-o", str(path), "--progress", "none")
    assert outcome.code == ExitCode.RUN_FAILED
    assert "No space left on device; the result is in " in outcome.sentence
    # The one before does not pass for that of this run.
    assert (path.exists(), outcome.out) == (False, "")
    assert (tmp_path / "out.json~").read_text() == "the one before"
    kept = Path(outcome.sentence.split(" is in ")[1].removesuffix(" instead"))
    assert kept.parent == tmp_path / "temporary"
    validator(result.SCHEMA_FILE).validate(json.loads(kept.read_text()))


def test_io_errors_are_code_1_and_in_the_result(spekctl: Spekctl, kernel: FakeKernel) -> None:
    kernel.errors = 4
    outcome = run_ok(spekctl, "--progress", "none")
    assert outcome.code == ExitCode.RUN_FAILED
    assert "4 I/Os failed, the first: read of 4096 bytes at 0 on nullb0: EIO" in outcome.out
    assert "errors by cause: EIO 4" in outcome.out


@pytest.mark.parametrize(
    "reason", [Reason.DEVICE_GONE, Reason.ERRORS, Reason.SUSPENDED, Reason.LIMITS]
)
def test_a_run_that_ends_early_is_code_1(
    reason: Reason, spekctl: Spekctl, kernel: FakeKernel
) -> None:
    kernel.end_reason = reason
    assert run_ok(spekctl, "--progress", "none").code == ExitCode.RUN_FAILED


def test_a_word_on_the_device_of_a_state_log_needs_that_device(
    spekctl: Spekctl, kernel: FakeKernel
) -> None:
    outcome = run_ok(spekctl, "--state-apart")
    assert outcome.code == ExitCode.USAGE
    assert outcome.sentence == "--state-apart needs --state-on as well"


def test_a_run_is_armed(spekctl: Spekctl, kernel: FakeKernel) -> None:
    before_ns = time.monotonic_ns()
    outcome = run_ok(spekctl, "--progress", "lines", "--start-at", "+1h")
    assert outcome.code == ExitCode.OK
    assert before_ns + 3600 * 10**9 <= kernel.start_ns <= time.monotonic_ns() + 3600 * 10**9
    assert outcome.err.count("spekctl: armed, starts in ") == 1


def test_an_armed_run_is_stopped_by_ctrl_c(spekctl: Spekctl, kernel: FakeKernel) -> None:
    def interrupt(seconds: int) -> None:
        assert kernel.state is RunState.ARMED
        signal.raise_signal(signal.SIGINT)
        kernel.on_wait = lambda seconds: None

    kernel.on_wait = interrupt
    kernel.armed_waits = 1000
    outcome = run_ok(spekctl, "--progress", "none", "--start-at", "+1h", "--json")
    assert outcome.code == ExitCode.INTERRUPTED
    document = json.loads(outcome.out)
    assert document["outcome"]["reason"] == "stopped"
    assert kernel.deleted


def test_a_dry_run_sends_nothing(spekctl: Spekctl, kernel: FakeKernel) -> None:
    outcome = spekctl("run", "spc1", "--bsu", "2", "--device", "/dev/fake0", "--dry-run")
    assert outcome.code == ExitCode.OK
    assert "100 I/Os per second offered" in outcome.out
    assert kernel.calls == []


def test_asus_have_devices_of_their_own(spekctl: Spekctl, kernel: FakeKernel) -> None:
    words = [word for n in (1, 2, 3) for word in ("--device", f"asu{n}=/dev/fake{n % 2}")]
    outcome = spekctl("run", "spc1", "--bsu", "1", *words, "--dry-run", "--json")
    config = json.loads(outcome.out)
    assert [target["minor"] for target in config["targets"]] == [1, 0]
    assert [asu["extents"][0]["target"] for asu in config["asus"]] == [0, 1, 0]


def test_a_device_that_only_a_file_names_is_refused(spekctl: Spekctl, kernel: FakeKernel) -> None:
    text = '[workload]\nname = "t"\nsummary = "s"\n[[stream]]\nname = "s"\nsize = "4KiB"\n'
    Path("own.toml").write_text(f'{text}[[asu]]\nname = "a"\ndevice = "/dev/fake1"\n')
    for others in ([], ["--device", "/dev/fake0"]):
        outcome = spekctl("run", "./own.toml", *others, "--time", "1s", "--write")
        assert outcome.code == ExitCode.USAGE and kernel.calls == []
        assert "asu 'a' of t has a device of its own, '/dev/fake1': name it" in outcome.sentence
    words = ["--device", "/dev/fake1", "--time", "1s", "--dry-run", "--json"]
    outcome = spekctl("run", "./own.toml", *words)
    assert [target["minor"] for target in json.loads(outcome.out)["targets"]] == [1]
    Path("free.toml").write_text(f'{text}[[asu]]\nname = "a"\n')
    outcome = spekctl("run", "./free.toml", "--time", "1s", "--dry-run")
    assert outcome.code == ExitCode.USAGE and "--device" in outcome.sentence


def test_a_missing_prober_is_said_in_one_line(
    spekctl: Spekctl, kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(observe, "connect", lambda *wishes: ((), "no prober: x missing"))
    outcome = run_ok(spekctl, "--json")
    assert "spekctl: no prober: x missing\n" in outcome.err
    assert json.loads(outcome.out)["prober"] is None
    assert "no prober" not in run_ok(spekctl, "--no-prober").err


def test_a_device_without_capacity_is_refused(
    spekctl: Spekctl, kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(block_device, "find", lambda path: disk(path, bytes=0))
    assert "no capacity" in run_ok(spekctl).sentence


# --- Ctrl-C --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("signum", "code"),
    [(signal.SIGINT, ExitCode.INTERRUPTED), (signal.SIGTERM, ExitCode.TERMINATED)],
)
def test_ctrl_c_stops_the_run_and_gives_the_result(
    signum: int, code: ExitCode, spekctl: Spekctl, kernel: FakeKernel
) -> None:
    kernel.on_wait = lambda second: os.kill(os.getpid(), signum) if second == 2 else None
    outcome = spekctl(
        "run", "random-read-4k", "--device", "/dev/fake0", "--json", "--progress", "none"
    )
    assert outcome.code == code
    assert "run-stop" in kernel.calls and kernel.deleted
    document = json.loads(outcome.out)
    assert (document["outcome"]["reason"], document["outcome"]["ok"]) == ("stopped", False)
    assert document["totals"]["read"]["ios"] == 200
    assert "stopping" in outcome.err
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


@pytest.mark.parametrize(
    ("signum", "code"),
    [(signal.SIGINT, ExitCode.INTERRUPTED), (signal.SIGTERM, ExitCode.TERMINATED)],
)
def test_ctrl_c_before_the_start_sends_nothing(
    signum: int,
    code: ExitCode,
    spekctl: Spekctl,
    kernel: FakeKernel,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(device: object, diskseq: int) -> list[blkid.Signature]:
        os.kill(os.getpid(), signum)
        return []

    monkeypatch.setattr(safety, "signatures_on", interrupted)
    outcome = spekctl("run", "random-write-4k", "--device", "/dev/fake0", "--write")
    assert outcome.code == code
    assert outcome.sentence == "interrupted before the start; nothing was sent to the device"
    assert "run-start" not in kernel.calls and kernel.deleted


def test_a_second_ctrl_c_leaves_a_hung_device(spekctl: Spekctl, kernel: FakeKernel) -> None:
    kernel.hangs = True
    kernel.on_wait = lambda second: os.kill(os.getpid(), signal.SIGINT) if second >= 2 else None
    outcome = spekctl(
        "run", "random-read-4k", "--device", "/dev/fake0", "--json", "--progress", "none"
    )
    assert outcome.code == ExitCode.INTERRUPTED
    document = json.loads(outcome.out)
    validator(result.SCHEMA_FILE).validate(document)
    assert (document["outcome"]["state"], document["outcome"]["outstanding"]) == ("draining", 3)
    assert "the oldest for 2.5 s" in document["outcome"]["text"]
    assert kernel.calls.count("run-stop") == 1
    assert kernel.closed and not kernel.deleted


PLAY = """
import os, signal, sys
from pathlib import Path
import pytest
from lib.fakes.kernel import FakeKernel
from lib.fakes.machine import use_fakes
from spekctl import cli
kernel = FakeKernel()
kernel.on_wait = lambda second: os.kill(os.getpid(), signal.SIGINT) if second == 2 else None
use_fakes(pytest.MonkeyPatch(), kernel, Path(sys.argv.pop(1)))
cli.main()
"""


@pytest.mark.parametrize("progress", ["lines", "live"])
@pytest.mark.parametrize("how", ["nobody reads", "closed", "full"])
def test_ctrl_c_gives_the_result_even_if_standard_error_is_gone(
    how: str, progress: str, tmp_path: Path
) -> None:
    """As in `spekctl run ... 2>&1 | tee`, where Ctrl-C ends tee as well."""
    import subprocess

    read_end, write_end = os.pipe()
    os.close(read_end)
    full = os.open("/dev/full", os.O_WRONLY)
    path = tmp_path / "out.json"
    arguments = ("run", "random-read-4k", "--device", "/dev/fake0", "-o", str(path))
    done = subprocess.run(
        [sys.executable, "-c", PLAY, str(tmp_path), *arguments, "--progress", progress],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
        stdout=subprocess.PIPE,
        stderr={"nobody reads": write_end, "closed": None, "full": full}[how],
        preexec_fn=(lambda: os.close(2)) if how == "closed" else None,
        text=True,
        check=False,
    )
    os.close(write_end)
    os.close(full)
    assert done.returncode == ExitCode.INTERRUPTED
    document = json.loads(path.read_text())
    assert (document["outcome"]["reason"], document["totals"]["read"]["ios"]) == ("stopped", 200)
    assert "the run was stopped early" in done.stdout and "stopping" not in done.stdout


def test_standard_error_stays_what_it_was(tmp_path: Path) -> None:
    path = tmp_path / "said"
    with path.open("w", encoding="ascii") as file:
        patient = output.patient(file)
        print("gr\u00fcn", file=patient)
        assert path.read_text() == "gr\\xfcn\n"
        assert (patient.fileno(), patient.isatty(), patient.encoding) == (
            file.fileno(),
            False,
            "ascii",
        )


def test_an_export_that_fails_does_not_cost_the_result(
    spekctl: Spekctl, kernel: FakeKernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a log that export reads gigabytes again, which may fail long after the run."""

    def fail(result: Result) -> None:
        raise SpekError("cannot read the log")

    monkeypatch.setattr(fio_logs, "encode", fail)
    path = tmp_path / "r.json"
    outcome = run_ok(spekctl, "-o", str(path), "--fio-logs", str(tmp_path / "L"))
    assert outcome.code == ExitCode.RUN_FAILED
    assert outcome.err.splitlines()[-1] == "spekctl: cannot read the log"
    assert result.load_result(path).workload.workload.name == "random-read-4k"
    assert "the run completed" in outcome.out


# --- several steps -------------------------------------------------------------------------------

STEPS = "[global]\ndirect=1\nbs=4k\nruntime=3\ntime_based\nrw=randread\n[j]\n[k]\nstonewall\n"


@pytest.fixture
def steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The words for a run of a job file of two steps."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "job.fio").write_text(STEPS)
    return ["run", "fio:job.fio", "--device", "/dev/fake0", "--progress", "none"]


def test_steps_of_a_job_file_are_runs_one_after_the_other(
    spekctl: Spekctl, kernel: FakeKernel, tmp_path: Path, steps: list[str]
) -> None:
    done = spekctl(*steps, "-o", "r.json", "--fio-json", "f.json", "--fio-logs", "l")
    assert done.code == ExitCode.OK, done.err
    assert kernel.calls.count("run-start") == 2
    assert "step 1 of 2: job.1" in done.err and "step 2 of 2: job.2" in done.err
    kept = [result.load_result(tmp_path / f"r.{number}.json") for number in (1, 2)]
    assert [run.config.streams[0].name for run in kept] == ["j", "k"]
    jobs = json.loads((tmp_path / "f.json").read_text())["jobs"]
    assert [(job["jobname"], job["groupid"]) for job in jobs] == [("job.1", 0), ("job.2", 1)]
    assert (tmp_path / "l_bw.1.log").exists() and (tmp_path / "l_bw.2.log").exists()


def test_steps_share_a_claim(spekctl: Spekctl, kernel: FakeKernel, steps: list[str]) -> None:
    assert spekctl(*steps).code == ExitCode.OK
    assert kernel.calls.count("run-new") == 2 and kernel.claim is not None
    assert kernel.claim_calls() == ["claim-new", "run-new", "claim-del"]


def test_a_step_that_fails_is_the_last(
    spekctl: Spekctl, kernel: FakeKernel, steps: list[str]
) -> None:
    kernel.errors = 4
    done = spekctl(*steps)
    assert done.code == ExitCode.RUN_FAILED
    assert kernel.calls.count("run-start") == 1
    assert "1 step was not run" in done.err


def test_all_steps_are_checked_before_the_first_one_runs(
    spekctl: Spekctl, kernel: FakeKernel, tmp_path: Path, steps: list[str]
) -> None:
    (tmp_path / "job.fio").write_text(STEPS.replace("stonewall", "stonewall\nrw=randwrite"))
    done = spekctl(*steps)
    assert done.code == ExitCode.REFUSED
    assert "this workload writes" in done.err
    assert "run-new" not in kernel.calls


@pytest.mark.parametrize("option", [["--detach"], ["--json"]])
def test_options_of_one_run_are_refused_for_steps(
    spekctl: Spekctl, kernel: FakeKernel, steps: list[str], option: list[str]
) -> None:
    done = spekctl(*steps, *option)
    assert done.code == ExitCode.USAGE
    assert f"{option[0]} is of one run, and this file has 2 steps" in done.err
    assert "run-new" not in kernel.calls


def test_a_dry_run_prints_every_step(
    spekctl: Spekctl, kernel: FakeKernel, steps: list[str]
) -> None:
    done = spekctl(*steps, "--dry-run")
    assert (done.code, done.out.count("[workload]")) == (ExitCode.OK, 2)


# --- what would be lost --------------------------------------------------------------------------


def test_the_workload_is_not_overwritten(spekctl: Spekctl, kernel: FakeKernel) -> None:
    path = Path("own.toml")
    path.write_text(file.find("random-read-4k").read_text())
    before = path.read_text()
    outcome = spekctl("run", "./own.toml", "-d", "/dev/vda", "--time", "3s", "-o", "own.toml")
    assert outcome.sentence == "--output own.toml would overwrite the input own.toml"
    assert (outcome.code, path.read_text(), kernel.calls) == (ExitCode.USAGE, before, [])


@pytest.mark.parametrize("option", ["--output", "--log", "--fio-json"])
def test_a_trace_is_not_overwritten(spekctl: Spekctl, kernel: FakeKernel, option: str) -> None:
    path = Path("trace.csv")
    path.write_text("at_ns,device,op,byte,size\n0,0,R,0,4096\n")
    before = path.read_text()
    outcome = spekctl("run", "--trace", "trace.csv", "-d", "/dev/vda", option, "trace.csv")
    assert outcome.sentence == f"{option} trace.csv would overwrite the input trace.csv"
    assert (outcome.code, path.read_text(), kernel.calls) == (ExitCode.USAGE, before, [])

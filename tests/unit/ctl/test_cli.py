# SPDX-License-Identifier: GPL-2.0
"""The command line as a new user meets it: outputs, sentences and exit codes, on a fake kernel."""

from __future__ import annotations

import dataclasses
import errno
import json
import os
import re
import signal
import sys
import time
from pathlib import Path

import msgspec
import pytest
from lib.ctl.command_line import Spekctl, run_ok
from lib.ctl.schemas import validator
from lib.fakes.kernel import FakeKernel, other_run
from lib.fakes.machine import disk

from spekctl import cli
from spekctl.block import blkid, safety
from spekctl.block import device as block_device
from spekctl.documents import result
from spekctl.errors import (
    EXIT_CODE_HELP,
    ExitCode,
    NoKernelSideError,
    SpekError,
    error_from_errno,
)
from spekctl.kernel import client
from spekctl.kernel.records import Reason, RunState
from spekctl.render import output
from spekctl.run import observe

# --- wrong input ---------------------------------------------------------------------------------

WRONG: dict[str, tuple[str, str]] = {
    "unknown command": ("rnu", "there is no command 'rnu'; did you mean 'run'?"),
    "unknown option": ("run spc1 --device /dev/fake0 --dept 3", "no such option"),
    "no device": ("run spc1 --bsu 1", "missing option '--device'"),
    "unknown workload": ("run spc2 --device /dev/fake0", "did you mean 'spc1'?"),
    "missing file": ("run ./no.toml --device /dev/fake0", "there is no workload file ./no.toml"),
    "negative depth": ("run random-read-4k --device /dev/fake0 --depth -3", "not -3"),
    "depth in words": (
        "run random-read-4k --device /dev/fake0 --depth many",
        "'many' is not a valid integer",
    ),
    "bsu 0": ("run spc1 --device /dev/fake0 --bsu 0", "--bsu must be 1 to"),
    "bsu of a plain workload": (
        "run random-read-4k --device /dev/fake0 --bsu 3",
        "does not scale by BSU",
    ),
    "two loads": (
        "run random-read-4k --device /dev/fake0 --rate 3 --depth 3",
        "--rate and --depth exclude each other",
    ),
    "wrong duration": (
        "run random-read-4k --device /dev/fake0 --time 3parsecs",
        "'3parsecs' is not a duration",
    ),
    "wrong start time": (
        "run random-read-4k --device /dev/fake0 --start-at soon",
        "'soon' is not a start time",
    ),
    "wrong size": ("run random-read-4k --device /dev/fake0 --stripe 4KB", "write 4KiB"),
    "wrong cpus": ("run random-read-4k --device /dev/fake0 --cpus 3-1", "not a range of CPUs"),
    "wrong back end": ("run random-read-4k --device /dev/fake0 --backend sg", "is not one of"),
    "wrong device name": ("run random-read-4k --device /dev/nosuch", "there is no device"),
    "empty device name": ("run random-read-4k --device=", "there is no device ''"),
    "more than all reads": ("run --read 170% --device /dev/fake0", "'170%' is more than 100%"),
    "negative share": ("run --read -5% --device /dev/fake0", "'-5%' is not a percentage"),
    "block of no sector": ("run --size 100 --device /dev/fake0", "not a multiple of 512 bytes"),
    "block too large": ("run --size 1TiB --device /dev/fake0", "is more than 16 MiB"),
    "unit that is none": ("run --size 8KX --device /dev/fake0", "the units are KiB, MiB, GiB"),
    "unknown pattern": ("run --pattern zipf --device /dev/fake0", "'zipf' is not one of"),
    "pattern without its key": (
        "run --pattern strided --device /dev/fake0",
        "pattern strided needs 'stride'",
    ),
    "unknown stream": (
        "run --read 50% --device /dev/fake0 --set stream.mian.size=4k",
        "there is no stream 'mian'; did you mean 'main'?",
    ),
    "override without a value": (
        "run --read 50% --device /dev/fake0 --set stream.main.size",
        "write FIELD=VALUE",
    ),
    "negative rate": ("run random-read-4k --device /dev/fake0 --rate -3", "must be more than 0"),
    "rate beyond all devices": (
        "run random-read-4k --device /dev/fake0 --rate 1e30",
        "is more than 1000000000 I/Os per second",
    ),
    "depth beyond all numbers": (
        "run random-read-4k --device /dev/fake0 --depth 99999999999999999999",
        "--depth must be 1 to",
    ),
    "no time": ("run random-read-4k --device /dev/fake0 --time 0", "--time must be more than 0"),
    "time beyond all clocks": (
        "run random-read-4k --device /dev/fake0 --time 99999999h",
        "is longer than 5124095 hours",
    ),
    "two workloads": ("run spc1 oltp --device /dev/fake0", "unexpected extra argument (oltp)"),
    "directory as output": ("run random-read-4k --device /dev/fake0 -o /tmp", "is a directory"),
    "CPU that is not there": ("run random-read-4k --device /dev/fake0 --cpus 9999", "CPU 9999"),
    "no block device": ("run random-read-4k --device /etc/passwd", "not a block device"),
    "same device twice": (
        "run random-read-4k --device /dev/fake0 --device /dev/fake0",
        "are the same device",
    ),
    "destroy without write": (
        "run random-write-4k --device /dev/fake0 --destroy S123",
        "--destroy needs --write",
    ),
    "result into nowhere": (
        "run random-read-4k --device /dev/fake0 -o /nonexistent/out.json",
        "there is no directory /nonexistent",
    ),
    "load of no device": (
        "show spc1 --bsu 0 --depth -4",
        "--bsu needs --device or --capacity as well",
    ),
    "rate of no device": ("show burst --rate -5", "--rate needs --device or --capacity as well"),
    "walk of no device": ("show spc1 --hrrw fixed", "--hrrw needs --device or --capacity as well"),
    "rate of a device": (
        "show burst --rate nan --capacity 1GiB",
        "--rate: a rate must be more than 0",
    ),
    "rate of a closed loop": (
        "run spc1 --device /dev/fake0 --depth 4 --iops-per-bsu 5",
        "--depth and --iops-per-bsu exclude each other: a closed loop has no rate",
    ),
    "result over state": (
        "run random-write-4k --device /dev/fake0 --write --verify --verify-state x -o ./x",
        "--output and --verify-state are the same file",
    ),
    "state over log": (
        "run random-write-4k --device /dev/fake0 --write --verify --verify-state x --log x",
        "--log and --verify-state are the same file",
    ),
    "ramp-up by its old name": ("energy emerald --warm-up 3s", "--warm-up is called --ramp here"),
    "old name of a phase's length": (
        "spc1 -d x --ramp-time 3s",
        "--ramp-time is called --phase-time",
    ),
    "show nothing": ("show spc9", "did you mean 'spc1'?"),
    "run that is not there": ("watch 99", "There is no run"),
    "stop of nothing": ("stop", "the kernel has no run"),
}


@pytest.mark.parametrize("case", sorted(WRONG))
def test_wrong_input_gets_one_sentence_and_code_2(
    case: str, spekctl: Spekctl, kernel: FakeKernel
) -> None:
    line, sentence = WRONG[case]
    outcome = spekctl(*line.split())
    assert outcome.code == ExitCode.USAGE
    assert sentence in outcome.sentence
    assert outcome.out == ""
    assert "run-new" not in kernel.calls


NO_WORKLOAD: dict[str, tuple[str, bytes | None, str]] = {
    "binary": ("./binary.toml", b"\x7fELF\x02\x01\xff\xfe", "it is not UTF-8 text"),
    "empty": ("./empty.toml", b"", "the section 'workload' is missing"),
    "result": ("result.json", b'{"kind": "spek-result"}', "this is JSON; results and reports"),
    "no TOML": ("./notes.toml", b"remember the milk", "not valid TOML"),
    "directory": ("./folder", None, "is a directory, not a workload file"),
    "other suffix": ("mine.txt", b"", "to use the file, write ./mine.txt"),
}


@pytest.mark.parametrize("case", sorted(NO_WORKLOAD))
def test_a_file_that_is_no_workload_gets_one_sentence(
    case: str,
    spekctl: Spekctl,
    kernel: FakeKernel,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name, content, sentence = NO_WORKLOAD[case]
    monkeypatch.chdir(tmp_path)
    Path(name).mkdir() if content is None else Path(name).write_bytes(content)
    outcome = spekctl("run", name, "--device", "/dev/fake0", "-o", "out.json")
    assert outcome.code == ExitCode.USAGE
    assert sentence in outcome.sentence
    assert outcome.out == "" and not Path("out.json").exists()
    assert "run-new" not in kernel.calls


WRONG_KIND: dict[str, tuple[str, str]] = {
    "log of a result": ("log r.json", "r.json is a result of a run; expected a per-I/O log"),
    "plot of TOML": ("plot t.toml", "t.toml is not a spek file"),
    "plot of half a file": ("plot half.json", "half.json is not valid JSON"),
    "later version": ("plot r.json", "r.json has version 99 of its format; this spekctl reads"),
    "verify of a result": (
        "verify --device /dev/fake0 --from r.json",
        "r.json is a result of a run; expected a state file of `spekctl run --verify-state`",
    ),
    "energy of a result": ("energy spc1e --from r.json", "r.json is a result of a run"),
    "missing file": ("energy dcse --from none.toml", "there is no file none.toml"),
}


@pytest.mark.parametrize("case", sorted(WRONG_KIND))
def test_a_document_of_another_kind_gets_one_sentence(
    case: str, spekctl: Spekctl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("r.json").write_text('{"kind": "spek-result", "version": 99}')
    Path("half.json").write_text("{")
    Path("t.toml").write_text("a = 1\n")
    before = sorted(Path().iterdir())
    line, sentence = WRONG_KIND[case]
    outcome = spekctl(*line.split())
    assert outcome.code == ExitCode.USAGE
    assert sentence in outcome.sentence
    assert outcome.out == "" and sorted(Path().iterdir()) == before


def test_a_workload_with_a_typo_is_refused(
    spekctl: Spekctl, kernel: FakeKernel, tmp_path: Path
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('[workload]\nname = "w"\nsummary = "s"\n[[stream]]\nname = "s"\nsise = "4k"\n')
    outcome = spekctl("run", str(path), "--device", "/dev/fake0")
    assert outcome.code == ExitCode.USAGE
    assert "unknown key 'sise'; did you mean 'size'?" in outcome.sentence


def test_no_module_is_code_5(
    spekctl: Spekctl, kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> FakeKernel:
        raise NoKernelSideError("the kernel module spek is not loaded; as root: modprobe spek")

    monkeypatch.setattr(client, "connect", missing)
    for command in (["status"], ["stop"], ["run", "random-read-4k", "--device", "/dev/fake0"]):
        outcome = spekctl(*command)
        assert outcome.code == ExitCode.NO_KERNEL_SIDE
        assert "modprobe spek" in outcome.sentence


def test_no_permission_is_code_3(spekctl: Spekctl, kernel: FakeKernel) -> None:
    kernel.refuse["run-new"] = error_from_errno(errno.EPERM, "needs root", "run-new")
    outcome = spekctl("run", "random-read-4k", "--device", "/dev/fake0", "--progress", "none")
    assert (outcome.code, outcome.sentence) == (ExitCode.PERMISSION, "needs root")
    assert kernel.closed


def test_a_device_in_use_is_code_4_and_says_who(
    spekctl: Spekctl, kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel.refuse["run-new"] = error_from_errno(errno.EBUSY, "Somebody holds it.", "run-new")
    holder = safety.Holder("fake0 is mounted on /srv")
    monkeypatch.setattr(safety, "holders", lambda block_device, roots=None: [holder])
    outcome = spekctl("run", "random-read-4k", "--device", "/dev/fake0", "--progress", "none")
    assert outcome.code == ExitCode.REFUSED
    assert outcome.sentence == "/dev/fake0 is in use: fake0 is mounted on /srv"


def test_a_device_of_another_run_is_named(spekctl: Spekctl, kernel: FakeKernel) -> None:
    kernel.refuse["run-new"] = error_from_errno(errno.EBUSY, "Somebody holds it.", "run-new")
    kernel.others = [other_run(3, 250, 1)]
    command = "run random-read-4k --device /dev/fake0 --device /dev/fake1 --progress none"
    outcome = spekctl(*command.split())
    assert outcome.code == ExitCode.REFUSED
    assert outcome.sentence == "/dev/fake1 is in use: run 3 of spek (random-read-4k) uses it"


@pytest.mark.parametrize(
    ("blamed", "name"),
    [
        (("target", 1), "/dev/fake1: "),
        (("stream", 0), "stream 'main': "),
        (("arrival", 0), "arrival 'main': "),
        (("asu", 0), "asu 'all': "),
        (("worker", 0), "worker on CPU "),
        (("spin_ns", 0), ""),
        (None, ""),
    ],
)
def test_the_part_that_the_kernel_blames_is_named(
    blamed: tuple[str, int] | None, name: str, spekctl: Spekctl, kernel: FakeKernel
) -> None:
    error = error_from_errno(errno.ERANGE, "It is too large.", "run-new")
    error.blamed = blamed
    kernel.refuse["run-new"] = error
    command = "run random-read-4k --device /dev/fake0 --device /dev/fake1 --progress none"
    outcome = spekctl(*command.split())
    assert outcome.code == ExitCode.USAGE
    assert outcome.sentence.startswith(name)
    assert outcome.sentence.endswith("It is too large.")


def test_writing_without_permission_is_code_4(spekctl: Spekctl, kernel: FakeKernel) -> None:
    outcome = spekctl("run", "random-write-4k", "--device", "/dev/fake0")
    assert outcome.code == ExitCode.REFUSED
    assert "this workload writes; give --write" in outcome.sentence
    assert "run-new" not in kernel.calls


def test_data_is_refused_after_the_claim_and_before_the_start(
    spekctl: Spekctl, kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = [blkid.Signature("xfs", "filesystem", 0)]
    monkeypatch.setattr(safety, "signatures_on", lambda block_device, diskseq: found)
    command = "run random-write-4k --device /dev/fake0 --write --time 2s --progress none"
    outcome = spekctl(*command.split())
    assert outcome.code == ExitCode.REFUSED
    assert outcome.sentence.endswith(
        "file system xfs at byte 0; to overwrite it, give --destroy S123"
    )
    assert kernel.calls[0] == "run-new"
    assert "run-start" not in kernel.calls
    assert kernel.deleted
    outcome = spekctl(*command.split(), "--destroy", "S123")
    assert outcome.code == ExitCode.OK
    assert "will be overwritten" in outcome.err


def test_a_mistyped_serial_is_refused_even_if_nothing_would_be_lost(
    spekctl: Spekctl, kernel: FakeKernel
) -> None:
    outcome = spekctl(
        *("run", "random-write-4k", "--device", "/dev/fake0", "--write", "--destroy", "S124")
    )
    assert outcome.code == ExitCode.REFUSED
    assert outcome.sentence == (
        "--destroy S124 names none of the devices given: /dev/fake0 is S123"
    )
    assert "run-new" not in kernel.calls


def test_a_device_replaced_between_look_and_claim_is_refused(
    spekctl: Spekctl, kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel.diskseq = 6
    monkeypatch.setattr(block_device, "find", lambda path: disk(path, diskseq=5))
    outcome = spekctl("run", "random-read-4k", "--device", "/dev/fake0", "--progress", "none")
    assert outcome.code == ExitCode.REFUSED
    assert "has just been replaced" in outcome.sentence
    assert "run-start" not in kernel.calls


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
    found = json.loads(outcome.out)
    validator(result.SCHEMA_FILE).validate(found)
    assert found["totals"]["read"]["ios"] == 300
    assert [row["phase"] for row in found["intervals"]] == ["ramp"] + ["measure"] * 3
    assert found["config"]["seed"] == 1


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
    found = [blkid.Signature("xfs", "filesystem", 0)]
    monkeypatch.setattr(safety, "signatures_on", lambda block_device, diskseq: found)
    arguments = ["run", "random-write-4k", "--write", "--destroy", "S123", "--time", "3s", "-d"]
    arguments += [f"/dev/{name}", "-o", str(path), "--progress", "none"]
    monkeypatch.setattr(sys, "argv", ["spekctl", *arguments])
    outcome = spekctl(*arguments)
    assert outcome.code == ExitCode.OK and "/dev/r\ufffd.json" in outcome.out
    made = json.loads(path.read_text())
    assert made["command"][-3] == f"{tmp_path}/r\ufffd.json"
    assert made["targets"][0]["facts"]["path"] == "/dev/r\ufffd.json"
    assert made["remarks"][0].startswith("/dev/r\ufffd.json holds data")
    assert spekctl(*arguments[:-4], "--detach").code == ExitCode.OK
    assert spekctl("watch", "--progress", "none").code == ExitCode.OK


def test_a_command_line_is_recorded_in_one_way_only() -> None:
    root = Path(cli.__file__).parent
    users = {one.name for one in root.rglob("*.py") if "sys.argv[1:]" in one.read_text()}
    assert users == {"cli.py", "recorded.py"}


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
    assert (path.read_text(), outcome.out) == ("the one before", "")
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
    found = json.loads(outcome.out)
    assert found["outcome"]["reason"] == "stopped"
    assert kernel.deleted


def test_a_dry_run_sends_nothing(spekctl: Spekctl, kernel: FakeKernel) -> None:
    outcome = spekctl("run", "spc1", "--bsu", "2", "--device", "/dev/fake0", "--dry-run")
    assert outcome.code == ExitCode.OK
    assert "100 I/Os per second offered" in outcome.out
    assert kernel.calls == []


def test_a_missing_prober_is_said_in_one_line(
    spekctl: Spekctl, kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(observe, "connect", lambda *wishes: (None, "no prober: x missing"))
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
    found = json.loads(outcome.out)
    assert (found["outcome"]["reason"], found["outcome"]["ok"]) == ("stopped", False)
    assert found["totals"]["read"]["ios"] == 200
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
    found = json.loads(outcome.out)
    validator(result.SCHEMA_FILE).validate(found)
    assert (found["outcome"]["state"], found["outcome"]["outstanding"]) == ("draining", 3)
    assert "the oldest for 2.5 s" in found["outcome"]["text"]
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
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        stdout=subprocess.PIPE,
        stderr={"nobody reads": write_end, "closed": None, "full": full}[how],
        preexec_fn=(lambda: os.close(2)) if how == "closed" else None,
        text=True,
        check=False,
    )
    os.close(write_end)
    os.close(full)
    assert done.returncode == ExitCode.INTERRUPTED
    found = json.loads(path.read_text())
    assert (found["outcome"]["reason"], found["totals"]["read"]["ios"]) == ("stopped", 200)
    assert "the run was stopped early" in done.stdout and "stopping" not in done.stdout


def test_standard_error_stays_what_it_was(tmp_path: Path) -> None:
    path = tmp_path / "said"
    with path.open("w", encoding="ascii") as file:
        made = output.patient(file)
        print("gr\u00fcn", file=made)
        assert path.read_text() == "gr\\xfcn\n"
        assert (made.fileno(), made.isatty(), made.encoding) == (file.fileno(), False, "ascii")


# --- lists ---------------------------------------------------------------------------------------


def test_status_is_a_table(spekctl: Spekctl, kernel: FakeKernel) -> None:
    kernel.others = [other_run(3, 8, 0)]
    head, row = spekctl("status").out.splitlines()
    assert head.split()[:4] == ["run", "workload", "state", "elapsed"]
    assert row.split()[:6] == ["3", "random-read-4k", "ramp-up", "0:01", "0:59", "fake0"]


def test_workloads_are_listed(spekctl: Spekctl) -> None:
    listed = json.loads(spekctl("workloads", "--json").out)
    assert {"name", "summary"} == set(listed[0])
    assert [one["name"] for one in listed] == [
        line.split()[0] for line in spekctl("workloads").out.splitlines()
    ]


MIXED = """
[workload]
name = "mixed"
summary = "a closed loop beside arrivals"
[[arrival]]
name = "loop"
depth = 4
[[arrival]]
name = "rate"
law = "poisson"
rate = 1500000
[[stream]]
name = "a"
size = "4k"
arrival = "loop"
[[stream]]
name = "b"
size = "4k"
arrival = "rate"
"""


def test_show_tells_a_mixed_load_from_a_closed_loop(spekctl: Spekctl, tmp_path: Path) -> None:
    (tmp_path / "mixed.toml").write_text(MIXED)
    text = spekctl("show", "./mixed.toml", "--capacity", "1GiB").out
    assert "closed loop of depth 4 beside 1,500,000 I/Os per second offered" in text


def test_show_explains(spekctl: Spekctl) -> None:
    text = spekctl("show", "spc1", "--capacity", "10GiB").out
    assert "3-1: share 28.1%, 0% reads" in text
    assert "4831838208" in text
    found = json.loads(spekctl("show", "spc1", "--capacity", "10GiB", "--json").out)
    assert found["workload"]["workload"]["name"] == "spc1"
    assert found["config"]["asus"][0]["bytes"] == 4831838208
    assert (
        "exclude each other" in spekctl("show", "spc1", "--capacity", "1G", "-d", "/dev/x").sentence
    )


def test_devices_say_what_may_be_done(
    spekctl: Spekctl, kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = {
        "/dev/fake0": (disk("/dev/fake0"), "", []),
        "/dev/fake1": (disk("/dev/fake1"), "fake1 is mounted on /", []),
        "/dev/fake2": (disk("/dev/fake2"), "", [blkid.Signature("xfs", "filesystem", 0)]),
        "/dev/fake3": (disk("/dev/fake3", read_only=True), "", []),
        "/dev/fake4": (disk("/dev/fake4"), "", None),
        "/dev/fake5": (disk("/dev/fake5"), "", []),
        "/dev/fake6": (disk("/dev/fake6", zoned="host-managed"), "", []),
    }
    gone = str((1 << 22) + 1)  # more than Linux gives a process
    opened = [safety.Opened("250:5", gone, os.O_RDWR), safety.Opened("250:0", gone, os.O_RDONLY)]
    monkeypatch.setattr(safety, "opened_devices", lambda: opened)
    monkeypatch.setattr(
        block_device, "every", lambda everything: [one[0] for one in found.values()]
    )
    monkeypatch.setattr(safety, "verdict", lambda one, runs: found[one.path][1])
    monkeypatch.setattr(safety, "data_on", lambda one: found[one.path][2])
    rows = json.loads(spekctl("devices", "--json").out)
    assert [row["state"] for row in rows] == [
        "reading and writing",
        "no: fake1 is mounted on /",
        "reading; writing with --destroy (it holds file system xfs at byte 0)",
        "reading (it is read-only)",
        "reading; what it holds can't be seen without root",
        f"reading at most: process {gone} (?) has it open for writing",
        "reading (it is a zoned device that requires sequential writes;"
        " no workload supports that yet)",
    ]
    assert [row["open_for_writing"] != [] for row in rows] == [False] * 5 + [True, False]
    table = spekctl("devices").out
    assert "S123" in table and "no: fake1 is mounted on /" in table


def seen(monkeypatch: pytest.MonkeyPatch, *found: block_device.Device) -> None:
    monkeypatch.setattr(block_device, "every", lambda everything: list(found))
    monkeypatch.setattr(safety, "verdict", lambda one, runs=(): "")
    monkeypatch.setattr(safety, "opened_devices", lambda: [])
    monkeypatch.setattr(safety, "data_on", lambda one: [])


def test_names_are_shown_as_they_are(
    spekctl: Spekctl, kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = "[bold]M[/y] :red_heart:"
    seen(monkeypatch, disk(model=odd, serial="[/x]"))
    table = spekctl("devices")
    assert table.code == 0 and odd in table.out and "[/x]" in table.out
    kernel.others = [dataclasses.replace(other_run(3, 8, 0), name="[/x]:red_heart:")]
    assert "[/x]:red_heart:" in spekctl("status").out


def test_an_id_is_whole_on_a_narrow_terminal(
    spekctl: Spekctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    serial = "".join(f"{number:04}-" for number in range(13))
    seen(monkeypatch, disk(serial=serial, model="A model of a disk with a long name"))
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("FORCE_COLOR", "1")
    head, *rows = re.sub(r"\x1b\[[0-9;]*m", "", spekctl("devices").out).splitlines()
    start, end = head.index("id"), head.index("may be")
    assert max(map(len, rows)) <= 80
    assert "".join(row[start:end].strip() for row in rows) == serial


@pytest.mark.parametrize(
    ("error", "state"),
    [
        (None, "no: run 3 of spek (random-read-4k) uses it"),
        (error_from_errno(errno.EPERM, "needs root", "run-get"), "reading and writing"),
    ],
)
def test_a_device_of_a_run_is_listed_as_in_use(
    error: SpekError | None,
    state: str,
    spekctl: Spekctl,
    kernel: FakeKernel,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kernel.others = [other_run(3, 250, 0)]
    if error is not None:
        kernel.refuse["runs"] = error
    monkeypatch.setattr(block_device, "every", lambda everything: [disk("/dev/fake0")])
    monkeypatch.setattr(safety, "opened_devices", lambda: [])
    monkeypatch.setattr(safety, "data_on", lambda one: [])
    (row,) = json.loads(spekctl("devices", "--json").out)
    assert row["state"] == state
    assert kernel.closed


# --- the rest ------------------------------------------------------------------------------------


def test_help_documents_every_exit_code(spekctl: Spekctl) -> None:
    text = spekctl("--help").out
    for code, meaning in EXIT_CODE_HELP.items():
        assert f"{int(code):>3}  {meaning}" in text
    assert set(EXIT_CODE_HELP) == set(ExitCode)


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_has_help(name: str, spekctl: Spekctl) -> None:
    outcome = spekctl(name, "--help")
    assert outcome.code == 0
    assert outcome.out.startswith(f"Usage: spekctl {name}")


def test_the_version_is_that_of_the_package(spekctl: Spekctl) -> None:
    import tomllib

    root = Path(__file__).resolve().parents[3]
    version = tomllib.loads((root / "pyproject.toml").read_text())["project"]["version"]
    assert version in spekctl("--version").out


def test_verbose_shows_where_it_arose(spekctl: Spekctl) -> None:
    outcome = spekctl("-v", "show", "spc9")
    assert outcome.code == ExitCode.USAGE
    assert "Traceback" in outcome.err


@pytest.mark.parametrize("command", ["workloads", "show spc1 --json", "devices", "--help"])
def test_output_that_can_not_be_written_gets_one_sentence(command: str) -> None:
    import subprocess
    import sys

    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "spekctl", *command.split()],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == ExitCode.RUN_FAILED
    assert done.stderr == "spekctl: cannot write standard output: No space left on device\n"


def test_a_reader_that_leaves_is_no_failure() -> None:
    import subprocess
    import sys

    spekctl = f"{sys.executable} -m spekctl"
    line = f"set -o pipefail; {spekctl} show spc1 | true && {spekctl} show spc1 --json | head -n 1"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr, done.returncode) == ("{\n", "", 0)


def test_output_that_is_closed_gets_a_sentence() -> None:
    import subprocess
    import sys

    line = f"{sys.executable} -m spekctl workloads >&-"
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
    assert done.stderr.endswith("spekctl: cannot write standard output: it is closed\n")
    assert done.returncode == ExitCode.RUN_FAILED

# SPDX-License-Identifier: GPL-2.0
"""Options of a run from another program's file: taken, said, recorded, and not over one's own."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from lib.ctl.command_line import Outcome, Spekctl
from lib.fakes.kernel import FakeKernel

from spekctl.commands import run, taken
from spekctl.documents import result
from spekctl.documents.result import Result
from spekctl.errors import ExitCode, UsageError
from spekctl.workload.endings import Steady
from spekctl.workload.imported import device_option

JOB = """[global]
direct=1
bs=4k
filename=/dev/fake0
runtime=3
time_based
rw=randread
[a]
cpus_allowed=0
randseed=17
max_latency=10s
startdelay=7
hipri
"""


def of(line: str, *texts: str, unset: tuple[str, ...] = ()) -> taken.Taken:
    with run.command.make_context("spekctl run", shlex.split(line)):
        return taken.of(texts, unset)


@pytest.fixture
def run_job(
    spekctl: Spekctl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[Outcome, list[Result]]]:
    """Runs a text as a job file; its results."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1})

    def call(job: str, *more: str, steps: int = 1) -> tuple[Outcome, list[Result]]:
        (tmp_path / "job.fio").write_text(job)
        words = ["run", "fio:job.fio", "--progress", "none", "-o", "r.json", *more]
        monkeypatch.setattr(sys, "argv", ["spekctl", *words])
        outcome = spekctl(*words)
        names = ["r.json"] if steps == 1 else [f"r.{number}.json" for number in range(1, steps + 1)]
        paths = [tmp_path / name for name in names]
        return outcome, [result.load_result(path) for path in paths if path.exists()]

    return call


RunJob = Callable[..., tuple[Outcome, list[Result]]]


def test_values_are_those_that_the_command_line_would_have() -> None:
    of_file = of(
        "w", "--device /dev/a", "--device /dev/b", "--cpus 0-1", "--polled", "--start-at +5s",
        "--until steady:iops,window=3,range=5%,slope=100%", "--interval 2s", "--stripe 128KiB",
        "--stop-when 'max > 1ms'", "--stop-when 'errors > 0'", "--max-errors 1",
    )  # fmt: skip
    assert of_file.values["devices"] == ("/dev/a", "/dev/b")
    assert (of_file.values["cpus"], of_file.values["polled"]) == ([0, 1], True)
    assert (of_file.values["interval_ns"], of_file.values["stripe_bytes"]) == (2 * 10**9, 128 << 10)
    assert isinstance(of_file.values["until"], Steady) and of_file.values["until"].window == 3
    assert len(of_file.values["stop_when"]) == 2 and of_file.values["max_errors"] == 1
    assert of_file.values["start_at"].ns == 5 * 10**9
    assert shlex.join(of_file.words[:6]) == "--device /dev/a --device /dev/b --cpus 0-1"
    assert "--polled" in of_file.words and "max > 1ms" in of_file.words


def test_the_command_line_replaces_the_file() -> None:
    line = "w --device /dev/c --seed 5 --stop-when 'p99 > 1s' --start-at +1h"
    texts = ("--device /dev/a", "--seed 9", "--stop-when 'max > 1ms'", "--start-at +5s")
    assert of(line, *texts) == taken.Taken()
    assert of(line, *texts, unset=("start_at",)).words == ["--start-at", "+5s"]


def test_a_file_does_not_permit_writing() -> None:
    assert of("w", "--write", "--destroy S1", "--verify").words == ["--verify"]


def test_expressions_of_the_shell_have_a_value_or_are_refused() -> None:
    seeds = {of("w", "--seed $RANDOM").values["seed"] for _ in range(4)}
    assert len(seeds) > 1 and all(0 <= seed < 1 << 32 for seed in seeds)
    nodes = "--cpus $(cat /sys/devices/system/node/node77/cpulist | paste -sd,)"
    with pytest.raises(UsageError, match=r"--cpus: this machine lacks what .*node77"):
        of("w", nodes)
    assert of("w --cpus 0", nodes) == taken.Taken()


@pytest.mark.parametrize("path", ["$RANDOM", "$(x)"])
def test_a_device_keeps_a_name_that_looks_like_an_expression(path: str) -> None:
    assert of("w", device_option(path)).words == ["--device", path]


def test_a_wrong_value_is_refused_by_its_option() -> None:
    with pytest.raises(click.BadParameter, match="'soon' is not a start time"):
        of("w", "--start-at soon")


def test_a_run_takes_what_its_file_sets(run_job: RunJob, kernel: FakeKernel) -> None:
    done, (kept,) = run_job(JOB)
    assert done.code == ExitCode.OK, done.err
    words = ["--device", "/dev/fake0", "--start-at", "+7s", "--seed", "17", "--cpus", "0"]
    words += ["--polled", "--max-errors", "1", "--stop-when", "max > 10s"]
    (line,) = [text for text in done.err.splitlines() if "taken from the job" in text]
    assert line == f"spekctl: taken from the job: {shlex.join(words)}"
    assert "give to `spekctl run`" not in done.err
    assert kept.command == ["run", "fio:job.fio", "--progress", "none", "-o", "r.json", *words]
    assert (kept.config.seed, kept.config.polled, kept.config.max_errors) == (17, True, 1)
    assert kept.config.cpus == [0] and kept.targets[0].facts.path == "/dev/fake0"
    assert kept.ending is not None and kernel.start_ns


def test_what_is_given_is_not_taken(run_job: RunJob, kernel: FakeKernel) -> None:
    own = ("--device", "/dev/fake0", "--seed", "5", "--max-errors", "0")
    done, (kept,) = run_job(JOB, *own)
    assert done.code == ExitCode.OK, done.err
    assert (kept.config.seed, kept.config.max_errors) == (5, 0)
    assert "--device" not in kept.command[kept.command.index("0") + 1 :]
    assert kept.command.count("--seed") == 1


def test_the_result_of_a_command_line_has_them_before_the_arguments(
    spekctl: Spekctl, kernel: FakeKernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "r.json"
    words = ["run", "fio:", "--progress", "none", "-o", str(path)]
    fio = ["--", "--name=a", "--filename=/dev/fake0", "--randseed=3", "--runtime=3", "--time_based"]
    monkeypatch.setattr(sys, "argv", ["spekctl", *words, *fio])
    done = spekctl(*words, *fio)
    assert done.code == ExitCode.OK, done.err
    took = ["--device", "/dev/fake0", "--seed", "3", "--max-errors", "1"]
    assert result.load_result(path).command == [*words, *took, *fio]


def test_writing_and_devices_are_asked_for(run_job: RunJob, kernel: FakeKernel) -> None:
    done, results = run_job(JOB.replace("randread", "randwrite"))
    assert (done.code, results) == (ExitCode.REFUSED, [])
    assert "this workload writes" in done.err
    done, results = run_job(JOB.replace("filename=/dev/fake0\n", ""))
    assert (done.code, results) == (ExitCode.USAGE, [])
    assert "--device" in done.err.splitlines()[-1] and "run-new" not in kernel.calls


def test_each_step_takes_its_own(run_job: RunJob, kernel: FakeKernel) -> None:
    # From the start of the first step, which has a delay of 7 s and runs for 3 s.
    job = JOB + "[b]\nstonewall\nrandseed=18\nstartdelay=19\n"
    starts: list[int] = []

    def starts_now(second: int) -> None:
        kernel.armed_waits = 0
        starts.append(kernel.start_ns)

    kernel.on_wait = starts_now
    done, (first, second) = run_job(job, "--start-at", "+1h", steps=2)
    assert done.code == ExitCode.OK, done.err
    assert (first.config.seed, second.config.seed) == (17, 18)
    assert (first.config.polled, second.config.polled) == (True, False)
    # --start-at is of the first step; what is left of the other delay stays.
    assert 3590 * 10**9 < max(starts) - min(starts) < 3600 * 10**9
    assert "+7s" not in first.command and "+9s" in second.command


@pytest.mark.parametrize("path", [r"\\.\PhysicalDrive1", "/dev/a b", "/dev/it's"])
def test_the_path_of_a_device_stays_as_the_file_has_it(
    run_job: RunJob, kernel: FakeKernel, path: str
) -> None:
    done, _ = run_job(f"[a]\nfilename={path}\nrw=randread\ndirect=1\n")
    assert done.code == ExitCode.USAGE
    assert f"there is no device {path}" in done.err
    done, (kept,) = run_job(f"[a]\nfilename={path}\nrw=randread\n", "--device", "/dev/fake0")
    assert done.code == ExitCode.OK, done.err
    assert [target.facts.path for target in kept.targets] == ["/dev/fake0"]


def test_steps_with_a_command_between_them_are_refused(run_job: RunJob, kernel: FakeKernel) -> None:
    job = JOB + "[b]\nstonewall\nexec_prerun=reset-drive.sh\n"
    done, results = run_job(job)
    assert (done.code, results) == (ExitCode.USAGE, [])
    assert "[b] exec_prerun: its command has to run between steps; write each" in done.err
    assert "run-new" not in kernel.calls
    done, results = run_job(JOB + "exec_prerun=reset-drive.sh\n")
    assert done.code == ExitCode.OK and len(results) == 1
    assert "exec_prerun: its command is not run; run it before the load" in done.err

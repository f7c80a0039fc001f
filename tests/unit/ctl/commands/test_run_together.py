# SPDX-License-Identifier: GPL-2.0
"""spekctl run of a job file whose jobs have devices of their own."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from lib.ctl.command_line import Outcome, Spekctl
from lib.fakes.kernel import FakeKernel, without_io
from lib.fakes.machine import use_fakes
from lib.fakes.shared_kernel import SharedKernel

from spekctl import files
from spekctl.block import blkid, safety
from spekctl.commands.deliver import Exports
from spekctl.documents import result
from spekctl.documents.result import Result
from spekctl.errors import ExitCode, SpekError
from spekctl.kernel.records import Reason

SECOND = 10**9
HEAD = "[global]\ndirect=1\nbs=4k\nruntime=3\ntime_based\nrw=randread\n"
TWO = HEAD + "[a]\nfilename=/dev/fake0\n[b]\nfilename=/dev/fake1\nbs=8k\nrandseed=9\n"


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> SharedKernel:
    kernel = SharedKernel()
    use_fakes(monkeypatch, kernel, tmp_path)
    return kernel


def run_job(spekctl: Spekctl, text: str, *more: str) -> Outcome:
    Path("job.fio").write_text(text)
    return spekctl("run", "fio:job.fio", "--progress", "none", *more)


def test_jobs_with_devices_of_their_own_have_one_start(
    spekctl: Spekctl, shared: SharedKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["spekctl", "run", "fio:job.fio"])
    done = run_job(spekctl, TWO, "-o", "r.json", "--fio-json", "f.json", "--hdr-log", "h.hlog")
    assert done.code == ExitCode.OK, done.err
    first, second = (result.load_result(Path(f"r.{number}.json")) for number in (1, 2))
    assert first.start.monotonic_ns == second.start.monotonic_ns > 0
    paths = [target.facts.path for kept in (first, second) for target in kept.targets]
    assert paths == ["/dev/fake0", "/dev/fake1"]
    assert [kept.config.streams[0].name for kept in (first, second)] == ["a", "b"]
    assert second.config.seed == 9 and "--seed" not in first.command
    assert second.command[2:] == ["--device", "/dev/fake1", "--seed", "9", "--max-errors", "1"]
    assert "2 runs together: read 200 IOPS, 0.8 MiB/s" in done.out
    jobs = json.loads(Path("f.json").read_text())["jobs"]
    assert [job["jobname"] for job in jobs] == ["job.1", "job.2"]
    assert Path("h.1.hlog").exists() and Path("h.2.hlog").exists()
    assert not shared.held()


def test_their_results_are_read_together(spekctl: Spekctl, shared: SharedKernel) -> None:
    assert run_job(spekctl, TWO, "-o", "r.json").code == ExitCode.OK
    assert "/dev/fake1" in spekctl("show", "r.2.json").out
    assert spekctl("show", "r.1.json", "r.2.json", "--fio-json", "s.json").code == ExitCode.OK
    clients = json.loads(Path("s.json").read_text())["client_stats"]
    assert [client["jobname"] for client in clients] == ["job.1", "job.2", "All clients"]
    assert spekctl("report", "r.1.json", "r.2.json", "-o", "r.html").code == ExitCode.OK
    Path("limits.toml").write_text('[[limit]]\nmetric = "iops"\nmin = 50\n')
    judged = spekctl("gate", "limits.toml", "r.1.json", "r.2.json")
    assert judged.code == ExitCode.OK, judged.err


def test_their_workers_are_on_cpus_of_their_own(
    spekctl: Spekctl, shared: SharedKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1, 2})
    assert run_job(spekctl, TWO).code == ExitCode.OK
    configs = [fake.config for fake in shared.runs_by_number.values()]
    assert [config.cpus for config in configs if config is not None] == [[0], [1]]
    given = TWO.replace("[b]", "cpus_allowed=2\n[b]")
    assert run_job(spekctl, given).code == ExitCode.OK
    configs = [fake.config for fake in list(shared.runs_by_number.values())[2:]]
    assert [config.cpus for config in configs if config is not None] == [[2], [0]]


def test_they_need_lists_of_cpus(spekctl: Spekctl, shared: SharedKernel) -> None:
    done = run_job(spekctl, TWO, "--cpus", "auto")
    assert done.code == ExitCode.USAGE
    assert "--cpus auto is for a run that starts alone; 2 start together: list CPUs" in done.err
    assert not shared.runs_by_number


def test_devices_that_are_given_take_the_places_of_those_in_the_file(
    spekctl: Spekctl, shared: SharedKernel
) -> None:
    job = TWO.replace("/dev/fake", "/dev/none")
    done = run_job(spekctl, job, "-o", "r.json", "-d", "/dev/fake3", "-d", "/dev/fake2")
    assert done.code == ExitCode.OK, done.err
    kept = [result.load_result(Path(f"r.{number}.json")) for number in (1, 2)]
    assert [each.targets[0].facts.path for each in kept] == ["/dev/fake3", "/dev/fake2"]
    few = run_job(spekctl, job, "-d", "/dev/fake3")
    assert few.code == ExitCode.USAGE
    assert "side by side on 2 devices (/dev/none0, /dev/none1): give as many" in few.err


def test_each_is_delayed_after_the_common_start(spekctl: Spekctl, shared: SharedKernel) -> None:
    job = TWO.replace("[b]", "startdelay=2\n[b]\nstartdelay=9")
    assert run_job(spekctl, job).code == ExitCode.OK
    first, second = (fake.start_ns for fake in shared.runs_by_number.values())
    assert second - first == 7 * SECOND
    assert run_job(spekctl, job, "--start-at", "mono:5000000000000").code == ExitCode.OK
    starts = [fake.start_ns for fake in shared.runs_by_number.values()][2:]
    assert starts == [5000 * SECOND, 5007 * SECOND]


def test_groups_of_jobs_are_steps(spekctl: Spekctl, shared: SharedKernel) -> None:
    done = run_job(spekctl, TWO + "[c]\nstonewall\nfilename=/dev/fake0\n", "-o", "r.json")
    assert done.code == ExitCode.OK, done.err
    assert "step 1 of 2: job.1 on /dev/fake0, beside job.2 on /dev/fake1" in done.err
    assert "step 2 of 2: job.3 on /dev/fake0" in done.err
    assert all(Path(f"r.{number}.json").exists() for number in (1, 2, 3))
    assert shared.calls.count("claim-new") == shared.calls.count("claim-del") == 2
    assert not shared.claimed


def test_a_result_that_cannot_be_written_leaves_no_run(
    spekctl: Spekctl, shared: SharedKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Exports, results: Sequence[Result], steps: int = 1) -> None:
        raise SpekError("there is no room")

    monkeypatch.setattr(Exports, "deliver", full)
    done = run_job(spekctl, TWO + "[c]\nstonewall\nfilename=/dev/fake0\n")
    assert done.code == ExitCode.RUN_FAILED and "there is no room" in done.err
    assert not shared.held() and not shared.claimed


def test_a_result_that_cannot_be_written_costs_none_beside_it(
    spekctl: Spekctl, shared: SharedKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    deliver = files.deliver

    def full(data: bytes, output: Path) -> None:
        if output.name == "r.1.json":
            raise SpekError("there is no room")
        deliver(data, output)

    monkeypatch.setattr(files, "deliver", full)
    done = run_job(spekctl, TWO, "-o", "r.json", "--hdr-log", "h.hlog")
    assert done.code == ExitCode.RUN_FAILED and "there is no room" in done.err
    assert result.load_result(Path("r.2.json")).totals.all.ios == 300
    assert Path("h.2.hlog").exists()


def test_a_run_without_io_costs_no_result_beside_it(spekctl: Spekctl, shared: SharedKernel) -> None:
    def sends_nothing(number: int, fake: FakeKernel) -> None:
        if number == 7:
            without_io(fake)

    shared.prepare = sends_nothing
    Path("h.1.hlog").write_text("of yesterday")
    done = run_job(spekctl, TWO, "-o", "r.json", "--hdr-log", "h.hlog", "--fio-json", "f.json")
    assert done.code == ExitCode.RUN_FAILED
    kept = [result.load_result(Path(f"r.{number}.json")) for number in (1, 2)]
    assert [each.totals.all.ios for each in kept] == [0, 300]
    assert sorted(path.name for path in Path().glob("h.*")) == ["h.1.hlog~", "h.2.hlog"]
    assert len(json.loads(Path("f.json").read_text())["jobs"]) == 2
    said = "spekctl: --hdr-log h.1.hlog: nothing to write: no I/O completed in the measure phase"
    assert said in done.err.splitlines()
    assert "2 runs together: read 100 IOPS" in done.out


def test_steps_after_one_without_io_are_run(spekctl: Spekctl, shared: SharedKernel) -> None:
    def sends_nothing(number: int, fake: FakeKernel) -> None:
        if number == 8:
            without_io(fake)

    shared.prepare = sends_nothing
    job = TWO + "[c]\nstonewall\nfilename=/dev/fake0\n"
    done = run_job(spekctl, job, "-o", "r.json")
    assert done.code == ExitCode.RUN_FAILED
    kept = [result.load_result(Path(f"r.{number}.json")) for number in (1, 2, 3)]
    assert [each.totals.all.ios for each in kept] == [300, 0, 300]
    assert "not run" not in done.err


def test_the_worst_code_of_steps_is_that_of_the_run(spekctl: Spekctl, shared: SharedKernel) -> None:
    def prepare(number: int, fake: FakeKernel) -> None:
        if number == 7:
            without_io(fake)
        fake.end_reason = Reason.DEVICE_GONE if number == 8 else Reason.COMPLETED

    shared.prepare = prepare
    steps = "[b]\nstonewall\nfilename=/dev/fake1\n[c]\nstonewall\nfilename=/dev/fake0\n"
    done = run_job(spekctl, HEAD + "[a]\nfilename=/dev/fake0\n" + steps)
    assert done.code == ExitCode.RUN_FAILED
    assert "1 step was not run" in done.err


def test_a_run_that_fails_ends_those_beside_it_and_all_after_it(
    spekctl: Spekctl, shared: SharedKernel
) -> None:
    def fails(number: int, fake: FakeKernel) -> None:
        fake.end_reason = Reason.DEVICE_GONE if number == 8 else Reason.COMPLETED

    shared.prepare = fails
    job = TWO.replace("[a]", "[a]\nruntime=50") + "[c]\nstonewall\nfilename=/dev/fake0\n"
    done = run_job(spekctl, job, "-o", "r.json")
    assert done.code == ExitCode.RUN_FAILED
    assert "1 step was not run" in done.err
    beside = result.load_result(Path("r.1.json"))
    assert beside.outcome.reason == "stopped" and len(beside.intervals) < 10
    assert not shared.held()


def test_ctrl_c_ends_all_and_writes_their_results(spekctl: Spekctl, shared: SharedKernel) -> None:
    def interrupt(second: int) -> None:
        if second == 2:
            signal.raise_signal(signal.SIGINT)
            shared.runs_by_number[7].on_wait = lambda second: None

    def interrupts(number: int, fake: FakeKernel) -> None:
        if number == 7:
            fake.on_wait = interrupt

    shared.prepare = interrupts
    done = run_job(spekctl, TWO.replace("runtime=3", "runtime=50"), "-o", "r.json")
    assert done.code == ExitCode.INTERRUPTED, done.err
    kept = [result.load_result(Path(f"r.{number}.json")) for number in (1, 2)]
    assert all(each.outcome.reason == "stopped" for each in kept)
    assert not shared.held()


def test_each_device_is_checked_for_data(
    spekctl: Spekctl, shared: SharedKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = TWO.replace("randread", "randwrite")
    denied = run_job(spekctl, job)
    assert denied.code == ExitCode.REFUSED and "run-new" not in shared.calls

    def signatures(device: object, diskseq: int) -> list[blkid.Signature]:
        is_second = getattr(device, "path", "") == "/dev/fake1"
        return [blkid.Signature("xfs", "filesystem", 0)] if is_second else []

    monkeypatch.setattr(safety, "signatures_on", signatures)
    done = run_job(spekctl, job, "--write")
    assert done.code == ExitCode.REFUSED and "/dev/fake1" in done.err
    assert "run-start" not in shared.calls and not shared.held()


@pytest.mark.parametrize("option", [["--detach"], ["--json"]])
def test_options_of_one_run_are_refused(
    spekctl: Spekctl, shared: SharedKernel, option: list[str]
) -> None:
    done = run_job(spekctl, TWO, *option)
    assert done.code == ExitCode.USAGE
    assert f"{option[0]} is of one run" in done.err and not shared.calls

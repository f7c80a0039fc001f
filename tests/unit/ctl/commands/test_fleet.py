# SPDX-License-Identifier: GPL-2.0
"""spekctl fleet as a program: keys, plans, a run of processes, and a controller that is killed."""

from __future__ import annotations

import json
import os
import shlex
import signal
import socket
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from lib.ctl.command_line import Spekctl
from lib.ctl.fleets import Spec, fleet_of
from lib.ctl.log_files import header, records, written
from lib.fakes import fleet_host, ssh
from lib.fakes.fleet_rig import SOON_S, Processes, plan_of
from lib.fakes.kernel import SECOND
from lib.waiting import eventually

from spekctl.errors import ExitCode
from spekctl.workload import file as workload_file
from spekctl.workload import override

NAMES = ["a", "b"]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def controller(
    hosts: Processes, *words: str, path: Path | None = None, group: tuple[str, ...] = ("fleet",)
) -> subprocess.Popen[str]:
    """@path: of programs that come before those of the machine; @group: what has the command."""
    before = [str(path)] if path is not None else []
    return subprocess.Popen(
        [sys.executable, "-m", "spekctl", *group, *words],
        cwd=hosts.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={
            **os.environ,
            "PATH": os.pathsep.join([*before, os.environ["PATH"]]),
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        },
    )


def await_armed(process: subprocess.Popen[str]) -> None:
    assert process.stderr is not None
    while " armed, to start in" not in (line := process.stderr.readline()):
        assert line, "the controller has ended"


def joined(hosts: Processes, time: str) -> None:
    """A plan, and hosts that wait for its controller."""
    port = free_port()
    (hosts.folder / "plan.toml").write_text(plan_of(NAMES, time=time, port=port))
    for name in NAMES:
        hosts.join(f"tls://127.0.0.1:{port}", name)


def test_a_run_has_one_result(tmp_path: Path) -> None:
    with Processes(tmp_path, NAMES) as hosts:
        joined(hosts, "20s")
        words = ("run", "plan.toml", "--keys", "keys/controller", "-o", "fleet.json")
        with controller(hosts, *words) as process:
            _, err = process.communicate(timeout=2 * SOON_S)
        assert process.returncode == ExitCode.OK, err
        assert "2 hosts completed the run" in err
        result = json.loads((tmp_path / "fleet.json").read_text())
        assert [host["name"] for host in result["hosts"]] == NAMES
        assert result["totals"]["read"]["ios"] == 4000
        starts = {host["start"]["planned_ns"] for host in result["hosts"]}
        assert len(starts) == 1
        for name in NAMES:
            assert hosts.ended(name) == ExitCode.OK
            hosts.check_free(name)


def test_hosts_of_a_plan_run_a_workload_of_the_command_line(tmp_path: Path) -> None:
    with Processes(tmp_path, NAMES) as hosts:
        joined(hosts, "1h")
        words = ("run", "random-read-4k", "--time", "20s", "--fleet", "plan.toml")
        more = ("--keys", "keys/controller", "-o", "fleet.json")
        with controller(hosts, *words, *more, group=()) as process:
            _, err = process.communicate(timeout=2 * SOON_S)
        assert process.returncode == ExitCode.OK, err
        result = json.loads((tmp_path / "fleet.json").read_text())
        assert [host["name"] for host in result["hosts"]] == NAMES
        assert result["totals"]["read"]["ios"] == 4000
        for name in NAMES:
            assert hosts.ended(name) == ExitCode.OK
            hosts.check_free(name)


def test_logs_are_analysed_where_they_lie(tmp_path: Path) -> None:
    rows = records(2000)
    for name, part in zip(NAMES, (rows[:1500], rows[1500:]), strict=True):
        written(tmp_path / f"run.{name}.parquet", part)
    with Processes(tmp_path, NAMES) as hosts:
        joined(hosts, f'20s"\nlog = "{tmp_path}/run.parquet')
        words = ("log", "plan.toml", "--keys", "keys/controller")
        with controller(hosts, *words) as process:
            out, err = process.communicate(timeout=2 * SOON_S)
        assert process.returncode == ExitCode.OK, err
        for name in NAMES:
            # It had no need of its helper.
            assert hosts.ended(name) == ExitCode.OK and not hosts.mark(name).exists()
        joined(hosts, f'20s"\nlog = "{tmp_path}/run.parquet')
        with controller(hosts, *words, "--csv", "--interval", "1h") as process:
            by_time, err = process.communicate(timeout=2 * SOON_S)
        assert process.returncode == ExitCode.OK, err
    counts = [line.split(",")[:4] for line in by_time.splitlines()[1:]]
    assert [(second, host) for second, host, *_ in counts] == [
        ("0", name) for name in NAMES for _ in ("read", "write")
    ]
    assert sum(int(ios) for *_, ios in counts) == 2000
    assert "2 logs of mine: 2,000 I/Os of the measure phase" in out
    lines = [line.split() for line in out.splitlines()]
    shares = [words[:3] for words in lines if words[:1] in (["all"], ["a"], ["b"])][:3]
    assert shares == [["all", "2,000", "100.00%"], ["a", "1,500", "75.00%"], ["b", "500", "25.00%"]]


def test_logs_of_different_runs_are_refused(tmp_path: Path) -> None:
    start_ns = header().start_real_ns
    for name, at_ns in zip(NAMES, (start_ns, start_ns + 90 * SECOND), strict=True):
        written(tmp_path / f"run.{name}.parquet", records(10), start_real_ns=at_ns)
    with Processes(tmp_path, NAMES) as hosts:
        joined(hosts, f'20s"\nlog = "{tmp_path}/run.parquet')
        words = ("log", "plan.toml", "--keys", "keys/controller")
        with controller(hosts, *words) as process:
            out, err = process.communicate(timeout=2 * SOON_S)
    assert process.returncode == ExitCode.USAGE and not out
    assert (
        "the logs are of different runs: that of a began at 2023-11-14T22:13:20Z, that of b 90.0 s"
        " later; a host that took no part in the last run of the plan has an older log; leave it"
        " out"
    ) in err


def test_options_of_the_command_line_take_the_place_of_those_of_the_plan(
    spekctl: Spekctl, tmp_path: Path
) -> None:
    """Also those that are given with their default."""
    text = plan_of(NAMES, time='60s"\nrate = "500"\nramp = "5s')
    (tmp_path / "plan.toml").write_text(text)

    def shown(*words: str) -> str:
        outcome = spekctl("fleet", "run", "plan.toml", *words, "--dry-run")
        assert outcome.code == ExitCode.OK, outcome.err
        return " ".join(outcome.out.split())

    assert shown().count("time=60s rate=500 ramp=5s") == 2
    changed = shown("--depth", "8", "--ramp", "0s", "--time", "10s")
    assert changed.count("depth=8 time=10000000000ns ramp=0ns") == 2 and "rate" not in changed
    text = override.to_toml(workload_file.load("random-write-4k"))
    (tmp_path / "own.toml").write_text(text.replace("random-write-4k", "mine"))
    assert "workload mine on 2 of 2 hosts; a shared device is split" in shown("own.toml", "--write")
    seeds = [shown("--seed", "9"), shown("--seed", "9"), shown()]
    assert seeds[0] == seeds[1] != seeds[2]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("nothing",), "there is no workload 'nothing'"),
        (("--set", "stream.x.size=4KiB"), "--set stream.x.size=4KiB: there is no stream 'x'"),
        (("--rate", "5", "--depth", "5"), "--rate and --depth exclude each other"),
        (("--verify",), 'verify needs share = "split" in the plan'),
        (("--rate", "5e20"), "--rate: a rate of 5e+20 is more than 1000000000 I/Os per second"),
        (("--passes", "5e20"), "--passes: 5e+20 I/Os are too many"),
        (("--bsu", "5"), "random-read-4k does not scale by BSU"),
        (("--seed", str(1 << 63)), "--seed of a fleet must be 0 to 9223372036854775807"),
    ],
)
def test_what_does_not_go_with_the_plan_is_refused(
    spekctl: Spekctl, tmp_path: Path, words: tuple[str, ...], sentence: str
) -> None:
    (tmp_path / "plan.toml").write_text(plan_of(NAMES))
    outcome = spekctl("fleet", "run", "plan.toml", *words, "--dry-run")
    assert outcome.code == ExitCode.USAGE and sentence in outcome.err
    # The plan has no fault.
    assert "plan.toml" not in outcome.err


def test_a_plan_beyond_the_limits_of_a_run_is_refused_before_any_host_is_asked(
    spekctl: Spekctl, tmp_path: Path
) -> None:
    """By the check as well, and without keys or an address to listen at."""
    (tmp_path / "plan.toml").write_text(plan_of(NAMES, time='60s"\nrate = "5e20'))
    for words in (("run", "plan.toml", "--dry-run"), ("check", "plan.toml")):
        outcome = spekctl("fleet", *words)
        assert outcome.code == ExitCode.USAGE
        assert outcome.sentence.startswith("plan.toml: --rate: a rate of 5e+20 is more than ")
    # The command line's options take its place.
    assert spekctl("fleet", "run", "plan.toml", "--depth", "4", "--dry-run").code == ExitCode.OK


def test_a_run_that_writes_needs_write(spekctl: Spekctl, tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(plan_of(NAMES))
    words = ("fleet", "run", "plan.toml", "random-write-4k")
    outcome = spekctl(*words)
    assert outcome.code == ExitCode.REFUSED
    assert "random-write-4k writes to the devices of all hosts; to allow that, give --write" in (
        outcome.err
    )
    # As on one host, it is shown all the same.
    assert spekctl(*words, "--dry-run").code == ExitCode.OK


@pytest.mark.parametrize("words", [("--rate", "5"), ("--set", "stream.main.size=4KiB")])
def test_a_fault_of_the_plan_names_it_beside_options_too(
    spekctl: Spekctl, tmp_path: Path, words: tuple[str, ...]
) -> None:
    (tmp_path / "plan.toml").write_text(plan_of(NAMES, 'max_skew = "soon"'))
    outcome = spekctl("fleet", "run", "plan.toml", *words, "--dry-run")
    assert outcome.code == ExitCode.USAGE
    assert outcome.sentence.startswith("plan.toml: fleet: max_skew: "), outcome.err


def test_a_plan_without_logs_has_none_to_analyse(spekctl: Spekctl, tmp_path: Path) -> None:
    Path("plan.toml").write_text(plan_of(NAMES))
    outcome = spekctl("fleet", "log", "plan.toml")
    assert outcome.sentence == (
        "the plan has no log of a: write log in its options, or give --file"
    )
    outcome = spekctl("fleet", "log", "plan.toml", "--file", "x", "--interval", "0s")
    assert outcome.sentence == "--interval must be more than 0"
    for flag in ("--file", "--stream"):
        outcome = spekctl("fleet", "log", "plan.toml", "--file", "x", flag, os.fsdecode(b"\xff"))
        assert (outcome.sentence, outcome.code) == (f"{flag} must be UTF-8", ExitCode.USAGE)


def over_ssh(hosts: Processes, time: str) -> Path:
    """A plan whose hosts the controller starts, and the folder of the ssh that it does so by."""
    ssh.install(hosts.folder / "ssh")
    text = plan_of([], time=time)
    for name in NAMES:
        text += f'[[host]]\nname = "{name}"\nssh = "me@{name}"\ndevices = ["/dev/fake0"]\n'
        home = hosts.folder / f"ssh/me@{name}"
        home.mkdir()
        (home / "spek-keys").symlink_to(hosts.keys / name)
        script = json.dumps({"keys": "spek-keys", "address": "@", "mark": str(hosts.mark(name))})
        program = home / "spekctl"
        program.write_text(
            f"#!/bin/sh\nexec {sys.executable} {fleet_host.__file__} "
            + shlex.quote(script).replace("@", "'\"$3\"'")
        )
        program.chmod(0o755)
    (hosts.folder / "plan.toml").write_text(text)
    return hosts.folder / "ssh"


def test_the_controller_starts_its_hosts_over_ssh(tmp_path: Path) -> None:
    with Processes(tmp_path, NAMES) as hosts:
        path = over_ssh(hosts, "20s")
        words = ("run", "plan.toml", "--keys", "keys/controller", "-o", "fleet.json")
        with controller(hosts, *words, path=path) as process:
            _, err = process.communicate(timeout=2 * SOON_S)
        assert process.returncode == ExitCode.OK, err
        result = json.loads((tmp_path / "fleet.json").read_text())
        assert [host["name"] for host in result["hosts"]] == NAMES
        assert result["totals"]["read"]["ios"] == 4000
        for name in NAMES:
            hosts.check_free(name)


def test_hosts_that_ssh_cannot_start_are_named_each_with_its_reason(tmp_path: Path) -> None:
    with Processes(tmp_path, NAMES) as hosts:
        path = over_ssh(hosts, "20s")
        (path / "me@a.fails").write_text("255\nHost key verification failed.\n")
        (path / "me@b/spekctl").unlink()
        words = ("run", "plan.toml", "--keys", "keys/controller")
        with controller(hosts, *words, path=path) as process:
            _, err = process.communicate(timeout=2 * SOON_S)
        assert process.returncode == ExitCode.REFUSED
        (sentence,) = [line for line in err.splitlines() if line.startswith("spekctl: cannot")]
        assert "cannot start all hosts: a: its host key is not known, or another one" in sentence
        assert "; b: spekctl cannot be started there (" in sentence


def test_a_host_that_is_lost_has_its_last_sentence_told(tmp_path: Path) -> None:
    with Processes(tmp_path, NAMES) as hosts:
        path = over_ssh(hosts, "1h")
        words = ("run", "plan.toml", "--keys", "keys/controller")
        with controller(hosts, *words, path=path) as process:
            await_armed(process)
            worker = int(Path(f"/proc/{hosts.helper('a')}/stat").read_text().split()[3])
            os.kill(worker, signal.SIGTERM)
            _, err = process.communicate(timeout=2 * SOON_S)
        assert process.returncode == ExitCode.HOST_LOST, err
        assert "a has said: ended by SIGTERM" in err
        for name in NAMES:
            hosts.check_free(name)


def test_hosts_end_with_a_controller_that_is_killed(tmp_path: Path) -> None:
    with Processes(tmp_path, NAMES) as hosts:
        joined(hosts, "1h")
        words = ("run", "plan.toml", "--keys", "keys/controller")
        with controller(hosts, *words) as process:
            await_armed(process)
            eventually(lambda: all(hosts.mark(name).exists() for name in NAMES), "no helper")
            process.send_signal(signal.SIGKILL)
            process.communicate()
        for name in NAMES:
            hosts.ended(name)
            hosts.check_free(name)


def test_a_check_looks_and_claims_nothing(tmp_path: Path) -> None:
    with Processes(tmp_path, NAMES) as hosts:
        joined(hosts, "1h")
        with controller(hosts, "check", "plan.toml", "--keys", "keys/controller") as process:
            out, err = process.communicate(timeout=2 * SOON_S)
        assert process.returncode == ExitCode.OK, err
        assert out.count("/dev/fake0: /dev/fake0, 1 GiB, serial") == 2 and "; free" in out
        for name in NAMES:
            hosts.ended(name)
            hosts.check_free(name)


def test_the_doctor_examines_hosts_as_a_check_does(tmp_path: Path) -> None:
    with Processes(tmp_path, NAMES) as hosts:
        joined(hosts, "1h")
        words = ["doctor", "--fleet", "plan.toml", "--keys", "keys/controller", "--json"]
        with controller(hosts, *words, group=()) as process:
            out, err = process.communicate(timeout=2 * SOON_S)
        assert process.returncode == ExitCode.OK, err
        report = json.loads(out)
        assert report["would_start"] is True
        told = {(each["subject"], each["check"]): each["text"] for each in report["findings"]}
        for name in ("controller", *NAMES):
            assert told[name, "certificate"].startswith("of this fleet, valid until ")
        for name in NAMES:
            assert told[name, "reach"] == "client, joined from 127.0.0.1"
            assert told[name, "device"].endswith("; free")
            hosts.ended(name)
            hosts.check_free(name)


def test_the_doctor_names_hosts_that_do_not_join_and_examines_the_rest(tmp_path: Path) -> None:
    with Processes(tmp_path, NAMES) as hosts:
        port = free_port()
        (tmp_path / "plan.toml").write_text(plan_of(NAMES, port=port))
        hosts.join(f"tls://127.0.0.1:{port}", "a")
        words = ["doctor", "--fleet", "plan.toml", "--keys", "keys/controller", "--wait", "30s"]
        with controller(hosts, *words, group=()) as process:
            out, err = process.communicate(timeout=2 * SOON_S)
        assert process.returncode == ExitCode.REFUSED, err
        assert "stops   reach: b has not joined within 30 s; start `spekctl fleet join`" in out
        assert "ok      reach: client, joined from 127.0.0.1" in out
        assert out.endswith("a run would not start\n") or "would not start; " in out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--fleet", "plan.toml", "--device", "/dev/fake0"), "--device is not given with --fleet"),
        (("--keys", "keys/controller"), "--keys needs --fleet as well"),
        (("--wait", "5s"), "--wait needs --fleet as well"),
        (("--fleet", "plan.toml"), "plan.toml: --rate: a rate of 5e+20 is more than"),
    ],
)
def test_what_the_doctor_cannot_do_over_a_fleet_is_refused(
    spekctl: Spekctl, tmp_path: Path, words: tuple[str, ...], sentence: str
) -> None:
    (tmp_path / "plan.toml").write_text(plan_of(NAMES, time='60s"\nrate = "5e20'))
    outcome = spekctl("doctor", *words)
    assert outcome.code == ExitCode.USAGE and outcome.sentence.startswith(sentence)


def test_without_hosts_it_says_who_is_missing(tmp_path: Path) -> None:
    with Processes(tmp_path, NAMES) as hosts:
        (tmp_path / "plan.toml").write_text(plan_of(NAMES))
        words = ("run", "plan.toml", "--keys", "keys/controller", "--wait", "1s")
        with controller(hosts, *words) as process:
            _, err = process.communicate(timeout=2 * SOON_S)
        assert process.returncode == ExitCode.REFUSED
        assert "spekctl: a, b have not joined within 1 s; start `spekctl fleet join` there" in err


def test_init_makes_keys_and_says_where_they_belong(spekctl: Spekctl, tmp_path: Path) -> None:
    outcome = spekctl("fleet", "init", "new", "client1", "storage", "--days", "7")
    assert outcome.code == ExitCode.OK
    assert "keys of 2 hosts and the controller are in new, for 7 days:" in outcome.out
    assert "  new/client1  serial number " in outcome.out
    assert " ALL=(root) NOPASSWD: " in outcome.out and "host --stdio" in outcome.out
    assert (tmp_path / "new/storage/key.pem").exists()
    again = spekctl("fleet", "init", "new", "client1")
    assert again.code == ExitCode.USAGE and "keys are not overwritten" in again.err


def test_init_names_a_user_without_a_name_by_its_number(
    spekctl: Spekctl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(uid: int) -> object:
        raise KeyError(f"getpwuid(): uid not found: {uid}")

    monkeypatch.setattr("pwd.getpwuid", unknown)
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)
    outcome = spekctl("fleet", "init", "new", "client1")
    assert outcome.code == ExitCode.OK, outcome.err
    assert f"\n  #{os.getuid()} ALL=(root) NOPASSWD: " in outcome.out


def test_a_dry_run_says_who_does_what(spekctl: Spekctl, tmp_path: Path) -> None:
    target = '[[host]]\nname = "storage"\nrole = "target"\n'
    (tmp_path / "plan.toml").write_text(plan_of(NAMES, 'max_skew = "1ms"') + target)
    outcome = spekctl("fleet", "run", "plan.toml", "--dry-run")
    assert outcome.code == ExitCode.OK
    assert "workload random-read-4k on 2 of 3 hosts" in outcome.out
    assert "clocks have to be within 1.00 ms" in outcome.out
    assert "storage" in outcome.out and "time=20s" in outcome.out and "/dev/fake0" in outcome.out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("run", "none.toml"), "there is no file none.toml"),
        (("run", "plan.toml", "--keys", "nowhere"), "there is no nowhere/ca.pem; name the"),
        (("run", "plan.toml", "-o", "plan.toml"), "would overwrite the input plan.toml"),
        (("run", "plan.toml", "--csv", "plan.toml"), "would overwrite the input plan.toml"),
        (("run", "plan.toml", "-o", "a", "--csv", "a"), "--output and --csv are the same file"),
        (("join", "tcp://a:1", "--keys", "new/a"), "'tcp://a:1' is not the address of a"),
        (("join", "tls://127.0.0.1:9", "--keys", "new/controller"), "not of a host"),
        (("merge", "plan.toml"), "plan.toml is not a spek file"),
        (("init", "other", "a", "a"), "a is named twice"),
    ],
)
def test_wrong_input_is_refused_by_a_sentence(
    spekctl: Spekctl, tmp_path: Path, words: tuple[str, ...], sentence: str
) -> None:
    (tmp_path / "plan.toml").write_text(plan_of(NAMES))
    assert spekctl("fleet", "init", "new", "a").code == ExitCode.OK
    outcome = spekctl("fleet", *words)
    assert outcome.code == ExitCode.USAGE and sentence in outcome.err, outcome.err


@pytest.mark.parametrize("option", ["-o", "--csv", "--hdr-log", "--fio-json"])
@pytest.mark.parametrize(
    ("given", "written"),
    [
        (("mine.toml",), "mine.toml"),
        (("fio:job.fio",), "job.fio"),
        (("fio:job.fio#first",), "job.fio"),
        ((), "own.toml"),
        (("--rate", "500"), "own.toml"),
        (("replay.toml",), "trace.csv"),
    ],
    ids=["named", "of fio", "a part of fio's", "of the plan", "of the plan, changed", "a trace"],
)
def test_no_result_takes_the_place_of_a_workload(
    spekctl: Spekctl, tmp_path: Path, option: str, given: tuple[str, ...], written: str
) -> None:
    text = override.to_toml(workload_file.load("random-read-4k"))
    (tmp_path / "plan.toml").write_text(plan_of(NAMES).replace("random-read-4k", "own.toml"))
    for name in ("own.toml", "mine.toml"):
        (tmp_path / name).write_text(text)
    (tmp_path / "job.fio").write_text("[first]\nrw=randread\nfilename=/dev/fake0\n")
    (tmp_path / "replay.toml").write_text(
        '[workload]\nname = "replay"\nsummary = "A trace."\n'
        '[[stream]]\nname = "trace"\npattern = "trace"\ntrace = {files = ["trace.csv"]}\n'
    )
    (tmp_path / "trace.csv").write_text("0,host,0,Read,0,4096,0\n")
    before = (tmp_path / written).read_bytes()
    outcome = spekctl("fleet", "run", "plan.toml", *given, option, written)
    assert outcome.code == ExitCode.USAGE
    assert f" {written} would overwrite the input " in outcome.err, outcome.err
    assert (tmp_path / written).read_bytes() == before
    assert not (tmp_path / f"{written}~").exists()


@pytest.mark.parametrize(
    ("spec", "code"),
    [
        (Spec("b"), ExitCode.OK),
        (Spec("b", errors=7), ExitCode.RUN_FAILED),
        (Spec("b", lost_s=2), ExitCode.HOST_LOST),
        (Spec("b", wrong=3), ExitCode.DATA_ERRORS),
        (Spec("b", lost_s=2, wrong=3), ExitCode.DATA_ERRORS),
        (Spec("b", strayed="at the end its clock may be off"), ExitCode.LIMIT_MISSED),
        (Spec("b", lost_s=2, strayed="at the end its clock may be off"), ExitCode.HOST_LOST),
    ],
    ids=["complete", "errors", "lost", "wrong", "lost and wrong", "strayed", "lost and strayed"],
)
def test_a_merge_ends_as_its_runs_did(
    spekctl: Spekctl, tmp_path: Path, spec: Spec, code: ExitCode
) -> None:
    for each in (Spec("a"), spec):
        (tmp_path / f"{each.name}.json").write_bytes(msgspec.json.encode(fleet_of(each)))
    outcome = spekctl("fleet", "merge", "a.json", "b.json")
    assert outcome.code == code, outcome.err
    if spec.strayed:
        assert "spekctl: b: at the end its clock may be off" in outcome.err


def test_without_the_engine_it_names_the_extra(
    spekctl: Spekctl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    (tmp_path / "plan.toml").write_text(plan_of(NAMES))
    outcome = spekctl("fleet", "run", "plan.toml")
    assert outcome.code == ExitCode.USAGE
    assert "needs the Python package distributed; install it: " in outcome.err
    assert "'spekctl[fleet]'" in outcome.err


def test_another_command_imports_no_engine() -> None:
    code = (
        "import sys\nfrom spekctl import cli\ncli.run(sys.argv[1:])\n"
        "heavy = {'dask', 'distributed', 'cryptography', 'tornado'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    for words in (["--help"], ["fleet", "--help"], ["fleet", "run", "--help"], ["status"]):
        done = subprocess.run(
            [sys.executable, "-c", code, *words], capture_output=True, text=True, check=False
        )
        assert "AssertionError" not in done.stderr

# SPDX-License-Identifier: GPL-2.0
"""Command lines of fio have the jobs that fio finds in them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lib.ctl.fio_jobs import fio

from spekctl.errors import UsageError
from spekctl.fio import commandline, convert
from spekctl.fio.options import ALIASES, MAPPED, NOT_NEEDED, REFUSED
from spekctl.workload.imported import Client

NULL = ("--ioengine=null", "--size=64k")
FILE = "[global]\nbs=2k\n[x]\nrw=randread\n[y]\nbs=1k\n"


@pytest.mark.parametrize(
    "words",
    [
        "--name=a --rw=randread --bs=8k",
        "--name a --rw randread --bs 8k --norandommap",
        "-name=a -rw=randread -bs 8k -group_reporting=1",
        "--bs=8k --name=a --rw=write --name=b --bs=4k",
        "--name=a --bs=8k --name=global --bs=2k --name=b --name=c --bs=1k",
        "--name=a --norandommap --rw=randread --name=b --time_based=0 --iodepth 4",
        "--name=a --readwr=write",
        "--name=a --blocksize=8k --readwrite=write",
        "--rw=write {x}",
        "{x} --rw=write --name=a --bs=8k",
        "--name=a {x} --rw=write",
        "--section=x --rw=write {x}",
        "--section=y --section x {x}",
        "--name=a -- {x}",
        "--name=a --runtime=1 --name=b --runtime=2 --name=c",
        "--name=a --bs=4k --bs=16k",
    ],
)
def test_the_jobs_are_those_of_fio(tmp_path: Path, words: str) -> None:
    path = tmp_path / "x.fio"
    path.write_text(FILE)
    given = words.format(x=path).split()
    done = fio("--output-format=json", *NULL, *given)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout[done.stdout.index("{") :])
    line = commandline.read([*NULL, *given])
    taken = [job for job in line.jobs if not line.sections or job.name in line.sections]
    assert [job.name for job in taken] == [job["jobname"] for job in told["jobs"]]
    for mine, real in zip(taken, told["jobs"], strict=True):
        theirs = told["global options"] | real["job options"]
        # It lists the defaults of a file as those of the jobs before it.
        names = (
            "rw",
            "iodepth",
            "ioengine",
            "size",
            *(() if "{x}" in words else ("bs", "runtime")),
        )
        for name in names:
            assert mine.options.get(name) == theirs.get(name), (mine.name, name)


def test_a_second_file_has_no_defaults_of_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "x.fio"
    path.write_text(FILE)
    jobs = commandline.read(["--size=64k", str(path), str(path)]).jobs
    assert [job.options.get("size") for job in jobs] == ["64k", "64k", None, None]
    done = fio("--ioengine=null", "--size=64k", path, path)
    assert done.stderr.count("you need to specify size=") == 2


def test_options_that_take_no_word_are_those_of_fio() -> None:
    listed = [line.partition(":")[0].strip() for line in fio("--cmdhelp").stdout.splitlines()]
    asked = {name: (f"--cmdhelp={name}",) for name in listed if name}
    for engine in ("libaio", "io_uring", "pvsync2", "sg", "io_uring_cmd"):
        text = fio(f"--enghelp={engine}").stdout
        names = [line.partition(":")[0].strip() for line in text.splitlines()]
        asked |= {name: (f"--enghelp={engine},{name}",) for name in names if name}
    flags = {name for name, words in asked.items() if "empty or boolean" in fio(*words).stdout}
    assert flags == commandline.FLAGS


def test_options_of_the_program_are_those_of_fio() -> None:
    text = fio("--help").stdout
    listed = {
        word.partition("=")[0][2:] for word in text.split() if word.startswith("--") and word[2:]
    }
    known = {*commandline.PROGRAM, *commandline.OTHERWISE, "section", "client"}
    assert listed <= known
    assert not (known - {"profile"}) & {*MAPPED, *NOT_NEEDED, *REFUSED, *ALIASES} - {
        *("eta", "status-interval"),
    }


def test_options_of_the_program_are_not_needed() -> None:
    words = "fio --output=x.json --output-format json --minimal --name=a --eta never --debug=io"
    (step,) = convert.command_line_steps(words.split())
    expected = {"--output", "--output-format", "--minimal", "--eta", "--debug"}
    assert step.not_needed.keys() == expected
    assert step.workload.workload.name == "a"
    assert step.workload.workload.summary == "Imported from fio's command line"


def test_the_workload_is_named_after_the_first_job_that_is_taken() -> None:
    words = ["--name=a", "--runtime=1", "--name=b", "--runtime=2", "--name=c"]
    for sections, name in (([], "a"), (["--section=b"], "b"), (["--section", "c"], "c")):
        step = convert.command_line_steps([*words, *sections])[0]
        assert step.workload.workload.name == (name if sections else "a.1")


@pytest.mark.parametrize("program", ["fio", "/usr/bin/fio", "sudo fio", "/bin/sudo /opt/fio"])
def test_the_program_may_stand_before_its_arguments(program: str) -> None:
    line = commandline.read([*program.split(), "--name=a", "--bs=8k"])
    assert [(job.name, job.options) for job in line.jobs] == [("a", {"bs": "8k"})]
    with pytest.raises(UsageError, match="there is no file sudo"):
        commandline.read(["sudo", "--name=a"])


def test_the_shell_has_replaced_variables() -> None:
    (job,) = commandline.read(["--name=a", "--filename=/dev/${X}", "--filename=/dev/b;c"]).jobs
    assert job.options["filename"] == "/dev/${X}:/dev/b;c"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("--bs=4k", "there is no job: no --name=NAME and no job file"),
        ("--name=a --bs", "--bs has no value"),
        ("--name", "--name has no value"),
        ("--name=", "--name has no value"),
        ("--name=a --iodpeth=4", "iodpeth: not an option that spek knows; did you mean 'iodepth'"),
        ("--name=a --server", "--server does not run a job"),
        ("--name=a --filename=/dev/x --client", "--client has no value"),
        ("--name=a --client=", "--client= names no host"),
        ("--client=sock:/tmp/x --name=a", "--client=sock:/tmp/x is a socket of this machine"),
        ("--client=h --client=h --name=a", "--client=h and --client=h have different jobs"),
        ("--client=h --name=a --client=h --name=a", "--client=h is given twice"),
        ("--client=h --name=a --client=i --name=b", "--client=h and --client=i have different"),
        ("--client=h --name=a --size=1g", "its jobs name no device (filename)"),
        ("--client=h --name=a --filename=/dev/x --startdelay=5", "without a startdelay"),
        (
            "--client=h --name=a --filename=/dev/x --name=b --filename=/dev/y",
            "jobs on devices of their own are several workloads",
        ),
        ("--name=a none.fio", "there is no file none.fio"),
        ("--section=b --name=a", "there is no job 'b' in the command line"),
        ("--name=a --directory=/x", "the command line is not imported: [a] directory: spek loads"),
        ("--name=a --re=write", "[a] re: not an option that spek knows"),
    ],
)
def test_arguments_that_are_none_are_refused(words: str, sentence: str) -> None:
    with pytest.raises(UsageError) as refusal:
        convert.command_line_steps(words.split())
    assert sentence in refusal.value.message


@pytest.mark.parametrize(
    ("words", "is_refused"),
    [
        ("--readonly --name=a --rw=randwrite --size=4k", True),
        ("--name=a --readwrite=trim --size=4k --readonly", True),
        ("--name=a --name=b --rw=rw:4 --size=4k --readonly", True),
        ("--name=a --rw=randread:8 --size=4k --readonly", False),
        ("--name=a --size=4k --readonly", False),
    ],
)
def test_jobs_that_write_are_refused_beside_readonly_as_by_fio(
    tmp_path: Path, words: str, is_refused: bool
) -> None:
    (tmp_path / "a").write_bytes(bytes(8192))
    done = fio(*words.split(), "--filename=a", "--ioengine=psync", folder=tmp_path)
    assert (done.returncode != 0) is is_refused, done.stderr
    if not is_refused:
        assert commandline.read(words.split()).jobs
        return
    with pytest.raises(UsageError, match=r"--readonly: \[[ab]\] writes or discards, which fio ref"):
        commandline.read(words.split())


JOB = (
    "--name=a --filename=/dev/sdb:/dev/sdc --rw=randread --ioengine=libaio --iodepth=4 --randseed=3"
)


@pytest.mark.parametrize(
    "words",
    [
        f"--client=one --output=x {JOB} --client ip4:10.0.0.2,8765 --output=x {JOB}",
        f"--client=hosts --output=x {JOB}",
        f"--output=x --client=hosts {JOB}",
    ],
)
def test_jobs_of_clients_are_a_plan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hosts").write_text("one\nip:10.0.0.2,9000\n")
    (step,) = convert.command_line_steps(words.split())
    assert step.clients == [
        Client("one", "one", "", ("/dev/sdb", "/dev/sdc")),
        Client("10.0.0.2", "10.0.0.2", "", ("/dev/sdb", "/dev/sdc")),
    ]
    assert not any(text.startswith(("--device", "--seed")) for text in step.command_line)
    assert (step.mapped["client"], step.mapped["filename"]) == ("host", "host.devices")
    assert convert.SEEDS in step.differences and convert.SLICES not in step.differences
    assert "--output" in step.not_needed


def test_verified_devices_of_clients_are_split() -> None:
    words = "--client=h --name=a --filename=/dev/x --rw=write --verify=crc32c --size=1g"
    (step,) = convert.command_line_steps(words.split())
    assert convert.SLICES in step.differences and "--verify" in step.command_line


def test_a_file_of_clients_has_some(tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text("\n")
    with pytest.raises(UsageError, match="the file has no hosts"):
        commandline.for_clients([f"--client={tmp_path / 'hosts'}", "--name=a"])


def test_a_host_may_have_the_name_of_the_file_that_lists_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "storage").write_text("storage\nother\n")
    hosts, words = commandline.for_clients(["--client=storage", "--name=a"])
    assert (hosts, words) == (["storage", "other"], ["--name=a"])


def test_a_host_may_have_a_name_that_no_file_can_have() -> None:
    host = "h" * 300
    assert commandline.for_clients([f"--client={host}"]) == ([host], [])

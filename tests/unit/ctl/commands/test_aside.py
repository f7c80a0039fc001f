# SPDX-License-Identifier: GPL-2.0
"""Older results under the names that a command writes to: none passes for the command's own."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from lib.ctl.command_line import Spekctl, run_ok
from lib.fakes.kernel import FakeKernel

from spekctl import files
from spekctl.cli import COMMANDS, LazyGroup, cli
from spekctl.commands import aside
from spekctl.errors import ExitCode, NoKernelSideError, RefusedError, SpekError, UsageError
from spekctl.kernel import client

OLD = '{"kind": "spek-result", "totals": "of yesterday"}\n'


@pytest.fixture(autouse=True)
def in_tmp_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def old() -> Path:
    path = Path("out.json")
    path.write_text(OLD)
    return path


def gone(path: Path) -> bool:
    """Whether the older file is under its other name only."""
    return not path.exists() and Path(f"{path}~").read_text() == OLD


def test_a_result_takes_the_place_of_an_older_one(
    spekctl: Spekctl, kernel: FakeKernel, old: Path
) -> None:
    assert run_ok(spekctl, "-o", str(old)).code == ExitCode.OK
    assert json.loads(old.read_text())["totals"]["read"]["ios"] == 300
    assert Path("out.json~").read_text() == OLD
    run_ok(spekctl, "-o", str(old))
    assert json.loads(Path("out.json~").read_text())["totals"]["read"]["ios"] == 300


def test_a_missing_module_leaves_no_result(
    spekctl: Spekctl, kernel: FakeKernel, old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> object:
        raise NoKernelSideError("the module spek is not loaded")

    monkeypatch.setattr(client, "connect", missing)
    assert run_ok(spekctl, "-o", str(old)).code == ExitCode.NO_KERNEL_SIDE
    assert gone(old)


def test_a_busy_device_leaves_no_result(
    spekctl: Spekctl, kernel: FakeKernel, old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(*_: object, **_more: object) -> object:
        assert gone(old)
        raise RefusedError("/dev/fake0 is in use")

    monkeypatch.setattr(kernel, "run_new", busy)
    outcome = run_ok(spekctl, "-o", str(old))
    assert outcome.code == ExitCode.REFUSED
    assert "/dev/fake0 is in use" in outcome.err
    assert gone(old)


WRONG = {
    "workload": ("run", "no-such-workload", "-d", "/dev/fake0"),
    "device": ("run", "random-read-4k", "-d", "/dev/no-such-device"),
    "no device": ("run", "random-read-4k"),
    "--write": ("run", "random-write-4k", "-d", "/dev/fake0"),
    "--detach": ("run", "random-read-4k", "-d", "/dev/fake0", "--detach"),
    "loads": ("sweep", "random-read-4k", "-d", "/dev/fake0", "--depth", "4,0"),
    "state": ("verify", "--from", "no-such.state", "-d", "/dev/fake0"),
    "limits": ("gate", "--format", "json", "no-such.toml", "b.json"),
    "guest": (
        "vm",
        "--kernel",
        "/no/such/image",
        "--",
        "run",
        "random-read-4k",
        "-d",
        "/dev/fake0",
    ),
}


@pytest.mark.parametrize("words", WRONG.values(), ids=list(WRONG))
def test_wrong_input_leaves_no_result(
    spekctl: Spekctl, kernel: FakeKernel, old: Path, words: tuple[str, ...]
) -> None:
    assert spekctl(*words, "-o", str(old)).code not in (ExitCode.OK, ExitCode.RUN_FAILED)
    assert gone(old)


@pytest.mark.parametrize("given", [("-o", "out.json"), ("--output=out.json",)])
@pytest.mark.parametrize(
    "words", [("--", "run", "a", "-d", "/dev/x"), ("run", "a", "-d", "/dev/x")]
)
def test_a_guest_that_does_not_boot_leaves_no_result(
    spekctl: Spekctl, old: Path, words: tuple[str, ...], given: tuple[str, ...]
) -> None:
    assert spekctl("vm", "--memory", "none", *words, *given).code == ExitCode.USAGE
    assert gone(old)


@pytest.mark.parametrize(
    "words",
    [
        ("--exec", "--", "run", "-o", "out.json"),
        ("--", "run", "-o", "out.json", "--dry-run"),
        ("--", "metrics", "-o", "out.json"),
    ],
)
def test_commands_without_results_in_guests_leave_files(
    spekctl: Spekctl, old: Path, words: tuple[str, ...]
) -> None:
    assert spekctl("vm", "--memory", "none", *words).code == ExitCode.USAGE
    assert old.read_text() == OLD


def test_a_dry_run_leaves_the_result(spekctl: Spekctl, kernel: FakeKernel, old: Path) -> None:
    assert run_ok(spekctl, "--dry-run", "-o", str(old)).code == ExitCode.OK
    assert spekctl("run", "no-such", "-d", "/dev/fake0", "--dry-run", "-o", str(old)).code
    assert old.read_text() == OLD


@pytest.mark.parametrize("option", ["--fio-json", "--hdr-log", "--csv"])
def test_exports_of_a_refused_run_are_gone(
    spekctl: Spekctl, kernel: FakeKernel, option: str
) -> None:
    path = Path("out.export")
    path.write_text("of yesterday")
    spekctl("run", "no-such", "-d", "/dev/fake0", option, "out.export")
    assert (path.exists(), Path("out.export~").read_text()) == (False, "of yesterday")


def test_another_kind_of_file_goes_only_when_the_command_fails(old: Path) -> None:
    old.write_text("not JSON")

    def succeed() -> int:
        assert old.exists()
        files.put(old, b"new")
        return 0

    assert aside.carry_out([old], [], succeed) == 0
    assert (old.read_text(), os.path.exists("out.json~")) == ("new", False)
    assert aside.carry_out([old], [], lambda: 4) == 4
    assert (old.exists(), Path("out.json~").read_text()) == (False, "new")


def test_the_result_of_a_run_that_failed_stays(old: Path) -> None:
    def fail(code: int | SpekError) -> Callable[[], int]:
        def work() -> int:
            files.put(old, b'{"this": "run"}')
            if isinstance(code, SpekError):
                raise code
            return code

        return work

    assert aside.carry_out([old], [], fail(1)) == 1
    assert (old.read_text(), Path("out.json~").read_text()) == ('{"this": "run"}', OLD)
    with pytest.raises(SpekError, match="a full disk"):
        aside.carry_out([old], [], fail(SpekError("a full disk")))
    assert old.read_text() == '{"this": "run"}'


def test_inputs_stay(spekctl: Spekctl, kernel: FakeKernel, old: Path) -> None:
    outcome = spekctl("gate", "--format", "json", "limits.toml", "out.json", "-o", "./out.json")
    assert outcome.code == ExitCode.USAGE
    assert old.read_text() == OLD
    # As does a trace that only the workload names.
    trace = Path("trace.csv")
    trace.write_text("at_ns,device,op,byte,size\n0,0,R,0,4096\n")
    workload = '[workload]\nname = "a"\nsummary = "A trace."\n[[stream]]\nname = "a"\n'
    Path("w.toml").write_text(
        f'{workload}pattern = "trace"\n[stream.trace]\nfiles = ["trace.csv"]\n'
    )
    before = trace.read_text()
    outcome = spekctl("run", "./w.toml", "-d", "/dev/fake0", "-o", "trace.csv")
    assert "--output trace.csv would overwrite the input" in outcome.sentence
    assert trace.read_text() == before


@pytest.mark.parametrize("option", ["-o", "--csv", "--hdr-log", "--fio-json", "--verify-state"])
@pytest.mark.parametrize("read", ["w.toml", "fio:job.fio", "fio:job.fio#a", "idle.json"])
def test_no_output_of_a_run_replaces_what_it_reads(
    spekctl: Spekctl, kernel: FakeKernel, option: str, read: str
) -> None:
    """The workload, also of another program, and the idle power that it is compared with."""
    Path("w.toml").write_text(
        '[workload]\nname = "a"\nsummary = "Reads."\n[[stream]]\nname = "a"\nsize = 4096\n'
    )
    Path("job.fio").write_text("[a]\nfilename=/dev/fake0\nrw=randread\nbs=4k\ndirect=1\n")
    Path("idle.json").write_text(OLD)
    workload = "w.toml" if read == "idle.json" else read
    path = Path(read.removeprefix("fio:").removesuffix("#a"))
    before = path.read_text()
    words = ("--power-baseline", "idle.json") if read == "idle.json" else ()
    outcome = spekctl("run", f"./{workload}" if workload == "w.toml" else workload,
                      "-d", "/dev/fake0", *words, option, str(path))  # fmt: skip
    assert outcome.code == ExitCode.USAGE
    assert f"{path} would overwrite the input " in outcome.err.splitlines()[-1]
    assert path.read_text() == before and not kernel.calls


def test_steps_that_are_not_run_leave_no_results(
    spekctl: Spekctl, kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("job.fio").write_text(
        "[global]\nfilename=/dev/fake0\nrw=randread\nbs=4k\nruntime=3\ntime_based\ndirect=1\n"
        "[a]\n[b]\nstonewall\n"
    )
    paths = [Path("out.1.json"), Path("out.2.json")]
    for path in paths:
        path.write_text(OLD)

    def missing() -> object:
        raise NoKernelSideError("the module spek is not loaded")

    monkeypatch.setattr(client, "connect", missing)
    outcome = spekctl("run", "fio:job.fio", "-o", "out.json")
    assert outcome.code == ExitCode.NO_KERNEL_SIDE
    assert [gone(path) for path in paths] == [True, True]


# --- what is not an older file -------------------------------------------------------------------


def test_streams_are_left_alone(tmp_path: Path) -> None:
    os.mkfifo("pipe")
    files.set_aside(Path("pipe"))
    assert stat.S_ISFIFO(os.stat("pipe").st_mode)
    for path in ("/dev/null", "/dev/stdout", "/dev/full", str(tmp_path), "no-such-file"):
        before = os.stat(path) if os.path.exists(path) else None
        files.set_aside(Path(path))
        assert not os.path.exists(f"{path}~")
        assert (os.stat(path) if before else None) == before


def test_standard_output_that_is_a_file_stays(old: Path) -> None:
    code = (
        "from pathlib import Path; from spekctl import files;"
        "files.set_aside(Path('/dev/stdout')); files.set_aside(Path('out.json'))"
    )
    with open(old, "ab") as file:
        subprocess.run([sys.executable, "-c", code], stdout=file, check=True)
    assert (old.read_text(), os.path.exists("out.json~")) == (OLD, False)


def test_a_link_stays_and_its_target_goes(old: Path) -> None:
    Path("latest.json").symlink_to(old)
    files.set_aside(Path("latest.json"))
    assert Path("latest.json").is_symlink()
    assert gone(old)


# --- failures ------------------------------------------------------------------------------------


def test_a_file_that_cannot_be_renamed_is_said(
    spekctl: Spekctl, kernel: FakeKernel, old: Path
) -> None:
    Path("out.json~").mkdir()
    outcome = run_ok(spekctl, "-o", str(old))
    assert (outcome.code, kernel.calls) == (ExitCode.USAGE, [])
    assert outcome.sentence == (
        "cannot write out.json: the file of that name that exists cannot be renamed to out.json~:"
        " Is a directory"
    )


def test_a_directory_without_permission_is_said(
    old: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object, **_more: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(UsageError, match=r"cannot be renamed to out.json~: Permission denied"):
        aside.carry_out([old], [], lambda: 0)
    # At the end, the command's own failure is the one that is raised.
    old.write_text("not JSON")
    with pytest.raises(RefusedError, match="in use"):
        aside.carry_out([old], [], refused)
    assert "out.json: the file of that name that exists cannot be" in capsys.readouterr().err


def refused() -> int:
    raise RefusedError("the device is in use")


def test_a_killed_command_leaves_no_result(old: Path) -> None:
    code = (
        "import os, signal; from pathlib import Path; from spekctl.commands import aside;"
        "aside.carry_out([Path('out.json')], [], lambda: os.kill(os.getpid(), signal.SIGKILL))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False)
    assert done.returncode == -signal.SIGKILL
    assert gone(old)


# --- help ----------------------------------------------------------------------------------------


def test_help_says_what_happens_to_an_older_file() -> None:
    """Of every command whose result a script may judge."""
    group = cli
    assert isinstance(group, LazyGroup)
    said = set()
    for name in COMMANDS:
        command = group.get_command(click.Context(group), name)
        assert command is not None
        for option in command.params:
            if isinstance(option, click.Option) and "~" in (option.help or ""):
                said.add(name)
    assert {"run", "sweep", "verify", "watch", "gate", "compare", "show"} <= said
    assert "metrics" not in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("missing.json", "--csv", "out.csv"), "there is no file missing.json"),
        (("random-read-4k", "-o", "out.csv"), "--output needs --csv without a FILE"),
        (("bad.json", "--csv", "-o", "out.csv", "--json"), "--csv only converts results"),
        (("bad.json", "bad.json", "--csv", "out.csv"), "--csv takes one result, not 2"),
        (("bad.json", "--csv", "out.csv", "--hdr-log", "out.csv"), "are the same file"),
    ],
)
def test_a_wrong_command_line_of_show_renames_nothing(
    spekctl: Spekctl, words: tuple[str, ...], said: str
) -> None:
    Path("bad.json").write_text("")
    Path("real.csv").write_text("of yesterday")
    Path("real.csv~").write_text("of the day before")
    Path("out.csv").symlink_to("real.csv")
    shown = spekctl("show", *words)
    assert shown.code == ExitCode.USAGE and said in shown.err
    assert Path("out.csv").read_text() == "of yesterday"
    assert Path("real.csv~").read_text() == "of the day before"


def test_a_result_that_is_shown_as_csv_replaces_an_older_file(
    spekctl: Spekctl, kernel: FakeKernel
) -> None:
    assert run_ok(spekctl, "-o", "r.json").code == ExitCode.OK
    Path("out.csv").write_text("interval,phase\n0,measure\n")
    assert spekctl("show", "r.json", "--csv", "-o", "out.csv").code == ExitCode.OK
    assert Path("out.csv").read_text().startswith("interval,phase,start_ns")
    assert Path("out.csv~").read_text() == "interval,phase\n0,measure\n"


@pytest.mark.parametrize(
    ("option", "given", "names"),
    [
        ("--csv", "out.csv", ["out.csv"]),
        ("--fio-json", "out.fio", ["out.fio"]),
        ("--hdr-log", "out.hlog", ["out.hlog"]),
        ("--fio-logs", "out", ["out_bw.1.log", "out_clat_hist.1.log"]),
    ],
)
def test_an_export_that_is_refused_leaves_no_older_one(
    spekctl: Spekctl, option: str, given: str, names: list[str]
) -> None:
    Path("bad.json").write_text("")
    for name in names:
        Path(name).write_text("of yesterday")
    assert spekctl("show", "bad.json", option, given).code == ExitCode.USAGE
    assert sorted(path.name for path in Path().glob("out*")) == [f"{name}~" for name in names]

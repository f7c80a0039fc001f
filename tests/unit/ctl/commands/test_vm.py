# SPDX-License-Identifier: GPL-2.0
"""spekctl vm: wrong use, and guests that cannot be set up."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from spekctl import cli
from spekctl.errors import ExitCode
from spekctl.vm import runner
from spekctl.vm.architecture import named
from spekctl.vm.kernels import Kernel
from spekctl.vm.runner import Outcome


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of our own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "spek"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--", "rum"], "there is no command 'rum' to run in the guest; did you mean 'run'?"),
        (["--", "vm", "--", "run"], "a guest cannot start guests: leave out the second 'vm'"),
        (["--", "run", "spc1", "--arrival", "poisson"], "no such option '--arrival'"),
        (["--", "-v", "run", "spc1", "--time", "soon"], "invalid value for '--time': 'soon' is"),
        (["--", "trace", "inof", "f.csv"], "there is no command 'inof'; did you mean 'info'?"),
        (["--", "trace", "info", "--strikt", "f.csv"], "no such option '--strikt'"),
        (["--disk", "foo", "--", "devices"], "there is no disk type 'foo'"),
        (["--disk", "nvme", "--", "show", "{disk2}"], "'{disk2}' names a disk that does not exist"),
        (["--disk", "nvme", "--", "show", "{disk}"], "'{disk}' has no number; write {disk1}"),
        (["--", "show", "{disk1}"], "'{disk1}' names a disk that does not exist: no --disk"),
        (["--net", "/nowhere", "--", "devices"], "the directory /nowhere of the network does not"),
        (["--net", "/tmp", "--icount", "--", "devices"], "--net and --icount exclude each other"),
        (["--memory", "lots", "--", "devices"], "memory 'lots' is not a size"),
        (["--timeout", "0", "--", "devices"], "--timeout: a time limit of 0 leaves no time"),
        (["--timeout", "soon", "--", "devices"], "--timeout: 'soon' is not a duration"),
        (["--kernel", "200%", "--", "devices"], "'200%' is not a kernel release like 6.12"),
        (["--kernel", "./nowhere", "--", "devices"], "there is no kernel tree"),
        (["--disk", "nvme", "--", "run", "spc1", "--bsu", "1"], "missing option '--device'"),
        (
            ["--disk", "nvme", "--", "run", "random-read-4k", "--device", "{disk1}", "--dept", "4"],
            "no such option '--dept'; did you mean '--depth'?",
        ),
        (
            ["--disk", "nvme", "--", "run", "nothing", "--device", "{disk1}"],
            "there is no workload 'nothing'",
        ),
        (
            ["--disk", "nvme", "--", "run", "random-read-4k", "--device", "{disk1}", "--cpus", "7"],
            "CPU 7 is offline or not allowed to spekctl; it may use 0-1",
        ),
    ],
)
def test_wrong_use_is_one_sentence(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["vm", *arguments]) == 2

    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"spekctl: {sentence}")
    assert printed.err.count("\n") == 1


def test_disks_that_are_known_are_devices_apart(capsys: pytest.CaptureFixture[str]) -> None:
    run = ["run", "random-write-4k", "--device", "{disk1}", "--device", "{disk2}"]
    assert cli.run(["vm", *["--disk", "nvme"] * 2, "--", *run]) == ExitCode.REFUSED
    told = "spekctl: this workload writes; give --write to let it overwrite {disk1} and {disk2}\n"
    assert capsys.readouterr().err == told


@pytest.mark.parametrize("option", ["-o", "--log", "--verify-state"])
def test_a_file_that_only_the_guest_would_have_is_refused(
    option: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir("/")
    words = ["run", "random-read-4k", "-d", "{disk1}", option, "/tmp/lost.json"]
    assert cli.run(["vm", "--disk", "nvme", "--", *words]) == ExitCode.USAGE
    told = capsys.readouterr().err
    assert told.startswith("spekctl: /tmp/lost.json would be in the guest's own /tmp")
    assert "add --share /tmp," in told


def test_a_file_that_only_the_host_has_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir("/")
    monkeypatch.setattr(runner, "GUESTS_OWN", tmp_path)
    workload = tmp_path / "w.toml"
    workload.write_text("")
    assert cli.run(["vm", "--", "show", str(workload)]) == ExitCode.USAGE
    assert f"{workload} would be in the guest's own" in capsys.readouterr().err


def test_files_in_tmp_that_are_shared_are_left_to_the_guest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(runner, "GUESTS_OWN", tmp_path.parent)
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.chdir("/")
    words = ["--", "show", "spc1", "--fio-json", str(tmp_path / "r.json")]
    assert cli.run(["vm", "--share", str(tmp_path), *words]) == ExitCode.GUEST_FAILED
    monkeypatch.chdir(tmp_path)
    assert cli.run(["vm", *words]) == ExitCode.GUEST_FAILED
    assert capsys.readouterr().err.count("a guest needs") == 2


def test_what_a_guest_keeps_is_not_around_what_it_may_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir("/")
    inner = tmp_path / "share"
    inner.mkdir()
    shared = ["--share", str(inner), "--cached", str(tmp_path)]
    assert cli.run(["vm", *shared, "--", "devices"]) == ExitCode.USAGE
    assert f"--cached {tmp_path}: the guest may write to {inner} in it" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["--", "--version"], ["--exec", "--", "rum", "--arrival"]])
def test_other_words_are_left_to_the_guest(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    assert cli.run(["vm", *arguments]) == ExitCode.GUEST_FAILED
    assert "a guest needs" in capsys.readouterr().err


def test_a_guest_that_cannot_be_set_up_has_its_own_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    assert cli.run(["vm", "--", "devices"]) == ExitCode.GUEST_FAILED
    printed = capsys.readouterr().err
    assert printed.startswith("spekctl: a guest needs ") and printed.count("\n") == 1


def test_a_cache_that_cannot_be_written_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    assert cli.run(["vm", "--", "devices"]) == ExitCode.GUEST_FAILED
    assert capsys.readouterr().err == (
        "spekctl: cannot write to the cache /dev/null/spek: Not a directory; XDG_CACHE_HOME can"
        " name another directory\n"
    )


@pytest.mark.parametrize(
    ("accel", "how"), [("tcg", "tcg: without KVM this takes up to a minute"), ("kvm", "kvm")]
)
def test_a_slow_boot_is_announced(
    accel: str,
    how: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    kernel = Kernel("6.1.0", tmp_path, tmp_path, None, "here")
    for name, value in {
        "runner.check_tools": None,
        "bytecode.compile_ahead": None,
        "kernels.find_kernel": kernel,
        "modules.build_modules": [tmp_path / "spek.ko"],
        "accel.choose_accel": accel,
        "runner.run_guest": Outcome(7),
    }.items():
        monkeypatch.setattr(f"spekctl.vm.{name}", lambda *_, answer=value, **_more: answer)
    assert cli.run(["vm", "--", "devices"]) == 7
    assert capsys.readouterr().err == f"spekctl: booting 6.1.0 ({how})\n"


@pytest.mark.parametrize("size", ["1M", "63M"])
def test_memory_in_which_no_kernel_boots_needs_no_guest(
    size: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel = Kernel("6.1.0", tmp_path, tmp_path, None, "here")
    for name, value in {
        "runner.check_tools": None,
        "bytecode.compile_ahead": None,
        "kernels.find_kernel": kernel,
    }.items():
        monkeypatch.setattr(f"spekctl.vm.{name}", lambda *_, answer=value, **_more: answer)
    assert cli.run(["vm", "--memory", size, "--", "devices"]) == ExitCode.USAGE
    told = f"spekctl: --memory {size} is too little for a guest of kernel 6.1.0, which needs at"
    assert capsys.readouterr().err == f"{told} least 64M\n"


def test_results_of_the_readme_need_no_folder_that_a_clean_clone_lacks() -> None:
    readme = (Path(__file__).resolve().parents[4] / "README.md").read_text()
    written = re.findall(r"^    .* (?:-o|--output|--log|--verify-state) (\S+)", readme, re.M)
    assert "nvme.json" in written
    assert {str(Path(path).parent) for path in written} == {"."}


def test_the_help_of_a_run_needs_no_guest(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["vm", "--", "run", "--help"]) == 0
    assert capsys.readouterr().out.startswith("Usage: spekctl run ")


def test_a_write_that_is_not_allowed_needs_no_guest(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["vm", "--disk", "nvme", "--", "run", "random-write-4k", "--device", "{disk1}"]
    assert cli.run(words) == ExitCode.REFUSED
    assert "this workload writes; give --write" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "architecture", "sentence"),
    [
        (
            ["--icount", "--function-profile", "p.json", "--", "run", "random-read-4k", "-d", "x"],
            "arm64",
            "profiles of functions are for amd64 guests",
        ),
        (
            ["--python-package", "pytest", "--", "devices"],
            "amd64",
            "--python-package is for guests of another architecture",
        ),
    ],
)
def test_what_a_guest_of_an_architecture_has_not_is_refused(
    words: list[str],
    architecture: str,
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    kernel = Kernel("6.1.0", tmp_path, tmp_path, None, "x", architecture=named(architecture))
    for name, value in {
        "runner.check_tools": None,
        "bytecode.compile_ahead": None,
        "profiler.plugin": None,
        "kernels.find_kernel": kernel,
    }.items():
        monkeypatch.setattr(f"spekctl.vm.{name}", lambda *_, answer=value, **_more: answer)
    assert cli.run(["vm", *words]) == ExitCode.USAGE
    assert sentence in capsys.readouterr().err

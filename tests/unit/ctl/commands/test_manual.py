# SPDX-License-Identifier: GPL-2.0
"""Man pages and completion follow from the commands, and are installed and removed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from spekctl.cli import COMMANDS
from spekctl.commands import manual
from spekctl.workload.options import OPTIONS, flag_of

ROOT = Path(__file__).resolve().parents[4]


@pytest.fixture(scope="module")
def files() -> dict[str, str]:
    return manual.files()


def test_every_command_has_a_page_with_its_options(files: dict[str, str]) -> None:
    for name in COMMANDS:
        assert f"{manual.PAGES}/spekctl-{name}.1" in files
    assert f"{manual.PAGES}/spekctl-energy-emerald.1" in files
    page = files[f"{manual.PAGES}/spekctl-run.1"]
    for name in OPTIONS:
        assert flag_of(name).replace("-", "\\-") in page
    assert "spekctl run \\-\\-read 70% \\-\\-size 8KiB" in page
    assert "spekctl\\-run\\fR(1)" in files[f"{manual.PAGES}/spekctl.1"]


def test_pages_refer_to_pages_only(files: dict[str, str]) -> None:
    for name, text in files.items():
        if name.endswith(".1"):
            for reference in re.findall(r"\\fB([a-z0-9\\-]+)\\fR\(1\)", text):
                page = reference.replace("\\", "")
                assert f"{manual.PAGES}/{page}.1" in files, f"{name} refers to {page}"


def test_arguments_are_not_listed_as_options(files: dict[str, str]) -> None:
    for name, text in files.items():
        if name.endswith(".1"):
            options = text.partition(".SH OPTIONS")[2].partition(".SH ")[0]
            for line in options.splitlines():
                assert not line.startswith("\\fB") or line.startswith("\\fB\\-"), (name, line)


def test_what_is_hidden_is_in_no_page(files: dict[str, str]) -> None:
    assert "ramp\\-time" not in files[f"{manual.PAGES}/spekctl-spc1.1"]
    assert not any("any" in Path(name).stem.split("-") for name in files)


@pytest.mark.skipif(
    shutil.which("groff") is None, reason="groff is missing; install it with make deps"
)
def test_pages_are_roff_without_a_warning(files: dict[str, str], tmp_path: Path) -> None:
    def warnings_of(pages: dict[str, str]) -> str:
        for name, text in pages.items():
            (tmp_path / name).write_text(text)
        paths = [str(tmp_path / name) for name in pages]
        command = ["groff", "-man", "-ww", "-Tutf8", "-Kutf8", "-z", *paths]
        return subprocess.run(command, capture_output=True, text=True, check=True).stderr

    pages = {Path(name).name: text for name, text in files.items() if name.endswith(".1")}
    assert warnings_of(pages) == ""
    assert "macro 'spek' not defined" in warnings_of({"x.1": ".TH X 1\n.spek\n"})


def complete(line: str) -> list[str]:
    """What bash is offered at the end of a line."""
    words = line.split(" ")
    done = subprocess.run(
        [sys.executable, "-m", "spekctl"],
        capture_output=True,
        text=True,
        check=True,
        env={
            **os.environ,
            "_SPEKCTL_COMPLETE": "bash_complete",
            "COMP_WORDS": line,
            "COMP_CWORD": str(len(words) - 1),
        },
    )
    return [line.partition(",")[2] for line in done.stdout.splitlines()]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("spekctl sw", ["sweep"]),
        ("spekctl run random-r", ["random-read-4k"]),
        ("spekctl run --backend s", ["scsi"]),
        ("spekctl run --max-o", ["--max-outstanding"]),
        ("spekctl energy em", ["emerald"]),
        ("spekctl spc1 --ramp", ["--ramp"]),
    ],
)
def test_a_shell_completes(line: str, expected: list[str]) -> None:
    assert complete(line) == expected


def test_scripts_are_valid_for_their_shells(files: dict[str, str], tmp_path: Path) -> None:
    for shell, place in manual.COMPLETIONS.items():
        assert "_SPEKCTL_COMPLETE" in files[place]
        if shutil.which(shell):
            path = tmp_path / shell
            path.write_text(files[place])
            subprocess.run([shell, "-n", str(path)], check=True)


# Stands in for zsh's own completion: prints what it would offer.
ZSH = """
fpath=({folder} $fpath)
autoload -Uz _spekctl
_describe() {{ print -l -- ${{(P)3}} }}
compadd() {{ print "compadd $@" }}
compdef() {{ print "not at work" }}
for word in --max-o --max-o --str; do
    words=(spekctl run $word) CURRENT=3
    _spekctl
done
"""


@pytest.mark.skipif(not shutil.which("zsh"), reason="zsh is not installed")
def test_zsh_completes_at_every_tab(files: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "_spekctl").write_text(files[manual.COMPLETIONS["zsh"]])
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["zsh", "-f", "-c", ZSH.format(folder=tmp_path)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PATH": path},
    )
    offered = [line.partition(":")[0] for line in done.stdout.splitlines()]
    assert offered == ["--max-outstanding", "--max-outstanding", "--stripe"]


@pytest.mark.skipif(not shutil.which("fish"), reason="fish is not installed")
def test_fish_completes(files: dict[str, str], tmp_path: Path) -> None:
    script = tmp_path / "spekctl.fish"
    script.write_text(files[manual.COMPLETIONS["fish"]])
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["fish", "--no-config", "-c", f"source {script}; complete -C 'spekctl run --max-o'"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PATH": path, "HOME": str(tmp_path)},
    )
    assert [line.split("\t")[0] for line in done.stdout.splitlines()] == ["--max-outstanding"]


def test_they_are_installed_and_removed(tmp_path: Path) -> None:
    def make(goal: str) -> None:
        words = ["make", "-C", str(ROOT), goal, f"DESTDIR={tmp_path}", "prefix=/usr/local"]
        words.append(f"PYTHON={sys.executable}")
        subprocess.run(words, check=True, capture_output=True)

    make("pages-install")
    installed = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert installed == {f"usr/local/{name}" for name in manual.files()}
    make("pages-uninstall")
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]

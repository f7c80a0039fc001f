# SPDX-License-Identifier: GPL-2.0
"""The words of .ci/figures, which calls programs here that only say how they were called."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from lib.build.sources import ROOT

ALLOWED = (
    "give one of everything (the default), paper000, paper003, paper004, live, fig1, spc1, table3,"
    " fig7, table4, draw, papers\n"
)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree with .ci/figures, and what it calls."""
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci/figures", tmp_path / ".ci/figures")
    programs = tmp_path / ".venv/bin"
    programs.mkdir(parents=True)
    for name in ("python", "spekctl"):
        (programs / name).write_text(f'#!/bin/sh\necho "{name} $*"\n')
        (programs / name).chmod(0o755)
    return tmp_path


def figures(tree: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [tree / ".ci/figures", *words], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        (["paper005"], "there is no 'paper005'"),
        ([""], "there is no ''"),
        (["--count"], "there is no '--count'"),
        (["paper003", "table4"], "2 words are too many"),
    ],
)
def test_unknown_words_are_refused_before_anything_is_drawn(
    tree: Path, words: list[str], wrong: str
) -> None:
    kept = tree / "out/figures/sweep.json"
    kept.parent.mkdir(parents=True)
    kept.touch()
    refused = figures(tree, *words)
    assert refused.stderr == f"figures: {wrong}; {ALLOWED}"
    assert (refused.returncode, refused.stdout) == (2, "") and kept.exists()


@pytest.mark.parametrize("word", ["-h", "--help"])
def test_help_is_printed_and_nothing_is_drawn(tree: Path, word: str) -> None:
    shown = figures(tree, word)
    assert shown.returncode == 0 and not (tree / "out").exists()
    first, *others = shown.stdout.splitlines()
    assert first.startswith(".ci/figures [WORD] - ")
    assert "spekctl " not in shown.stdout and len(others) > 10
    assert all(word in shown.stdout for word in ("paper003", "paper004", "table4", "papers"))


@pytest.mark.parametrize(
    ("word", "first"),
    [
        ("paper000", "python -m bench.papers --arrays out/figures"),
        ("paper003", "spekctl drive study -o out/figures/paper003.json"),
        ("paper004", "python -m bench.paper004 out/figures"),
        ("draw", "python tests/bench/paper003.py compare"),
        ("table4", "python -m bench.table4 out/figures"),
        ("papers", "spekctl energy spc1e"),
    ],
)
def test_a_part_is_drawn_alone(tree: Path, word: str, first: str) -> None:
    drawn = figures(tree, word)
    assert drawn.returncode == 0
    calls = [line for line in drawn.stdout.splitlines() if line.startswith(("python", "spekctl"))]
    assert calls[0].startswith(first)
    assert not any("vm" in call.split() for call in calls)


@pytest.mark.parametrize("word", ["live", "fig1", "spc1", "table3", "fig7"])
def test_a_part_of_a_guest_boots_it(tree: Path, word: str) -> None:
    drawn = figures(tree, word)
    assert drawn.returncode == 0
    (call,) = (line for line in drawn.stdout.splitlines() if line.startswith("spekctl"))
    assert call.startswith("spekctl vm --icount")
    assert call.endswith(f"--exec -- .ci/figures in-{word}")


@pytest.mark.parametrize(
    ("word", "first"),
    [
        ("live", "python tests/bench/paper003.py live out/figures/paper003-live.json a b"),
        ("fig1", "spekctl run spc1 --bsu 20 --device a --write"),
        ("spc1", "spekctl sweep spc1 --bsu 2,5,10,20,30,35,38,42,60,120 --device a"),
        ("table3", "python -m bench.table3 a out/figures"),
        ("fig7", "python tests/bench/fig7.py out/figures"),
    ],
)
def test_in_the_guest_it_measures_on_the_disks(
    tree: Path, monkeypatch: pytest.MonkeyPatch, word: str, first: str
) -> None:
    for number, name in enumerate("abcdefg", 1):
        monkeypatch.setenv(f"SPEK_DISK{number}", name)
    drawn = figures(tree, f"in-{word}")
    calls = [line for line in drawn.stdout.splitlines() if line.startswith(("python", "spekctl"))]
    assert drawn.returncode == 0 and calls[0].startswith(first)


@pytest.mark.parametrize("words", [[], ["everything"]])
def test_everything_is_drawn_part_by_part(tree: Path, words: list[str]) -> None:
    drawn = figures(tree, *words)
    assert (drawn.returncode, drawn.stdout) == (
        0,
        "python -m bench.parts out/figures paper003 paper004 live fig1 spc1 table3 fig7 table4"
        " --then draw papers\n",
    )

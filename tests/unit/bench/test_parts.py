# SPDX-License-Identifier: GPL-2.0
"""The parts of make figures: drawn in their order, with times, and continued where they stopped."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from bench import parts

SCRIPT = """#!/bin/sh
echo "drawing $1"
echo "$1" >>drawn
test ! -e "fail-$1"
"""
FOLDER = Path("out/figures")
WORDS = [str(FOLDER), "fig1", "fig7", "--then", "draw"]


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tree whose .ci/figures notes its words, and fails with those of which there is a file.

    This process has children of its own, and waits for none of them here.
    """
    monkeypatch.setattr(parts, "adopt_orphans", lambda: None)
    monkeypatch.setattr(parts, "wait_for_orphans", lambda: None)
    script = tmp_path / ".ci/figures"
    script.parent.mkdir()
    script.write_text(SCRIPT)
    script.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def drawn(tree: Path) -> list[str]:
    """What was drawn since the last call."""
    path = tree / "drawn"
    words = path.read_text().split()
    path.unlink()
    return words


def test_each_part_is_drawn_and_timed(tree: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert parts.main(WORDS) == 0
    assert drawn(tree) == ["fig1", "fig7", "draw"]
    printed = capfd.readouterr().out
    assert "drawing fig7" in printed and "CPU seconds" in printed
    assert (tree / FOLDER / parts.TEXT).read_text() == "drawing fig1\ndrawing fig7\ndrawing draw\n"
    kept = parts.load(tree / FOLDER)
    assert [part.name for part in kept] == ["fig1", "fig7", "draw"]
    assert all(part.code == 0 and part.wall_s >= 0 and part.cpu_s >= 0 for part in kept)


def test_a_failure_is_told_and_the_next_start_draws_what_is_missing(
    tree: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tree / "fail-fig1").touch()
    assert parts.main(WORDS) == 1
    assert drawn(tree) == ["fig1", "fig7", "draw"]
    told = capfd.readouterr()
    assert "parts: fig1 failed" in told.err and "exit code 1" in told.out
    (tree / "fail-fig1").unlink()
    assert parts.main(WORDS) == 0
    # What is made of the others is made again.
    assert drawn(tree) == ["fig1", "draw"]
    assert "parts: fig7 is complete" in capfd.readouterr().out


def test_a_part_ends_with_the_last_of_its_processes(tree: Path) -> None:
    """As a guest, whose emulator outlives the program that has started it."""
    (tree / ".ci/figures").write_text("#!/bin/sh\n(sleep 1; echo x >late) >/dev/null 2>&1 &\n")
    script = f"import sys\nfrom bench import parts\nsys.exit(parts.main({[str(FOLDER), 'fig1']}))"
    drawn = subprocess.run(
        [sys.executable, "-c", script],
        check=False, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert drawn.returncode == 0 and (tree / "late").read_text() == "x\n"


def test_after_all_are_complete_it_begins_with_an_empty_folder(tree: Path) -> None:
    assert parts.main(WORDS) == 0
    (tree / FOLDER / "old.json").touch()
    drawn(tree)
    assert parts.main(WORDS) == 0
    assert drawn(tree) == ["fig1", "fig7", "draw"]
    assert not (tree / FOLDER / "old.json").exists()


def test_the_table_has_the_sum() -> None:
    grid = parts.grid_of(
        [parts.Part("fig1", 60.4, 58.0, "abc", 0), parts.Part("fig7", 30.0, 31.0, "abc", 2)]
    )
    assert grid.rows == [
        ["fig1", "60", "58", "abc", "complete"],
        ["fig7", "30", "31", "abc", "exit code 2"],
        ["all", "90", "89", "", ""],
    ]

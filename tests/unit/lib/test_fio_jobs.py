# SPDX-License-Identifier: GPL-2.0
"""What fio says is kept where it cannot change, and nowhere else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from lib.ctl.fio_jobs import fio, version

# Says how often it was started.
PROGRAM = '#!/bin/sh\necho x >> "{starts}"\n[ "$1" != --bad ] || exit 1\ngrep -c x "{starts}"\n'


@pytest.fixture
def starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in for fio, with a cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    (tmp_path / "bin").mkdir()
    install(tmp_path, PROGRAM)
    return tmp_path / "starts"


def install(tmp_path: Path, text: str) -> None:
    program = tmp_path / "bin/fio"
    program.write_text(text.format(starts=tmp_path / "starts"))
    program.chmod(0o755)
    version.cache_clear()


def said(*words: str, folder: Path | None = None, always_same: bool = False) -> str:
    return fio(*words, folder=folder, always_same=always_same).stdout.strip()


def test_the_same_words_start_it_once(starts: Path, tmp_path: Path) -> None:
    assert [said("--bs=4k"), said("--bs=8k"), said("--bs=4k")] == ["1", "2", "1"]
    assert said("--bs=4k", folder=tmp_path, always_same=True) == "1"


@pytest.mark.parametrize("words", ["--runtime=1", "--rate=1m", "--filename=/x", "--startdelay=1"])
def test_times_and_files_start_it_each_time(starts: Path, words: str) -> None:
    assert [said(words), said(words)] == ["1", "2"]


def test_a_folder_starts_it_each_time(starts: Path, tmp_path: Path) -> None:
    assert [said("--bs=4k", folder=tmp_path) for _ in range(2)] == ["1", "2"]


def test_another_fio_is_asked_again(starts: Path, tmp_path: Path) -> None:
    assert said("--bs=4k") == "1"
    install(tmp_path, PROGRAM + "# later\n")
    assert said("--bs=4k") == "2"


def test_a_failure_is_not_kept(starts: Path) -> None:
    assert [fio("--bad").returncode for _ in range(2)] == [1, 1]
    assert starts.read_text() == "x\nx\n"

# SPDX-License-Identifier: GPL-2.0
"""What fio says is kept where it cannot change, and nowhere else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from lib.ctl import fio_jobs
from lib.ctl.fio_jobs import HEAD, fio, places, sequence_by_fio, version

# Says how often it was started.
PROGRAM = '#!/bin/sh\necho x >> "{starts}"\n[ "$1" != --bad ] || exit 1\ngrep -c x "{starts}"\n'
# Logs of two clones: the second one is at @place.
LOGGED = """#!/bin/sh
echo x >> "{starts}"
for place in 0 {place}; do
    printf 'fio version 3 iolog\\n1 device add\\n2 device open\\n%s\\n4 device close\\n' \\
        "3 device read $place 4096"
done > log
"""


@pytest.fixture
def starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in for fio, with a cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    (tmp_path / "bin").mkdir()
    install(tmp_path, PROGRAM)
    return tmp_path / "starts"


def install(tmp_path: Path, text: str, place: str = "") -> None:
    program = tmp_path / "bin/fio"
    program.write_text(text.format(starts=tmp_path / "starts", place=place))
    program.chmod(0o755)
    version.cache_clear()


def said(*words: str, folder: Path | None = None, device_bytes: int | None = None) -> str:
    return fio(*words, folder=folder, device_bytes=device_bytes).stdout.strip()


def test_the_same_words_start_it_once(starts: Path) -> None:
    assert [said("--bs=4k"), said("--bs=8k"), said("--bs=4k")] == ["1", "2", "1"]


def test_another_size_of_the_device_starts_it_again(starts: Path, tmp_path: Path) -> None:
    sizes = (4096, 8192, 4096)
    answers = [said("--bs=4k", folder=tmp_path, device_bytes=size) for size in sizes]
    assert answers == ["1", "2", "1"]
    assert (tmp_path / "device").read_bytes() == bytes(8192)


@pytest.mark.parametrize("words", ["--runtime=1", "--rate=1m", "--filename=/x", "--startdelay=1"])
def test_times_and_files_start_it_each_time(starts: Path, words: str) -> None:
    assert [said(words), said(words)] == ["1", "2"]


def test_times_start_it_each_time_on_a_device_too(starts: Path, tmp_path: Path) -> None:
    words = "--rate_iops=100k"
    assert [said(words, folder=tmp_path, device_bytes=4096) for _ in range(2)] == ["1", "2"]


def test_a_folder_starts_it_each_time(starts: Path, tmp_path: Path) -> None:
    assert [said("--bs=4k", folder=tmp_path) for _ in range(2)] == ["1", "2"]


def test_another_fio_is_asked_again(starts: Path, tmp_path: Path) -> None:
    assert said("--bs=4k") == "1"
    install(tmp_path, PROGRAM + "# later\n")
    assert said("--bs=4k") == "2"


def test_a_failure_is_not_kept(starts: Path) -> None:
    assert [fio("--bad").returncode for _ in range(2)] == [1, 1]
    assert starts.read_text() == "x\nx\n"


IOS = [("read", 0, 4096), ("read", 8192, 4096)]


@pytest.mark.parametrize("words", ["--bs=4k", "--thinktime=10", "--rate_iops=100k"])
def test_a_log_is_kept_once_two_runs_agree_on_it_unless_it_depends_on_time(
    starts: Path, tmp_path: Path, words: str
) -> None:
    install(tmp_path, LOGGED, place="8192")
    text = f"{HEAD}{words.removeprefix('--')}\n"
    for _ in range(2):
        assert sequence_by_fio(tmp_path, words, 4096) == IOS
        assert places(tmp_path, text) == [[(way, place)] for way, place, _ in IOS]
    # Of each of the two, at once or each time.
    assert starts.read_text() == 2 * 2 * "x\n"


def test_a_log_of_clones_has_the_first_places_first(starts: Path, tmp_path: Path) -> None:
    install(tmp_path, LOGGED, place="-4096")
    assert [place for _, place, _ in sequence_by_fio(tmp_path, "--bs=4k", 4096)] == [-4096, 0]


def test_a_log_that_another_run_does_not_write_is_not_kept(starts: Path, tmp_path: Path) -> None:
    install(tmp_path, LOGGED, place='$(grep -c x "$starts")'.replace("$starts", str(starts)))
    answers = [sequence_by_fio(tmp_path, "--bs=4k", 4096)[1][1] for _ in range(2)]
    assert answers == [1, 3]


def test_a_log_with_torn_lines_is_refused(starts: Path, tmp_path: Path) -> None:
    install(tmp_path, LOGGED, place="$(printf %08192d 1)")
    with pytest.raises(AssertionError):
        sequence_by_fio(tmp_path, "--bs=4k", 4096)


def test_answers_of_an_earlier_harness_are_not_taken(
    starts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert said("--bs=4k") == "1"
    later = tmp_path / "fio_jobs.py"
    later.write_text(f"{Path(fio_jobs.__file__).read_text()}# later\n")
    monkeypatch.setattr(fio_jobs, "__file__", str(later))
    assert [said("--bs=4k"), said("--bs=4k")] == ["2", "2"]

# SPDX-License-Identifier: GPL-2.0
"""Processes of the fork server: as their own as those that are started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from lib import fork_server
from lib.fork_server import Forked
from lib.waiting import LONG_S

MARK = "SPEK_TEST_OF_THE_FORK_SERVER"


def forked(folder: Path, word: str) -> Forked:
    return Forked(["lib.fork_server"], play, [word], folder / "err")


def play(word: str) -> int:
    """What a child does."""
    if word == "wait":
        signal.pause()
    imported = "lib.fork_server" in sys.modules
    path = os.environ.get("PYTHONPATH")
    print(os.getpid(), os.getcwd(), os.environ.get(MARK), path, imported, file=sys.stderr)
    return 7


def test_a_child_is_where_and_what_its_maker_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in ("1", "2"):
        monkeypatch.setenv(MARK, number)
        monkeypatch.setenv("PYTHONPATH", f"path{number}")
        folder = tmp_path / number
        folder.mkdir()
        monkeypatch.chdir(folder)

        process = forked(folder, "tell")

        assert process.wait(LONG_S) == process.poll() == 7
        words = (folder / "err").read_text().split()
        assert words == [str(process.pid), str(folder), number, f"path{number}", "True"]
        assert process.pid != os.getpid() and os.environ["PYTHONPATH"] == f"path{number}"


def test_a_path_that_is_not_set_stays_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONPATH", raising=False)
    process = forked(tmp_path, "tell")
    assert process.wait(LONG_S) == 7
    assert (tmp_path / "err").read_text().split()[3] == "None"
    assert "PYTHONPATH" not in os.environ


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_the_status_of_a_signal_is_negative(tmp_path: Path, number: int) -> None:
    process = forked(tmp_path, "wait")
    assert process.poll() is None
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0)
    process.kill() if number == signal.SIGKILL else process.send_signal(number)
    assert process.wait(LONG_S) == -number
    process.send_signal(number)  # to nobody


def test_an_exception_is_told_and_fails(tmp_path: Path) -> None:
    process = Forked(["lib.fork_server"], int, ["no number"], tmp_path / "err")
    assert process.wait(LONG_S) == 1
    assert "ValueError" in (tmp_path / "err").read_text()


def test_the_server_is_not_a_fork_of_the_tests() -> None:
    """Whose threads would be missing in each child."""
    assert fork_server._CONTEXT.get_start_method() == "forkserver"

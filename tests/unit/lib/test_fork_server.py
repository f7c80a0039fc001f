# SPDX-License-Identifier: GPL-2.0
"""Processes of the fork server: as their own as those that are started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from lib import fork_server, preloaded
from lib.fork_server import Forked
from lib.waiting import LONG_S

MARK = "SPEK_TEST_OF_THE_FORK_SERVER"


def forked(folder: Path, word: str) -> Forked:
    return Forked(play, [word], folder / "err")


def play(word: str) -> int:
    """What a child does."""
    if word == "wait":
        signal.pause()
    if word == "preloaded":
        print(*sys.modules, file=sys.stderr)
        return 7
    path = os.environ.get("PYTHONPATH")
    print(os.getpid(), os.getcwd(), os.environ.get(MARK), path, file=sys.stderr)
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
        assert words == [str(process.pid), str(folder), number, f"path{number}"]
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
    process = Forked(int, ["no number"], tmp_path / "err")
    assert process.wait(LONG_S) == 1
    assert "ValueError" in (tmp_path / "err").read_text()


def test_an_import_that_fails_is_told_like_any_exception(tmp_path: Path) -> None:
    def function() -> int:
        return 0

    function.__module__ = "no_such_module"
    process = Forked(function, [], tmp_path / "err")
    assert process.wait(LONG_S) == 1
    assert "No module named 'no_such_module'" in (tmp_path / "err").read_text()


def test_the_server_has_imported_what_a_host_needs(tmp_path: Path) -> None:
    process = forked(tmp_path, "preloaded")
    assert process.wait(LONG_S) == 7
    assert set(preloaded.IMPORTS) <= {*(tmp_path / "err").read_text().split()}


def with_server_of_its_own(text: str, folder: Path) -> str:
    """What a program prints that has Forked and the @folder, and ends."""
    head = "import signal, sys\nfrom pathlib import Path\nfrom lib.fork_server import Forked\n"
    done = subprocess.run(
        [sys.executable, "-c", head + text, str(folder)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=LONG_S,
    )
    return done.stdout


def test_a_server_that_has_not_imported_it_is_told(tmp_path: Path) -> None:
    """Else all hosts were slow again, and nobody would know why."""
    text = """
from multiprocessing import forkserver
forkserver.ensure_running()
print(Forked(int, ["0"], Path(sys.argv[1], "err")).wait())
"""
    assert with_server_of_its_own(text, tmp_path) == "1\n"
    assert "the fork server has not imported" in (tmp_path / "err").read_text()


def test_a_program_ends_with_the_processes_that_it_has_left(tmp_path: Path) -> None:
    """multiprocessing waits for all, without end for one that is stopped. A fork of the program
    leaves them alone."""
    text = """
import os
waiting, stopped = (Forked(signal.pause, [], Path(sys.argv[1], "err")) for _ in range(2))
stopped.send_signal(signal.SIGSTOP)
child = os.fork()
if child == 0:
    sys.exit(0)
status = os.waitpid(child, 0)[1]
print(status, waiting.poll(), stopped.poll(), waiting.pid, stopped.pid)
"""
    *before, first, second = with_server_of_its_own(text, tmp_path).split()
    assert before == ["0", "None", "None"]
    for pid in (first, second):
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid), 0)


def test_the_server_is_not_a_fork_of_the_tests() -> None:
    """Whose threads would be missing in each child."""
    assert fork_server._CONTEXT.get_start_method() == "forkserver"

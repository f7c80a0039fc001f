# SPDX-License-Identifier: GPL-2.0
"""The agent as a process: it gets its rights from a host, and ends with it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from lib.fakes import host as fake_host
from lib.waiting import LONG_S

from spekctl.errors import ExitCode, SpekError
from spekctl.host import agent, privilege, standard

SOON_S = LONG_S


def start(*words: str) -> subprocess.Popen[str]:
    # As root it becomes nobody, who may be unable to read this Python.
    code = "import sys; from spekctl.host import agent, serve; sys.exit(agent.main(sys.argv[1:]))"
    return subprocess.Popen(
        [sys.executable, "-c", code, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def host_words(**script: Any) -> list[str]:
    return [sys.executable, fake_host.__file__, json.dumps(script)]


def children(process: subprocess.Popen[str]) -> list[int]:
    tasks = Path(f"/proc/{process.pid}/task").glob("*/children")
    return [int(pid) for path in tasks for pid in path.read_text().split()]


def test_it_serves_without_roots_rights_until_its_input_ends() -> None:
    with start(*host_words()) as process:
        assert process.stdout is not None
        hello = json.loads(process.stdout.readline())
        assert (hello["event"], hello["protocol"]) == ("hello", 4) and "start" in hello["commands"]
        status = Path(f"/proc/{process.pid}/status").read_text()
        uids = re.findall(r"^Uid:\s+(.*)$", status, re.MULTILINE)
        assert "0" not in uids[0].split()
        (host,) = children(process)
        out, err = process.communicate('{"do": "stop", "id": 1}\n', timeout=SOON_S)
        assert "there is no run to stop" in out and err == ""
        assert process.returncode == ExitCode.OK
        assert not Path(f"/proc/{host}").exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (host_words(first="exit"), "the host ended (status 1): sudo: a password is required"),
        (host_words(protocol=1), "the host speaks protocol 1, this program 4"),
        (["/nowhere/sudo"], "cannot start /nowhere/sudo: No such file or directory"),
    ],
)
def test_without_a_host_it_says_why_and_ends(words: list[str], sentence: str) -> None:
    process = start(*words)
    out, err = process.communicate(timeout=SOON_S)
    assert (process.returncode, out) == (ExitCode.RUN_FAILED, "")
    assert err.startswith(f"spekctl: {sentence}")


def test_it_ends_with_its_host() -> None:
    with start(*host_words()) as process:
        assert process.stdout is not None and "hello" in process.stdout.readline()
        (host,) = children(process)
        os.kill(host, signal.SIGKILL)
        assert process.wait(SOON_S) == ExitCode.TERMINATED
        assert process.stderr is not None
        assert process.stderr.read() == "spekctl: the host ended (SIGKILL)\n"


def test_root_that_cannot_be_dropped_serves_nobody(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(user: object) -> None:
        raise SpekError("cannot become nobody: Operation not permitted")

    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(privilege, "drop", refuse)
    monkeypatch.setattr(standard, "serve", lambda desk: pytest.fail("it serves"))
    assert agent.main(host_words()) == ExitCode.RUN_FAILED
    assert "cannot become nobody" in capsys.readouterr().err

# SPDX-License-Identifier: GPL-2.0
"""spekctl host as a program of its own, spoken to over its standard streams."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest
from lib.ctl.command_line import Spekctl
from lib.waiting import LONG_S

from spekctl import __version__
from spekctl.errors import ExitCode
from spekctl.host import wire

SOON_S = LONG_S


@pytest.fixture
def host() -> Iterator[subprocess.Popen[str]]:
    words = [sys.executable, "-m", "spekctl", "host", "--stdio"]
    with subprocess.Popen(
        words,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    ) as process:
        yield process
        if process.poll() is None:
            process.kill()


def test_it_greets_answers_and_ends_with_its_input(host: subprocess.Popen[str]) -> None:
    requests = '{"do": "stop", "id": 5}\nnonsense\n'
    out, err = host.communicate(requests, timeout=SOON_S)
    assert (host.returncode, err) == (ExitCode.OK, "")
    hello, refused, nonsense = map(json.loads, out.splitlines())
    assert (hello["event"], hello["version"]) == ("hello", __version__)
    assert hello["commands"] == wire.VERBS
    assert refused == {
        "id": 5,
        "error": {"code": ExitCode.USAGE, "text": "there is no run to stop"},
    }
    assert nonsense["error"]["text"].startswith("not a request: ")


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_it_with_its_own_code(
    host: subprocess.Popen[str], signum: signal.Signals
) -> None:
    assert host.stdout is not None and "hello" in host.stdout.readline()
    host.send_signal(signum)
    assert host.wait(SOON_S) == ExitCode.TERMINATED


def test_without_stdio_there_is_nothing_to_serve(spekctl: Spekctl) -> None:
    outcome = spekctl("host")
    assert outcome.code == ExitCode.USAGE and "Usage: spekctl host" in outcome.out + outcome.err
    assert spekctl("host", "--tcp").code == ExitCode.USAGE

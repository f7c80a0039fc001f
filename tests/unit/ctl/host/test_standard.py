# SPDX-License-Identifier: GPL-2.0
"""Serving over standard input and output, as a process of its own."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest
from lib.waiting import LONG_S

from spekctl.errors import ExitCode

CODE = """
import sys
from spekctl.host import standard

class Desk:
    def __init__(self, stream):
        self.stream = stream
        self.say("hello")
    def say(self, text):
        self.stream.write(text.encode() + b"\\n")
        self.stream.flush()
    def serve(self, lines):
        print("astray", flush=True)
        for line in lines:
            if line == b"fail\\n":
                raise OSError(5, "Input/output error")
            self.say("heard " + line.decode().strip())
        self.say("served")
    def finish(self):
        self.say("finished")

sys.exit(standard.serve(Desk))
"""


def start() -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", CODE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None and process.stdout.readline() == "hello\n"
    return process


def test_only_messages_go_to_the_peer() -> None:
    out, err = (process := start()).communicate("a\n", timeout=LONG_S)
    assert (process.returncode, out, err) == (ExitCode.OK, "heard a\nserved\n", "astray\n")


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_what_runs(signum: signal.Signals) -> None:
    process = start()
    assert process.stderr is not None and process.stderr.readline() == "astray\n"
    process.send_signal(signum)
    out, _ = process.communicate(timeout=LONG_S)
    assert (process.returncode, out) == (ExitCode.TERMINATED, "finished\n")


def test_input_that_cannot_be_read_ends_what_runs() -> None:
    out, err = (process := start()).communicate("fail\n", timeout=LONG_S)
    assert (process.returncode, out) == (ExitCode.RUN_FAILED, "finished\n")
    assert err.endswith("spekctl: cannot read requests: Input/output error\n")

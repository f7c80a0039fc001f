# SPDX-License-Identifier: GPL-2.0
"""Replies of a PowerSensor3, and lines that never end, by a clock that the test moves."""

from __future__ import annotations

import socket
import subprocess
from pathlib import Path

import pytest
from lib.daq.build import DAQ, INCLUDES, SANITIZE
from lib.powersensor3.wire import STOP, set_bytes

MS = 10**6
SOURCES = ("powersensor3/serial", "powersensor3/config", "sources/sysfs", "number", "error")
SET = set_bytes(100, (600, 400, 0, 0, 0, 0, 0, 0))


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("serial") / "driver"
    sources = [
        Path(__file__).with_name("serial_driver.c"),
        *(DAQ / f"{source}.c" for source in SOURCES),
    ]
    options = [*SANITIZE, "-D_GNU_SOURCE", *INCLUDES, "-Wall", "-Wextra", "-Werror"]
    options += ["-Wno-format-truncation"]
    subprocess.run(["gcc", *options, "-o", program, *sources, "-lm"], check=True)
    return program


def said(driver: Path, what: str, step_ns: int, line: bytes) -> tuple[str, int]:
    """What the driver says of a line that has these bytes, and how many it has left there."""
    ours, its = socket.socketpair()
    with ours, its:
        ours.sendall(line)
        its.setblocking(False)
        command = [str(driver), what, str(step_ns)]
        done = subprocess.run(
            command, stdin=its.fileno(), capture_output=True, text=True, check=True
        )
        assert done.stderr == ""
        try:
            left = len(its.recv(1 << 20))
        except BlockingIOError:
            left = 0
    return done.stdout.rstrip(), left


@pytest.mark.parametrize("before", [0, 5, 18, 500, 508, 1020, 1030])
def test_nothing_is_left_of_a_stream_that_has_ended(driver: Path, before: int) -> None:
    """Wherever reads cut it: one ends with the mark."""
    assert said(driver, "end", MS, (SET * 60)[:before] + STOP + SET) == ("ok", 0)


def test_a_stream_that_goes_on_behind_its_end_is_refused(driver: Path) -> None:
    sentence, left = said(driver, "end", 50 * MS, STOP + SET * 4000)
    assert sentence.endswith("PowerSensor3: it still sends after the end of its stream")
    assert left


@pytest.mark.parametrize("byte", [b"7", b"\r"])
def test_a_version_that_comes_slowly_is_not_waited_for(driver: Path, byte: bytes) -> None:
    """All of its line has the time of one reply, 1 s."""
    sentence, left = said(driver, "configuration", 300 * MS, byte * 60 + b"\n")
    assert sentence.endswith("PowerSensor3: a reply is missing or too short")
    assert left > 50


def test_a_version_without_an_end_is_refused(driver: Path) -> None:
    """Returns count as what is between them does."""
    sentence, left = said(driver, "configuration", 10 * MS, b"\r" * 9999)
    assert sentence.endswith("PowerSensor3: its version is ''")
    assert left == 9999 - 63

# SPDX-License-Identifier: GPL-2.0
"""spekctl web: its address, its refusals, and a whole life as a process."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from lib.ctl.command_line import Spekctl
from lib.fakes.fleet_rig import plan_of
from lib.waiting import LONG_S

import spekctl
from spekctl.commands.web import parse_listen
from spekctl.errors import ExitCode, UsageError


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("127.0.0.1:0", ("127.0.0.1", 0)),
        ("localhost:8080", ("127.0.0.1", 8080)),
        ("[::1]:1", ("::1", 1)),
        ("0.0.0.0:65535", ("0.0.0.0", 65535)),
    ],
)
def test_addresses(text: str, address: tuple[str, int]) -> None:
    assert parse_listen(text) == address


@pytest.mark.parametrize("text", ["", "8080", ":1", "host:1", "127.0.0.1:x", "127.0.0.1:65536"])
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(UsageError, match=r"is not ADDRESS:PORT, .* and a port of 0 to 65535"):
        parse_listen(text)


def test_what_is_refused(spekctl: Spekctl, tmp_path: Path) -> None:
    outcome = spekctl("web", "--directory", tmp_path / "none")
    assert outcome.code == ExitCode.USAGE and "there is no directory" in outcome.sentence
    assert spekctl("web", "--listen", "x").code == ExitCode.USAGE
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        outcome = spekctl("web", "--listen", f"127.0.0.1:{port}")
    assert outcome.code == ExitCode.USAGE and "Address already in use" in outcome.sentence


def test_what_is_not_of_a_fleet_is_refused(spekctl: Spekctl, tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(plan_of(["a"]))
    cases: list[tuple[list[str | Path], str]] = [
        (["--keys", tmp_path], "--keys needs --fleet as well"),
        (["--wait", "5s"], "--wait needs --fleet as well"),
        (["--fleet", plan, "--become", "none"], "--become has no use with --fleet"),
    ]
    for words, sentence in cases:
        outcome = spekctl("web", "--directory", tmp_path, *words)
        assert outcome.code == ExitCode.USAGE and sentence in outcome.sentence


def start(address: str) -> subprocess.Popen[str]:
    words = [sys.executable, "-m", "spekctl", "web", "--listen", address, "--become", "none"]
    # A caller who is nobody in particular: root is given up for its user id.
    environment = {key: value for key, value in os.environ.items() if key != "SUDO_UID"}
    return subprocess.Popen(
        words,
        cwd="/tmp",
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def is_for_all(path: Path) -> bool:
    return all(part.stat().st_mode & stat.S_IXOTH for part in [path, *path.parents])


# Python itself as well: reports import what they need as the user that the server has become.
SEEN = os.geteuid() != 0 or all(
    is_for_all(path) for path in (Path(spekctl.__file__).parent, Path(os.__file__).parent)
)


@pytest.mark.skipif(SEEN, reason="everybody may read spekctl here: run it from root's home")
def test_a_server_that_could_not_read_itself_is_refused() -> None:
    process = start("127.0.0.1:0")
    try:
        out, err = process.communicate(timeout=LONG_S)
    finally:
        process.kill()
        process.wait()
    assert (process.returncode, out) == (ExitCode.USAGE, "")
    assert err.splitlines()[-1].startswith("spekctl: nobody, as whom the server runs, cannot read")


@pytest.mark.skipif(not SEEN, reason="only root may read spekctl here, and the server is not root")
@pytest.mark.parametrize(
    ("address", "signum", "code"),
    [
        ("127.0.0.1:0", signal.SIGINT, ExitCode.INTERRUPTED),
        ("0.0.0.0:0", signal.SIGTERM, ExitCode.TERMINATED),
    ],
)
def test_a_server_from_start_to_end(address: str, signum: int, code: ExitCode) -> None:
    process = start(address)
    assert process.stdout is not None and process.stderr is not None
    try:
        url = process.stdout.readline().strip()
        # What all addresses are called is none that a browser can open.
        assert url.startswith("http://127.0.0.1:"), process.stderr.read()
        status = Path(f"/proc/{process.pid}/status").read_text()
        uids = next(line for line in status.splitlines() if line.startswith("Uid:")).split()[1:]
        assert "0" not in uids
        port = url.partition("#")[0].rpartition(":")[2].rstrip("/")
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/api/results", timeout=LONG_S)
        process.send_signal(signum)
        _, err = process.communicate(timeout=LONG_S)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == code
    assert ("warning: 0.0.0.0 can be reached from the network" in err) == (address[0] == "0")
    if os.geteuid() == 0:
        assert "the server runs as nobody, its helper as root" in err
    assert "Traceback" not in err

# SPDX-License-Identifier: GPL-2.0
"""The command line as a new user meets it: outputs, sentences and exit codes, on a fake kernel."""

from __future__ import annotations

import dataclasses
import errno
import json
import os
import re
import sys
from pathlib import Path

import pytest
from lib.ctl.command_line import Spekctl
from lib.fakes.kernel import FakeKernel, other_run
from lib.fakes.machine import disk

from spekctl import __version__, cli
from spekctl.block import blkid, safety
from spekctl.block import device as block_device
from spekctl.errors import (
    EXIT_CODE_HELP,
    ExitCode,
    SpekError,
    error_from_errno,
)

# --- lists ---------------------------------------------------------------------------------------


def test_status_is_a_table(spekctl: Spekctl, kernel: FakeKernel) -> None:
    kernel.others = [other_run(3, 8, 0)]
    head, row = spekctl("status").out.splitlines()
    assert head.split()[:4] == ["run", "workload", "state", "elapsed"]
    assert row.split()[:6] == ["3", "random-read-4k", "ramp-up", "0:01", "0:59", "fake0"]


def test_workloads_are_listed(spekctl: Spekctl) -> None:
    listed = json.loads(spekctl("workloads", "--json").out)
    assert {"name", "summary"} == set(listed[0])
    assert [one["name"] for one in listed] == [
        line.split()[0] for line in spekctl("workloads").out.splitlines()
    ]


MIXED = """
[workload]
name = "mixed"
summary = "a closed loop beside arrivals"
[[arrival]]
name = "loop"
depth = 4
[[arrival]]
name = "rate"
law = "poisson"
rate = 1500000
[[stream]]
name = "a"
size = "4k"
arrival = "loop"
[[stream]]
name = "b"
size = "4k"
arrival = "rate"
"""


def test_show_tells_a_mixed_load_from_a_closed_loop(spekctl: Spekctl, tmp_path: Path) -> None:
    (tmp_path / "mixed.toml").write_text(MIXED)
    text = spekctl("show", "./mixed.toml", "--capacity", "1GiB").out
    assert "closed loop of depth 4 beside 1,500,000 I/Os per second offered" in text


def test_show_explains(spekctl: Spekctl) -> None:
    text = spekctl("show", "spc1", "--capacity", "10GiB").out
    assert "3-1: share 28.1%, 0% reads" in text
    assert "4831838208" in text
    found = json.loads(spekctl("show", "spc1", "--capacity", "10GiB", "--json").out)
    assert found["workload"]["workload"]["name"] == "spc1"
    assert found["config"]["asus"][0]["bytes"] == 4831838208
    assert (
        "exclude each other" in spekctl("show", "spc1", "--capacity", "1G", "-d", "/dev/x").sentence
    )


def test_devices_say_what_may_be_done(
    spekctl: Spekctl, kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = {
        "/dev/fake0": (disk("/dev/fake0"), "", []),
        "/dev/fake1": (disk("/dev/fake1"), "fake1 is mounted on /", []),
        "/dev/fake2": (disk("/dev/fake2"), "", [blkid.Signature("xfs", "filesystem", 0)]),
        "/dev/fake3": (disk("/dev/fake3", read_only=True), "", []),
        "/dev/fake4": (disk("/dev/fake4"), "", None),
        "/dev/fake5": (disk("/dev/fake5"), "", []),
    }
    gone = str((1 << 22) + 1)  # more than Linux gives a process
    opened = [safety.Opened("250:5", gone, os.O_RDWR), safety.Opened("250:0", gone, os.O_RDONLY)]
    monkeypatch.setattr(safety, "opened_devices", lambda: opened)
    monkeypatch.setattr(
        block_device, "every", lambda everything: [one[0] for one in found.values()]
    )
    monkeypatch.setattr(safety, "verdict", lambda one, runs: found[one.path][1])
    monkeypatch.setattr(safety, "data_on", lambda one: found[one.path][2])
    rows = json.loads(spekctl("devices", "--json").out)
    assert [row["state"] for row in rows] == [
        "reading and writing",
        "no: fake1 is mounted on /",
        "reading; writing with --destroy (it holds file system xfs at byte 0)",
        "reading (it is read-only)",
        "reading; only root can see whether it holds data",
        f"reading at most: process {gone} (?) has it open for writing",
    ]
    assert [row["open_for_writing"] != [] for row in rows] == [False] * 5 + [True]
    table = spekctl("devices").out
    assert "S123" in table and "no: fake1 is mounted on /" in table


def seen(monkeypatch: pytest.MonkeyPatch, *found: block_device.Device) -> None:
    monkeypatch.setattr(block_device, "every", lambda everything: list(found))
    monkeypatch.setattr(safety, "verdict", lambda one, runs=(): "")
    monkeypatch.setattr(safety, "opened_devices", lambda: [])
    monkeypatch.setattr(safety, "data_on", lambda one: [])


def test_names_are_shown_as_they_are(
    spekctl: Spekctl, kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = "[bold]M[/y] :red_heart:"
    seen(monkeypatch, disk(model=odd, serial="[/x]"))
    table = spekctl("devices")
    assert table.code == 0 and odd in table.out and "[/x]" in table.out
    kernel.others = [dataclasses.replace(other_run(3, 8, 0), name="[/x]:red_heart:")]
    assert "[/x]:red_heart:" in spekctl("status").out


def test_an_id_is_whole_on_a_narrow_terminal(
    spekctl: Spekctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    serial = "".join(f"{number:04}-" for number in range(13))
    seen(monkeypatch, disk(serial=serial, model="A model of a disk with a long name"))
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("FORCE_COLOR", "1")
    head, *rows = re.sub(r"\x1b\[[0-9;]*m", "", spekctl("devices").out).splitlines()
    start, end = head.index("id"), head.index("may be")
    assert max(map(len, rows)) <= 80
    assert "".join(row[start:end].strip() for row in rows) == serial


@pytest.mark.parametrize(
    ("error", "state"),
    [
        (None, "no: run 3 of spek (random-read-4k) uses it"),
        (error_from_errno(errno.EPERM, "needs root", "run-get"), "reading and writing"),
    ],
)
def test_a_device_of_a_run_is_listed_as_in_use(
    error: SpekError | None,
    state: str,
    spekctl: Spekctl,
    kernel: FakeKernel,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kernel.others = [other_run(3, 250, 0)]
    if error is not None:
        kernel.refuse["runs"] = error
    monkeypatch.setattr(block_device, "every", lambda everything: [disk("/dev/fake0")])
    monkeypatch.setattr(safety, "opened_devices", lambda: [])
    monkeypatch.setattr(safety, "data_on", lambda one: [])
    (row,) = json.loads(spekctl("devices", "--json").out)
    assert row["state"] == state
    assert kernel.closed


# --- the rest ------------------------------------------------------------------------------------


def test_help_documents_every_exit_code(spekctl: Spekctl) -> None:
    text = spekctl("--help").out
    for code, meaning in EXIT_CODE_HELP.items():
        assert f"{int(code):>3}  {meaning}" in text
    assert set(EXIT_CODE_HELP) == set(ExitCode)


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_has_help(name: str, spekctl: Spekctl) -> None:
    outcome = spekctl(name, "--help")
    assert outcome.code == 0
    assert outcome.out.startswith(f"Usage: spekctl {name}")


def test_the_version_is_that_of_all_parts(spekctl: Spekctl) -> None:
    root = Path(__file__).resolve().parents[3]
    assert f'PACKAGE_VERSION="{__version__}"' in (root / "dkms.conf").read_text().splitlines()
    assert __version__ in spekctl("--version").out


def test_verbose_shows_where_it_arose(spekctl: Spekctl) -> None:
    outcome = spekctl("-v", "show", "spc9")
    assert outcome.code == ExitCode.USAGE
    assert "Traceback" in outcome.err


@pytest.mark.parametrize("command", ["workloads", "show spc1 --json", "devices", "--help"])
def test_output_that_can_not_be_written_gets_one_sentence(command: str) -> None:
    import subprocess

    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "spekctl", *command.split()],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == ExitCode.RUN_FAILED
    assert done.stderr == "spekctl: cannot write standard output: No space left on device\n"


def test_a_reader_that_leaves_is_no_failure() -> None:
    import subprocess

    spekctl = f"{sys.executable} -m spekctl"
    line = f"set -o pipefail; {spekctl} show spc1 | true && {spekctl} show spc1 --json | head -n 1"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr, done.returncode) == ("{\n", "", 0)


def test_output_that_is_closed_gets_a_sentence() -> None:
    import subprocess

    line = f"{sys.executable} -m spekctl workloads >&-"
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
    assert done.stderr.endswith("spekctl: cannot write standard output: it is closed\n")
    assert done.returncode == ExitCode.RUN_FAILED

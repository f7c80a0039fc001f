# SPDX-License-Identifier: GPL-2.0
"""The command line as a new user meets it: outputs, sentences and exit codes, on a fake kernel."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest
from lib.ctl.command_line import Spekctl
from lib.ctl.rights import NEEDS_NOTHING, NEEDS_ROOT, leaves
from lib.waiting import LONG_S

from spekctl import __version__, cli
from spekctl.errors import (
    EXIT_CODE_HELP,
    ExitCode,
)


def test_help_documents_every_exit_code(spekctl: Spekctl) -> None:
    text = " ".join(spekctl("--help").out.split())
    for code, meaning in EXIT_CODE_HELP.items():
        assert f" {int(code)} {meaning}" in text
    assert set(EXIT_CODE_HELP) == set(ExitCode)


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_has_help(name: str, spekctl: Spekctl) -> None:
    outcome = spekctl(name, "--help")
    assert outcome.code == 0
    assert outcome.out.startswith(f"Usage: spekctl {name}")


def test_every_command_has_a_rule_for_ordinary_users() -> None:
    """Guests hold it to that rule."""
    with click.Context(cli.cli) as context:
        assert set(leaves(cli.cli, context)) == set(NEEDS_ROOT) | NEEDS_NOTHING


def test_the_version_is_that_of_all_parts(spekctl: Spekctl) -> None:
    root = Path(__file__).resolve().parents[3]
    assert f'PACKAGE_VERSION="{__version__}"' in (root / "dkms.conf").read_text().splitlines()
    assert __version__ in spekctl("--version").out


def test_verbose_shows_where_it_arose(spekctl: Spekctl) -> None:
    outcome = spekctl("-v", "show", "spc9")
    assert outcome.code == ExitCode.USAGE
    assert "Traceback" in outcome.err


@pytest.mark.parametrize("ignored", [False, True])
def test_ctrl_c_while_libraries_are_imported_ends_without_a_traceback(
    tmp_path: Path, ignored: bool
) -> None:
    (tmp_path / "click.py").write_text(
        "import sys, time\nprint('importing', flush=True)\nsys.stdin.readline()\nsys.exit(9)"
    )
    usual = signal.signal(signal.SIGINT, signal.SIG_IGN if ignored else signal.SIG_DFL)
    try:
        process = subprocess.Popen(
            [sys.executable, "-m", "spekctl", "workloads"],
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
    finally:
        signal.signal(signal.SIGINT, usual)
    assert process.stdout is not None and process.stdout.readline() == "importing\n"
    process.send_signal(signal.SIGINT)
    _, complaint = process.communicate("\n", timeout=LONG_S)
    assert (process.returncode, complaint) == (9 if ignored else -signal.SIGINT, "")


@pytest.mark.parametrize("command", ["workloads", "show spc1 --json", "devices", "--help"])
def test_output_that_can_not_be_written_gets_one_sentence(command: str) -> None:
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
    spekctl = f"{sys.executable} -m spekctl"
    line = f"set -o pipefail; {spekctl} show spc1 | true && {spekctl} show spc1 --json | head -n 1"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr, done.returncode) == ("{\n", "", 0)


def test_output_that_is_closed_gets_a_sentence() -> None:
    line = f"{sys.executable} -m spekctl workloads >&-"
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
    assert done.stderr.endswith("spekctl: cannot write standard output: it is closed\n")
    assert done.returncode == ExitCode.RUN_FAILED

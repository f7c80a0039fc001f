# SPDX-License-Identifier: GPL-2.0
"""The systemd units of augment caches: systemd knows their lines, and spekctl their options."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from lib.build.sources import ROOT
from lib.ctl.command_line import options_are_known

from spekctl import cli

FOLDER = ROOT / "ctl/spekctl/augment"
UNITS = ("spek-augment@.service", "spek-augment-monitor@.service")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Instances of the units, with a program that is there."""
    for name in UNITS:
        text = (FOLDER / name).read_text().replace("/usr/bin/spekctl", str(shutil.which("true")))
        (tmp_path / name.replace("@", "@nas")).write_text(text)
    return tmp_path


def test_all_units_are_tested() -> None:
    assert sorted(path.name for path in FOLDER.glob("*.service")) == sorted(UNITS)


@pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="systemd is missing; make deps installs it"
)
@pytest.mark.parametrize("name", UNITS)
def test_systemd_knows_every_line(folder: Path, name: str) -> None:
    command = ["systemd-analyze", "verify", "--man=no", str(folder / name.replace("@", "@nas"))]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        env={"SYSTEMD_UNIT_PATH": f"{folder}:", "PATH": "/usr/bin:/bin"},
    )
    assert "spek-augment" not in done.stdout + done.stderr
    broken = (folder / name.replace("@", "@nas")).read_text() + "\n[Service]\nNothing=yes\n"
    (folder / name.replace("@", "@nas")).write_text(broken)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "Nothing" in done.stdout + done.stderr


@pytest.mark.parametrize("name", UNITS)
def test_spekctl_knows_the_options(name: str) -> None:
    lines = re.findall(r"(?m)^Exec\w+=/usr/bin/spekctl (.*)$", (FOLDER / name).read_text())
    assert lines
    for line in lines:
        options_are_known(cli.cli, shlex.split(line))

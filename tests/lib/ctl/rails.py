# SPDX-License-Identifier: GPL-2.0
"""A rails file for spek-daq, and spekctl power on it."""

from __future__ import annotations

from pathlib import Path

import pytest
from lib.daq.build import checked_program

from spekctl import cli

RAILS = """\
# The board in the left rig.
source = "sim"

[settings]
transducer = true
zero_error_uv = 12345  # as an old transducer would be
clock = "host"

[[rail]]
name = "12V"           # disks
channel = "const:0"
voltage_mv = 12000

[[rail]]
name = "5V"
channel = "const:24000"  # 2 A at the simulated 12 V
voltage_mv = 12000
zero_uv = 2512345
"""


def rails_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """For a fixture: a rails file whose device is simulated."""
    monkeypatch.setenv("SPEK_DAQ", str(checked_program()))
    path = tmp_path / "rails.toml"
    path.write_text(RAILS)
    path.chmod(0o640)
    return path


def run(*words: object) -> int:
    """The exit code of spekctl power."""
    return cli.run(["power", *map(str, words)])

# SPDX-License-Identifier: GPL-2.0
"""What tests of spekctl energy share: its reports, which are what their schema says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from lib.ctl import spc1_command
from lib.ctl.command_line import Outcome
from lib.ctl.schemas import validator
from lib.fakes.power import FakePower

from spekctl.documents import energy
from spekctl.errors import ExitCode
from spekctl.power import span

MISSING = "power not measured: spek_prober is not loaded"
# A short SPC-1-like method, and what goes before it.
SHORT = (*spc1_command.SHORT, "--idle-time", "300ms")


def without_power(monkeypatch: pytest.MonkeyPatch) -> None:
    """No power is measured."""
    monkeypatch.setattr(span, "connect", lambda *wish: (None, MISSING))


def with_power(fake: FakePower, monkeypatch: pytest.MonkeyPatch) -> FakePower:
    """Power is measured as @fake says; the power of runs is for the campaign's module."""
    monkeypatch.setattr(span, "connect", lambda *wish: (fake, ""))
    return fake


def of_file(path: Path) -> dict[str, Any]:
    """A report that was written."""
    data: dict[str, Any] = json.loads(path.read_text())
    validator(energy.SCHEMA_FILE).validate(data)
    return data


def of_output(outcome: Outcome) -> dict[str, Any]:
    """A report on standard output."""
    assert outcome.code == ExitCode.OK, outcome.err
    data: dict[str, Any] = json.loads(outcome.out)
    validator(energy.SCHEMA_FILE).validate(data)
    return data


LEVELS = """
[heavy]
watts = 236.965
iops = 15999.51
[moderate]
watts = 232.480
iops = 9999.42
[idle]
watts = 225.530
"""

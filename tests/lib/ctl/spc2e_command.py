# SPDX-License-Identifier: GPL-2.0
"""spekctl energy spc2e on a disk that is one queue, with short runs, and fake power."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from lib.ctl.energy_command import MISSING
from lib.ctl.schemas import validator
from lib.fakes.machine import use_fakes
from lib.fakes.power import FakePower
from lib.fakes.queue_kernel import QueueKernel

from spekctl.campaigns.spc2 import report
from spekctl.documents import spc2
from spekctl.power import span

RUN = (
    *("energy", "spc2e", "--device", "/dev/fake0", "--write"),
    *("--ramp", "1s", "--time", "2s", "--vod-time", "4s", "--search-time", "2s"),
    *("--streams", "4", "--vod-streams", "10", "--idle-time", "300ms", "--progress", "none"),
)


def streams_kernel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> QueueKernel:
    fake = QueueKernel(capacity=100.0)
    use_fakes(monkeypatch, fake, tmp_path)
    monkeypatch.setattr(span, "connect", lambda *wish: (None, MISSING))
    return fake


def streams_power(kernel: QueueKernel, monkeypatch: pytest.MonkeyPatch) -> FakePower:
    fake = FakePower(watts_per_iops=0.1)
    monkeypatch.setattr(span, "connect", lambda *wish: (fake, ""))
    monkeypatch.setattr(report, "power_of", fake.of_result)
    return fake


def report_of(folder: str) -> dict[str, Any]:
    """The report; valid, and readable as what it is."""
    path = Path(folder, "energy.json")
    data: dict[str, Any] = json.loads(path.read_text())
    validator(spc2.SCHEMA_FILE).validate(data)
    spc2.load_energy(path)
    spc2.load_report(Path(folder, "report.json"))
    return data

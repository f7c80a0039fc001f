# SPDX-License-Identifier: GPL-2.0
"""spekctl energy spc2e on a disk that is one queue, with short runs, and fake power."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lib.ctl import spc2_command
from lib.ctl.campaign_command import valid_report
from lib.ctl.energy_command import with_power, without_power
from lib.fakes.power import FakePower
from lib.fakes.queue_kernel import QueueKernel

from spekctl.campaigns.spc2 import report
from spekctl.documents import spc2

RUN = (
    *("energy", "spc2e", "--device", "/dev/fake0", "--write"),
    *("--ramp", "1s", "--time", "2s", "--vod-time", "4s", "--search-time", "2s"),
    *("--streams", "4", "--vod-streams", "10", "--idle-time", "300ms", "--progress", "none"),
)


def streams_kernel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> QueueKernel:
    without_power(monkeypatch)
    return spc2_command.streams_kernel(monkeypatch, tmp_path)


def streams_power(kernel: QueueKernel, monkeypatch: pytest.MonkeyPatch) -> FakePower:
    fake = with_power(FakePower(watts_per_iops=0.1), monkeypatch)
    monkeypatch.setattr(report, "power_of", fake.of_result)
    return fake


def report_of(folder: str) -> dict[str, Any]:
    """The report; valid, and readable as what it is."""
    spc2.load_report(Path(folder, "report.json"))
    return valid_report(Path(folder, "energy.json"), spc2.SCHEMA_FILE, spc2.load_energy)

# SPDX-License-Identifier: GPL-2.0
"""spekctl energy spc1e on a disk that is one queue, with short phases, and fake power."""

from __future__ import annotations

from pathlib import Path

import pytest
from lib.ctl import campaign_command
from lib.ctl.energy_command import SHORT, with_power, without_power
from lib.fakes.power import FakePower
from lib.fakes.queue_kernel import QueueKernel

from spekctl.campaigns.spc1e import levels

RUN = ("energy", "spc1e", "--device", "/dev/fake0", "--write", *SHORT)


def queue_kernel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> QueueKernel:
    without_power(monkeypatch)
    return campaign_command.queue_kernel(monkeypatch, tmp_path)


def queue_power(kernel: QueueKernel, monkeypatch: pytest.MonkeyPatch) -> FakePower:
    fake = with_power(FakePower(), monkeypatch)
    monkeypatch.setattr(levels, "power_of", fake.of_result)
    return fake

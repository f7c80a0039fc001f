# SPDX-License-Identifier: GPL-2.0
"""spekctl energy spc1e on a disk that is one queue, with short phases, and fake power."""

from __future__ import annotations

from pathlib import Path

import pytest
from lib.ctl.energy_command import MISSING, SHORT
from lib.fakes.machine import use_fakes
from lib.fakes.power import FakePower
from lib.fakes.queue_kernel import QueueKernel

from spekctl.campaigns.spc1e import levels
from spekctl.power import span

RUN = ("energy", "spc1e", "--device", "/dev/fake0", "--write", *SHORT)


def queue_kernel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> QueueKernel:
    fake = QueueKernel(capacity=1163.3)
    use_fakes(monkeypatch, fake, tmp_path)
    monkeypatch.setattr(span, "connect", lambda *wish: (None, MISSING))
    return fake


def queue_power(kernel: QueueKernel, monkeypatch: pytest.MonkeyPatch) -> FakePower:
    fake = FakePower()
    monkeypatch.setattr(span, "connect", lambda *wish: (fake, ""))
    monkeypatch.setattr(levels, "power_of", fake.of_result)
    return fake

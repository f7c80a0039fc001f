# SPDX-License-Identifier: GPL-2.0
"""What tests of commands share; a file that needs another kernel or caller has its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from lib.command_line import Spekctl, caller_in_tmp_path
from lib.fake_kernel import FakeKernel
from lib.fake_machine import use_fakes


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeKernel:
    """The kernel that spekctl finds: one run of the test's making, no devices."""
    fake = FakeKernel()
    use_fakes(monkeypatch, fake, tmp_path)
    return fake


@pytest.fixture
def spekctl(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Spekctl:
    """spekctl called in this process, in @tmp_path."""
    return caller_in_tmp_path(capfd, tmp_path, monkeypatch)

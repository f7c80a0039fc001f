# SPDX-License-Identifier: GPL-2.0
"""A fixture of several tests of block devices."""

from __future__ import annotations

from pathlib import Path

import pytest
from lib.ctl.disk_machine import Machine


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)

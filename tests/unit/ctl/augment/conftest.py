# SPDX-License-Identifier: GPL-2.0
"""The machine of files that spekctl augment is tested on."""

from __future__ import annotations

from pathlib import Path

import pytest
from lib.ctl.augment import Machine


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path, monkeypatch)

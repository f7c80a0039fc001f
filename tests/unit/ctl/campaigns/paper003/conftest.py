# SPDX-License-Identifier: GPL-2.0
"""The study of paper 003, simulated once."""

from __future__ import annotations

import pytest
from lib.ctl.study import short_study

from spekctl.documents.drive import DriveStudy


@pytest.fixture
def drive_study() -> DriveStudy:
    """As the plots have it, too."""
    return short_study()

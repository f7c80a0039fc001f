# SPDX-License-Identifier: GPL-2.0
"""The study of paper 003, simulated once."""

from __future__ import annotations

import pytest

from spekctl.campaigns.paper003 import study
from spekctl.documents.drive import DriveStudy


@pytest.fixture(scope="session")
def made() -> DriveStudy:
    """Of 4000 requests for each load."""
    return study.study(4000, 1, lambda what: None)

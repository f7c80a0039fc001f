# SPDX-License-Identifier: GPL-2.0
"""Documents that tests of several rooms read."""

from __future__ import annotations

from pathlib import Path

import pytest
from lib.ctl import report_files

from spekctl.documents import document
from spekctl.documents.drive import DriveSimulation, DriveStudy


@pytest.fixture
def simulation(tmp_path: Path) -> DriveSimulation:
    """A simulation of a drive."""
    return document.read(report_files.simulation(tmp_path / "simulation.json"), DriveSimulation)


@pytest.fixture
def study(tmp_path: Path) -> DriveStudy:
    """A study of drives."""
    return document.read(report_files.study(tmp_path / "study.json"), DriveStudy)

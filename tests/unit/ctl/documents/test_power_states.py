# SPDX-License-Identifier: GPL-2.0
"""The document of `spekctl power states`."""

from __future__ import annotations

from pathlib import Path

import pytest
from lib.ctl.documents import read_back, refuse
from lib.ctl.power_states import DISK, STATES
from lib.ctl.report_files import written

from spekctl.documents import power_states
from spekctl.documents.power_states import PowerStates


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return written(tmp_path / "states.json", STATES)


def test_it_is_what_its_schema_says_and_is_read_back(path: Path) -> None:
    contents = read_back(path, PowerStates, power_states.SCHEMA_FILE)
    assert contents.disks == [DISK]
    assert contents.disks[0].transitions == 2
    assert contents.interval_ns == STATES.interval_ns


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("interval_ns", -1),
        ("disks", []),
        ("disks.0.looks", 0),
        ("disks.0.changes", []),
        ("disks.0.changes.0.state", "awake"),
        ("disks.0.changes.0.basis", "guess"),
        ("disks.0.changes.1.within_ns", -1),
        ("disks.0.seconds", {"active": "long"}),
        ("disks.0.spin_ups", 0.5),
        ("disks.0.hidden_starts", -1),
        ("started", None),
    ],
)
def test_other_values_are_refused(path: Path, place: str, value: object) -> None:
    refuse(path, PowerStates, power_states.SCHEMA_FILE, place, value)

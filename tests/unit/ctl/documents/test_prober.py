# SPDX-License-Identifier: GPL-2.0
"""The document of `spekctl prober`."""

from __future__ import annotations

from pathlib import Path

import pytest
from lib.ctl import probes
from lib.ctl.documents import read_back, refuse
from lib.ctl.report_files import written

from spekctl.documents import prober
from spekctl.documents.prober import ProberReport


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return written(tmp_path / "machine.json", probes.report())


def test_it_is_what_its_schema_says_and_is_read_back(path: Path) -> None:
    report = read_back(path, ProberReport, prober.SCHEMA_FILE)
    assert report.probe.number == 4 and report.probe.ended_at is not None
    assert len(report.tables) == 8


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("probe.number", 0.5),
        ("probe.ended", 1),
        ("start_ns", [None]),
        ("tables.0.rows", [["1"]]),
        ("left_out", {"net": "many"}),
        ("swap_bytes", "4G"),
    ],
)
def test_other_values_are_refused(path: Path, place: str, value: object) -> None:
    refuse(path, ProberReport, prober.SCHEMA_FILE, place, value)

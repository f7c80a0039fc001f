# SPDX-License-Identifier: GPL-2.0
"""A profile: the most expensive functions, and how much is left of the rest."""

from __future__ import annotations

from pathlib import Path

import pytest
from lib.ctl import report_files
from msgspec.structs import replace

from spekctl.documents import document
from spekctl.documents.profile import Profile
from spekctl.render.profile import MOST
from spekctl.report.profiles import LEAST, profile_sheet


@pytest.fixture
def profile(tmp_path: Path) -> Profile:
    return document.read(report_files.make(tmp_path, "profile"), Profile)


def test_the_table_and_the_rest_are_the_whole(profile: Profile) -> None:
    sheet = profile_sheet("p", profile)
    (grid,) = sheet.grids
    rare = [function.per_io for function in profile.functions if function.per_io < LEAST]
    assert len(grid.rows) + len(rare) == len(profile.functions)
    assert sum(float(row[1]) for row in grid.rows) + sum(rare) == pytest.approx(profile.per_io)
    assert sheet.notes == ["8 more functions have 2.0 instructions per I/O together."]


def test_bars_are_of_the_most_expensive(profile: Profile) -> None:
    (bars,) = profile_sheet("p", profile).bars
    assert [name for name, _ in bars.rows] == [
        function.function for function in profile.functions[:MOST]
    ]


def test_a_profile_without_functions_has_neither(profile: Profile) -> None:
    sheet = profile_sheet("p", replace(profile, functions=[], per_io=0.0))
    assert sheet.bars == [] and sheet.notes == []
    assert list(sheet.grids[0].rows) == []

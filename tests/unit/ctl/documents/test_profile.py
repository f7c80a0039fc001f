# SPDX-License-Identifier: GPL-2.0
"""The document of `spekctl vm --function-profile`."""

from __future__ import annotations

from pathlib import Path

import pytest
from lib.ctl.documents import read_back, refuse
from lib.ctl.profiles import RUN_OF_1000
from lib.ctl.report_files import written

from spekctl.documents import profile
from spekctl.documents.profile import FunctionCost, Profile


@pytest.fixture
def path(tmp_path: Path) -> Path:
    functions = [FunctionCost("null_queue_rq", 30.5), FunctionCost("account [spek]", 14.5)]
    whole = Profile(run=RUN_OF_1000, per_io=45.0, user_per_io=2.25, functions=functions)
    return written(tmp_path / "p.json", whole)


def test_it_is_what_its_schema_says_and_is_read_back(path: Path) -> None:
    contents = read_back(path, Profile, profile.SCHEMA_FILE)
    assert contents.run == RUN_OF_1000
    assert [function.per_io for function in contents.functions] == [30.5, 14.5]


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("run.ios", 0.5),
        ("run.drivers", "nullb"),
        ("per_io", "45"),
        ("functions.0.function", 7),
        ("functions.1.per_io", None),
    ],
)
def test_other_values_are_refused(path: Path, place: str, value: object) -> None:
    refuse(path, Profile, profile.SCHEMA_FILE, place, value)

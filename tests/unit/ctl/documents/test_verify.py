# SPDX-License-Identifier: GPL-2.0
"""The document of `spekctl verify`."""

from __future__ import annotations

from pathlib import Path

import pytest
from lib.ctl import report_files
from lib.ctl.documents import read_back, refuse
from msgspec.structs import replace

from spekctl.documents import document, verify
from spekctl.documents.verification import WrongBlock
from spekctl.documents.verify import VerifyReport
from spekctl.errors import UsageError
from spekctl.kernel.records import Mismatch


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A report with a wrong block of each kind."""
    report = document.read(report_files.make(tmp_path, "verify"), VerifyReport)
    blocks = [
        WrongBlock(
            kind=kind,
            when="final",
            device="/dev/x",
            offset=number * 4096,
            bytes=512,
            expected_generation=2,
            text="words",
        )
        for number, kind in enumerate(Mismatch)
    ]
    return report_files.written(tmp_path / "verify.json", replace(report, first=blocks))


def test_it_is_what_its_schema_says_and_is_read_back(path: Path) -> None:
    contents = read_back(path, VerifyReport, verify.SCHEMA_FILE)
    assert [block.kind for block in contents.first] == list(Mismatch)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("ok", "yes"),
        ("counts.checked", None),
        ("counts.by_kind", {"torn": "2"}),
        ("first.0.kind", "odd"),
        ("first.0.when", "later"),
        ("targets.0.bytes", 1.5),
    ],
)
def test_what_is_damaged_is_refused(path: Path, place: str, value: object) -> None:
    refuse(path, VerifyReport, verify.SCHEMA_FILE, place, value)


def test_a_result_is_no_report_of_verify(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"run\.json is a result of a run.*; expected .*verify"):
        document.read(report_files.make(tmp_path, "run"), VerifyReport)

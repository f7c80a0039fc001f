# SPDX-License-Identifier: GPL-2.0
"""Files to sheets: each has its kind's sheet, and names that tell them apart."""

from __future__ import annotations

from pathlib import Path

import pytest
from lib.ctl import report_files
from lib.ctl.plot_files import OPEN, write_curve
from lib.ctl.report_page import data_of, report

from spekctl.errors import UsageError
from spekctl.report import read


def test_results_with_the_same_name_are_told_apart(tmp_path: Path) -> None:
    paths = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        paths.append(write_curve(tmp_path / name / "c.json", OPEN))
    names = [series["name"] for series in data_of(report(*paths))[0]["series"]]
    assert names == [str(path) for path in paths]


@pytest.mark.parametrize("name", report_files.MAKERS)
def test_a_sheet_says_which_file_it_is_of(name: str, tmp_path: Path) -> None:
    path = report_files.make(tmp_path, name)
    (sheet,) = read.sheets([path])
    assert (sheet.file, sheet.label) == (str(path), name)
    assert sheet.kind and sheet.title
    (named,) = read.sheets([path], ["mine"])
    assert named.label == "mine"


def test_the_command_of_a_document_can_be_pasted(tmp_path: Path) -> None:
    (sheet,) = read.sheets([report_files.energy_spc1e(tmp_path / "e.json")])
    assert sheet.command == "spekctl energy spc1e"
    assert sheet.created


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    workload = tmp_path / "limits.json"
    workload.write_text('{"kind": "spek-shopping-list", "version": 1}')
    with pytest.raises(UsageError, match=r"limits\.json"):
        read.sheets([report_files.energy_dcse(tmp_path / "d.json"), workload])
    with pytest.raises(UsageError, match="there is no file"):
        read.sheets([tmp_path / "none.json"])

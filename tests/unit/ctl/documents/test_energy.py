# SPDX-License-Identifier: GPL-2.0
"""Documents of energy tests: SPC-1/E-like, Emerald-like and DCsE."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from lib.ctl import report_files
from lib.ctl.documents import read_back, refuse

from spekctl.documents import document, energy
from spekctl.documents.document import Document
from spekctl.documents.energy import DcseReport, EmeraldReport, Spc1eReport
from spekctl.errors import UsageError

MODELS: dict[str, type[Document]] = {
    "spc1e": Spc1eReport,
    "emerald": EmeraldReport,
    "dcse": DcseReport,
}


@pytest.mark.parametrize("name", MODELS)
def test_it_is_what_its_schema_says_and_is_read_back(tmp_path: Path, name: str) -> None:
    read_back(report_files.make(tmp_path, name), MODELS[name], energy.SCHEMA_FILE)


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        # Numbers that were given are decimals as text: a number has lost digits.
        ("spc1e", "price", 0.12),
        ("spc1e", "levels.0.iops", 800),
        ("spc1e", "profiles", None),
        ("emerald", "phases.0.work", 1000),
        ("emerald", "phases.0.passed", None),
        ("dcse", "given", {"iops": 5}),
        ("dcse", "against", []),
    ],
)
def test_what_is_damaged_is_refused(tmp_path: Path, name: str, place: str, value: object) -> None:
    path = report_files.make(tmp_path, name)
    refuse(path, MODELS[name], energy.SCHEMA_FILE, place, value)


def test_each_reader_takes_its_own_report_only(tmp_path: Path) -> None:
    paths = {name: report_files.make(tmp_path, name) for name in MODELS}
    assert energy.load_spc1e(paths["spc1e"]).notice == energy.SPC1E_NOTICE
    assert isinstance(energy.load_emerald(paths["emerald"]), EmeraldReport)
    for name in ("emerald", "dcse"):
        with pytest.raises(UsageError, match=rf"{name}\.json is .*; expected .*spc1e"):
            energy.load_spc1e(paths[name])
    for name in ("spc1e", "dcse"):
        with pytest.raises(UsageError, match=rf"{name}\.json is .*; expected .*emerald"):
            energy.load_emerald(paths[name])


def test_a_figure_keeps_its_exact_value(tmp_path: Path) -> None:
    path = report_files.make(tmp_path, "dcse")
    fields = json.loads(path.read_text())
    fields["iops_per_watt"] = {"text": "0.33", "exact": "1/3"}
    path.write_text(json.dumps(fields))
    iops_per_watt = document.read(path, DcseReport).iops_per_watt
    assert iops_per_watt is not None and iops_per_watt.fraction == Fraction(1, 3)


@pytest.mark.parametrize("name", MODELS)
def test_results_are_called_unaudited(tmp_path: Path, name: str) -> None:
    notices = {energy.SPC1E_NOTICE, energy.EMERALD_NOTICE, energy.DCSE_NOTICE}
    assert len(notices) == 3 and all(notice.endswith("unaudited") for notice in notices)
    assert json.loads(report_files.make(tmp_path, name).read_text())["notice"] in notices

# SPDX-License-Identifier: GPL-2.0
"""Documents of modelled drives: a simulation, and the study of paper 003."""

from __future__ import annotations

from pathlib import Path

import pytest
from lib.ctl import report_files
from lib.ctl.documents import read_back, refuse

from spekctl.documents import document, drive
from spekctl.documents.document import Document
from spekctl.documents.drive import DriveSimulation, DriveStudy
from spekctl.errors import UsageError

MODELS: dict[str, type[Document]] = {"simulation": DriveSimulation, "study": DriveStudy}


@pytest.mark.parametrize("name", MODELS)
def test_it_is_what_its_schema_says_and_is_read_back(tmp_path: Path, name: str) -> None:
    read_back(report_files.make(tmp_path, name), MODELS[name], drive.SCHEMA_FILE)


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("simulation", "arms", 1.5),
        ("simulation", "response.p50", None),
        ("simulation", "modes.idle", 3.0),
        ("simulation", "served_by_arm", ["1"]),
        ("study", "loads.0.array.saturated", "no"),
        ("study", "claims.0.holds", "maybe"),
        ("study", "profiles", None),
    ],
)
def test_what_is_damaged_is_refused(tmp_path: Path, name: str, place: str, value: object) -> None:
    path = report_files.make(tmp_path, name)
    refuse(path, MODELS[name], drive.SCHEMA_FILE, place, value)


def test_neither_is_taken_for_the_other(tmp_path: Path) -> None:
    simulation, study = (report_files.make(tmp_path, name) for name in MODELS)
    with pytest.raises(UsageError, match=r"simulation\.json is .*; expected "):
        document.read(simulation, DriveStudy)
    with pytest.raises(UsageError, match=r"study\.json is .*; expected "):
        document.read(study, DriveSimulation)


def test_the_watts_of_a_profile_are_those_of_all_modes(tmp_path: Path) -> None:
    study = document.read(report_files.make(tmp_path, "study"), DriveStudy)
    system = study.loads[0].array
    assert system.watts_of("base") == sum(system.watts["base"].values()) == 6
    with pytest.raises(KeyError):
        system.watts_of("none")

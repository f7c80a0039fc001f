# SPDX-License-Identifier: GPL-2.0
"""Workload files: which one a name means, where they are, and who may read them."""

from __future__ import annotations

import importlib
import json
import shutil
import tomllib
from pathlib import Path

import pytest
from lib.ctl.resolved import HEAD, STREAM
from lib.ctl.schemas import validator
from lib.ordinary_user import as_ordinary_user

from spekctl.errors import ExitCode, UsageError
from spekctl.workload import file

ROOT = Path(__file__).resolve().parents[4]
SHIPPED = sorted((ROOT / "workloads").glob("*.toml"))
SCHEMA_FILE = ROOT / "workloads" / "schema.json"
SCHEMA = json.loads(SCHEMA_FILE.read_text())


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_workloads_are_valid(path: Path) -> None:
    loaded = file.load(path.stem)
    assert loaded.workload.name == path.stem
    assert loaded.workload.doc.strip()
    validator(SCHEMA_FILE).validate(tomllib.loads(path.read_text()))


def test_all_promised_workloads_are_there() -> None:
    promised = (
        "spc1 random-read-4k random-write-4k sequential-read-128k sequential-write-128k"
        " mixed-70-30-8k spek-mix burst oltp emerald-hot-band emerald-hot-band-4k"
        " iometer-max-throughput-read iometer-max-throughput-mixed iometer-real-life"
        " iometer-random-8k"
    )
    assert set(promised.split()) == set(file.shipped_names())


def test_a_complaint_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(HEAD + STREAM + 'patern = "uniform"\n')
    with pytest.raises(UsageError, match=r"mine\.toml: stream 's': unknown key 'patern'"):
        file.load(str(path))


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("spc2", "there is no workload 'spc2'; did you mean 'spc1'?"),
        ("zzzz", "the names are burst"),
        ("./nothing.toml", "there is no workload file ./nothing.toml"),
        ("zzzz.jsn", "there is no file zzzz.jsn"),
        ("/tmp/", "is a directory"),
    ],
)
def test_an_unknown_workload_is_refused(name: str, sentence: str) -> None:
    with pytest.raises(UsageError) as refusal:
        file.load(name)
    assert sentence in refusal.value.message


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "binary.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="not UTF-8"):
        file.load(str(path))


@pytest.mark.parametrize("arguments", [("workloads",), ("show", "spc1")])
def test_workloads_closed_to_the_user_are_refused(
    arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a clone in root's home."""
    for command in ("show", "workloads"):
        importlib.import_module(f"spekctl.commands.{command}")
    closed = tmp_path / "closed"
    folder = closed / "workloads"
    shutil.copytree(ROOT / "workloads", folder)
    monkeypatch.setattr(file, "shipped_directory", lambda: folder)
    closed.chmod(0)
    try:
        outcome = as_ordinary_user(tmp_path, *arguments)
    finally:
        closed.chmod(0o700)

    assert (outcome.code, outcome.out) == (ExitCode.USAGE, "")
    assert outcome.sentence == f"cannot read the workloads in {folder}: Permission denied"


def test_a_workload_closed_to_the_user_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The directory is open, a file in it is not."""
    importlib.import_module("spekctl.commands.show")
    shutil.copyfile(ROOT / "workloads/spc1.toml", tmp_path / "spc1.toml")
    (tmp_path / "spc1.toml").chmod(0)
    monkeypatch.setattr(file, "shipped_names", lambda: ["spc1"])
    monkeypatch.setattr(file, "shipped_directory", lambda: tmp_path)

    outcome = as_ordinary_user(tmp_path, "show", "spc1")

    assert (outcome.code, outcome.out) == (ExitCode.USAGE, "")
    assert outcome.sentence == f"cannot read {tmp_path}/spc1.toml: Permission denied"


def test_the_installed_package_carries_its_workloads() -> None:
    """The directory that setuptools maps into the package is the one that the checkout uses."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    assert settings["package-dir"]["spekctl.shipped"] == "workloads"
    assert "spekctl.shipped" in settings["packages"]
    assert {"*.toml", "*.json"} <= set(settings["package-data"]["spekctl.shipped"])

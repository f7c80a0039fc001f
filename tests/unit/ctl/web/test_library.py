# SPDX-License-Identifier: GPL-2.0
"""The documents of a directory: which are listed, and where a new one goes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from lib.ctl import report_files
from lib.ctl.fleets import three

from spekctl import files
from spekctl.errors import SpekError, UsageError
from spekctl.fleet.merge import merge
from spekctl.web.library import Library


def test_only_documents_are_listed_the_newest_first(tmp_path: Path) -> None:
    for number, name in enumerate(("run", "checked")):
        path = report_files.make(tmp_path, name) if name == "run" else tmp_path / "b.json"
        path.write_bytes((tmp_path / "run.json").read_bytes())
        os.utime(path, (number, number))
    (tmp_path / ".hidden.json").write_bytes((tmp_path / "run.json").read_bytes())
    (tmp_path / "other.json").write_text('{"jobs": []}')
    (tmp_path / "text.txt").write_text("hello")
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "lost.json").symlink_to("nowhere")
    (tmp_path / os.fsdecode(b"\xff.json")).write_bytes((tmp_path / "run.json").read_bytes())
    os.mkfifo(tmp_path / "pipe.json")
    assert [entry.name for entry in Library(tmp_path).entries()] == ["b.json", "run.json"]


def test_a_changed_file_is_looked_at_again(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text("{}")
    library = Library(tmp_path)
    assert library.entries() == []
    path.write_bytes(report_files.make(tmp_path, "run").read_bytes())
    assert {entry.name for entry in library.entries()} == {"run.json", "x.json"}


def test_a_result_of_a_fleet_has_its_hosts_in_the_report(tmp_path: Path) -> None:
    (tmp_path / "fleet.json").write_bytes(files.encode(merge(three())))
    library = Library(tmp_path)
    assert [entry.name for entry in library.entries()] == ["fleet.json"]
    page = library.report(["fleet.json"]).decode()
    for part in ("the hosts in the common window", "the starts of the hosts", "worst start skew"):
        assert part in page, part


def test_new_results_never_replace_one(tmp_path: Path) -> None:
    library = Library(tmp_path)
    names = {library.keep("../../a b\n<x>", b"{}") for _ in range(3)}
    assert len(names) == 3 and len(list(tmp_path.iterdir())) == 3
    assert all("/" not in name and name.startswith("_.._a_b__x_") for name in names)


def test_what_cannot_be_done_is_a_sentence(tmp_path: Path) -> None:
    gone = Library(tmp_path / "gone")
    with pytest.raises(SpekError, match="cannot list"):
        gone.entries()
    with pytest.raises(SpekError, match="cannot write"):
        gone.keep("x", b"{}")
    with pytest.raises(UsageError, match="choose a document"):
        Library(tmp_path).report([])

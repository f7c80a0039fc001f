# SPDX-License-Identifier: GPL-2.0
"""Documents other than results as CSV; exports/test_kinds.py has the command."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from lib.ctl import report_files

from spekctl.documents import document
from spekctl.documents.prober import ProberReport
from spekctl.errors import UsageError
from spekctl.render import csv_tables


def test_samples_have_a_column_for_each_series(tmp_path: Path) -> None:
    report = document.read(report_files.make(tmp_path, "machine"), ProberReport)
    header, *rows = csv.reader(csv_tables.samples_csv(report).splitlines())
    assert header[:2] == ["start_ns", "end_ns"]
    assert all(name.endswith(")") and "." in name for name in header[2:])
    assert len(set(header)) == len(header) > 2
    assert len(rows) == len(report.start_ns)
    assert all(len(row) == len(header) for row in rows)


@pytest.mark.parametrize(("name", "begins"), [("curve", b"load,"), ("machine", b"start_ns,")])
def test_a_file_with_a_table_is_read(tmp_path: Path, name: str, begins: bytes) -> None:
    table = csv_tables.read(report_files.make(tmp_path, name))
    assert table and begins in table.splitlines()[0] + b","


@pytest.mark.parametrize("name", ["run", "spc1", "gate", "log"])
def test_other_kinds_have_none(tmp_path: Path, name: str) -> None:
    assert csv_tables.read(report_files.make(tmp_path, name)) is None


def test_what_spekctl_has_not_written_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text(json.dumps({"kind": "of others"}))
    with pytest.raises(UsageError, match=r"other\.json"):
        csv_tables.read(path)


def test_a_table_without_rows_is_refused(tmp_path: Path) -> None:
    path = report_files.make(tmp_path, "curve")
    fields = json.loads(path.read_bytes()) | {"points": []}
    path.write_text(json.dumps(fields))
    with pytest.raises(UsageError, match="in which nothing was measured"):
        csv_tables.read(path)

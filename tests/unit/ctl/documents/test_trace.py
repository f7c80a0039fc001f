# SPDX-License-Identifier: GPL-2.0
"""Documents on traces: figures, and the match of a workload."""

from __future__ import annotations

from pathlib import Path

import pytest
from lib.ctl import report_files
from lib.ctl.documents import read_back, refuse

from spekctl.documents import document, trace
from spekctl.documents.document import Document
from spekctl.documents.trace import TraceFit, TraceInfo
from spekctl.errors import UsageError

MODELS: dict[str, type[Document]] = {"info": TraceInfo, "fit": TraceFit}


@pytest.mark.parametrize("name", MODELS)
def test_it_is_what_its_schema_says_and_is_read_back(tmp_path: Path, name: str) -> None:
    read_back(report_files.make(tmp_path, name), MODELS[name], trace.SCHEMA_FILE)


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("info", "requests", "many"),
        ("info", "size_bytes.p50", None),
        ("info", "devices.0.name", 3),
        ("fit", "properties.0.measure", "distance"),
        ("fit", "properties.0.distance", None),
        ("fit", "defects.bad", 1.5),
    ],
)
def test_what_is_damaged_is_refused(tmp_path: Path, name: str, place: str, value: object) -> None:
    path = report_files.make(tmp_path, name)
    refuse(path, MODELS[name], trace.SCHEMA_FILE, place, value)


def test_figures_are_neither_a_match_nor_a_trace(tmp_path: Path) -> None:
    info, fit = (report_files.make(tmp_path, name) for name in MODELS)
    for path, model in ((info, TraceFit), (fit, TraceInfo)):
        with pytest.raises(UsageError, match=rf"{path.stem}\.json is .*; expected "):
            document.read(path, model)
    with pytest.raises(UsageError, match=r"stored\.parquet is .*; expected "):
        document.read(report_files.make(tmp_path, "stored"), TraceInfo)


def test_a_trace_without_gaps_has_none(tmp_path: Path) -> None:
    """One request is a trace; null is what is not known of it."""
    path = tmp_path / "one.csv"
    path.write_text("at_ns,offset_bytes,bytes,op\n5,0,512,r\n")
    info_file = report_files.written(tmp_path / "one.json", report_files.figures_of(path))
    info = read_back(info_file, TraceInfo, trace.SCHEMA_FILE)
    assert (info.gap_ns, info.gap_cv, info.span_ns) == (None, None, 0)
    assert info.size_bytes is not None and info.size_bytes.max == 512

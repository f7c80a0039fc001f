# SPDX-License-Identifier: GPL-2.0
"""Figures of traces as people read them."""

from __future__ import annotations

from pathlib import Path

import pytest
from lib.ctl import report_files
from lib.ctl.shown import row_of
from msgspec.structs import replace

from spekctl.documents import document
from spekctl.documents.trace import TraceDefects, TraceFit, TraceInfo, TraceProperty
from spekctl.render import trace


@pytest.fixture
def info(tmp_path: Path) -> TraceInfo:
    return document.read(report_files.trace_info(tmp_path / "i.json"), TraceInfo)


@pytest.fixture
def fit(tmp_path: Path) -> TraceFit:
    return document.read(report_files.trace_fit(tmp_path / "f.json"), TraceFit)


def text_of(info: TraceInfo, capsys: pytest.CaptureFixture[str]) -> str:
    trace.show(info)
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("defects", "lines"),
    [
        (TraceDefects(0, "", 0, 0, 0, []), []),
        (
            TraceDefects(1, "t: line 3: x", 1, 0, 1, []),
            ["1 unreadable record; the first: t: line 3: x", "1 record was out of order",
             "1 record is not I/O and was left out"],
        ),
        (
            TraceDefects(1200, "t: line 3: x", 3000, 2, 4000, ["a note"]),
            ["1,200 unreadable records; the first: t: line 3: x",
             "3,000 records were out of order; the time of 2 was changed",
             "4,000 records are not I/O and were left out", "a note"],
        ),
    ],
)  # fmt: skip
def test_defects_are_counted_in_words(defects: TraceDefects, lines: list[str]) -> None:
    assert trace.defects(defects) == lines


def test_a_trace_of_one_device_has_no_table_of_devices(
    info: TraceInfo, capsys: pytest.CaptureFixture[str]
) -> None:
    text = text_of(info, capsys)
    assert "900 requests of" in text and "on 2 devices in" in text
    assert row_of(text, "sda")[:2] == ["sda", "450"]
    single = text_of(replace(info, devices=info.devices[:1]), capsys)
    assert "on 1 device in" in single
    assert "\nsda" not in single


def test_of_many_devices_the_busiest_are_shown(
    info: TraceInfo, capsys: pytest.CaptureFixture[str]
) -> None:
    many = [replace(info.devices[0], name=f"d{n}", requests=n, reads=0) for n in range(1, 41)]
    text = text_of(replace(info, devices=many), capsys)
    assert "and 16 more" in text
    assert row_of(text, "d40")[1] == "40" and row_of(text, "d17")
    assert "\nd16 " not in text


def test_an_estimated_footprint_says_so(
    info: TraceInfo, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "from a sample" not in text_of(info, capsys)
    places = replace(info.places, granularity_bytes=4096)
    assert "(estimated from a sample)" in text_of(replace(info, places=places), capsys)


def test_nothing_has_no_rates(info: TraceInfo, capsys: pytest.CaptureFixture[str]) -> None:
    text = text_of(replace(info, requests=0), capsys)
    assert "0 requests of" in text
    assert len(text.splitlines()) == 1


@pytest.mark.parametrize(
    ("measure", "name", "cells"),
    [
        ("difference", "read share", ["50.0%", "52.0%", "2.0", "points"]),
        ("ks", "size distribution", ["0.50", "0.52", "0.020", "(KS)"]),
        ("ratio", "mean size (bytes)", ["0", "B", "1", "B", "2.0%"]),
        ("ratio", "rate", ["0.50", "0.52", "2.0%"]),
    ],
)
def test_a_distance_is_in_the_unit_of_its_measure(
    measure: str, name: str, cells: list[str], fit: TraceFit, capsys: pytest.CaptureFixture[str]
) -> None:
    property_ = TraceProperty(name, 0.5, 0.52, 0.02, measure)  # type: ignore[arg-type]
    trace.show_fit(replace(fit, properties=[property_]))
    text = capsys.readouterr().out
    assert row_of(text, name.split()[0])[len(name.split()) :] == cells
    assert text.endswith("a note on the fit\n1 unreadable record; the first: line 3: no number\n")


def test_a_distance_without_likeness_has_no_number(
    fit: TraceFit, capsys: pytest.CaptureFixture[str]
) -> None:
    properties = [
        TraceProperty("x", 0.0, 38.0, 1e9, "ratio"),
        TraceProperty("y", 1.0, 9.0, 8.0, "ratio"),
    ]
    trace.show_fit(replace(fit, properties=properties))
    text = capsys.readouterr().out
    assert row_of(text, "x")[-2:] == [">", "9,999%"]
    assert row_of(text, "y")[-1] == "800.0%"

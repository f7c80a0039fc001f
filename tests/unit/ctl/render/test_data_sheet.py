# SPDX-License-Identifier: GPL-2.0
"""A document's figures beside those of a data sheet, as text."""

from __future__ import annotations

import dataclasses

from lib.ctl.plot_files import CLOSED, OPEN, a_curve
from lib.ctl.results import build
from lib.ctl.shown import shown
from lib.ctl.verdicts import changed, measured
from msgspec.structs import replace

from spekctl.documents.curve import Curve
from spekctl.documents.data_sheet import Claim, DataSheet
from spekctl.documents.result import Result
from spekctl.render import data_sheet
from spekctl.render.console import print_parts


def test_each_figure_has_its_difference_and_the_sources_follow() -> None:
    result = build()
    claim = Claim("reads", "read", iops=2 * result.totals.read.iops)
    sheet = DataSheet("s.toml", "Vertex 2", ["a page of 2010"], 2, claims=[claim])
    text = shown(
        lambda parts, console: print_parts(parts, 100, console), data_sheet.parts(sheet, result)
    )
    lines = [line.split() for line in text.splitlines() if line.strip()]
    assert lines[0] == ["against", "the", "data", "sheet", "of", "Vertex", "2,", "2", "drives"]
    assert lines[2][:2] == ["reads,", "IOPS"] and lines[2][-2:] == ["-75.0", "%"]
    assert lines[3] == ["a", "page", "of", "2010"]


def notes(sheet: DataSheet, *documents: Result | Curve) -> list[str]:
    """Lines that say what set the rates."""
    parts = (
        data_sheet.comparison_parts(sheet, documents[:1], documents[1:])  # type: ignore[arg-type]
        if len(documents) > 1
        else data_sheet.parts(sheet, documents[0])
    )
    return [part.strip() for part in parts if isinstance(part, str) and "are set by" in part]


def test_rates_that_the_load_sets_are_no_shortfall_of_the_device() -> None:
    sheet = DataSheet("s.toml", "Vertex 2", ["a page of 2010"], claims=[Claim("any", iops=9000)])
    closed = measured(1)
    (arrival,) = closed.config.arrivals
    rated = replace(arrival, law="poisson", depth=0, rate_milli=1_000_000)
    paced = changed(closed, config={"arrivals": [rated]})
    said = ["IOPS and MB/s are set by the offered rate of 1,000: more may be possible"]
    assert notes(sheet, closed) == [] and notes(sheet, closed, measured(2)) == []
    assert notes(sheet, paced) == said and notes(sheet, closed, paced) == said
    latency = dataclasses.replace(sheet, claims=[Claim("any", mean_ns=10**6)])
    assert notes(latency, paced) == []


def test_a_curve_of_rates_that_were_kept_has_not_reached_the_device() -> None:
    sheet = DataSheet("s.toml", "Vertex 2", ["a page of 2010"], claims=[Claim("any", iops=9000)])
    (said,) = notes(sheet, a_curve(OPEN[:1]))
    assert said == (
        "IOPS and MB/s are set by the highest load, 10 BSU, with which the devices kept up: more"
        " may be possible"
    )
    behind = replace(OPEN[0], stretch=4.0, left_over=1000)
    assert notes(sheet, a_curve([behind])) == []
    assert notes(sheet, a_curve(CLOSED)) == []

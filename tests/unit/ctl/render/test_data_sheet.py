# SPDX-License-Identifier: GPL-2.0
"""A document's figures beside those of a data sheet, as text."""

from __future__ import annotations

from lib.ctl.results import build
from lib.ctl.shown import shown

from spekctl.documents.data_sheet import Claim, DataSheet
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

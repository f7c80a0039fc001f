# SPDX-License-Identifier: GPL-2.0
"""spekctl energy compare: a table of the metrics of several reports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lib.ctl.command_line import Spekctl

from spekctl.errors import ExitCode

P6400 = """heavy = {watts = 236.965, iops = 15999.51}
moderate = {watts = 232.480, iops = 9999.42}
idle = {watts = 225.530}
"""
PHASES = """raw_gigabytes = 7300
random-read = {iops = 10000, watts = 713}
ready-idle = {watts = 592.692}
"""


@pytest.fixture
def reports(spekctl: Spekctl) -> list[str]:
    """Of the paper's numbers."""
    Path("levels.toml").write_text(P6400)
    Path("phases.toml").write_text(PHASES)
    for words in (
        ("spc1e", "--from", "levels.toml", "-o", "spc1e.json"),
        ("emerald", "--from", "phases.toml", "-o", "emerald.json"),
        ("dcse", "--gigabytes", "18688", "--idle-watts", "1960", "-o", "dcse.json"),
    ):
        assert spekctl("energy", *words).code == ExitCode.OK
    return ["spc1e.json", "emerald.json", "dcse.json"]


def test_metrics_are_beside_each_other(spekctl: Spekctl, reports: list[str]) -> None:
    shown = spekctl("energy", "compare", *reports)
    assert shown.code == ExitCode.OK
    title, head, *lines = shown.out.splitlines()
    assert title == "work per watt by method, unaudited"
    assert head.split() == ["method", "metric", "load", "work", "W", "value", "unit"]
    assert [(line.split()[0], line.split()[-2]) for line in lines[:-1]] == [
        ("SPC-1/E", "37.88"),
        ("Emerald", "14.025"),
        ("Emerald", "12.317"),
        ("DCsE", "9.53"),
    ]
    assert lines[-1] == (
        "  spc1e.json, emerald.json, dcse.json name no device: make sure that the system is the"
        " same"
    )


def test_as_json(spekctl: Spekctl, reports: list[str]) -> None:
    data = json.loads(spekctl("energy", "compare", *reports, "--json").out)
    assert [row["value"]["text"] for row in data["metrics"]] == [
        *("37.88", "14.025", "12.317", "9.53")
    ]
    assert data["metrics"][3]["work"] == "18688" and len(data["remarks"]) == 1


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["none.json"], "none.json"),
        (["levels.toml"], "levels.toml is not a spek file; metrics are compared from"),
    ],
)
def test_what_is_no_report_is_refused(
    spekctl: Spekctl, reports: list[str], words: list[str], sentence: str
) -> None:
    refused = spekctl("energy", "compare", *reports, *words)
    assert (refused.code, refused.out) == (ExitCode.USAGE, "")
    assert sentence in refused.sentence

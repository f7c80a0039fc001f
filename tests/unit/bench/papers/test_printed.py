# SPDX-License-Identifier: GPL-2.0
"""Numbers on the pages are those that the commands print."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from bench import papers
from bench.papers import arrays, modelled, same_system
from bench.papers.__main__ import Folder
from lib.ctl.command_line import Spekctl

from spekctl.drive import file
from spekctl.report.page import html
from spekctl.workload import file as workloads

NUMBERS = Path(papers.__file__).parent / "numbers"


@pytest.mark.parametrize("name", [arrays.HDD, arrays.SSD])
def test_a_point_of_paper_000_is_what_drive_simulate_prints(name: str, spekctl: Spekctl) -> None:
    model = file.load(name)
    sent = modelled.requests_of(workloads.load("spc1"), model, 400, bsu=2)
    point = arrays.serve(model, 1, sent, 2, 0.0)
    lines = [f"{at},{lba},{size},{'W' if write else 'R'}" for at, lba, size, write in sent.tolist()]
    Path("requests.csv").write_text("\n".join(["arrival_ns,lba,sectors,op", *lines, ""]))
    line = ("drive", "simulate", name, "--requests", "requests.csv", "--schedule-window", "32")
    data = json.loads(spekctl(*line, "--json").out)
    assert data["iops"] == pytest.approx(point.iops)
    assert data["response"]["mean"] == pytest.approx(point.mean_ms * 1e6)
    seconds = data["elapsed_ns"] / 1e9
    assert seconds == pytest.approx(point.took_s)
    shown = spekctl(*line).out
    assert f"{point.iops:.1f} per second" in shown
    told = re.search(r"5 V: (\S+) (m?)J(?:, 12 V: (\S+) (m?)J)?", shown)
    assert told
    for number, milli, watts in (
        (*told.group(1, 2), point.watts[0]),
        (*told.group(3, 4), point.watts[1]),
    ):
        joules = float(number or 0) / (1000 if milli else 1)
        assert joules == pytest.approx(watts * seconds, rel=0.005)


def test_paper_001_has_the_figures_of_its_commands(spekctl: Spekctl, tmp_path: Path) -> None:
    levels = ("energy", "spc1e", "--from", str(NUMBERS / "p6400.toml"))
    after = (
        *("energy", "dcse", "--from", str(NUMBERS / "dcse-after.toml")),
        *("--against", str(NUMBERS / "dcse-before.toml")),
    )
    before = ("energy", "dcse", "--from", str(NUMBERS / "dcse-before.toml"))
    sample = ("energy", "emerald", "--from", str(NUMBERS / "p6500.toml"))
    printed = {
        name: spekctl(*line, "-o", str(tmp_path / f"{name}.json")).out
        for name, line in (
            *(("p6400", levels), ("p6500", sample)),
            *(("dcse-after", after), ("dcse-before", before)),
        )
    }
    claims, sheets = Folder(tmp_path).paper001()
    text = html(sheets).decode()
    first = {claim.what: claim.here for claim in claims}
    assert "2029.93 kWh, $ 243.59" in first.values()
    assert "12.317 GB/W" in first.values() and "12.317  GB/W" in printed["p6500"]
    assert "82.23 %" in printed["dcse-after"] and "+74 %, -4.4 %, +82 %" in first.values()
    assert "2,029.93 kWh, at 0.12 each: 243.59" in printed["p6400"]
    report = json.loads((tmp_path / "p6400.json").read_text())
    numbers = [
        f"{float(row[key]['text']):,.2f}"
        for row in (*report["profiles"], report["composite"])
        for key in ("watts", "iops", "iops_per_watt")
    ]
    assert len(numbers) == 12
    for number in numbers:
        assert number in printed["p6400"]
        assert number in text or number.replace(",", "") in text
    for metric in ("gb_per_watt", "iops_per_watt", "mb_per_s_per_watt"):
        for name in ("dcse-after", "dcse-before"):
            figure = json.loads((tmp_path / f"{name}.json").read_text())[metric]
            if figure is not None:
                assert figure["text"] in printed[name]
    compared = same_system.compared(tmp_path)
    names = ("same-spc1e", "same-spc2e", "same-emerald", "same-dcse")
    table = spekctl("energy", "compare", *(str(tmp_path / f"{name}.json") for name in names)).out
    assert len(compared.rows) == 13
    for row in compared.rows:
        assert f"{float(row.value.text):,.{len(row.value.text.partition('.')[2])}f}" in table
        assert row.value.text in text

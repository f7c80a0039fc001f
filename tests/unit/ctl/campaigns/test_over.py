# SPDX-License-Identifier: GPL-2.0
"""Sweeps over fields of a workload and options, alone, in pairs, and beside loads."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from lib.ctl.command_line import Spekctl
from lib.ctl.schemas import validator
from lib.ctl.sweep_command import READ, queue_kernel
from lib.fakes.queue_kernel import QueueKernel

from spekctl.documents import curve
from spekctl.documents.curve import load_curve
from spekctl.errors import ExitCode
from spekctl.report.loads import curve_sheet

kernel = pytest.fixture(queue_kernel)
KIB = 1024


def sweep(spekctl: Spekctl, path: Path, *more: str) -> dict[str, Any]:
    outcome = spekctl("sweep", *READ, *more, "-o", path)
    assert outcome.code == ExitCode.OK, outcome.sentence
    data: dict[str, Any] = json.loads(path.read_text())
    validator(curve.SCHEMA_FILE).validate(data)
    return data


def blocks(kernel: QueueKernel) -> list[int]:
    """Block size of each run."""
    return [config.streams[0].sizes[0].bytes for config in kernel.runs_seen]


def test_each_value_is_a_run_at_the_load_of_the_workload(
    spekctl: Spekctl, kernel: QueueKernel, tmp_path: Path
) -> None:
    data = sweep(spekctl, tmp_path / "c.json", "--over", "size=512,4KiB,64KiB")
    assert blocks(kernel) == [512, 4 * KIB, 64 * KIB]
    assert data["over"] == [{"field": "size", "values": ["512", "4KiB", "64KiB"]}]
    assert [point["at"]["size"] for point in data["points"]] == ["512", "4KiB", "64KiB"]
    assert {point["load"]["value"] for point in data["points"]} == {32}
    assert {point["load"]["kind"] for point in data["points"]} == {"depth"}


def test_two_fields_make_a_product_and_a_matrix(
    spekctl: Spekctl, kernel: QueueKernel, tmp_path: Path
) -> None:
    path = tmp_path / "c.json"
    words = ("--over", "size=4KiB,8KiB", "--over", "read=50%,100%", "--write")
    data = sweep(spekctl, path, "--rate", "100", *words)
    pairs = [
        (config.streams[0].sizes[0].bytes, config.streams[0].read_ppm)
        for config in kernel.runs_seen
    ]
    assert pairs == [
        (4 * KIB, 500_000), (4 * KIB, 1_000_000), (8 * KIB, 500_000), (8 * KIB, 1_000_000)
    ]  # fmt: skip
    assert [list(point["at"].values()) for point in data["points"]] == [
        ["4KiB", "50%"], ["4KiB", "100%"], ["8KiB", "50%"], ["8KiB", "100%"]
    ]  # fmt: skip
    assert [text for text in data["remarks"] if "only reads" in text] == [
        f"100 I/Os per second, size {size}, read 100%: random-read-4k only reads, so the devices"
        " are opened read-only"
        for size in ("4KiB", "8KiB")
    ]
    lines = spekctl("show", path).out.splitlines()
    place = lines.index("  IOPS by size and read")
    assert lines[place + 1].split() == ["size", "50%", "100%"]
    assert lines[place + 2].split() == ["4KiB", "100", "100"]
    assert lines[place + 3].split() == ["8KiB", "100", "100"]
    assert "  mean response by size and read" in lines


def test_fields_are_measured_at_each_load(
    spekctl: Spekctl, kernel: QueueKernel, tmp_path: Path
) -> None:
    path = tmp_path / "c.json"
    sweep(spekctl, path, "--rate", "100,500", "--over", "size=4KiB,8KiB")
    assert blocks(kernel) == [4 * KIB, 4 * KIB, 8 * KIB, 8 * KIB]
    assert [config.offered_rate for config in kernel.runs_seen] == [100, 500, 100, 500]
    assert "IOPS by size and load" in spekctl("show", path).out


def test_options_are_fields_too(spekctl: Spekctl, kernel: QueueKernel, tmp_path: Path) -> None:
    data = sweep(spekctl, tmp_path / "c.json", "--over", "max-outstanding=64,128")
    assert [config.max_outstanding for config in kernel.runs_seen] == [64, 128]
    assert data["points"][1]["at"] == {"max-outstanding": "128"}


def test_a_field_may_be_the_load_itself(
    spekctl: Spekctl, kernel: QueueKernel, tmp_path: Path
) -> None:
    data = sweep(spekctl, tmp_path / "c.json", "--over", "arrival.main.depth=4,8")
    assert [point["load"]["value"] for point in data["points"]] == [4, 8]


def test_csv_has_a_column_for_each_field(spekctl: Spekctl, kernel: QueueKernel) -> None:
    outcome = spekctl("sweep", *READ, "--over", "size=4KiB,8KiB", "--csv")
    rows = list(csv.DictReader(io.StringIO(outcome.out)))
    assert [row["size"] for row in rows] == ["4KiB", "8KiB"]


def test_a_report_has_a_line_for_each_value(
    spekctl: Spekctl, kernel: QueueKernel, tmp_path: Path
) -> None:
    path = tmp_path / "c.json"
    words = ("--over", "pattern=uniform,sequential", "--over", "size=512,64KiB")
    sweep(spekctl, path, "--rate", "100", *words)
    plots = {plot.key: plot for plot in curve_sheet(str(path), load_curve(path)).plots}
    assert list(plots) == ["over-iops", "over-rate", "over-response"]
    strands = plots["over-iops"].strands
    assert [strand.lines[0].name for strand in strands] == ["pattern uniform", "pattern sequential"]
    assert [list(strand.xs) for strand in strands] == [[512.0, 65536.0]] * 2
    assert [list(strand.lines[0].ys) for strand in strands] == [[100.0, 100.0]] * 2


def test_values_that_are_no_numbers_are_lines_over_the_load(
    spekctl: Spekctl, kernel: QueueKernel, tmp_path: Path
) -> None:
    path = tmp_path / "c.json"
    sweep(spekctl, path, "--rate", "100,500", "--over", "pattern=uniform,sequential")
    plots = {plot.key: plot for plot in curve_sheet(str(path), load_curve(path)).plots}
    strands = plots["over-iops"].strands
    assert [strand.lines[0].name for strand in strands] == ["pattern uniform", "pattern sequential"]
    assert [list(strand.xs) for strand in strands] == [[100.0, 500.0]] * 2


def test_values_without_an_axis_have_a_table_alone(
    spekctl: Spekctl, kernel: QueueKernel, tmp_path: Path
) -> None:
    path = tmp_path / "c.json"
    sweep(spekctl, path, "--over", "pattern=uniform,sequential")
    assert curve_sheet(str(path), load_curve(path)).plots == []


def test_it_is_drawn(spekctl: Spekctl, kernel: QueueKernel, tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    sweep(spekctl, path, "--over", "size=512,4KiB,64KiB")
    outcome = spekctl("plot", "curve", path, "-o", tmp_path / "c.svg")
    assert outcome.code == ExitCode.OK and "over size" in (tmp_path / "c.svg").read_text()


def test_a_sweep_over_fields_is_resumed_and_no_other(
    spekctl: Spekctl, kernel: QueueKernel, tmp_path: Path
) -> None:
    folder = tmp_path / "f"
    words = ("--over", "size=4KiB,8KiB", "--folder", folder)
    assert spekctl("sweep", *READ, *words).code == ExitCode.OK
    files = {path.name for path in folder.rglob("*size*")}
    assert len(files) == 2 and all(" " not in name for name in files)
    runs = len(kernel.runs_seen)
    assert spekctl("sweep", *READ, *words, "--resume").code == ExitCode.OK
    assert len(kernel.runs_seen) == runs
    others = ("--over", "size=4KiB,16KiB", "--folder", folder, "--resume")
    outcome = spekctl("sweep", *READ, *others)
    assert outcome.code == ExitCode.USAGE and "over" in outcome.sentence


def test_an_older_curve_varies_no_field(tmp_path: Path) -> None:
    old = Path(__file__).parents[1] / "documents/version1/curve.json"
    assert load_curve(old).over == []

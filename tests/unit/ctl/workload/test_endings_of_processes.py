# SPDX-License-Identifier: GPL-2.0
"""Ends of arrival processes: what ends each of them, and with them the run."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lib.ctl.command_line import Spekctl
from lib.ctl.resolved import DISK, HEAD, MIB, run_config
from lib.fakes.kernel import FakeKernel

from spekctl.errors import UsageError

SMALL = replace(DISK, bytes=MIB)
FILE = (
    HEAD
    + "{run}"
    + "".join(
        f'[[arrival]]\nname = "{name}"\ndepth = 4\n{{{name}}}\n'
        f'[[stream]]\nname = "{name}s"\narrival = "{name}"\nsize = "4KiB"\npattern = "sequential"\n'
        for name in "ab"
    )
)


def text(a: str = "", b: str = "", run: str = "") -> str:
    return FILE.format(a=a, b=b, run=f"[run]\n{run}\n" if run else "")


def ends(file: str, **options: Any) -> tuple[int, int, list[int]]:
    """(time_ns, count of the run, counts of its processes)"""
    config = run_config(file, SMALL, **options)
    return config.time_ns, config.count, [arrival.count for arrival in config.arrivals]


def test_processes_end_by_counts_and_passes_of_their_own() -> None:
    assert ends(text("count = 7", "passes = 2")) == (0, 0, [7, 512])
    assert ends(text("passes = 0.5", "count = 1")) == (0, 0, [128, 1])


def test_a_process_without_an_end_runs_for_the_time() -> None:
    assert ends(text("count = 7", run='time = "5s"')) == (5 * 10**9, 0, [7, 0])
    assert ends(text("count = 7")) == (60 * 10**9, 0, [7, 0])


def test_a_time_ends_them_earlier() -> None:
    assert ends(text("count = 7", "count = 8", 'time = "5s"')) == (5 * 10**9, 0, [7, 8])


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"time_ns": 7}, (7, 0, [0, 0])),
        ({"count": 5}, (0, 5, [0, 0])),
        ({"passes": 1}, (0, 512, [0, 0])),
    ],
)
def test_an_end_of_the_command_line_replaces_them(options: Any, expected: Any) -> None:
    assert ends(text("count = 7", "passes = 2"), **options) == expected


@pytest.mark.parametrize("option", ["rate", "depth"])
def test_they_stay_where_the_load_is_replaced(option: str) -> None:
    file = text("count = 7").partition('[[arrival]]\nname = "b"')[0]
    for options in ({option: 8}, {}):
        config = run_config(file, SMALL, **options)
        assert [arrival.count for arrival in config.arrivals] == [7]


@pytest.mark.parametrize(
    ("file", "options", "sentence"),
    [
        (text("count = 7\npasses = 1"), {}, "arrival 'a': count and passes exclude each other"),
        (text("passes = 0"), {}, "arrival 'a': passes: it is a number above 0, not 0"),
        (text("count = 0"), {}, "count"),
        (text("count = 100000000000000001"), {}, "count"),
        (text("count = 7", run="count = 9"), {}, "run.count: arrival 'a' has an end of its own"),
        (text(b="passes = 7", run="passes = 9"), {}, "run.passes: arrival 'b' has an end"),
        (text("passes = 0.5", "count = 1"), {"workers": 3}, "use one worker"),
        (text("passes = 1e18", "count = 1"), {}, "I/Os are too many"),
    ],
)
def test_what_has_no_such_end_is_refused(file: str, options: Any, sentence: str) -> None:
    with pytest.raises(UsageError) as refusal:
        run_config(file, SMALL, **options)
    assert sentence in refusal.value.message


def test_the_result_says_when_each_ended(
    spekctl: Spekctl, kernel: FakeKernel, tmp_path: Path
) -> None:
    path = tmp_path / "w.toml"
    path.write_text(text("count = 7", "count = 9", 'time = "2s"'))
    run = ("run", str(path), "--device", "/dev/fake0")
    outcome = spekctl(*run, "--output", str(tmp_path / "r.json"))
    assert outcome.code == 0, outcome.err
    said = " ".join(outcome.out.split())
    assert "a had done all of its I/Os after 1" in said
    assert "closed loop of depth 4, 7 I/Os" in said
    result = json.loads((tmp_path / "r.json").read_text())
    assert result["outcome"]["arrival_ends_ns"] == {"a": 10**9, "b": 2 * 10**9}


def test_the_result_says_which_did_not_end(
    spekctl: Spekctl, kernel: FakeKernel, tmp_path: Path
) -> None:
    path = tmp_path / "w.toml"
    path.write_text(text("count = 7", "count = 9", 'time = "1s"'))
    outcome = spekctl("run", str(path), "--device", "/dev/fake0")
    assert "a had done all of its I/Os after 1" in " ".join(outcome.out.split())
    assert "b had not done all of its I/Os" in " ".join(outcome.out.split())

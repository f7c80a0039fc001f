# SPDX-License-Identifier: GPL-2.0
"""spekctl show: what a workload is."""

from __future__ import annotations

import json
from pathlib import Path

from lib.ctl.command_line import Spekctl

MIXED = """
[workload]
name = "mixed"
summary = "a closed loop beside arrivals"
[[arrival]]
name = "loop"
depth = 4
[[arrival]]
name = "rate"
law = "poisson"
rate = 1500000
[[stream]]
name = "a"
size = "4k"
arrival = "loop"
[[stream]]
name = "b"
size = "4k"
arrival = "rate"
"""


def test_show_tells_a_mixed_load_from_a_closed_loop(spekctl: Spekctl, tmp_path: Path) -> None:
    (tmp_path / "mixed.toml").write_text(MIXED)
    text = spekctl("show", "./mixed.toml", "--capacity", "1GiB").out
    assert "closed loop of depth 4 beside 1,500,000 I/Os per second offered" in text


def test_show_says_what_streams_do(spekctl: Spekctl, tmp_path: Path) -> None:
    streams = """
[[stream]]
name = "c"
size = "4k"
operation = "discard"
"""
    (tmp_path / "mixed.toml").write_text(MIXED + streams)
    text = spekctl("show", "./mixed.toml").out
    assert "b: share 1, 100% reads, 4k, uniform" in text
    assert "c: share 1, discard, 4k, uniform" in text


def test_show_says_how_arrivals_pause(spekctl: Spekctl, tmp_path: Path) -> None:
    text = """
[workload]
name = "w"
summary = "pauses"
[[arrival]]
name = "a"
law = "poisson"
rate = 5000
on = "100ms"
off = "900ms"
tail = 1.5
[[stream]]
name = "s"
size = "4k"
"""
    (tmp_path / "w.toml").write_text(text)
    text = spekctl("show", "./w.toml", "--capacity", "1GiB").out
    assert "a: poisson, rate 5000, on 100ms, off 900ms, tail 1.5" in text
    assert "500 I/Os per second offered" in text


def test_show_explains(spekctl: Spekctl) -> None:
    text = spekctl("show", "spc1", "--capacity", "10GiB").out
    assert "3-1: share 28.1%, 0% reads" in text
    assert "4831838208" in text
    found = json.loads(spekctl("show", "spc1", "--capacity", "10GiB", "--json").out)
    assert found["workload"]["workload"]["name"] == "spc1"
    assert found["config"]["asus"][0]["bytes"] == 4831838208
    assert (
        "exclude each other" in spekctl("show", "spc1", "--capacity", "1G", "-d", "/dev/x").sentence
    )

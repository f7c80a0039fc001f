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

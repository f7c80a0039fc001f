# SPDX-License-Identifier: GPL-2.0
"""The report of a PTS-like test as text."""

from __future__ import annotations

import pytest
from lib.ctl.command_line import Spekctl
from lib.ctl.pts_command import Settling, call, settling_kernel

kernel = pytest.fixture(settling_kernel)


def test_the_text_has_the_tables_of_the_standard(spekctl: Spekctl, kernel: Settling) -> None:
    outcome = call(spekctl)
    lines = [" ".join(line.split()) for line in outcome.out.splitlines()]
    assert lines[0] == "PTS-like, unaudited: test of /dev/fake0"
    assert lines[1].startswith("passed: every test was done")
    for title in (
        "iops, PTS-like: steady state was reached after 10 rounds",
        "iops: steady-state verification",
        "rounds 6 to 10 5 kept",
        "average 101",
        "range 6 (5.9 %) 20 (20 %) kept",
        "slope per round -1",
        "slope excursion 4 (4.4 %) 10 (10 %) kept",
        "steady yes",
        "iops: IOPS of each round, 0 % reads",
        "10 200 100 *",
        "5 200 120",
        "iops: IOPS, rounds 6 to 10",
        "size 100 % reads 0 % reads",
        "4 KiB 200 101",
        "latency: mean response time, rounds 6 to 10",
        "latency: longest response time, rounds 6 to 10",
        "write saturation, PTS-like: 4 KiB random writes",
    ):
        assert title in lines, (title, outcome.out)
    assert "…" not in outcome.out
    assert "PTS" not in outcome.out.replace("PTS-like", "")
    assert outcome.err.endswith("spekctl: report written to t/report.json\n")

# SPDX-License-Identifier: GPL-2.0
"""What a large fleet costs its controller: that a small one is measured."""

from __future__ import annotations

from pathlib import Path

from bench import fleet_hosts, fleet_scale
from lib.ctl import fleets


def test_a_run_of_simulated_hosts_is_measured(tmp_path: Path) -> None:
    measured = fleet_scale.measure(tmp_path, 3, 1)
    own = fleets.result_of(fleets.large(fleet_hosts.ROWS))
    assert (measured.hosts, measured.ios) == (3, 3 * own.totals.all.ios)
    phases = ["keys", "join", "check", "prepare", "arm", "run", "collect", "release", "merge"]
    assert list(measured.cpu_s) == list(measured.took_s) == phases
    assert all(measured.cpu_s.values()) and measured.host_cpu > 0
    assert measured.worst_round_trip_s > 0
    assert measured.bytes_per_host > 0 and measured.peak_bytes > measured.bytes_per_host

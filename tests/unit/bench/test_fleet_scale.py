# SPDX-License-Identifier: GPL-2.0
"""What a large fleet costs its controller: that a small one is measured."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
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


def test_fleets_are_measured_apart_and_held_against_the_goals(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    small = fleet_scale.measured_apart(2)
    assert small.hosts == 2
    # Of a process without memory from before, which it could use again.
    assert small.bytes_per_host > 0 and small.peak_bytes > small.bytes_per_host
    large = dataclasses.replace(
        small,
        hosts=1000,
        cpu_s=dict.fromkeys(small.cpu_s, 4.0),
        bytes_per_host=48 * 1024,
        peak_bytes=449 << 20,
    )
    monkeypatch.setattr(fleet_scale, "measured_apart", {2: small, 1000: large}.__getitem__)
    assert fleet_scale.main(["2", "1000"]) == 0
    said = capsys.readouterr().out
    assert "1,000 hosts; goals are for 1,000" in said
    for text in ("8.00 s of CPU time", "4.00 s of CPU time", "449 MiB", "48.0 KiB", "< 64 KiB"):
        assert text in said
    # Four seconds of 1,000 hosts are 4 ms of each.
    assert said.count("4.00 ms") == len(large.cpu_s)

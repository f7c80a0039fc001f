# SPDX-License-Identifier: GPL-2.0
"""Clients of an iSCSI target, as a fleet: what they count is what the target counts."""

from __future__ import annotations

import os

import pytest
from fleet import clients, storage
from fleet.rig import BOOT_S, TOGETHER_S, Rig

from spekctl.errors import ExitCode
from spekctl.vm import network

CLIENTS = int(os.environ.get("SPEK_ISCSI_CLIENTS", "3"))
assert 1 <= CLIENTS <= network.PORTS, "SPEK_ISCSI_CLIENTS"
TIME_S = 10


@pytest.mark.timeout((CLIENTS + 1) * BOOT_S + 2 * TOGETHER_S + CLIENTS * storage.ROUND_S)
def test_clients_count_what_their_target_counts(rig: Rig) -> None:
    runs = clients.measure(rig, CLIENTS, TIME_S)
    assert clients.told(rig.folder, 1)["join"] == [ExitCode.OK] * CLIENTS
    for number, run in enumerate(runs, start=1):
        hosts = run.clients()
        assert len(hosts) == number
        for place, host in enumerate(hosts, start=1):
            assert host.run is not None
            counted = run.parts[storage.part(f"/dev/{storage.DISK}", place)]
            phases = host.run.phases
            assert counted["reads"] == sum(phase.ios for phase in phases) > 0
            size = sum(phase.bytes for phase in phases)
            assert counted["read_sectors"] * storage.SECTOR == size
            assert not any(phase.errors for phase in phases) and not counted["writes"]
        idle = [run.parts[node]["reads"] for node in run.parts][number:]
        assert not any(idle), "a client that does not run has read"
        # One I/O at a time is the most that the disk can.
        assert sum(run.bytes_per_s()) < 1.02 * clients.MOST_BYTES_PER_S
        assert 0 < run.busy() <= 1
    if CLIENTS > 1:
        alone, two, *_ = (run.bytes_per_s() for run in runs)
        assert sum(two) > sum(alone) and max(two) < 1.05 * sum(alone)

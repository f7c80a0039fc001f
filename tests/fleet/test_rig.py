# SPDX-License-Identifier: GPL-2.0
"""A target and a client on a network of guests: what a run counts is what the target counts."""

from __future__ import annotations

import json

import pytest
from fleet.client import IOS
from fleet.rig import BOOT_S, Rig
from lib.waiting import eventually

from spekctl.vm import network
from spekctl.vm.network import Net

SECTOR = 512


@pytest.mark.timeout(1800)
def test_a_client_counts_what_its_target_counts(rig: Rig) -> None:
    client_nqn = Net(rig.net, 2).host_nqn
    disk = ["--no-load", "--disk", "null_blk,size=256,mbps=20"]
    target = rig.boot(1, disk, ["fleet.target", "{disk1}", network.address(1), client_nqn])
    eventually(lambda: rig.is_ready(1), "the target is not ready", BOOT_S)

    client = rig.boot(2, [], ["fleet.client", network.address(1), str(rig.folder)])
    assert client.wait(BOOT_S) == 0, rig.output(2)
    assert target.wait(120) == 0, rig.output(1)
    assert "gone\n" in rig.output(1)

    told = json.loads((rig.folder / "target.json").read_text())
    assert told["stranger_refused"], "the target takes hosts that it was not told of"
    for kind in ("read", "write"):
        result = json.loads((rig.folder / f"{kind}.json").read_text())
        before, after = told[kind]
        grown = {name: after[name] - before[name] for name in before}
        phases = result["phases"]
        assert sum(phase["errors"] for phase in phases) == 0
        ios = sum(phase["ios"] for phase in phases)
        assert grown[f"{kind}s"] == ios == result["totals"][kind]["ios"] == IOS
        assert grown[f"{kind}_sectors"] * SECTOR == sum(phase["bytes"] for phase in phases)

# SPDX-License-Identifier: GPL-2.0
"""A target and a client on a network of guests: what a run counts is what the target counts."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fleet.client import IOS
from fleet.rig import BOOT_S, Rig
from lib.waiting import eventually

from spekctl.vm import network
from spekctl.vm.network import Net

SECTOR = 512


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("transport", ["nvme", "iscsi"])
def test_a_client_counts_what_its_target_counts(rig: Rig, transport: str) -> None:
    client_of = Net(rig.net, 2)
    name = client_of.initiator if transport == "iscsi" else client_of.host_nqn
    address = network.address(1)
    options = ["--no-load", "--disk", "null_blk,size=256,mbps=20"]
    words = ["fleet.target", transport, str(rig.folder), "{disk1}", address, name]
    target = rig.boot(1, options, words)
    eventually(lambda: rig.is_ready(1), "the target is not ready", BOOT_S)

    client = rig.boot(2, [], ["fleet.client", transport, address, str(rig.folder)])
    assert client.wait(BOOT_S) == 0, rig.output(2)
    assert target.wait(120) == 0, rig.output(1)
    assert "gone\n" in rig.output(1)

    told = written(rig, "target")
    assert told["stranger_refused"], "the target takes hosts that it was not told of"
    for kind in ("read", "write"):
        result = written(rig, kind)
        grown = growth(*told[kind])
        phases = result["phases"]
        assert sum(phase["errors"] for phase in phases) == 0
        ios = sum(phase["ios"] for phase in phases)
        size = sum(phase["bytes"] for phase in phases)
        assert grown[f"{kind}s"] == ios == result["totals"][kind]["ios"] == IOS
        assert grown[f"{kind}_sectors"] * SECTOR == size
        if transport == "iscsi":
            assert grown["lun_num_cmds"] == grown["reads"] + grown["writes"]
            # Both looks are cut to whole MiB.
            assert abs((grown[f"lun_{kind}_mbytes"] << 20) - size) < 1 << 20
    check_prober(rig, told["read"][0]["at_ns"], told["write"][1]["at_ns"])


def written(rig: Rig, name: str) -> Any:
    return json.loads((rig.folder / f"{name}.json").read_text())


def growth(before: dict[str, int], after: dict[str, int]) -> dict[str, int]:
    return {name: after[name] - before[name] for name in before}


def check_prober(rig: Rig, begin_ns: int, end_ns: int) -> None:
    """The target's prober saw all that its disk has counted, and its CPU during the runs."""
    probed = written(rig, "prober")
    assert probed["start_ns"][0] <= begin_ns < end_ns <= probed["end_ns"][-1]
    assert probed["dropped"] == 0
    grown = growth(*written(rig, "disk"))
    assert column(probed, "disk nullb0", "reads") == grown["reads"]
    assert column(probed, "disk nullb0", "write_bytes") == grown["write_sectors"] * SECTOR
    length_ns = probed["end_ns"][-1] - probed["start_ns"][0]
    assert 0 < column(probed, "machine", "system_ns") < length_ns


def column(probed: Any, table: str, name: str) -> int:
    """A column of the prober, over the whole time."""
    (rows,) = (found for found in probed["tables"] if found["name"] == table)
    place = rows["columns"].index(name)
    return sum(row[place] for row in rows["rows"])

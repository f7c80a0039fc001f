# SPDX-License-Identifier: GPL-2.0
"""A machine with two NUMA nodes and an NVMe drive on each: `--cpus auto` puts workers on the node
of their device."""

from __future__ import annotations

import json
from pathlib import Path

from bench.measuring import measure
from machines.near import SERIALS
from machines.test_nodes import TWO_NODES

from spekctl.vm.kernels import find_kernel


def drive(node: int) -> list[str]:
    """QEMU's arguments for a drive behind a PCI host bridge of a node."""
    words = [
        "-device",
        f"pxb-pcie,id=bridge{node},bus=pcie.0,bus_nr={64 * (node + 1)},numa_node={node}",
    ]
    words += ["-device", f"pcie-root-port,id=port{node},bus=bridge{node},chassis={32 + node}"]
    words += ["-blockdev", f"null-co,node-name=null{node},size=67108864,read-zeroes=on"]
    serial = SERIALS[node]
    return [*words, "-device", f"nvme,serial={serial},drive=null{node},bus=port{node}"]


def test_workers_are_on_the_node_of_their_device(tmp_path: Path) -> None:
    outcome = measure(
        find_kernel("6.12"),
        ["machines.near", str(tmp_path)],
        tmp_path,
        tmp_path / "console",
        icount=False,
        limit_s=1800,
        qemu=[*TWO_NODES, *drive(0), *drive(1)],
    )
    assert outcome.exit_status == 0, (outcome.failure, outcome.console[-2000:])
    told = json.loads((tmp_path / "near.json").read_text())
    assert told["kernel"] == [0, 1]
    # A CPU each; without --cpus it is the first one.
    assert told["default"] == {"workers": [0], "remarks": []}
    assert [told[name]["workers"] for name in ("node0", "node1", "both")] == [[0], [1], [0, 1]]
    assert told["second worker"]["workers"] == [1, 0]
    (remark,) = told["node1"]["remarks"]
    assert "is on NUMA node 1 (CPU 1) and has " in remark and "another node" not in remark
    (remark,) = told["second worker"]["remarks"]
    assert remark.endswith("; CPU 0 is on another node, as too few are near")

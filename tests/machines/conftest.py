# SPDX-License-Identifier: GPL-2.0
"""One guest for all tests of a machine with two NUMA nodes: a boot takes longer than they do."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench.measuring import measure
from machines.near import SERIALS

from spekctl.vm.kernels import find_kernel

TWO_NODES = (
    *("-object", "memory-backend-ram,id=memory0,size=512M"),
    *("-object", "memory-backend-ram,id=memory1,size=512M"),
    *("-numa", "node,nodeid=0,cpus=0,memdev=memory0"),
    *("-numa", "node,nodeid=1,cpus=1,memdev=memory1"),
)


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


@pytest.fixture(scope="session")
def two_nodes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a guest with two NUMA nodes and an NVMe drive on each has written: nodes.json of
    machines.nodes and near.json of machines.near."""
    folder = tmp_path_factory.mktemp("two-nodes")
    outcome = measure(
        find_kernel("6.12"),
        ["machines.two_nodes", str(folder)],
        folder,
        folder / "console",
        icount=False,
        limit_s=1800,
        qemu=[*TWO_NODES, *drive(0), *drive(1)],
    )
    assert outcome.exit_status == 0, (outcome.failure, outcome.console[-2000:])
    return folder

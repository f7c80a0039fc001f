# SPDX-License-Identifier: GPL-2.0
"""A machine with two NUMA nodes: what a worker touches for each I/O is on the node of its CPU."""

from __future__ import annotations

import json
from pathlib import Path

from bench.measuring import measure

from spekctl.vm.kernels import find_kernel

TWO_NODES = (
    *("-object", "memory-backend-ram,id=memory0,size=512M"),
    *("-object", "memory-backend-ram,id=memory1,size=512M"),
    *("-numa", "node,nodeid=0,cpus=0,memdev=memory0"),
    *("-numa", "node,nodeid=1,cpus=1,memdev=memory1"),
)
# Slots, the log, and the generator.
ALLOCATES = {"spek_slots_create", "spek_iolog_create", "spek_worker_create"}
INLINED = {"create_memory": "spek_worker_create"}


def test_memory_of_workers_is_on_their_nodes(tmp_path: Path) -> None:
    outcome = measure(
        find_kernel("6.12"),
        ["machines.nodes", str(tmp_path)],
        tmp_path,
        tmp_path / "console",
        icount=False,
        limit_s=1800,
        qemu=TWO_NODES,
    )
    assert outcome.exit_status == 0, (outcome.failure, outcome.console[-2000:])
    runs = json.loads((tmp_path / "nodes.json").read_text())
    assert [run["node"] for run in runs] == ["N0", "N1"]
    for run in runs:
        allocated = {(INLINED.get(name, name), *nodes) for name, nodes in run["areas"]}
        assert {name for name, *_ in allocated} >= ALLOCATES, allocated
        assert {area for area in allocated if area[0] in ALLOCATES} == {
            (name, run["node"]) for name in ALLOCATES
        }

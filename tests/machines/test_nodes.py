# SPDX-License-Identifier: GPL-2.0
"""A machine with two NUMA nodes: what a worker touches for each I/O is on the node of its CPU."""

from __future__ import annotations

import json
from pathlib import Path

# Slots, the log, and the generator.
ALLOCATES = {"spek_slots_create", "spek_iolog_create", "spek_worker_create"}
INLINED = {"create_memory": "spek_worker_create"}


def test_memory_of_workers_is_on_their_nodes(two_nodes: Path) -> None:
    runs = json.loads((two_nodes / "nodes.json").read_text())
    assert [run["node"] for run in runs] == ["N0", "N1"]
    for run in runs:
        allocated = {(INLINED.get(name, name), *nodes) for name, nodes in run["areas"]}
        assert {name for name, *_ in allocated} >= ALLOCATES, allocated
        assert {area for area in allocated if area[0] in ALLOCATES} == {
            (name, run["node"]) for name in ALLOCATES
        }

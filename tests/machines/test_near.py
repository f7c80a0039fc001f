# SPDX-License-Identifier: GPL-2.0
"""A machine with two NUMA nodes and an NVMe drive on each: `--cpus auto` puts workers on the node
of their device."""

from __future__ import annotations

import json
from pathlib import Path


def test_workers_are_on_the_node_of_their_device(two_nodes: Path) -> None:
    told = json.loads((two_nodes / "near.json").read_text())
    assert told["kernel"] == [0, 1]
    # A CPU each; without --cpus it is the first one.
    assert told["default"] == {"workers": [0], "remarks": []}
    assert [told[name]["workers"] for name in ("node0", "node1", "both")] == [[0], [1], [0, 1]]
    assert told["second worker"]["workers"] == [1, 0]
    (remark,) = told["node1"]["remarks"]
    assert "is on NUMA node 1 (CPU 1) and has " in remark and "another node" not in remark
    (remark,) = told["second worker"]["remarks"]
    assert remark.endswith("; CPU 0 is on another node, as too few are near")

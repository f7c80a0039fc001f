# SPDX-License-Identifier: GPL-2.0
"""In a guest with two NUMA nodes and an NVMe drive on each: where `--cpus auto` puts
workers, written to a file."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from lib.guest.disks import make_disk

from spekctl import cli
from spekctl.documents.result import load_result

SERIALS = ("spek-node0", "spek-node1")


def write(folder: Path) -> None:
    """near.json, with spek loaded."""
    subprocess.run(["modprobe", "nvme"], check=True)
    nodes = [make_disk({"kind": "nvme", "serial": serial}) for serial in SERIALS]
    told: dict[str, object] = {
        "kernel": [
            int(Path(f"/sys/class/block/{Path(node).name}/device/device/numa_node").read_text())
            for node in nodes
        ]
    }
    path = folder / "result.json"
    for name, devices, words in (
        ("node0", nodes[:1], []),
        ("node1", nodes[1:], []),
        ("both", nodes, ["--workers", "2"]),
        ("second worker", nodes[1:], ["--workers", "2"]),
        ("default", nodes[1:], ["--workers", "1"]),
    ):
        line = ["run", "random-read-4k", "--count", "200", "--progress", "none", "-o", str(path)]
        line += [word for node in devices for word in ("--device", node)]
        auto = [] if name == "default" else ["--cpus", "auto"]
        assert cli.run([*line, *auto, *words]) == 0
        result = load_result(path)
        told[name] = {
            "workers": [worker.cpu for worker in result.workers],
            "remarks": [text for text in result.remarks if text.startswith("--cpus auto")],
        }
    (folder / "near.json").write_text(json.dumps(told))

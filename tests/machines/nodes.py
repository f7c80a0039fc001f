# SPDX-License-Identifier: GPL-2.0
"""In a guest with two NUMA nodes: where the memory of a worker of each lies, written to a file."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

from lib.guest.netlink import delete, new, stream
from lib.guest.netlink_raw import Socket

from spekctl.kernel.gen import spek
from spekctl.kernel.gen.spek import Law

AREA = re.compile(r"^\S+ +\d+ (\w+)\+\S+ \[spek\].*?((?: N\d+=\d+)+)", re.M)
# So much that no part fits into what kmalloc() gives.
SLOTS = 1 << 16
REPLICAS = 1 << 21
RECORDS = 1 << 18


def node_of(cpu: int) -> str:
    (node,) = Path(f"/sys/devices/system/cpu/cpu{cpu}").glob("node*")
    return node.name.replace("node", "N")


def areas() -> list[tuple[str, list[str]]]:
    """Memory of the module beyond kmalloc(): the function that allocated it, the nodes it is on."""
    return [
        (name, re.findall(r"N\d+", nodes))
        for name, nodes in AREA.findall(Path("/proc/vmallocinfo").read_text())
    ]


def write(folder: Path) -> None:
    """nodes.json, with spek loaded."""
    subprocess.run(["modprobe", "null_blk", "nr_devices=1", "gb=1"], check=True)
    everywhere = os.sched_getaffinity(0)
    # A run is opened by a kworker on the node of the process that makes it.
    os.sched_setaffinity(0, {0})
    runs = []
    with Socket(spek) as link:
        for cpu in (0, 1):
            run = new(
                link,
                "/dev/nullb0",
                worker=[{"cpu": cpu}],
                max_outstanding=SLOTS,
                log_records=RECORDS,
                arrival=[{"law": int(Law.CLOSED), "depth": SLOTS}],
                stream=[stream(seq_ppm=500_000, replicas=REPLICAS)],
            )
            runs.append({"node": node_of(cpu), "areas": areas()})
            delete(link, run)
    os.sched_setaffinity(0, everywhere)
    (folder / "nodes.json").write_text(json.dumps(runs))

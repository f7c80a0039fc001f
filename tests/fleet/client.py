# SPDX-License-Identifier: GPL-2.0
"""In a client's guest: load the target's disk, and compare with what the target has counted.

    python -m fleet.client ADDRESS FOLDER

A run that reads and one that writes, as others read, too: spekctl looks at what a disk holds before
it writes, and udev once a writer has closed it. Writes read.json and write.json, their results, and
target.json, the target's counters before and after each.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from fleet.nvmet import connected
from fleet.target import ask

IOS = 1000


def refused_to_others(address: str) -> bool:
    """Whether the target turns away a host that it was not told of."""
    stranger = "nqn.2014-08.org.nvmexpress:uuid:00000000-0000-4000-8000-000000000001"
    try:
        with connected(address, stranger, stranger.rpartition(":")[2]):
            return False
    except OSError:
        return True


def load(node: str, share_of_reads: str, result: Path) -> None:
    """A run of so many I/Os on the disk."""
    command = ["run", "--read", share_of_reads, "--size", "4KiB", "--depth", "4"]
    command += ["--backend", "mq", "--count", str(IOS), "--device", node, "--no-prober"]
    command += ["--write"] if share_of_reads == "0%" else []
    words = [sys.executable, "-m", "spekctl", *command, "-o", str(result)]
    subprocess.run(words, check=True)


def main() -> int:
    address, folder = sys.argv[1], Path(sys.argv[2])
    told: dict[str, Any] = {"stranger_refused": refused_to_others(address)}
    identity = os.environ["SPEK_HOSTNQN"], os.environ["SPEK_HOSTID"]
    with connected(address, *identity) as node:
        for kind, share_of_reads in (("read", "100%"), ("write", "0%")):
            before = ask(address, "before")
            load(node, share_of_reads, folder / f"{kind}.json")
            told[kind] = [before, ask(address, "after")]
    ask(address, "stop")
    (folder / "target.json").write_text(json.dumps(told))
    return 0


if __name__ == "__main__":
    sys.exit(main())

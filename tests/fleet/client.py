# SPDX-License-Identifier: GPL-2.0
"""In a client's guest: load the target's disk, and compare with what the target has counted.

    python -m fleet.client nvme|iscsi ADDRESS FOLDER

A run that reads and one that writes, as others read, too: spekctl looks at what a disk holds before
it writes, and udev once a writer has closed it. Writes read.json and write.json, their results, and
target.json, the target's counters before and after each.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fleet import lio, nvmet
from fleet.target import ask

IOS = 1000
STRANGER = "00000000-0000-4000-8000-000000000001"


@contextlib.contextmanager
def disk(transport: str, address: str) -> Iterator[str]:
    """The target's disk, as the client that this guest is."""
    if transport == "iscsi":
        with lio.initiating(), lio.logged_in(address) as node:
            yield node
    else:
        with nvmet.connected(
            address, os.environ["SPEK_HOSTNQN"], os.environ["SPEK_HOSTID"]
        ) as node:
            yield node


def refused_to_others(transport: str, address: str) -> bool:
    """Whether the target turns away a host that it was not told of; OSError if that host fails in
    another way."""
    try:
        if transport == "iscsi":
            with lio.named(f"iqn.2026-01.spek.guest:{STRANGER}"), disk(transport, address):
                return False
        stranger = f"nqn.2014-08.org.nvmexpress:uuid:{STRANGER}"
        with nvmet.connected(address, stranger, STRANGER):
            return False
    except PermissionError:
        return True


def load(node: str, share_of_reads: str, result: Path) -> None:
    """A run of so many I/Os on the disk."""
    command = ["run", "--read", share_of_reads, "--size", "4KiB", "--depth", "4"]
    command += ["--backend", "mq", "--count", str(IOS), "--device", node, "--no-prober"]
    command += ["--write"] if share_of_reads == "0%" else []
    words = [sys.executable, "-m", "spekctl", *command, "-o", str(result)]
    subprocess.run(words, check=True)


def main() -> int:
    transport, address, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    told: dict[str, Any] = {"stranger_refused": refused_to_others(transport, address)}
    with disk(transport, address) as node:
        for kind, share_of_reads in (("read", "100%"), ("write", "0%")):
            before = ask(address, "before")
            load(node, share_of_reads, folder / f"{kind}.json")
            told[kind] = [before, ask(address, "after")]
    ask(address, "stop")
    (folder / "target.json").write_text(json.dumps(told))
    return 0


if __name__ == "__main__":
    sys.exit(main())

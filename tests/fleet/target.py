# SPDX-License-Identifier: GPL-2.0
"""In the target's guest: offer a disk, and tell clients what it has counted, until one says stop.

python -m fleet.target NODE ADDRESS HOST_NQN...
"""

from __future__ import annotations

import json
import socket
import sys
from pathlib import Path

from fleet.nvmet import exported

TELLER = 4421  # beside the disk's
STAT = ("reads", "_", "read_sectors", "_", "writes", "_", "write_sectors")


def counters(node: str) -> dict[str, int]:
    """I/Os and sectors that the disk has completed."""
    words = Path("/sys/block", Path(node).name, "stat").read_text().split()
    return {name: int(word) for name, word in zip(STAT, words, strict=False) if name != "_"}


def ask(address: str, word: str) -> dict[str, int]:
    """On a client: send a word to the target, and take its counters."""
    with socket.create_connection((address, TELLER), timeout=60) as line:
        line.sendall(f"{word}\n".encode())
        with line.makefile() as answer:
            told: dict[str, int] = json.loads(answer.readline())
    return told


def serve(node: str, address: str) -> None:
    with socket.create_server((address, TELLER)) as server:
        print("ready", flush=True)
        word = ""
        while word != "stop":
            line, _ = server.accept()
            with line, line.makefile("rw") as stream:
                word = stream.readline().strip()
                stream.write(f"{json.dumps(counters(node))}\n")


def main() -> int:
    node, address, *host_nqns = sys.argv[1:]
    # Each I/O of a client counts by itself.
    Path("/sys/block", Path(node).name, "queue/nomerges").write_text("2")
    with exported(node, address, host_nqns):
        serve(node, address)
    print("gone", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: GPL-2.0
"""In the target's guest: offer a disk, and tell clients what it has counted, until one says stop.

    python -m fleet.target nvme|iscsi FOLDER NODE ADDRESS CLIENT...

CLIENT is a host NQN, or an initiator name. FOLDER gets prober.json, the samples of the prober from
before the disk is offered until it is no more, and disk.json, the disk's counters then and then.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from fleet import lio, nvmet
from lib.guest import modules

TELLER = 4419  # beside the disk's
STAT = ("reads", "_", "read_sectors", "_", "writes", "_", "write_sectors")


def counters(node: str) -> dict[str, int]:
    """I/Os and sectors that the disk has completed."""
    words = Path("/sys/class/block", Path(node).name, "stat").read_text().split()
    return {name: int(word) for name, word in zip(STAT, words, strict=False) if name != "_"}


def ask(address: str, word: str) -> dict[str, int]:
    """On a client: send a word to the target, and take its counters and its CLOCK_MONOTONIC."""
    with socket.create_connection((address, TELLER), timeout=60) as line:
        line.sendall(f"{word}\n".encode())
        with line.makefile() as answer:
            told: dict[str, int] = json.loads(answer.readline())
    return told


def serve(address: str, look: Callable[[], dict[str, int]]) -> None:
    with socket.create_server((address, TELLER)) as server:
        print("ready", flush=True)
        word = ""
        while word != "stop":
            line, _ = server.accept()
            with line, line.makefile("rw") as stream:
                word = stream.readline().strip()
                stream.write(f"{json.dumps({**look(), 'at_ns': time.monotonic_ns()})}\n")


def of_lun(folder: Path) -> dict[str, int]:
    """What LIO itself has counted of a disk: all commands, and whole MiB."""
    return {
        f"lun_{name}": int((folder / name).read_text())
        for name in ("num_cmds", "read_mbytes", "write_mbytes")
    }


def prober(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "spekctl", "prober", *words], check=True)


def main() -> int:
    transport, folder, node, address, *clients = sys.argv[1:]
    # Each I/O of a client counts by itself.
    Path("/sys/block", Path(node).name, "queue/nomerges").write_text("2")
    # Alone: the target sends no I/O.
    modules.load(Path(os.environ["SPEK_MODULES"], "spek_prober.ko"))
    looks = [counters(node)]
    prober("start", "--detach")
    if transport == "iscsi":
        with lio.exported(address, dict.fromkeys(clients, node)) as luns:
            serve(address, lambda: {**counters(node), **of_lun(luns[node])})
    else:
        with nvmet.exported(node, address, clients):
            serve(address, lambda: counters(node))
    prober("stop", "-o", f"{folder}/prober.json")
    looks.append(counters(node))
    Path(folder, "disk.json").write_text(json.dumps(looks))
    print("gone", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

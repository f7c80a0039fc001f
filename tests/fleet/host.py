# SPDX-License-Identifier: GPL-2.0
"""In a guest: a host of a fleet, which loads a disk of its own; guest 1 is the controller, too.

    python -m fleet.host NUMBER FOLDER NODE GUESTS ENDS BOOTS_S [COMMAND...]

In FOLDER are plan.toml and keys; it gets fleet.json, the result, and NUMBER.json: the counters of
the disk all the time, exit codes, whether the disk is free in the end, and how far the clock is
from guest 1's then, unless that is gone. GUESTS meet before they join, within BOOTS_S seconds,
as they boot one after the other. Guest 1 waits for the end of ENDS others. COMMAND is what the
controller does with the plan in place of `spekctl fleet run`, with the same keys and patience.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from fleet import timekeeper
from fleet.target import counters
from lib.waiting import eventually

from spekctl.vm import network

PORT = 8786
FIRST = network.address(1)
# For each other, once all have booted: as long as guests may take for what they do together, on a
# machine that has more to do.
WAIT = "1200s"
WAIT_S = 1200.0
LOOK_S = 0.1


def start(*words: str) -> subprocess.Popen[bytes]:
    return spekctl("fleet", *words)


def spekctl(*words: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-m", "spekctl", *words])


def controller(folder: Path, command: list[str]) -> subprocess.Popen[bytes]:
    words = ["--keys", str(folder / "keys/controller"), "--wait", WAIT]
    if command:
        return spekctl(*command, *words)
    return start("run", str(folder / "plan.toml"), "-o", str(folder / "fleet.json"), *words)


class Watch:
    """Counters of a disk now and then, with CLOCK_REALTIME before each look.

    spekctl reads what a disk holds before it claims it, so those from before its start do not tell
    what the run has read.
    """

    def __init__(self, node: str) -> None:
        self._node = node
        self._over = threading.Event()
        self._looks: list[tuple[int, dict[str, int]]] = []
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def end(self) -> list[tuple[int, dict[str, int]]]:
        """All looks, the last one of which is from now."""
        self._over.set()
        self._thread.join()
        self._look()
        return self._looks

    def _watch(self) -> None:
        while not self._over.wait(LOOK_S):
            self._look()

    def _look(self) -> None:
        self._looks.append((time.time_ns(), counters(self._node)))


def first_tells_time() -> bool:
    try:
        timekeeper.measure(FIRST)
    except OSError:
        time.sleep(0.5)
        return False
    return True


def is_free(node: str) -> bool:
    """Whether nobody has claimed a disk."""
    try:
        os.close(os.open(Path("/dev", Path(node).name), os.O_RDONLY | os.O_EXCL))
    except OSError:
        return False
    return True


def main() -> int:
    number, folder, node = int(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    guests, ends, boots_s = int(sys.argv[4]), int(sys.argv[5]), float(sys.argv[6])
    # Each I/O of a run counts by itself.
    Path("/sys/block", Path(node).name, "queue/nomerges").write_text("2")
    timekeeper.keep_source()
    keeper = None
    if number == 1:
        keeper = timekeeper.Keeper(FIRST, guests)
        timekeeper.promise(0)
        print("ready", flush=True)
        keeper.meet(boots_s)
    else:
        eventually(first_tells_time, "guest 1 does not tell the time", WAIT_S)
        print("ready", flush=True)
        timekeeper.meet(FIRST, boots_s)
        # Now, as a promise of a clock gets worse with time.
        timekeeper.follow(FIRST)
    watch = Watch(node)
    told: dict[str, Any] = {}
    keys = folder / "keys"
    name = network.name(number)
    host = start("join", f"tls://{FIRST}:{PORT}", "--keys", str(keys / name), "--wait", WAIT)
    if number == 1:
        told["run"] = controller(folder, sys.argv[7:]).wait()
    told["join"] = host.wait()
    told["looks"] = watch.end()
    told["free"] = is_free(node)
    told["clock"] = None
    with contextlib.suppress(OSError):
        told["clock"] = asdict(timekeeper.measure(FIRST))
    (folder / f"{number}.json").write_text(json.dumps(told))
    if keeper is not None:
        keeper.wait(ends, WAIT_S)
    elif told["clock"] is not None:
        timekeeper.say_end(FIRST)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except OSError as error:
        # Others that do not come, or the network of a guest that is killed: no fault of this file.
        sys.exit(f"guest {sys.argv[1]}: {error}")

# SPDX-License-Identifier: GPL-2.0
"""In a guest: the storage of a fleet, or a client of it. Guest 1 is the target.

    python -m fleet.storage NUMBER FOLDER GUESTS BOOTS_S NODE      NODE: of the target only

The target offers a part of its disk to each client, over iSCSI, and is watched by its prober. Guest
2, the first client, is the controller, too, so that the target's CPU has the target's work only.
Runs with one client, two and so on follow each other; in FOLDER are keys and a plan for each,
plan-1.toml and so on. It gets fleet-1.json and so on, the results, and NUMBER.json: exit codes and,
of the target, its counters all the time: of its parts, and the time that threads had on its CPU.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fleet import lio, timekeeper
from fleet.host import FIRST, WAIT, WAIT_S, first_tells_time, start
from fleet.target import counters
from lib.guest import modules
from lib.waiting import eventually

from spekctl.vm import network
from spekctl.vm.network import Net

PORT = 8786  # of the first run
DISK = "nullb0"
SECTOR = 512
# Of one run; a client that has no part in it waits as long for the next one.
ROUND_S = 1200.0
LOOK_S = 0.3
# Looks at all threads are no small work for an emulated CPU.
THREADS_S = 4.0
READER = "the reader of these times"
START_FIELD = 19  # of /proc/PID/stat, behind the name


def part(node: str, number: int) -> str:
    """Node of the part of a disk that client @number, from 1, has."""
    return f"{node}p{number}"


def divide(node: str, clients: int) -> list[str]:
    """Parts of a disk, of equal size, that the kernel knows of and nothing else."""
    sectors = int(Path("/sys/block", Path(node).name, "size").read_text()) // clients
    sectors -= sectors % 2048
    for number in range(clients):
        words = ["addpart", node, str(number + 1), str(number * sectors), str(sectors)]
        subprocess.run(words, check=True)
    subprocess.run(["udevadm", "settle"], check=True)
    return [part(node, number) for number in range(1, clients + 1)]


class Threads:
    """CPU times of all threads. A look is work for an emulated CPU that is measured, so what a
    thread is called is read once, and nothing is opened that does not have to be."""

    def __init__(self, reader: int) -> None:
        """@reader: number of the thread that is called READER."""
        self._reader = str(reader)
        self._known: dict[str, tuple[str, str]] = {}

    def times(self) -> dict[str, tuple[str, int]]:
        """Name and CPU time, in ns, of each: by its number and its start, as numbers are used
        again. Workers of the kernel have one name. The time of a thread that is running is that of
        its CPU's last tick."""
        known, self._known = self._known, {}
        times: dict[str, tuple[str, int]] = {}
        for process in filter(str.isdecimal, os.listdir("/proc")):
            # It may have ended.
            with contextlib.suppress(OSError):
                for number in os.listdir(f"/proc/{process}/task"):
                    folder = f"/proc/{process}/task/{number}"
                    key, name = known.get(number) or self._identify(folder, number)
                    times[key] = (name, int(_read(f"{folder}/schedstat").split()[0]))
                    self._known[number] = (key, name)
        return times

    def _identify(self, folder: str, number: str) -> tuple[str, str]:
        before, _, after = _read(f"{folder}/stat").decode().rpartition(")")
        name = before.partition("(")[2]
        name = "kworker" if name.startswith("kworker") else name
        name = READER if number == self._reader else name
        return f"{number}/{after.split()[START_FIELD]}", name


def _read(path: str) -> bytes:
    file = os.open(path, os.O_RDONLY)
    try:
        return os.read(file, 4096)
    finally:
        os.close(file)


class Watch:
    """What the target counts now and then, with CLOCK_REALTIME before each look: counters of parts
    of its disk, and CPU times of threads, with that of the thread that looks.

    spekctl reads what a disk holds before it claims it, so counters from before its start do not
    tell what the run has read.
    """

    def __init__(self, nodes: list[str]) -> None:
        self._nodes = nodes
        self._over = threading.Event()
        self._looks: dict[str, list[tuple[int, dict[str, Any]]]] = {"parts": [], "threads": []}
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def end(self) -> dict[str, list[tuple[int, dict[str, Any]]]]:
        self._over.set()
        self._thread.join()
        self._look()
        return self._looks

    def _watch(self) -> None:
        next_s = time.monotonic()
        threads = Threads(threading.get_native_id())
        while not self._over.wait(LOOK_S):
            self._look()
            if time.monotonic() >= next_s:
                next_s = time.monotonic() + THREADS_S
                self._looks["threads"].append((time.time_ns(), threads.times()))

    def _look(self) -> None:
        now_ns = time.time_ns()
        self._looks["parts"].append((now_ns, {node: counters(node) for node in self._nodes}))


def join(folder: Path, number: int, run: int) -> subprocess.Popen[bytes]:
    keys = str(folder / "keys" / network.name(number))
    controller = f"tls://{network.address(2)}:{PORT + run}"
    return start("join", controller, "--keys", keys, "--wait", WAIT)


def serve(folder: Path, guests: int, boots_s: float, disk: str) -> dict[str, Any]:
    """The target's part."""
    queue = Path("/sys/block", Path(disk).name, "queue")
    # Each I/O of a client counts by itself, and in the order in which they come.
    (queue / "nomerges").write_text("2")
    (queue / "scheduler").write_text("none")
    modules.load(Path(os.environ["SPEK_MODULES"], "spek_prober.ko"))
    clients = guests - 1
    nodes = divide(disk, clients)
    names = [Net(Path(), number + 1).initiator for number in range(1, clients + 1)]
    told: dict[str, Any] = {"join": []}
    with lio.exported(FIRST, dict(zip(names, nodes, strict=True))):
        keeper = timekeeper.Keeper(FIRST, guests)
        timekeeper.promise(0)
        print("ready", flush=True)
        keeper.meet(boots_s)
        watch = Watch(nodes)
        for run in range(1, clients + 1):
            # Others set theirs by it; what the kernel promises of it ages all the same.
            timekeeper.promise(0)
            keeper.meet(ROUND_S)
            told["join"].append(join(folder, 1, run).wait())
        told["looks"] = watch.end()
        # Their sessions end first.
        keeper.wait(clients, ROUND_S)
    return told


@contextlib.contextmanager
def attached() -> Iterator[None]:
    with lio.initiating(), lio.logged_in(FIRST) as node:
        print(f"the disk is {node}", flush=True)
        yield


def load(folder: Path, number: int, guests: int, boots_s: float) -> dict[str, Any]:
    """A client's part: client 1 is guest 2."""
    eventually(first_tells_time, "guest 1 does not tell the time", WAIT_S)
    print("ready", flush=True)
    timekeeper.meet(FIRST, boots_s)
    told: dict[str, Any] = {"join": [], "run": []}
    with attached():
        for run in range(1, guests):
            timekeeper.meet(FIRST, ROUND_S)
            # Now, as a promise of a clock gets worse with time.
            timekeeper.follow(FIRST)
            if number > run + 1:
                continue
            host = join(folder, number, run)
            if number == 2:
                words = ["run", str(folder / f"plan-{run}.toml"), "--wait", WAIT]
                words += ["--keys", str(folder / "keys" / "controller")]
                words += ["-o", str(folder / f"fleet-{run}.json")]
                told["run"].append(start(*words).wait())
            told["join"].append(host.wait())
    timekeeper.say_end(FIRST)
    return told


def main() -> int:
    number, folder, guests = int(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    boots_s = float(sys.argv[4])
    timekeeper.keep_source()
    told = (
        serve(folder, guests, boots_s, sys.argv[5])
        if number == 1
        else load(folder, number, guests, boots_s)
    )
    (folder / f"{number}.json").write_text(json.dumps(told))
    return 0


if __name__ == "__main__":
    sys.exit(main())

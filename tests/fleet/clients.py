# SPDX-License-Identifier: GPL-2.0
"""A target and its clients in guests of their own, and what they wrote of runs by one client, by
two, and so on: for tests, and for the table of paper 002 that has this."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from fleet import lio, storage
from fleet.rig import BOOT_S, TOGETHER_S, Rig
from lib.waiting import eventually

from spekctl.documents.host_results import HostResult
from spekctl.documents.prober import ProberReport
from spekctl.documents.result import Result
from spekctl.errors import ExitCode
from spekctl.vm import network

TARGET = network.name(1)
BLOCK_BYTES = 32 << 10
# One I/O at a time, each of which takes as long: the most that the disk can give, whatever else
# happens on the machine of the guests. A single client waits for the network too.
SERVICE_NS = 40_000_000
MOST_BYTES_PER_S = BLOCK_BYTES * 1e9 / SERVICE_NS
DISK = f"null_blk,size=768,irqmode=2,completion_nsec={SERVICE_NS},hw_queue_depth=1,submit_queues=1"
MAX_SKEW_NS = 300_000_000
# More than clocks are apart, and less than hosts have nothing to do before a start.
CALM_NS = 500_000_000
DRAIN_NS = 2_000_000_000
LOAD = """
[workload]
name = "sequential-read-32k"
summary = "32 KiB sequential reads, 1 outstanding"

[[arrival]]
name = "main"
law = "closed"
depth = 1

[[stream]]
name = "main"
read = "100%"
size = "32KiB"
pattern = "sequential"
"""


@dataclass(frozen=True, slots=True)
class Run:
    """By so many clients. @parts: how counters of the target's disk grew from shortly before the
    run to after it, by part of the disk; @cpu_ns: CPU time that its threads had meanwhile, by their
    name, without those that ended; storage.READER is the one that looked."""

    result: Result
    target: ProberReport
    parts: dict[str, dict[str, int]]
    cpu_ns: dict[str, int]

    def clients(self) -> list[HostResult]:
        return [host for host in self.result.hosts or [] if host.name != TARGET]

    def bytes_per_s(self) -> list[float]:
        """Of each client in the window that all have."""
        assert self.result.common is not None
        return [share.all.bytes_per_s for share in self.result.common.hosts]

    def busy(self) -> float:
        """The part of the target's CPU that was in use in that window, by its prober."""
        idle = self._grown("machine", "idle_ns") + self._grown("machine", "iowait_ns")
        return 1.0 - idle / self._length_ns()

    def disk_busy(self) -> float:
        return self._grown(f"disk {storage.DISK}", "busy_time_ns") / self._length_ns()

    def _grown(self, table: str, column: str) -> int:
        (rows,) = (each for each in self.target.tables if each.name == table)
        place = rows.columns.index(column)
        return sum(rows.rows[number][place] or 0 for number in self._samples())

    def _length_ns(self) -> int:
        return sum(
            self.target.end_ns[number] - self.target.start_ns[number] for number in self._samples()
        )

    def _samples(self) -> list[int]:
        """Those that lie in the window."""
        assert self.result.common is not None
        started = self.target.probe.started
        offset_ns = started.realtime_ns - started.monotonic_ns
        begin_ns, end_ns = (
            at_ns - offset_ns for at_ns in (self.result.common.start_ns, self.result.common.end_ns)
        )
        return [
            number
            for number, (start_ns, stop_ns) in enumerate(
                zip(self.target.start_ns, self.target.end_ns, strict=True)
            )
            if begin_ns <= start_ns and stop_ns <= end_ns
        ]


def plan(clients: int, time_s: int) -> str:
    lines = [
        "[fleet]",
        f'listen = "tls://{network.address(2)}:{storage.PORT + clients}"',
        'workload = "load.toml"',
        f'max_skew = "{MAX_SKEW_NS}ns"',
        "[fleet.options]",
        f'time = "{time_s}s"',
        'interval = "1s"',
        "[[host]]",
        f'name = "{TARGET}"',
        'role = "target"',
    ]
    for number in range(1, clients + 1):
        wwn = lio.wwn(storage.part(f"/dev/{storage.DISK}", number))
        name = network.name(number + 1)
        lines += ["[[host]]", f'name = "{name}"', f'devices = ["wwn:{wwn}"]']
    return "".join(f"{line}\n" for line in lines)


def spekctl(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "spekctl", *words], check=True, capture_output=True)


def measure(rig: Rig, clients: int, time_s: int) -> list[Run]:
    """Boot one after the other, and have them run."""
    guests = clients + 1
    rig.life_s = boots_s = guests * BOOT_S
    rig.life_s += TOGETHER_S + clients * storage.ROUND_S
    names = [network.name(number) for number in range(1, guests + 1)]
    spekctl("fleet", "init", str(rig.folder / "keys"), *names)
    (rig.folder / "load.toml").write_text(LOAD)
    for run in range(1, clients + 1):
        (rig.folder / f"plan-{run}.toml").write_text(plan(run, time_s))
    for number in range(1, guests + 1):
        words = ["fleet.storage", str(number), str(rig.folder), str(guests), str(boots_s)]
        disk = ["--no-load", "--disk", DISK] if number == 1 else []
        rig.boot(number, disk, [*words, *(["{disk1}"] if disk else [])], "1G")
        # A slow boot may use the time of all: the first one loads every file from the disk.
        rig.wait_ready(number, boots_s)
    limit_s = TOGETHER_S + clients * storage.ROUND_S
    eventually(lambda: have_ended(rig), "guests do not end", limit_s)
    codes = told(rig.folder, 2)["run"]
    assert codes == [ExitCode.OK] * clients, rig.output(2)
    return runs(rig.folder, clients)


def have_ended(rig: Rig) -> bool:
    """Whether all guests have; AssertionError as soon as one has failed, for which others wait."""
    codes = [guest.poll() for guest in rig.guests]
    failed = [number for number, code in enumerate(codes, start=1) if code]
    assert not failed, "\n".join(f"guest {number}: {rig.output(number)}" for number in failed)
    return None not in codes


def runs(folder: Path, clients: int) -> list[Run]:
    """What they have written of all runs."""
    looks = told(folder, 1)["looks"]
    return [_run(folder, run, looks) for run in range(1, clients + 1)]


def told(folder: Path, number: int) -> dict[str, Any]:
    """What a guest has written in its end."""
    answer: dict[str, Any] = json.loads((folder / f"{number}.json").read_text())
    return answer


def _run(folder: Path, run: int, told: dict[str, Any]) -> Run:
    result = msgspec.json.decode((folder / f"fleet-{run}.json").read_bytes(), type=Result)
    report = (folder / f"fleet-{run}.{TARGET}.json").read_bytes()
    common = result.common
    assert common is not None and result.hosts is not None
    begin_ns, end_ns = common.start_ns, common.end_ns
    looks = told["parts"]
    before = [counts for at_ns, counts in looks if at_ns < begin_ns - CALM_NS][-1]
    # I/Os that were outstanding at the end are counted too.
    drained = [counts for at_ns, counts in looks if at_ns > end_ns + DRAIN_NS]
    after = drained[0] if drained else looks[-1][1]
    parts = {
        node: {name: after[node][name] - count for name, count in counts.items()}
        for node, counts in before.items()
    }
    times = [cpu_ns for at_ns, cpu_ns in told["threads"] if begin_ns <= at_ns <= end_ns]
    first, last = times[0], times[-1]
    cpu_ns: Counter[str] = Counter()
    for thread, (name, time_ns) in last.items():
        cpu_ns[name] += time_ns - first.get(thread, (name, 0))[1]
    return Run(result, msgspec.json.decode(report, type=ProberReport), parts, cpu_ns)

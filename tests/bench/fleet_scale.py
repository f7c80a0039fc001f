# SPDX-License-Identifier: GPL-2.0
"""python -m bench.fleet_scale [HOSTS...]: what a controller needs for fleets of so many hosts.

The real controller, engine and coordinator, in a process of their own for each number of hosts;
hosts that answer from a recorded result, 500 in a process each (fleet_hosts.py), over TLS on
127.0.0.1. What is measured is memory, and CPU time, which says how long a controller with a CPU of
its own takes; the time that has passed beside it is that of a machine which all hosts share.
"""

from __future__ import annotations

import argparse
import gc
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec
from lib.fakes.fleet import FakeView
from lib.fakes.fleet_rig import plan_of
from rich.console import Console
from rich.table import Table

from spekctl.errors import ExitCode
from spekctl.fleet import keys, plan, results
from spekctl.fleet.coordinator import Coordinator
from spekctl.fleet.engine import DaskEngine
from spekctl.fleet.patience import Patience
from spekctl.run.job import Interrupts

HOSTS, SECONDS = 1000, 10
PER_PROCESS = 500
# The hosts share the machine with the controller, so all of it may take long.
PATIENCE = Patience(
    join_s=600, check_s=600, claim_s=600, collect_s=600, release_s=600, silent_s=600
)


@dataclass(frozen=True, slots=True)
class Measured:
    """Of a whole run. @cpu_s, @took_s: of the controller, by phase; @bytes_per_host: memory of the
    controller while all hosts run, without what it has without hosts; @peak_bytes: in the end, with
    all results; @host_cpu: part of a CPU that a host has in the run."""

    hosts: int
    cpu_s: dict[str, float]
    took_s: dict[str, float]
    lead_s: float
    worst_round_trip_s: float
    bytes_per_host: float
    peak_bytes: int
    host_cpu: float
    ios: int


def memory(field: str = "VmRSS") -> int:
    """Of this process, in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (line,) = (line for line in lines if line.startswith(f"{field}:"))
    return int(line.split()[1]) << 10


class Simulated:
    """Processes with hosts."""

    def __init__(self, address: str, folder: Path, seconds: int, names: Sequence[str]) -> None:
        words = [sys.executable, "-m", "bench.fleet_hosts", address, str(folder), str(seconds)]
        self._processes: list[subprocess.Popen[str]] = [
            subprocess.Popen(
                [*words, *names[first : first + PER_PROCESS]],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                cwd=Path(__file__).parents[1],
            )
            for first in range(0, len(names), PER_PROCESS)
        ]
        self._names = names

    def troubles(self) -> dict[str, str]:
        """Hosts whose process has ended."""
        return {
            name: f"its process has ended with {process.returncode}"
            for number, process in enumerate(self._processes)
            if process.poll() is not None
            for name in self._names[number * PER_PROCESS : (number + 1) * PER_PROCESS]
        }

    def pending(self, joined: Mapping[str, str]) -> bool:
        """Never: one call reports every host that has ended."""
        return False

    def waiting(self) -> Sequence[str]:
        """All are started together."""
        return ()

    def cpu_s(self) -> float:
        """CPU time of all of them."""
        total_ns = 0
        for process in self._processes:
            assert process.stdin is not None and process.stdout is not None
            process.stdin.write("\n")
            process.stdin.flush()
            total_ns += int(process.stdout.readline())
        return total_ns / 1e9

    def close(self) -> None:
        for process in self._processes:
            assert process.stdin is not None
            process.stdin.close()
        for process in self._processes:
            process.wait()


@contextmanager
def simulated(
    address: str, folder: Path, seconds: int, names: Sequence[str]
) -> Iterator[Simulated]:
    hosts = Simulated(address, folder, seconds, names)
    try:
        yield hosts
    finally:
        hosts.close()


def measure(folder: Path, count: int, seconds: int = SECONDS) -> Measured:
    names = [f"host{number:04}" for number in range(count)]
    cpu_s: dict[str, float] = {}
    took_s: dict[str, float] = {}

    def phase(name: str, work: Callable[[], object]) -> None:
        cpu, start = time.process_time(), time.monotonic()
        work()
        cpu_s[name], took_s[name] = time.process_time() - cpu, time.monotonic() - start

    phase("keys", lambda: keys.make(folder / "keys", names, 30))
    bundle = keys.load(folder / "keys/controller")
    planned = plan.parse(plan_of(names, time=f"{seconds}s"))
    engine = DaskEngine(planned.listen, bundle, frozenset(names))
    try:
        coordinator = Coordinator(
            planned, engine, FakeView(), Interrupts(), bundle.own.fleet, patience=PATIENCE
        )
        gc.collect()
        before = memory()
        with simulated(engine.address, folder / "keys", seconds, names) as hosts:
            coordinator.started = hosts
            phase("join", coordinator.join)
            phase("check", coordinator.check)
            phase("prepare", coordinator.prepare)
            phase("arm", coordinator.arm)
            lead_s = coordinator._left_s()
            time.sleep(max(0.0, coordinator._left_s()))
            host_cpu, start = hosts.cpu_s(), time.monotonic()
            phase("run", coordinator.follow)
            host_cpu, ran_s = hosts.cpu_s() - host_cpu, time.monotonic() - start
            gc.collect()
            grown = memory() - before
            phase("collect", coordinator.collect)
            phase("release", coordinator.release)
        outcome = coordinator.outcome()
        assert outcome.code is ExitCode.OK, outcome.text
        whole = []
        phase("merge", lambda: whole.append(results.of(outcome, planned)))
        (result,) = whole
        assert result is not None and len(result.hosts or []) == count
        coordinator.close()
    finally:
        engine.close()
    return Measured(
        hosts=count,
        cpu_s=cpu_s,
        took_s=took_s,
        lead_s=lead_s,
        worst_round_trip_s=coordinator.clocks.worst_s,
        bytes_per_host=grown / count,
        peak_bytes=memory("VmHWM"),
        host_cpu=host_cpu / ran_s / count,
        ios=result.totals.all.ios,
    )


# Of a fleet of 1,000: seconds and bytes that a controller may take.
START_S, MERGE_S = 20.0, 5.0
MERGE_BYTES, HOST_BYTES = 1 << 30, 64 << 10


def goals(of: Measured) -> list[tuple[str, str, str]]:
    """What was asked for 1,000 hosts: its name, what was measured, and the goal."""
    start = ("prepare", "arm")
    cpu_s, took_s = (sum(times[name] for name in start) for times in (of.cpu_s, of.took_s))
    return [
        (
            "prepare + arm",
            f"{cpu_s:.2f} s of CPU time, {took_s:.2f} s passed",
            f"< {START_S:.0f} s",
        ),
        (
            "merge",
            f"{of.cpu_s['merge']:.2f} s of CPU time, {of.took_s['merge']:.2f} s passed",
            f"< {MERGE_S:.0f} s",
        ),
        ("memory at most", f"{of.peak_bytes / 2**20:.0f} MiB", f"< {MERGE_BYTES >> 20} MiB"),
        (
            "memory of a host",
            f"{of.bytes_per_host / 1024:.1f} KiB",
            f"< {HOST_BYTES >> 10} KiB",
        ),
    ]


def table(measured: Sequence[Measured]) -> Table:
    """CPU time of the controller for each host, in ms, by phase and number of hosts, and memory."""
    figure = Table(title="the controller, for each host")
    for column in ("hosts", *measured[0].cpu_s, "memory", "a host"):
        figure.add_column(column, justify="right")
    for of in measured:
        figure.add_row(
            f"{of.hosts:,}",
            *(f"{seconds / of.hosts * 1e3:.2f} ms" for seconds in of.cpu_s.values()),
            f"{of.bytes_per_host / 1024:.1f} KiB",
            f"{of.host_cpu:.3%} CPU",
        )
    return figure


def measured_apart(count: int) -> Measured:
    """Measure in a new process, whose memory is all of it that is counted."""
    words = [sys.executable, "-m", "bench.fleet_scale", "--json", str(count)]
    done = subprocess.run(words, stdout=subprocess.PIPE, cwd=Path(__file__).parents[1], check=True)
    return msgspec.json.decode(done.stdout, type=Measured)


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="fleet_scale", description=__doc__.splitlines()[0])
    parser.add_argument("hosts", type=int, nargs="*", default=[HOSTS], help="how many (1000)")
    parser.add_argument("--json", action="store_true", help="print all numbers of one fleet")
    given = parser.parse_args(words)
    if given.json:
        if len(given.hosts) != 1:
            parser.error("--json takes one number of hosts")
        with tempfile.TemporaryDirectory(prefix="spek-scale-") as folder:
            measured = measure(Path(folder), given.hosts[0])
        print(msgspec.json.format(msgspec.json.encode(measured)).decode())
        return 0
    every = [measured_apart(count) for count in given.hosts]
    console = Console(width=200)
    console.print(table(every))
    last = every[-1]
    asked = Table(title=f"{last.hosts:,} hosts; goals are for 1,000")
    for column in ("", "measured", "goal"):
        asked.add_column(column)
    for row in goals(last):
        asked.add_row(*row)
    console.print(asked)
    return 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: GPL-2.0
"""In the guest: set up the disks, run every point in every pass, write a line for each run.

    python -m bench.guest --results FILE --tools DIR --points KEY... [--extras]
    python -m bench.guest --results FILE --scaling
    python -m bench.guest --results FILE --trace FILE --nodes NODE... (notifications)

Under -icount a guest's clock counts instructions, so everything that runs beside a measurement
is part of it: nothing does. What boot has left behind is waited for, udev is ended, and this
process sleeps while a run goes on.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
from bench import extras, profile, raw, restarts, sharing
from bench.caches import make_caches
from bench.cases import DISKS, EMULATED, DiskKind, Point, points
from bench.counts import SyscallCounter, context_switches
from bench.drivers import Drivers, copy_program, run_floor
from bench.notify import measure as measure_kicks
from lib.guest import modules
from lib.guest.disks import do_without_udev, make_null

from spekctl.vm import guest_side

DISK_MIB = 4096
SCSI_MIB = 64  # of memory
SETTLE_S = 10  # where instructions are counted idle time passes at once


class Results:
    """The file that the host reads."""

    def __init__(self, path: Path) -> None:
        self._file = open(path, "ab")  # noqa: SIM115

    def add(self, line: raw.AnyLine) -> None:
        """Write a line so that it survives us."""
        self._file.write(msgspec.json.encode(line) + b"\n")
        self._file.flush()


def say(text: str) -> None:
    """A word of progress for the host's terminal."""
    print(f"bench: {text}", file=sys.stderr, flush=True)


# ---- set-up ----


def make_disks(wanted: set[DiskKind]) -> dict[str, str]:
    """Device node of each kind of disk; of SCSI only where it is wanted, as it is a layer more."""
    nodes: dict[str, str] = {}
    for kind, attributes in DISKS.items():
        if kind == "scsi" and kind not in wanted:
            continue
        node = make_scsi(**attributes) if kind == "scsi" else make_null(DISK_MIB, **attributes)[0]
        queue = Path("/sys/block", os.path.basename(node), "queue")
        (queue / "scheduler").write_text("none")
        nodes[kind] = node
    return nodes


def make_scsi(**parameters: int) -> str:
    """The scsi_debug disk; gives its device node."""
    options = {name: str(value) for name, value in parameters.items()}
    plan = {"kind": "scsi_debug", "bytes": SCSI_MIB << 20, "block_size": 512, "options": options}
    return guest_side.make_disk(plan)


def emulated_disks(nodes: list[str]) -> dict[DiskKind, str]:
    """QEMU's disks, whose nodes the host knows."""
    for node in nodes:
        Path("/sys/block", os.path.basename(node), "queue/scheduler").write_text("none")
    return dict(zip(EMULATED, nodes, strict=True)) if nodes else {}


def calm_down() -> None:
    """End what would run now and then beside a measurement."""
    subprocess.run(["udevadm", "settle"], check=False)
    subprocess.run(["udevadm", "control", "--exit"], check=False, capture_output=True)
    time.sleep(SETTLE_S)


def block_softirqs() -> int:
    """Completions that went through a softirq, on all CPUs."""
    for line in Path("/proc/softirqs").read_text().splitlines():
        name, _, counts = line.partition(":")
        if name.strip() == "BLOCK":
            return sum(int(word) for word in counts.split())
    raise ValueError("/proc/softirqs has no BLOCK")


def environment(nodes: dict[str, str], tools: Path) -> raw.Environment:
    """Where this is measured."""
    queue = Path("/sys/block", os.path.basename(nodes["plain"]), "queue")
    clock = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
    before = block_softirqs()
    run_floor(tools / "spek_floor.ko", nodes["plain"], "mq", 32, 16, 1000)
    wbt = queue / "wbt_lat_usec"
    fio = subprocess.run(["fio", "--version"], capture_output=True, text=True, check=False)
    return raw.Environment(
        release=os.uname().release,
        clocksource=clock.read_text().strip(),
        scheduler=(queue / "scheduler").read_text().strip(),
        nomerges=(queue / "nomerges").read_text().strip(),
        wbt_lat_usec=wbt.read_text().strip() if wbt.exists() else "",
        cpus=os.cpu_count() or 0,
        inline_completions=block_softirqs() - before < 500,
        fio=fio.stdout.strip(),
    )


# ---- the passes ----


def time_points(drivers: Drivers, chosen: list[Point], passes: int) -> Iterator[raw.Time]:
    """Each pass in an order of its own, so that what one run leaves to the next does not pass
    for a property of it."""
    for number in range(1, passes + 1):
        order = list(chosen)
        random.Random(number).shuffle(order)
        for done, point in enumerate(order):
            say(f"pass {number}: {done + 1}/{len(order)} {point.key}")
            for count in (point.row.short, point.row.long):
                yield raw.Time(point.key, number, count, *drivers.time(point, count))


def count_points(drivers: Drivers, chosen: list[Point]) -> Iterator[raw.Counts]:
    """A pass of its own: tracing costs instructions."""
    counter = SyscallCounter()
    with counter.on():
        for done, point in enumerate(chosen):
            say(f"counts: {done + 1}/{len(chosen)} {point.key}")
            for count in (point.row.short, point.row.long):
                switches, syscalls = context_switches(), counter.read()
                drivers.time(point, count)
                yield raw.Counts(
                    point=point.key,
                    count=count,
                    switches=context_switches() - switches,
                    syscalls=counter.read() - syscalls,
                )


def wanted_kinds(chosen: list[Point]) -> set[DiskKind]:
    """Disks that the points need."""
    return {point.row.disk for point in chosen}


def measure(results: Results, arguments: argparse.Namespace) -> None:
    """Everything, in order."""
    tools = Path(arguments.tools)
    chosen = [point for point in points() if point.key in arguments.points]
    nodes = make_disks(wanted_kinds(chosen)) | emulated_disks(arguments.nodes)
    caches = make_caches(wanted_kinds(chosen))
    nodes |= {kind: cache.node for kind, cache in caches.items()}
    drivers = Drivers(tools, nodes, copy_program("fio", Path("/tmp/fio")), caches)
    calm_down()
    results.add(environment(nodes, tools))
    if arguments.extras:
        for idle in extras.floor_before_spek(drivers, arguments.passes):
            results.add(idle)
    for module in ("spek", "spek_prober"):
        modules.load(Path(os.environ["SPEK_MODULES"], f"{module}.ko"))
    drivers.connect()
    for line in time_points(drivers, chosen, arguments.passes):
        results.add(line)
    for counts in count_points(drivers, chosen):
        results.add(counts)
    if arguments.profile:
        say("profiles")
        profile.record(Path(arguments.profile), chosen, drivers.time)
    for kind, cache in caches.items():
        say(f"restart of {kind}")
        results.add(restarts.restart(kind, cache))
    if arguments.extras:
        say("prober")
        for sampling in extras.sampling(drivers, arguments.passes):
            results.add(sampling)
        for loop in extras.open_loops(drivers):
            say(f"open loop: {loop.law} {loop.iops} IOPS, spinning {loop.spin_ns} ns")
            results.add(loop)
    results.add(raw.Done())


def scale(results: Results, _arguments: argparse.Namespace) -> None:
    """In a guest of its own, with two CPUs and a clock that runs as clocks do."""
    node, _item = make_null(DISK_MIB, **{**DISKS["plain"], "submit_queues": 2})
    calm_down()
    modules.load(Path(os.environ["SPEK_MODULES"], "spek.ko"))
    for line in extras.scaling(Drivers(Path(), {"plain": node}, []), node):
        results.add(line)
    results.add(raw.Done())


def share(results: Results, arguments: argparse.Namespace) -> None:
    """In a guest of its own, with two CPUs and a plugin that looks at their memory accesses."""
    node, _item = make_null(DISK_MIB, **{**DISKS["plain"], "submit_queues": 2})
    calm_down()
    modules.load(Path(os.environ["SPEK_MODULES"], "spek.ko"))
    sharing.record(Drivers(Path(), {"plain": node}, []), node, Path(arguments.sharing))
    results.add(raw.Done())


def notify(results: Results, arguments: argparse.Namespace) -> None:
    """In a guest of its own, with QEMU's disks, which QEMU traces to a file."""
    calm_down()
    modules.load(Path(os.environ["SPEK_MODULES"], "spek.ko"))
    nodes = emulated_disks(arguments.nodes)
    fio = copy_program("fio", Path("/tmp/fio"))
    for line in measure_kicks(Path(arguments.tools), fio, nodes, Path(arguments.trace)):
        results.add(line)
    results.add(raw.Done())


def main() -> int:
    """Measure."""
    # Where the clock jumps over idle time no limit holds: calm_down() ends udev.
    do_without_udev()
    parser = argparse.ArgumentParser()
    parser.add_argument("--results", required=True)
    parser.add_argument("--tools", default="")
    parser.add_argument("--passes", type=int, default=2)
    parser.add_argument("--points", nargs="*", default=[])
    parser.add_argument("--profile", default="", metavar="DIR")
    parser.add_argument("--extras", action="store_true")
    parser.add_argument("--scaling", action="store_true")
    parser.add_argument("--sharing", default="", metavar="DIR")
    parser.add_argument("--trace", default="", metavar="FILE")
    parser.add_argument("--nodes", nargs="*", default=[])
    arguments = parser.parse_args()
    what: Callable[[Results, argparse.Namespace], None] = measure
    if arguments.scaling:
        what = scale
    elif arguments.sharing:
        what = share
    elif arguments.trace:
        what = notify
    what(Results(Path(arguments.results)), arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())

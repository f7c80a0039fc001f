# SPDX-License-Identifier: GPL-2.0
"""On the host: `make bench`. Boots a guest for each kernel, measures, shows and keeps the result.

make bench ARGS="--kernels 6.1 --only spek-mq,floor-mq"
"""

from __future__ import annotations

import argparse
import datetime
import fnmatch
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec
from bench import core_cost, drive_cost, generation, measuring, notify, profile, raw, sharing, table
from bench.build import build_plugin, build_tools
from bench.cases import CACHES, EMULATED, points
from bench.commit import commit
from bench.figures import BrokenMeasurementError, bench_of
from bench.result import Bench

from spekctl.errors import SpekError
from spekctl.vm import profiler
from spekctl.vm.disks import Disk
from spekctl.vm.kernels import Kernel, find_kernel

ROOT = measuring.ROOT
KERNELS = "6.1,6.12"
LIMIT_S = 1800.0
EMULATED_APART = "emulated"
CACHES_APART = "caches"
MEMORY = "1G"
CACHES_MEMORY = "3G"  # with a second copy of their disks for a restart
# QEMU's disks take real time. While a guest waits for them its clock runs as clocks do: jumping to
# its next timer instead, it would take a disk of microseconds for one of minutes.
EMULATED_QEMU = ("-icount", "sleep=on")


def parse(arguments: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="make bench ARGS=...", description=__doc__)
    parser.add_argument("--kernels", default=KERNELS, help="default: %(default)s")
    parser.add_argument(
        "--only",
        default="",
        metavar="ROW,...",
        help="only these rows (spek-mq, floor-*) or figures (spek-mq/d1), and nothing else",
    )
    parser.add_argument("--passes", type=int, default=2, help="default: %(default)s")
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "bench", metavar="DIR")
    parser.add_argument(
        "--profile",
        action="store_true",
        help="also say which functions the instructions go to (needs --only)",
    )
    parser.add_argument(
        "--notifications",
        action="store_true",
        help="with --only: count the notifications of disks as well",
    )
    parser.add_argument(
        "--sharing",
        action="store_true",
        help="with --only: count the cache misses of two workers as well",
    )
    parser.add_argument("--list", action="store_true", help="name the figures and end")
    parsed = parser.parse_args(arguments)
    parsed.out = parsed.out.resolve()
    return parsed


def wanted_points(only: str) -> list[str]:
    """Keys of the points that @only names; SpekError for a word that names none."""
    keys = [point.key for point in points()]
    if not only:
        return keys
    wanted: set[str] = set()
    for word in only.split(","):
        named = [
            key
            for key in keys
            if fnmatch.fnmatch(key, word) or fnmatch.fnmatch(key.partition("/")[0], word)
        ]
        if not named:
            raise SpekError(f"there is no figure '{word}'; --list names them")
        wanted.update(named)
    return [key for key in keys if key in wanted]


def boot(
    kernel: Kernel,
    words: list[str],
    out: Path,
    apart: str = "",
    qemu: Sequence[str] = (),
    disks: Sequence[Disk] = (),
) -> list[raw.AnyLine]:
    """Measure in a guest; what it wrote.

    @apart: what is measured in a guest of its own; its clock runs as clocks do but for QEMU's
        disks and caches. Else instructions are counted.
    """
    icount = apart in ("", EMULATED_APART, CACHES_APART)
    results = out / f"{kernel.label}{'-' if apart else ''}{apart}.lines"
    results.write_bytes(b"")
    how = "counting instructions" if icount else "with two CPUs"
    print(f"bench: booting {kernel.release}, {how}", file=sys.stderr, flush=True)
    outcome = measuring.measure(
        kernel,
        ["bench.guest", "--results", str(results), *words],
        out,
        results.with_suffix(".console"),
        icount=icount,
        limit_s=LIMIT_S,
        disks=disks,
        qemu=qemu,
        memory=CACHES_MEMORY if apart == CACHES_APART else MEMORY,
    )
    if outcome.exit_status != 0:
        why = outcome.failure or f"the measurement ended with status {outcome.exit_status}"
        raise BrokenMeasurementError(f"{kernel.release}: {why}")
    print(f"bench: {outcome.seconds:.0f} s", file=sys.stderr, flush=True)
    return raw.read(results)


def nodes_of(disks: Sequence[Disk]) -> list[str]:
    """Arguments that name the guest's disks to it."""
    return ["--nodes", *(f"{{disk{number}}}" for number in range(1, len(disks) + 1))]


def boot_traced(kernel: Kernel, tools: Path, out: Path) -> list[raw.AnyLine]:
    """Count notifications of QEMU's disks."""
    trace = out / f"{kernel.label}.trace"
    trace.write_bytes(b"")
    words = ["--tools", str(tools), "--trace", str(trace)]
    words += nodes_of(notify.DISKS)
    qemu = notify.qemu_arguments(trace)
    return boot(kernel, words, out, "notifications", qemu, notify.DISKS)


def count_misses(kernel: Kernel, out: Path) -> dict[str, float]:
    """Of two workers, each other's, by function."""
    folder = out / f"{kernel.label}-sharing"
    folder.mkdir(exist_ok=True)
    plugin = ["-plugin", f"{build_plugin()},dir={folder}"]
    boot(kernel, ["--sharing", str(folder)], out, "sharing", plugin)
    return sharing.of_functions(folder)


def apart_of(key: str) -> str:
    """The guest in which the point with this key is measured: caches have threads of their own."""
    disk = next(point.row.disk for point in points() if point.key == key)
    if disk in EMULATED:
        return EMULATED_APART
    return CACHES_APART if disk in CACHES else ""


def measure(kernel: Kernel, keys: list[str], arguments: argparse.Namespace) -> Bench:
    """All figures of one kernel."""
    tools = build_tools(kernel)
    words = ["--tools", str(tools), "--passes", str(arguments.passes)]
    qemu = []
    if arguments.profile:
        words += ["--profile", str(arguments.out)]
        qemu = profiler.qemu_arguments(arguments.out)
    lines: list[raw.AnyLine] = []
    if not arguments.only or arguments.notifications:
        lines += boot_traced(kernel, tools, arguments.out)
    misses: dict[str, float] = {}
    if not arguments.only or arguments.sharing:
        misses = count_misses(kernel, arguments.out)
    if not arguments.only:
        if len(os.sched_getaffinity(0)) > 1:
            lines += boot(kernel, ["--scaling"], arguments.out, "scaling")
        else:
            told = "two workers to one is not measured: their CPUs would share one processor"
            print(f"bench: {told}", file=sys.stderr, flush=True)
    for apart in (EMULATED_APART, CACHES_APART, ""):
        chosen = [key for key in keys if apart_of(key) == apart]
        if not chosen:
            continue
        more = ["--points", *chosen, *(["--extras"] if not arguments.only and not apart else [])]
        if apart == EMULATED_APART:
            more += nodes_of(notify.DISKS)
            lines += boot(
                kernel, words + more, arguments.out, apart, [*qemu, *EMULATED_QEMU], notify.DISKS
            )
        else:
            lines += boot(kernel, words + more, arguments.out, apart, qemu)
    core, core_misses = ({}, {}) if arguments.only else core_cost.measure()
    return bench_of(
        lines,
        keys,
        core=core if arguments.only else core | drive_cost.measure(),
        core_misses=core_misses,
        generation=[] if arguments.only else generation.measure(),
        sharing=misses,
        created=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        commit=commit(),
    )


def main() -> int:
    """Measure on each kernel. Fails where something could not be measured, not where it is slow."""
    arguments = parse(sys.argv[1:])
    try:
        keys = wanted_points(arguments.only)
        if arguments.list:
            print("\n".join(keys))
            return 0
        if arguments.profile and not arguments.only:
            raise SpekError("--profile needs --only: a profile of everything says nothing")
        arguments.out.mkdir(parents=True, exist_ok=True)
        for word in arguments.kernels.split(","):
            kernel = find_kernel(word, installed=False)
            bench = measure(kernel, keys, arguments)
            path = arguments.out / f"{kernel.label}.json"
            path.write_bytes(msgspec.json.format(msgspec.json.encode(bench), indent=1) + b"\n")
            table.show(bench)
            if arguments.profile:
                print(
                    "\n".join(profile.show(arguments.out, {point.key: point for point in points()}))
                )
            print(f"bench: the result is {path}", file=sys.stderr)
    except (SpekError, BrokenMeasurementError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

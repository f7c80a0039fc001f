# SPDX-License-Identifier: GPL-2.0
"""What the core alone costs per operation: generation and completion, in instructions.

Counted by valgrind within the functions that the worker calls for each I/O, compiled as the kernel
compiles them. No guest, no kernel: the same for all of them. Valgrind's model of a cache says how
often their data are missed in it: a law whose table is larger than the cache needs no more
instructions, and takes longer all the same.

PYTHONPATH=tests .venv/bin/python -m bench.core_cost prints this table alone.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from fractions import Fraction
from pathlib import Path
from typing import Any

from bench.table import core_table
from lib.core.build import GENERATOR, KERNEL_LIKE
from lib.core.spekcore import (
    BLOCK,
    DRIVER,
    SMIX,
    Arrival,
    Asu,
    Stream,
    Workload,
    spc1,
)
from rich.console import Console

from spekctl.errors import SpekError
from spekctl.workload import laws

OPERATIONS, UNCOUNTED = 50_000, 1_000
# Data of a core of most CPUs: 32 KiB in 8 ways, lines of 64 bytes.
CACHE = "32768,8,64"
_GIB = 1 << 30
_CLOSED = Arrival(depth=32)
_POISSON = Arrival("poisson", rate=10_000)
_CURVE = [(0, 1_000), (1800, 20_000), (3600, 1_000)]
_STEEP = [(0, 0), (1, 10_000), (2, 0)]
_RUNS: dict[str, Any] = {
    "restart_bytes": _GIB // 2,
    "run_bytes": _GIB // 4,
    "run_align_bytes": 16 * BLOCK,
}

# Weights 1, 3, 1, 3...
_PARTS = [(_GIB // BLOCK // 256, (1 + i % 2 * 2) << 31) for i in range(256)]
_SLOTS = _GIB // BLOCK
_BUDGET = laws.PARTS_MAX - 1


def _one(stream: Stream, arrival: Arrival = _CLOSED) -> Workload:
    return Workload([Asu(_GIB)], [arrival], [stream])


def _table(parts: laws.Parts, spread: int = 1) -> Workload:
    return _one(Stream("table", parts=parts, spread=spread))


def workloads() -> dict[str, Workload]:
    """What is measured, by name."""
    return {
        "uniform": _one(Stream()),
        "uniform, 70 % reads": _one(Stream(read_ppm=700_000)),
        "uniform, mix of sizes": _one(Stream(sizes=SMIX, read_ppm=700_000)),
        "half sequential": _one(Stream(seq_ppm=500_000)),
        "sequential": _one(Stream("sequential")),
        "strided": _one(Stream("strided", stride_bytes=16 * BLOCK)),
        "strided, jitter": _one(Stream("strided", stride_bytes=16 * BLOCK, jitter_bytes=8 * BLOCK)),
        "backward": _one(Stream("backward")),
        "once": _one(Stream("once", range_bytes=_GIB * 3 // 4)),
        "table": _one(Stream("table", parts=_PARTS)),
        "table, spread": _one(Stream("table", parts=_PARTS, spread=1)),
        "zipf 1.2": _table(laws.zipf(_SLOTS, 1.2, _BUDGET)),
        "pareto 0.2": _table(laws.pareto(_SLOTS, 0.2, _BUDGET)),
        "normal": _table(laws.normal(_SLOTS, 0.1, 0.5, _BUDGET), spread=0),
        "zoned": _table(
            laws.zoned(_SLOTS, [(Fraction(3, 5), _SLOTS // 10), (Fraction(2, 5), _SLOTS)]), spread=0
        ),
        "hot band": _one(Stream("hotband", range_bytes=_GIB // 8)),
        "hot band, mix of sizes": _one(
            Stream("hotband", SMIX, read_ppm=700_000, range_bytes=_GIB // 8)
        ),
        "runs": _one(Stream("runs", **_RUNS)),
        "runs, mix of sizes": _one(Stream("runs", SMIX, **_RUNS)),
        "walk, reads": _one(Stream("walk")),
        "walk, writes": _one(Stream("walk", read_ppm=0)),
        "walk, 50 % reads": _one(Stream("walk", read_ppm=500_000)),
        "uniform, poisson": _one(Stream(), _POISSON),
        "uniform, constant": _one(Stream(), Arrival("constant", rate=10_000)),
        "uniform, bursts": _one(
            Stream(), Arrival("burst", burst_length=10, burst_interval_ns=1000)
        ),
        "uniform, poisson on a curve": _one(Stream(), Arrival("poisson", curve=_CURVE, repeats=1)),
        "uniform, constant on a curve": _one(
            Stream(), Arrival("constant", curve=_CURVE, repeats=1)
        ),
        "uniform, constant on a flat curve": _one(
            Stream(), Arrival("constant", curve=[(0, 10_000), (10, 10_000)])
        ),
        "uniform, poisson on a steep curve": _one(
            Stream(), Arrival("poisson", curve=_STEEP, repeats=1)
        ),
        "uniform, poisson on and off": _one(
            Stream(), Arrival("poisson", rate=10_000, on_ns=10**8, off_ns=10**8, tail_milli=1500)
        ),
        "uniform, constant on and off": _one(
            Stream(), Arrival("constant", rate=10_000, on_ns=10**8, off_ns=10**8, tail_milli=1500)
        ),
        "uniform, closed and capped": _one(Stream(), Arrival(depth=32, rate=1e9)),
        "SPC-1, 20 BSUs": spc1(20),
    }


def data() -> dict[str, Workload]:
    """Streams of writes of 4 KiB with data of their own, by name."""

    def writes(**shares: Any) -> Workload:
        return _one(Stream(read_ppm=0, own_data=1, **shares))

    return {
        "data, random": writes(),
        "data, compressible 50 %": writes(compressible_ppm=500_000),
        "data, duplicate 50 %": writes(duplicate_ppm=500_000),
        "data, fill of 4 bytes": writes(compressible_ppm=1_000_000, fill=b"\xde\xad\xbe\xef"),
        "data, zeroes": writes(compressible_ppm=1_000_000),
    }


def measure() -> tuple[dict[str, float], dict[str, float]]:
    """Instructions per operation by name, and of the laws misses of a cache for data."""
    if shutil.which("valgrind") is None:
        raise SpekError("counting the core's instructions needs valgrind; make bench installs it")
    driver = GENERATOR.build("driver-kernel-like", KERNEL_LIKE, [DRIVER])
    core, misses = {}, {}
    with tempfile.TemporaryDirectory(prefix="spek-bench-") as scratch:
        for name, workload in workloads().items():
            core[name], misses[name] = _cost(driver, workload.dump(Path(scratch, "workload")))
        for name, workload in data().items():
            core[name], _ = _cost(driver, workload.dump(Path(scratch, "workload")))
    return core, misses


def _cost(driver: Path, workload: Path) -> tuple[float, float]:
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    command += ["--instr-atstart=no", "--cache-sim=yes", f"--D1={CACHE}"]
    functions = ("gen_next", "gen_complete", "contents_write")
    command += [f"--toggle-collect=spek_{name}" for name in functions]
    command += [str(driver), str(workload), "1", "0", "1", str(OPERATIONS), str(UNCOUNTED)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    events = re.search(r"Events +: (.+)", done.stderr)
    counted = re.search(r"Collected : (.+)", done.stderr)
    if done.returncode or not events or not counted or not int(counted[1].split()[0]):
        raise SpekError(f"valgrind counted nothing: {done.stderr.strip().splitlines()[-1:]}")
    # Without the zeroes at the end.
    by_event = dict(zip(events[1].split(), map(int, counted[1].split()), strict=False))
    missed = by_event.get("D1mr", 0) + by_event.get("D1mw", 0)
    return by_event["Ir"] / OPERATIONS, missed / OPERATIONS


if __name__ == "__main__":
    Console(width=120).print(core_table(*measure()))

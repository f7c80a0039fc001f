# SPDX-License-Identifier: GPL-2.0
"""What the core alone costs per operation: generation and completion, in instructions.

Counted by valgrind within the two functions that the worker calls for each I/O, compiled as the
kernel compiles them. No guest, no kernel: the same for all of them.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from lib.core.spekcore import (
    BLOCK,
    DRIVER,
    KERNEL_LIKE,
    SMIX,
    Arrival,
    Asu,
    Stream,
    Workload,
    build,
    spc1,
)

from spekctl.errors import SpekError

OPERATIONS, UNCOUNTED = 50_000, 1_000
_GIB = 1 << 30
_CLOSED = Arrival(depth=32)
_POISSON = Arrival("poisson", rate=10_000)
_CURVE = [(0, 1_000), (1800, 20_000), (3600, 1_000)]
_RUNS = Stream(
    "runs", SMIX, restart_bytes=_GIB // 2, run_bytes=_GIB // 4, run_align_bytes=16 * BLOCK
)

# Weights 1, 3, 1, 3...
_PARTS = [(_GIB // BLOCK // 256, (1 + i % 2 * 2) << 31) for i in range(256)]


def _one(stream: Stream, arrival: Arrival = _CLOSED) -> Workload:
    return Workload([Asu(_GIB)], [arrival], [stream])


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
        "runs": _one(_RUNS),
        "walk": _one(Stream("walk", read_ppm=500_000)),
        "uniform, poisson": _one(Stream(), _POISSON),
        "uniform, constant": _one(Stream(), Arrival("constant", rate=10_000)),
        "uniform, bursts": _one(
            Stream(), Arrival("burst", burst_length=10, burst_interval_ns=1000)
        ),
        "uniform, poisson on a curve": _one(Stream(), Arrival("poisson", curve=_CURVE, repeats=1)),
        "uniform, constant on a curve": _one(
            Stream(), Arrival("constant", curve=_CURVE, repeats=1)
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


def measure() -> dict[str, float]:
    """Instructions per operation, by name."""
    if shutil.which("valgrind") is None:
        raise SpekError("counting the core's instructions needs valgrind; make bench installs it")
    driver = build("driver-kernel-like", KERNEL_LIKE, [DRIVER])
    with tempfile.TemporaryDirectory(prefix="spek-bench-") as scratch:
        return {
            name: _instructions(driver, workload.dump(Path(scratch, "workload")))
            for name, workload in workloads().items()
        }


def _instructions(driver: Path, workload: Path) -> float:
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    command += ["--instr-atstart=no"]
    command += [f"--toggle-collect=spek_gen_{name}" for name in ("next", "complete")]
    command += [str(driver), str(workload), "1", "0", "1", str(OPERATIONS), str(UNCOUNTED)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    counted = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or not counted or not int(counted[1]):
        raise SpekError(f"valgrind counted nothing: {done.stderr.strip().splitlines()[-1:]}")
    return int(counted[1]) / OPERATIONS

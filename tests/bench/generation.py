# SPDX-License-Identifier: GPL-2.0
"""How many operations per second one CPU generates, by the number of BSUs.

Beyond some thousand BSUs their state doesn't fit in the caches, which instructions don't show. It
is a time, of this machine and of what else runs there: the fastest of many short slices is nearly
free of others, the median is with them. `PYTHONPATH=tests python -m bench.generation` prints both.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from bench.result import Generation
from lib.core.build import GENERATOR, KERNEL_LIKE
from lib.core.spekcore import spc1

PROGRAM = Path(__file__).with_name("generate.c")
BSUS = (1, 50, 60_000)
# So that almost every replica has had its first I/O, which is dearer than others.
UNCOUNTED, SLICE, SLICES = 8_000_000, 20_000, 1_000


def measure() -> list[Generation]:
    """One for each number of BSUs."""
    program = GENERATOR.build("generate", KERNEL_LIKE, [PROGRAM])
    with tempfile.TemporaryDirectory(prefix="spek-bench-") as scratch:
        return [_measure(program, bsus, Path(scratch)) for bsus in BSUS]


def _measure(program: Path, bsus: int, scratch: Path) -> Generation:
    workload = spc1(bsus).dump(scratch / "workload")
    command = [str(program), str(workload), str(UNCOUNTED), str(SLICE), str(SLICES)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    fastest_ps, median_ps = (int(word) for word in done.stdout.split()[:2])
    return Generation(bsus=bsus, fastest_per_s=10**12 / fastest_ps, median_per_s=10**12 / median_ps)


if __name__ == "__main__":
    for figure in measure():
        print(
            f"{figure.bsus:6} BSUs: {figure.fastest_per_s / 1e6:.1f} million operations/s, "
            f"median {figure.median_per_s / 1e6:.1f}"
        )

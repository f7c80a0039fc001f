# SPDX-License-Identifier: GPL-2.0
"""What the core of the modelled drive costs per request: arrival, choice, access, accounts, end.

Instructions are counted by valgrind: the same on any machine and under any load. Requests per
second are a time, of this machine and of what else runs there; the fastest of many slices is nearly
free of others. `PYTHONPATH=tests python -m bench.drive_cost` prints both.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from lib.core.build import DRIVE, KERNEL_LIKE
from lib.core.drivecore import SHIM

from spekctl.errors import SpekError

PROGRAM = Path(__file__).with_name("drive.c")
# Arms and depth of the closed loop.
LOOPS = {
    "drive, 1 arm, depth 1": (1, 1),
    "drive, 1 arm, SPTF over 32": (1, 32),
    "drive, 4 arms, SPTF over 32": (4, 32),
}


def build() -> Path:
    """The program, compiled as the kernel compiles the core."""
    # Its time is a double, so that it may use what the kernel does not.
    flags = [flag for flag in KERNEL_LIKE if flag != "-mgeneral-regs-only"]
    return DRIVE.build(
        "drive-cost",
        [*flags, "-I", str(SHIM.parent)],
        [SHIM, SHIM.with_suffix(".h"), PROGRAM],
    )


def instructions(program: Path, arms: int, depth: int, requests: int = 10_000) -> float:
    """Instructions per request of a closed loop."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    command += ["--toggle-collect=shim_closed_loop"]
    command += [str(program), str(arms), str(depth), str(requests), "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    counted = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or not counted or not int(counted[1]):
        raise SpekError(f"valgrind counted nothing: {done.stderr.strip().splitlines()[-1:]}")
    return int(counted[1]) / requests


def per_second(program: Path, arms: int, depth: int, requests: int = 2_000_000) -> float:
    """Requests per second of CPU time."""
    command = [str(program), str(arms), str(depth), str(requests), "100"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(done.stdout.split()[0])


def measure() -> dict[str, float]:
    """Instructions per request, by name."""
    if shutil.which("valgrind") is None:
        raise SpekError("counting the core's instructions needs valgrind; make bench installs it")
    program = build()
    return {name: instructions(program, *loop) for name, loop in LOOPS.items()}


if __name__ == "__main__":
    program = build()
    for title, (arms, depth) in LOOPS.items():
        rate = per_second(program, arms, depth) / 1e6
        print(
            f"{title}: {instructions(program, arms, depth):.0f} instructions per request, "
            f"{rate:.2f} million requests/s"
        )

# SPDX-License-Identifier: GPL-2.0
"""What the core of the cache that lets disks sleep costs: entries of the map that a look-up looks
at, by the number of blocks, and instructions per bio, from submit to answer.

Both are counted: the same on any machine and under any load. Instructions are those of the core as
the kernel compiles it, without the I/O; so are those of recovery, by blocks of the SSD and by
records in the log. `PYTHONPATH=tests .venv/bin/python -m bench.augment_cost` prints them, and what
recovery is for an SSD of 1 TB; 10^8 blocks take 1.5 GB of memory and minutes, and
`bench.augment_cost 1000000` does with that many.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from lib.core.build import AUGMENT, KERNEL_LIKE

from spekctl.errors import SpekError

PROGRAM = Path(__file__).with_name("augment.c")
SIZES = (10**6, 10**7, 10**8)
PATTERNS = ("random", "sequential", "runs", "strided")
# What is called for a bio; a caller that writes makes headers of records, too.
CALLS = ("submit", "next_io", "encode", "complete", "next_answer", "begin_hit", "end_hit")
BIOS = 4096
RECOVERY_CALLS = ("choose", "init", "recover", "header_decode", "expects", "adopt")
# Blocks of the SSD, records in its log.
RECOVERY_SIZES = (200_000, 1_000_000)
RECORDS = 2000
LENGTHS = {"a record of a block": 1, "a record of 32 blocks": 32}
TB_BLOCKS = 10**12 // 4096
ORDINARY = 2e9  # instructions/s of a CPU, few for it


@dataclass(frozen=True, slots=True)
class Chains:
    """Entries that a look-up looks at."""

    hit: float
    miss: float
    longest: int
    bytes_per_block: float


# What is done, how many at a time, and blocks of a bio.
BIO_KINDS = {
    "read that hits, the caller's own": ("own", 32, 1),
    "read of 16 blocks that hits, the caller's own": ("own", 32, 16),
    "read that hits, depth 1": ("hit", 1, 1),
    "read that hits, depth 32": ("hit", 32, 1),
    "read of 16 blocks that hits, depth 32": ("hit", 32, 16),
    "read that misses, depth 32": ("miss", 32, 1),
    "write, depth 32": ("write", 32, 1),
    "write of 16 blocks, depth 32": ("write", 32, 16),
    "flush of nothing": ("flush", 1, 1),
}


def build() -> Path:
    """The program, compiled as the kernel compiles the core."""
    return AUGMENT.build("augment-cost", KERNEL_LIKE, [PROGRAM])


def chains(program: Path, blocks: int, pattern: str) -> Chains:
    """Chains of a map that is full of @blocks blocks."""
    done = subprocess.run(
        [program, "chains", str(blocks), pattern], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SpekError(f"the map was not filled: {done.stderr.strip()}")
    counted = {name: int(number) for name, number in re.findall(r"(\w+) (\d+)", done.stdout)}
    return Chains(
        hit=counted["hit"] / 1000,
        miss=counted["miss"] / 1000,
        longest=counted["longest"],
        bytes_per_block=counted["bytes"] / blocks,
    )


def collected(program: Path, calls: tuple[str, ...], *words: str | int) -> int:
    """Instructions in these calls of a run of the program."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    command += [f"--toggle-collect=spek_augment_{call}" for call in calls]
    command += [str(program), *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    counted = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or not counted:
        raise SpekError(f"valgrind counted nothing: {done.stderr.strip().splitlines()[-1:]}")
    return int(counted[1])


def instructions(program: Path, what: str, depth: int, blocks: int) -> float:
    """Instructions of the core per bio."""
    # Without what the start takes.
    more = collected(program, CALLS, what, depth, blocks, BIOS + depth)
    return (more - collected(program, CALLS, what, depth, blocks, depth)) / BIOS


def recovery(program: Path) -> dict[str, float]:
    """Instructions of recovery for each block of the SSD, and for each record."""
    small, large = RECOVERY_SIZES
    start = collected(program, RECOVERY_CALLS, "recover", small, 0, 0)
    more = collected(program, RECOVERY_CALLS, "recover", large, 0, 0) - start
    costs = {"a block of the SSD": more / (large - small)}
    for title, length in LENGTHS.items():
        with_log = collected(program, RECOVERY_CALLS, "recover", small, RECORDS, length)
        costs[title] = (with_log - start) / RECORDS
    return costs


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.augment_cost", description=__doc__)
    parser.add_argument(
        "blocks", type=int, nargs="*", default=SIZES, help="default: 10^6, 10^7 and 10^8"
    )
    sizes = parser.parse_args().blocks
    program = build()
    for blocks in sizes:
        for pattern in PATTERNS:
            seen = chains(program, blocks, pattern)
            print(
                f"{blocks} blocks, {pattern}: {seen.hit:.2f} entries for a block that is there, "
                f"{seen.miss:.2f} for one that is not, at most {seen.longest}; "
                f"{seen.bytes_per_block:.1f} bytes per block",
                flush=True,
            )
    if shutil.which("valgrind") is None:
        raise SpekError("counting the core's instructions needs valgrind; make bench installs it")
    for title, kind in BIO_KINDS.items():
        print(f"{title}: {instructions(program, *kind):.0f} instructions", flush=True)
    costs = recovery(program)
    for title, cost in costs.items():
        print(f"recovery, {title}: {cost:.1f} instructions")
    seconds = TB_BLOCKS * costs["a block of the SSD"] / ORDINARY
    print(
        f"recovery, {TB_BLOCKS:,} blocks of 1 TB: {seconds:.1f} s on a CPU of "
        f"{ORDINARY / 1e9:g} * 10^9 instructions/s, without the log"
    )


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: GPL-2.0
"""What the core of the cache that lets disks sleep costs: entries of the map that a look-up looks
at, by the number of blocks, and instructions per bio, from submit to answer.

Both are counted: the same on any machine and under any load. Instructions are those of the core as
the kernel compiles it, without the I/O; so are those of recovery, by blocks of the SSD and by
records in the log. `PYTHONPATH=tests .venv/bin/python -m bench.augment_cost` prints them, and what
recovery is for an SSD of 1 TB; 10^8 blocks take 1.5 GB of memory and minutes, and
`bench.augment_cost 1000000` does with that many. `--recover 244140625` recovers an SSD of so many
blocks, here 1 TB, with an empty log, and times it: 16 bytes of memory for each.
"""

from __future__ import annotations

import argparse
import re
import resource
import shutil
import subprocess
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from lib.core.build import AUGMENT, KERNEL_LIKE

from spekctl.errors import SpekError

PROGRAM = Path(__file__).with_name("augment.c")
SIZES = (10**6, 10**7, 10**8)
PATTERNS = ("random", "sequential", "runs", "strided")
# What is called for a bio; a caller that writes makes headers of records, too.
CALLS = ("submit", "next_io", "encode", "complete", "next_answer", "begin_hit", "end_hit")
BIOS = 4096
# Until it serves.
RECOVERY_CALLS = (
    *("choose", "init", "recover", "header_decode", "expects", "adopt"),
    *("start", "next_io", "encode", "complete"),
)
RECORDS = 2000  # in the log
LENGTHS = {"a record of a block": 1, "a record of 32 blocks": 32}
TB_BLOCKS = 10**12 // 4096
# Blocks of SSDs that have as many for each head of the hash, a power of 2, as that of 1 TB.
RECOVERY_SIZES = (TB_BLOCKS >> 10, TB_BLOCKS >> 8, TB_BLOCKS >> 6)
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


def recovery_per_block(program: Path) -> list[float]:
    """Instructions of recovery for each block by which an SSD is larger, from one size to the
    next: as many if recovery is linear."""
    costs = [collected(program, RECOVERY_CALLS, "recover", n, 0, 0) for n in RECOVERY_SIZES]
    steps = zip(pairwise(costs), pairwise(RECOVERY_SIZES), strict=True)
    return [(more - less) / (large - small) for (less, more), (small, large) in steps]


def recovery_s(program: Path, blocks: int) -> tuple[float, float]:
    """Seconds of a CPU to recover an SSD with an empty log: the core's, and those in which this
    machine's kernel gives its memory."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([program, "recover", str(blocks), "0", "0"], check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SpekError(f"an SSD of {blocks} blocks was not recovered")
    return after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime


def recovery(program: Path) -> dict[str, float]:
    """Instructions of recovery for each block of the SSD, and for each record."""
    small = RECOVERY_SIZES[0]
    start = collected(program, RECOVERY_CALLS, "recover", small, 0, 0)
    costs = {"a block of the SSD": recovery_per_block(program)[-1]}
    for title, length in LENGTHS.items():
        with_log = collected(program, RECOVERY_CALLS, "recover", small, RECORDS, length)
        costs[title] = (with_log - start) / RECORDS
    return costs


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.augment_cost", description=__doc__)
    parser.add_argument(
        "blocks", type=int, nargs="*", default=SIZES, help="default: 10^6, 10^7 and 10^8"
    )
    parser.add_argument("--recover", type=int, metavar="BLOCKS", help="recover an SSD, and end")
    arguments = parser.parse_args()
    program, sizes = build(), arguments.blocks
    if arguments.recover:
        core_s, memory_s = recovery_s(program, arguments.recover)
        print(
            f"recovery, {arguments.recover:,} blocks: {core_s:.2f} s of this CPU in the core, "
            f"{memory_s:.2f} s for its memory"
        )
        return
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

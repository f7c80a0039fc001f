# SPDX-License-Identifier: GPL-2.0
"""`make ab-proof`: how well `spekctl vm --ab` finds a path of an I/O that is 1 % longer.

Two kernels of one source are built: one plain, and one with 15 instructions more in the path of
every request (tests/debug/longer.patch). They are compared PAIRS times, as a user would compare
them; each comparison should be found worse. The same runs, paired within a kernel, are as many
comparisons of a kernel with itself; none should be found better or worse. A comparison takes four
boots, two per side, in the order A B B A, and no boot serves two comparisons of one sort.

Completed runs stay in the folder, so an interrupted proof resumes where it stopped.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lib.build import debug_kernel

from spekctl.campaigns import ab, folder
from spekctl.documents.verdict import Change, Comparison, Method
from spekctl.errors import SpekError
from spekctl.gate import compare, judged, metrics

ROOT = Path(__file__).resolve().parents[2]
PAIRS = 20
RUN = ("run", "random-read-4k", "--count", "50000", "--no-prober", "--device", "{disk1}")
METRIC = metrics.find(compare.PRIMARY[Method.COUNTS])
RULES = compare.Rules(METRIC, (), compare.TOLERANCE[Method.COUNTS], compare.ALPHA)


@dataclass(frozen=True, slots=True)
class Pair:
    """Files of the runs of one comparison."""

    a: tuple[Path, Path]
    b: tuple[Path, Path]


def unlike(place: Path, repetitions: int) -> Iterator[Pair]:
    """Plain kernel against longer one: one comparison for each repetition."""
    for first in range(1, 2 * repetitions, 2):
        a, b = ((place / f"{side}{first}.json", place / f"{side}{first + 1}.json") for side in "ab")
        yield Pair(a, b)


def alike(place: Path, repetitions: int) -> Iterator[Pair]:
    """Each kernel against itself: the four runs that it has in two repetitions, outer ones against
    inner ones, which is the order A B B A."""
    for first in range(1, 2 * repetitions - 2, 4):
        for side in "ab":
            runs = [place / f"{side}{first + i}.json" for i in range(4)]
            yield Pair((runs[0], runs[3]), (runs[1], runs[2]))


def judge(pair: Pair) -> Comparison:
    """The verdict of `spekctl compare --vary kernel`."""
    runs = judged.load([*pair.a, *pair.b])
    return compare.compare(runs[:2], runs[2:], RULES, vary=("kernel",))


def command(kernels: Sequence[Path], place: Path, repetitions: int) -> list[str]:
    """What plays the runs that @place lacks."""
    words = ["vm", "--ab", *map(str, kernels), "--folder", str(place)]
    words += ["--repetitions", str(repetitions), "--disk", "null_blk,size=1G"]
    words += ["--resume"] if (place / folder.STATE).exists() else []
    return [sys.executable, "-m", "spekctl", *words, "--", *RUN]


def shares(pairs: int, jobs: int) -> list[int]:
    """Repetitions of each job: even numbers, as two repetitions are two comparisons within each
    kernel."""
    twos, more = divmod(pairs // 2, jobs)
    return [2 * (twos + (job < more)) for job in range(jobs)]


def play(kernels: Sequence[Path], place: Path, pairs: int, jobs: int) -> list[tuple[Path, int]]:
    """Play all runs, @jobs at once; folders with their numbers of repetitions.

    SpekError: a job has failed; it has said why.
    """
    parts = [
        (place / f"part{number}", repetitions)
        for number, repetitions in enumerate(shares(pairs, jobs), start=1)
        if repetitions
    ]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "ctl")}
    started = [
        subprocess.Popen(
            command(kernels, part, repetitions),
            cwd=place,
            env=environment,
            stdout=subprocess.DEVNULL,
        )
        for part, repetitions in parts
    ]
    try:
        # Verdicts of all repetitions together are exit codes as well.
        codes = [player.wait() for player in started]
    finally:
        for player in started:
            player.terminate()
    for part, repetitions in parts:
        missing = [name for _side, name in ab.names(repetitions) if not (part / name).exists()]
        if missing:
            raise SpekError(f"{part} lacks {missing[0]} (exit codes {codes}); start again to go on")
    return parts


def told(title: str, comparisons: Sequence[Comparison]) -> Iterator[str]:
    """All comparisons of one sort as lines."""
    yield title
    for number, comparison in enumerate(comparisons, start=1):
        yield f"  {number:3}  {comparison.text}"
    counts = Counter(str(comparison.verdict) for comparison in comparisons)
    yield "  " + ", ".join(f"{counts[word]} {word}" for word in Change)


def main() -> int:
    """Build, play, judge. Fails if a comparison went wrong."""
    parser = argparse.ArgumentParser(prog="make ab-proof ARGS=...", description=__doc__)
    parser.add_argument("--pairs", type=int, default=PAIRS, help="even; default: %(default)s")
    parser.add_argument(
        "--jobs", type=int, default=len(os.sched_getaffinity(0)), help="default: %(default)s"
    )
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "ab-proof", metavar="DIR")
    arguments = parser.parse_args()
    if arguments.pairs < 2 or arguments.pairs % 2 or arguments.jobs < 1:
        parser.error("--pairs is an even number of at least 2, and --jobs of at least 1")
    place = arguments.out.resolve()
    place.mkdir(parents=True, exist_ok=True)
    try:
        kernels = [debug_kernel.find(variant) for variant in ("plain", "longer")]
        parts = play(kernels, place, arguments.pairs, arguments.jobs)
        changed = [judge(pair) for part in parts for pair in unlike(*part)]
        same = [judge(pair) for part in parts for pair in alike(*part)]
    except SpekError as error:
        print(f"ab-proof: {error.message}", file=sys.stderr)
        return 1
    print("\n".join(told("plain kernel against the longer one", changed)))
    print("\n".join(told("a kernel against itself", same)))
    caught = sum(comparison.verdict is Change.WORSE for comparison in changed)
    false = sum(comparison.verdict in (Change.WORSE, Change.BETTER) for comparison in same)
    print(f"found {caught} of {len(changed)}; A/A false {false} of {len(same)}")
    return 0 if caught == len(changed) and not false else 1


if __name__ == "__main__":
    sys.exit(main())

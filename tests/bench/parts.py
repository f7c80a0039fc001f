# SPDX-License-Identifier: GPL-2.0
"""python -m bench.parts FOLDER PART... --then PART...: draw the parts of `make figures`.

Each part is a word of .ci/figures; what it prints goes to FOLDER/figures.txt, too. Parts that are
complete are listed in FOLDER/parts.json with their times: after an interruption or a failure, the
next start draws only what is missing, and those of --then again, which are made of the others.
Once all are complete, it begins with an empty folder.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
from bench.commit import commit
from bench.papers import page
from lib.harness.process import LIBC

from spekctl import files
from spekctl.report.sheet import Grid

PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h
FILE = "parts.json"
TEXT = "figures.txt"
COLUMNS = ("part", "seconds", "CPU seconds", "commit", "result")


class Part(msgspec.Struct, forbid_unknown_fields=True):
    """How drawing it ended. @cpu_s: of all its processes, guests included; @code: exit code."""

    name: str
    wall_s: float
    cpu_s: float
    commit: str
    code: int


def load(folder: Path) -> list[Part]:
    """The parts that have been drawn; none before the first."""
    path = folder / FILE
    return msgspec.json.decode(path.read_bytes(), type=list[Part]) if files.exists(path) else []


def save(folder: Path, parts: Iterable[Part]) -> None:
    data = msgspec.json.format(msgspec.json.encode(list(parts)), indent=1)
    files.write(folder / FILE, data + b"\n")


def grid_of(parts: Sequence[Part]) -> Grid:
    """A row for each part, and their sum."""
    rows = [
        [
            part.name, f"{part.wall_s:.0f}", f"{part.cpu_s:.0f}", part.commit,
            f"exit code {part.code}" if part.code else "complete",
        ]
        for part in parts
    ]  # fmt: skip
    sums = [sum(part.wall_s for part in parts), sum(part.cpu_s for part in parts)]
    total = ["all", *(f"{seconds:.0f}" for seconds in sums), "", ""]
    return Grid("Time of each part", COLUMNS, [False, True, True, False, False], [*rows, total])


def _cpu_s() -> float:
    """Of all processes that were waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def adopt_orphans() -> None:
    """Become the parent of processes below whose own parents end first, as those of a guest do."""
    if LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError("the kernel refuses to make this process a subreaper")


def wait_for_orphans() -> None:
    """Their time counts once they have been waited for."""
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()


def draw(folder: Path, name: str) -> Part:
    """Draw one, print what it prints, and keep it in the folder's text."""
    begin_s, used_s = time.monotonic(), _cpu_s()
    command = [".ci/figures", name]
    with (
        open(folder / TEXT, "ab") as text,
        subprocess.Popen(command, stdout=subprocess.PIPE) as process,
    ):
        assert process.stdout is not None
        for line in process.stdout:
            text.write(line)
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()
    wait_for_orphans()
    wall_s, cpu_s = time.monotonic() - begin_s, _cpu_s() - used_s
    return Part(name, round(wall_s, 1), round(cpu_s, 1), commit(), process.returncode)


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="parts", description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where the figures go")
    parser.add_argument("parts", nargs="+", metavar="PART", help="words of .ci/figures")
    parser.add_argument("--then", nargs="+", default=[], metavar="PART", help="drawn after them")
    given = parser.parse_args(words)
    adopt_orphans()
    every = [*given.parts, *given.then]
    drawn = {part.name: part for part in load(given.folder) if not part.code}
    if drawn.keys() >= set(every):
        shutil.rmtree(given.folder)
        drawn = {}
    given.folder.mkdir(parents=True, exist_ok=True)
    for name in every:
        if name in drawn and name not in given.then:
            print(f"parts: {name} is complete", flush=True)
            continue
        drawn[name] = draw(given.folder, name)
        save(given.folder, drawn.values())
    parts = [drawn[name] for name in every]
    print("\n" + page.text_of(grid_of(parts)))
    failed = [part.name for part in parts if part.code]
    if failed:
        print(
            f"parts: {', '.join(failed)} failed; the next `make figures` draws what is missing",
            file=sys.stderr,
        )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

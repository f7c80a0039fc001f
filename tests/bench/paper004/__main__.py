# SPDX-License-Identifier: GPL-2.0
"""python -m bench.paper004 FOLDER: paper-004.html and paper-004.json, and a summary.

Simulates RAID 5 of four modelled disks alone, behind the core of spek-augment, and behind models
of stock caches, under stand-ins for the paper's traces and a week of a NAS. Some minutes; what has
been simulated is kept in the cache.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import msgspec
from bench.paper004 import loads, page
from bench.paper004.study import study

from spekctl import files
from spekctl.errors import SpekError
from spekctl.report.page import html


def traces(words: list[str]) -> dict[str, list[Path]]:
    """NAME=FILE, several of one name for several files of a trace."""
    given: dict[str, list[Path]] = {}
    for word in words:
        name, _, path = word.partition("=")
        if name not in loads.TRACES or not path:
            known = ", ".join(loads.TRACES)
            raise SpekError(f"--trace {word}: write NAME=FILE with a NAME out of {known}")
        given.setdefault(name, []).append(Path(path))
    return given


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="paper004", description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where the page and the numbers go")
    parser.add_argument("--count", type=int, default=60_000, help="requests per run (60000)")
    parser.add_argument("--seed", type=int, default=1, help="of the loads and disks (1)")
    trace = "the real trace in place of its stand-in; NAME is cello99 or websearch"
    parser.add_argument("--trace", action="append", default=[], metavar="NAME=FILE", help=trace)
    given = parser.parse_args(words)
    if given.count < 1000:
        parser.error("--count: at least 1000 requests")
    begin = time.monotonic()

    def tell(what: str) -> None:
        print(f"paper004: {time.monotonic() - begin:5.0f} s  {what}", file=sys.stderr, flush=True)

    try:
        result = study(given.count, given.seed, tell, traces(given.trace))
    except SpekError as error:
        print(f"paper004: {error}", file=sys.stderr)
        return 2
    given.folder.mkdir(parents=True, exist_ok=True)
    data = msgspec.json.format(msgspec.json.encode(result), indent=1)
    files.write(given.folder / "paper-004.json", data)
    files.write(given.folder / "paper-004.html", html([page.sheet_of(result)]))
    print(page.text_of(result))
    print(f"\n{given.folder}/paper-004.html, {time.monotonic() - begin:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())

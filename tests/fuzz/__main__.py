# SPDX-License-Identifier: GPL-2.0
"""make fuzz: long runs of fuzz targets.

    make fuzz                                  each target for a minute
    make fuzz ARGS="--time 3600 daq_csv"       one target for an hour
    make fuzz ARGS="--list"
    make fuzz ARGS="daq_csv --input out/fuzz/daq_csv-crash-..."    one input again

What they learn is kept in out/fuzz/TARGET; an input that breaks something in out/fuzz.
"""

from __future__ import annotations

import argparse
import os
import sys
from concurrent.futures import ThreadPoolExecutor

from fuzz import c_build, runner


def main() -> int:
    """Exit code 0: nothing was found."""
    parser = argparse.ArgumentParser(
        prog="make fuzz", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="all if left out")
    parser.add_argument("--time", type=int, default=60, help="seconds for each target")
    parser.add_argument("--seed", type=int, default=0, help="0: another one each time")
    parser.add_argument("--list", action="store_true", help="name the targets")
    parser.add_argument("--input", action="append", default=[], help="only run this file")
    options = parser.parse_args()
    if options.list:
        print("\n".join(runner.names()))
        return 0
    wanted = options.targets or runner.names()
    if unknown := [name for name in wanted if name not in runner.names()]:
        parser.error(f"there is no target {unknown[0]}; there are {', '.join(runner.names())}")
    if any(name in runner.C for name in wanted):
        c_build.program()

    def fuzz(name: str) -> runner.Outcome:
        if options.input:
            return runner.replay(name, [os.path.abspath(path) for path in options.input])
        words = [f"-max_total_time={options.time}", f"-seed={options.seed}", "-max_len=16384"]
        return runner.explore(name, words)

    bad = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for outcome in pool.map(fuzz, wanted):
            bad += outcome.code != 0
            print(f"{outcome.name}: {'ok' if not outcome.code else 'FAILED'}\n{outcome.summary}")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())

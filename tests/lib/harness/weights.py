# SPDX-License-Identifier: GPL-2.0
"""How long the files of guest tests take that any kernel could run: by that they are shared out
among the stock kernels, so that the guests of both are done at the same time.

    python -m lib.harness.weights out/tests

takes the durations of the last whole `make test` into weights.json. The table decides which kernel
a file runs on, so it changes only by this command.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

TABLE = Path(__file__).with_name("weights.json")


@dataclass
class Weights:
    """Guest-seconds. @bound: of the tests that each kernel has to run, by its label; @files: of
    those that any could run, by the name of their file without .py."""

    bound: dict[str, float] = field(default_factory=dict)
    files: dict[str, float] = field(default_factory=dict)

    def split(self, kernels: Sequence[str]) -> dict[str, str]:
        """Which of @kernels each of the files runs on: the longest first, each on the kernel that
        has the least to do."""
        load = {kernel: self.bound.get(kernel, 0.0) for kernel in kernels}
        places = {}
        for name, seconds in sorted(self.files.items(), key=lambda file: (-file[1], file[0])):
            places[name] = min(kernels, key=lambda kernel: load[kernel])
            load[places[name]] += seconds
        return places


def load() -> Weights:
    """The table; it is empty before the first run has been measured."""
    return msgspec.json.decode(TABLE.read_bytes(), type=Weights) if TABLE.exists() else Weights()


def measured(events: Iterable[Mapping[str, Any]], kernels: Sequence[str]) -> Weights:
    """The weights by @events of guests with @kernels, as inside.py writes them."""
    bound: defaultdict[str, float] = defaultdict(float)
    files: defaultdict[str, float] = defaultdict(float)
    for event in events:
        if event["event"] != "report":
            continue
        report = event["data"]
        path, _, identity = report["nodeid"].partition("::")
        words = identity.rstrip("]").partition("[")[2].split("-")
        kernel = next((kernel for kernel in kernels if kernel in words), None)
        if kernel and "any_kernel" in report["keywords"]:
            files[Path(path).stem] += report["duration"]
        elif kernel:
            bound[kernel] += report["duration"]
    return Weights(rounded(bound), rounded(files))


def rounded(seconds: Mapping[str, float]) -> dict[str, float]:
    """To whole seconds, the keys in their order."""
    return {name: float(round(seconds[name])) for name in sorted(seconds)}


def events_below(folder: Path) -> Iterable[dict[str, Any]]:
    """What the guests of the last run have written below @folder, out/tests."""
    for path in sorted(folder.glob("guest-*/results-*.jsonl")):
        for line in path.read_bytes().splitlines(keepends=True):
            if line.endswith(b"\n"):  # the guest may have died as it wrote the last one
                yield json.loads(line)


def main(words: Sequence[str]) -> int:
    from lib.harness.kernels import STOCK_KERNELS

    weights = measured(events_below(Path(words[0])), STOCK_KERNELS)
    if weights.bound.keys() != {*STOCK_KERNELS} or not weights.files:
        print(f"{words[0]} has no results of both stock kernels", file=sys.stderr)
        return 1
    before, after = load().split(STOCK_KERNELS), weights.split(STOCK_KERNELS)
    TABLE.write_bytes(msgspec.json.format(msgspec.json.encode(weights), indent=1) + b"\n")
    for kernel in STOCK_KERNELS:
        files = sum(weights.files[name] for name, place in after.items() if place == kernel)
        print(f"{kernel}: {weights.bound[kernel] + files:.0f} guest-seconds")
    moved = [name for name, place in before.items() if after.get(name) != place]
    print(f"files that move: {', '.join(moved) or 'none'}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

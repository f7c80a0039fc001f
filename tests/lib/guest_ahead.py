# SPDX-License-Identifier: GPL-2.0
"""What guests need before they boot, kept in the cache: kernels, and modules built for them.

    python -m lib.guest_ahead KERNEL...      (as after --kernels: 6.12, debug, LABEL=TREE)

makes it while others run, and says of each kernel in a line of JSON where it is or why it can't be
had.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from dataclasses import dataclass
from pathlib import Path

from lib import debug_kernel, debug_modules
from lib.disks_build import build_disks
from lib.guest_kernels import DEBUG_KERNELS

from spekctl.errors import SpekError
from spekctl.vm.kernels import find_kernel
from spekctl.vm.modules import build_modules


@dataclass(frozen=True)
class Prepared:
    """@source: what spekctl vm --kernel takes; @disks: the modules of tests/disks;
    @test_modules: of debug kernels."""

    source: str
    disks: Path
    test_modules: Path | None


def prepare(word: str) -> Prepared:
    """All of it for a kernel; made now or earlier. Raises SpekError."""
    label, source = word.partition("=")[0], word.rpartition("=")[2]
    variant = DEBUG_KERNELS.get(label)
    if variant:
        source = str(debug_kernel.find(variant))
    kernel = find_kernel(source)
    build_modules(kernel)
    test_modules = debug_modules.build(kernel) if variant else None
    return Prepared(source, build_disks(kernel), test_modules)


def answers(path: Path) -> dict[str, Prepared | str]:
    """What has been said so far of kernels, by label: what there is, or why there is nothing."""
    text = path.read_text()
    found: dict[str, Prepared | str] = {}
    for line in text[: text.rfind("\n") + 1].splitlines():
        answer = json.loads(line)
        if "error" in answer:
            found[answer["label"]] = answer["error"]
            continue
        modules = answer["test_modules"]
        found[answer["label"]] = Prepared(
            answer["source"], Path(answer["disks"]), Path(modules) if modules else None
        )
    return found


def main(words: list[str]) -> int:
    """Exit code 1: one of the kernels can't be had."""
    failed = 0
    for word in words:
        answer: dict[str, str | Path | None] = {"label": word.partition("=")[0]}
        try:
            answer |= dataclasses.asdict(prepare(word))
        except SpekError as error:
            answer["error"] = str(error)
            failed = 1
        print(json.dumps(answer, default=str), flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

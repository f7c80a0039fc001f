# SPDX-License-Identifier: GPL-2.0
"""What guests need before they boot, kept in the cache: kernels, and modules built for them.

    python -m lib.guest_ahead KERNEL...      (as after --kernels: 6.12, debug, LABEL=TREE)

makes it while others run; whoever needs it before it is done waits for the cache's locks.
"""

from __future__ import annotations

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
    label, _, source = word.rpartition("=")
    variant = DEBUG_KERNELS.get(label or source)
    if variant:
        source = str(debug_kernel.find(variant))
    kernel = find_kernel(source)
    build_modules(kernel)
    test_modules = debug_modules.build(kernel) if variant else None
    return Prepared(source, build_disks(kernel), test_modules)


def main(words: list[str]) -> int:
    """Exit code 1: one of the kernels can't be had, and why."""
    failed = 0
    for word in words:
        try:
            print(f"{word}: {prepare(word)}", flush=True)
        except SpekError as error:
            print(f"{word}: {error}", file=sys.stderr, flush=True)
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

# SPDX-License-Identifier: GPL-2.0
"""What guests need before they boot, kept in the cache: kernels, modules built for them, and
whether KVM runs them.

    python -m lib.harness.ahead [--all-warnings] KERNEL...
                                              (as after --kernels: 6.12, debug, newest, LABEL=TREE)

makes it while others run, and says of each kernel in a line of JSON where it is or why there is
none. With --all-warnings the modules for stock kernels are those that the tests of the build ask
for, which take longer to build and are built once for both.
"""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from lib.build import checked, debug_kernel, debug_modules
from lib.build.disks import build_disks
from lib.build.for_guests import ARCHITECTURE
from lib.harness.kernels import DEBUG_KERNELS, NEWEST, STOCK_KERNELS, architecture_of, source_of

from spekctl.errors import SpekError
from spekctl.vm.architecture import named, native
from spekctl.vm.kernels import Kernel, find_kernel
from spekctl.vm.modules import build_modules

ALL_WARNINGS = "--all-warnings"
TRY_KVM = """
import sys
from spekctl.vm.accel import choose_accel
from spekctl.vm.kernels import find_kernel
choose_accel(find_kernel(sys.argv[1]))
"""


@dataclass(frozen=True)
class Prepared:
    """@source: what spekctl vm --kernel takes; @disks: the modules of tests/disks;
    @test_modules: of debug kernels; @architecture: as for --arch."""

    source: str
    disks: Path
    test_modules: Path | None
    architecture: str


@dataclass(frozen=True)
class Missing:
    """@why: there is nothing to boot; @has_kernel: there is a kernel, and what is made for it
    could not be made."""

    why: str
    has_kernel: bool


def find(word: str) -> tuple[str, Kernel]:
    """Source and kernel of a @word of --kernels, fetched or built if need be. Raises SpekError."""
    variant = DEBUG_KERNELS.get(word.partition("=")[0])
    source = str(debug_kernel.find(variant)) if variant else source_of(word)
    return source, find_kernel(source, made_for=architecture_of(word))


def prepare(word: str, source: str, kernel: Kernel, all_warnings: bool) -> Prepared:
    """All that belongs to a kernel; made now or earlier. Raises SpekError."""
    label = word.partition("=")[0]
    variant = DEBUG_KERNELS.get(label)
    if kernel.architecture == native():
        # Not when the guest boots: the harness would take the trial's emulator for the guest's.
        with _trying_kvm:  # all answers are in one file
            # A process for it: what runs guests has handlers of signals. Where it fails, the guest
            # will say why.
            subprocess.run([sys.executable, "-c", TRY_KVM, source], check=False)
    if all_warnings and label in (*STOCK_KERNELS, NEWEST):
        checked.build_for_guests(kernel, label)
    build_modules(kernel)
    test_modules = debug_modules.build(kernel) if variant else None
    if kernel.architecture != native():
        environment = {**os.environ, **compiling_for(kernel.architecture.name)}
        command = [sys.executable, "-c", "import lib.guest.core, lib.guest.modelled"]
        subprocess.run(command, env=environment, check=True)
    return Prepared(source, build_disks(kernel), test_modules, kernel.architecture.name)


def compiling_for(architecture: str) -> dict[str, str]:
    """What has to be in the environment where cores for guests of another @architecture are made,
    and where they are looked for."""
    return {"CC": f"{named(architecture).prefix}gcc", ARCHITECTURE: architecture}


def answers(path: Path) -> dict[str, Prepared | Missing]:
    """What has been said so far of kernels, by label."""
    text = path.read_text()
    prepared: dict[str, Prepared | Missing] = {}
    for line in text[: text.rfind("\n") + 1].splitlines():
        answer = json.loads(line)
        if "error" in answer:
            prepared[answer["label"]] = Missing(answer["error"], answer["has_kernel"])
            continue
        modules = answer["test_modules"]
        prepared[answer["label"]] = Prepared(
            answer["source"],
            Path(answer["disks"]),
            Path(modules) if modules else None,
            answer["architecture"],
        )
    return prepared


def answer(word: str, all_warnings: bool, may_prepare: Callable[[], object] = lambda: None) -> bool:
    """Prepare a kernel and print its line; @may_prepare returns when what belongs to it may be
    made. Return: False if it has no guest."""
    words: dict[str, str | bool | Path | None] = {
        "label": word.partition("=")[0],
        "has_kernel": False,
    }
    try:
        source, kernel = find(word)
        words["has_kernel"] = True
        may_prepare()
        words |= dataclasses.asdict(prepare(word, source, kernel, all_warnings))
    except SpekError as error:
        words["error"] = str(error)
    line = json.dumps(words, default=str)
    with _printing:
        print(line, flush=True)
    return "error" not in words


_printing = threading.Lock()
_trying_kvm = threading.Lock()


def main(words: list[str]) -> int:
    """Exit code 1: one of the kernels has no guest.

    Kernels are fetched while debug kernels are built: one waits for a mirror, the other takes
    minutes of a processor, and a guest of the last kernel to be fetched need not wait for either.
    Modules for debug kernels wait until one fetched kernel has its own: a guest can start then,
    and is there half as early if the processor makes both.
    """
    all_warnings = words[:1] == [ALL_WARNINGS]
    words = words[1:] if all_warnings else words
    built = [word for word in words if word.partition("=")[0] in DEBUG_KERNELS]
    fetched = [word for word in words if word not in built]
    one_is_ready = threading.Event()

    def fetch() -> bool:
        answers = []
        try:
            for word in fetched:
                answers.append(answer(word, all_warnings))
                if answers[-1]:
                    one_is_ready.set()
        finally:
            one_is_ready.set()
        return all(answers)

    def build() -> bool:
        return all([answer(word, all_warnings, one_is_ready.wait) for word in built])

    with ThreadPoolExecutor() as pool:
        parts = [pool.submit(part) for part in (build, fetch)]
        return 0 if all([part.result() for part in parts]) else 1


def end_together() -> None:
    """Have SIGTERM end all that this process has started, which is in its group. It comes when the
    tests that want the kernels are killed: make and its compilers would finish for nobody."""

    def end(_number: int, _frame: object) -> None:
        os.killpg(0, signal.SIGKILL)

    # In a group of others, as of a shell, these are not this process's to end.
    if os.getpgrp() == os.getpid():
        signal.signal(signal.SIGTERM, end)


if __name__ == "__main__":
    end_together()
    sys.exit(main(sys.argv[1:]))

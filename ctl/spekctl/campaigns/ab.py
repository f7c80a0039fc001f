# SPDX-License-Identifier: GPL-2.0-or-later
"""`spekctl vm --ab`: one run in guests of two kernels, in the order A B B A.

Each run has a boot of its own. Its result is written under another name and renamed once the run
has completed, so the folder holds whole results only, and a resumption repeats none of them.
Profiles of the run in both kernels come last, one boot for each: that of a profile executes the
same instructions, but slowly.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from spekctl import files
from spekctl.campaigns import folder as campaign_folder
from spekctl.campaigns.profile import profile_of
from spekctl.documents import document
from spekctl.documents.document import Document, Kind, Part
from spekctl.documents.result import load_result
from spekctl.errors import (
    CalledOffError,
    ExitCode,
    GuestError,
    GuestTimeoutError,
    SpekError,
    UsageError,
)
from spekctl.vm.cache import cache_dir, digest_of
from spekctl.vm.kernels import Kernel
from spekctl.vm.runner import Outcome

SIDES = ("a", "b", "b", "a")
RUNNING = "running.json"
WORDS = {"kernel_a": "kernel A", "kernel_b": "kernel B", "disks": "--disk", "run": "run"}
_OUTPUT = ("-o", "--output")

# Boots the kernel of a side, which writes the result of the run to a file, and if there is a folder
# for it the parts of a profile.
Play = Callable[[str, Path, Path | None], Outcome]


class Parameters(Part, frozen=True, kw_only=True):
    """What all runs of a folder have in common."""

    kernel_a: str
    kernel_b: str
    disks: list[str]
    memory: str
    run: list[str]


class State(Document, frozen=True, kw_only=True, tag=Kind.AB_STATE.value):
    """The parameters of the results in a folder."""

    parameters: Parameters


def identity(kernel: Kernel, modules: Path) -> str:
    """A kernel by its release, image, and the folder of the modules built for it."""
    image = kernel.image
    return f"{kernel.release} (image {digest_of(image.parent, [image])}, modules {modules.name})"


def names(repetitions: int) -> list[tuple[str, str]]:
    """(side, file) of each run in the order of play: a1 b1 b2 a2, a3 b3 b4 a4."""
    counts = {"a": 0, "b": 0}
    order = []
    for side in SIDES * repetitions:
        counts[side] += 1
        order.append((side, f"{side}{counts[side]}.json"))
    return order


def check_command(command: Sequence[str]) -> None:
    """Refuse what leaves no result to compare."""
    if command[0] != "run":
        raise UsageError(f"--ab compares results of 'run', not of '{command[0]}'")
    for word in command[1:]:
        if word in _OUTPUT or word.startswith("--output="):
            raise UsageError("--ab names the results itself: leave out -o; --folder is their place")


def command_of(command: Sequence[str], result: Path) -> list[str]:
    """The run of @command with its result in @result."""
    return [command[0], _OUTPUT[0], str(result), *command[1:]]


def begin(folder: Path, parameters: Parameters, resume: bool) -> None:
    """Create the folder, or check that it is one of the same kernels and run; UsageError else."""
    path = folder / campaign_folder.STATE
    if resume:
        if not files.exists(path):
            raise UsageError(f"{folder} holds no test to resume; leave out --resume to start one")
        before = document.read(path, State).parameters
        campaign_folder.check_parameters(folder, before, parameters, WORDS)
        return
    if files.exists(path):
        raise UsageError(
            f"{folder} already holds a test: --resume continues it, another --folder starts a new"
            " one"
        )
    files.make_folder(folder)
    # Results of something else would pass for those of this test.
    for old in sorted(folder.glob("[ab][0-9]*.json")):
        raise UsageError(f"{folder} already holds {old.name}; choose another --folder")
    files.write(path, files.encode(State(parameters=parameters)))


def results(folder: Path, repetitions: int) -> tuple[list[Path], list[Path]]:
    """The results of A and of B."""
    order = names(repetitions)
    a, b = ([folder / name for letter, name in order if letter == side] for side in "ab")
    return a, b


def profiles(folder: Path) -> tuple[Path, Path]:
    """The profiles of A and of B."""
    return folder / "a-profile.json", folder / "b-profile.json"


def play_all(folder: Path, repetitions: int, play: Play, tell: Callable[[str], None]) -> None:
    """Play the runs that the folder lacks.

    CalledOffError: interrupted. GuestError: a guest failed or timed out. SpekError: its run failed.
    """
    order = names(repetitions)
    for number, (side, name) in enumerate(order, start=1):
        if files.exists(folder / name):
            continue
        tell(f"run {number} of {len(order)}: kernel {side.upper()}")
        running = folder / RUNNING
        running.unlink(missing_ok=True)
        try:
            _check(name, play(side, running, None), running)
            running.rename(folder / name)
        finally:
            running.unlink(missing_ok=True)


def play_profiles(folder: Path, play: Play, tell: Callable[[str], None]) -> None:
    """Make the profiles that the folder lacks; fails as play_all()."""
    for side, path in zip("ab", profiles(folder), strict=True):
        if files.exists(path):
            continue
        tell(f"profile of kernel {side.upper()}")
        running = folder / RUNNING
        try:
            with tempfile.TemporaryDirectory(prefix="profile-", dir=cache_dir("vm")) as parts:
                _check(path.name, play(side, running, Path(parts)), running)
                files.write(path, files.encode(profile_of(Path(parts))))
        finally:
            running.unlink(missing_ok=True)


def _check(name: str, outcome: Outcome, running: Path) -> None:
    """Refuse the outcome of a guest that leaves no complete result."""
    what = f"{name.removesuffix('.json')}: "
    status = outcome.exit_status
    if outcome.interrupted or status in (ExitCode.INTERRUPTED, ExitCode.TERMINATED):
        code = ExitCode.TERMINATED if status == ExitCode.TERMINATED else ExitCode.INTERRUPTED
        raise CalledOffError(f"{what}interrupted; --resume continues with this run", code)
    if status is None:
        if outcome.console:
            tail = f"; the last lines of its console:\n{outcome.console_tail()}"
        else:
            tail = ""
        kind = GuestTimeoutError if outcome.timed_out else GuestError
        raise kind(f"{what}{outcome.failure}{tail}")
    if status != ExitCode.OK:
        raise SpekError(f"{what}the run ended with exit code {status}; --resume repeats it")
    if not files.exists(running):
        raise SpekError(f"{what}the run wrote no result")
    result = load_result(running)
    if not result.outcome.ok:
        raise SpekError(f"{what}{result.outcome.text}")
    if not result.environment.counts_instructions:
        raise GuestError(f"{what}the guest does not count instructions")

# SPDX-License-Identifier: GPL-2.0-or-later
"""Which functions of the kernel execute more instructions per I/O than before, by two profiles.

A profile covers the whole guest from the start of a run to its end. Boot and user space add a
little noise to it, so changes below LEAST are not reported.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from spekctl.documents import document
from spekctl.documents.profile import Profile
from spekctl.documents.verdict import FunctionChange
from spekctl.errors import RefusedError
from spekctl.gate.judged import Run

LEAST = 0.5  # instructions per I/O


def between(paths: Sequence[Path], sides: Sequence[Sequence[Run]]) -> list[FunctionChange]:
    """The changes from the first of two profiles to the second, each of one side's kernel."""
    a, b = (document.read(path, Profile) for path in paths)
    for profile, path, side in zip((a, b), paths, sides, strict=True):
        check(profile, path, side)
    return changes(a, b)


def check(profile: Profile, path: Path, side: Sequence[Run]) -> None:
    """Refuse a profile that is not of the kernel and the workload of these runs."""
    result = side[0].result
    for what, has, wanted in (
        ("the kernel", profile.run.kernel, result.environment.kernel),
        ("the build", profile.run.kernel_version, result.environment.kernel_version),
        ("the workload", profile.run.workload, result.config.name),
        ("the driver", profile.run.drivers, [target.facts.driver for target in result.targets]),
    ):
        if has != wanted:
            raise RefusedError(
                f"{path} is not a profile of the run of {side[0].file}: {what} is {_told(has)}"
                f" there, and {_told(wanted)} here"
            )


def changes(a: Profile, b: Profile) -> list[FunctionChange]:
    """Functions that changed by LEAST or more; what grew comes first, most of all first."""
    before, after = (
        {function.function: function.per_io for function in side.functions} for side in (a, b)
    )
    shifts = [
        FunctionChange(name, before.get(name, 0.0), after.get(name, 0.0))
        for name in dict.fromkeys([*before, *after])
    ]
    shifts = [shift for shift in shifts if abs(shift.b - shift.a) >= LEAST]
    return sorted(shifts, key=lambda shift: (shift.a - shift.b, shift.function))


def _told(value: str | list[str]) -> str:
    return value if isinstance(value, str) else " ".join(value)

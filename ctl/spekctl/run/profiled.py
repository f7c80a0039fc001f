# SPDX-License-Identifier: GPL-2.0-or-later
"""A run in a guest whose instructions are counted: its marks, and what the host has to know."""

from __future__ import annotations

import os
from pathlib import Path

from spekctl import files
from spekctl.documents.profile import ProfiledRun
from spekctl.documents.result import Result
from spekctl.vm import marks

RUN = "run.json"


class Profiled:
    """Marks around a run, for a profiler that shares @folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._marks = marks.Marks()

    def mark(self) -> None:
        """The run starts, or has ended."""
        self._marks.set()

    def save(self, result: Result) -> None:
        """Tell the host what was counted."""
        marks.copy_names(self._folder)
        run = ProfiledRun(
            workload=result.config.name,
            devices=[target.facts.path for target in result.targets],
            drivers=[target.facts.driver for target in result.targets],
            kernel=result.environment.kernel,
            kernel_version=result.environment.kernel_version,
            ios=sum(phase.ios for phase in result.phases),
        )
        files.write(self._folder / RUN, files.encode(run))


def wanted() -> Profiled | None:
    """The profiler that the environment names, if any."""
    folder = os.environ.get(marks.VARIABLE)
    return Profiled(Path(folder)) if folder else None

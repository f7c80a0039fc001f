# SPDX-License-Identifier: GPL-2.0-or-later
"""Results as they are read for a verdict, and what of them goes into its document."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from spekctl import recorded
from spekctl.documents.document import timestamp
from spekctl.documents.result import Result, load_result
from spekctl.documents.verdict import Judged
from spekctl.errors import UsageError
from spekctl.kernel.records import Phase


@dataclass(frozen=True, slots=True)
class Run:
    """A result and its file."""

    path: Path
    result: Result

    @property
    def file(self) -> str:
        """The path as text."""
        return recorded.text(str(self.path))


def load(paths: Sequence[Path]) -> list[Run]:
    """Results from files; UsageError if two are of the same run: it would count twice."""
    runs = [Run(path, load_result(path)) for path in paths]
    seen: dict[tuple[str, int, int], Run] = {}
    for one in runs:
        start = one.result.start
        identity = (one.result.environment.boot_id, start.monotonic_ns, start.realtime_ns)
        other = seen.setdefault(identity, one)
        if other is not one:
            raise UsageError(f"{other.file} and {one.file} are results of the same run")
    return runs


def described(runs: Sequence[Run], prefix: str = "") -> list[Judged]:
    """What a verdict says of these runs. Names are words of letters, digits, _ and -."""
    names: dict[str, None] = {}
    for run in runs:
        word = prefix + (re.sub(r"[^a-zA-Z0-9_-]+", "_", run.path.stem).strip("_") or "run")
        name, count = word, 1
        while name in names:
            count += 1
            name = f"{word}-{count}"
        names[name] = None
    return [_described(run, name) for run, name in zip(runs, names, strict=True)]


def _described(run: Run, name: str) -> Judged:
    result = run.result
    durations = [one.duration_ns for one in result.phases if one.phase == Phase.MEASURE]
    return Judged(
        file=run.file,
        name=name,
        run=result.run,
        started=timestamp(result.start.realtime_ns),
        duration_ns=sum(durations),
        workload=result.config.name,
        devices=[one.facts.path for one in result.targets],
        hostname=result.environment.hostname,
        kernel=result.environment.kernel,
        ok=result.outcome.ok,
        text=result.outcome.text,
    )

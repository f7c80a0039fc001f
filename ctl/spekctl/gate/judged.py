# SPDX-License-Identifier: GPL-2.0-or-later
"""Results as they are read for a verdict, and what of them goes into its document."""

from __future__ import annotations

import re
import stat
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from spekctl import recorded
from spekctl.documents.document import timestamp
from spekctl.documents.result import Result, decode_result, load_result
from spekctl.documents.verdict import Judged, Unjudged
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


# The name of standard input as a file, and what messages call it.
_STDIN = Path("-")
_STDIN_TOLD = Path("standard input")


def load(paths: Sequence[Path]) -> list[Run]:
    """Results from files; UsageError if two are of the same run: it would count twice."""
    runs, failures = load_each(paths)
    if failures:
        raise UsageError(failures[0].text)
    return runs


@dataclass(frozen=True, slots=True)
class Failure:
    """A file that holds no result, or one that cannot be judged, and why."""

    path: Path
    text: str


def load_each(paths: Sequence[Path]) -> tuple[list[Run], list[Failure]]:
    """The results that can be judged, and the files that hold none."""
    runs: list[Run] = []
    failures: list[Failure] = []
    seen: dict[tuple[str, int, int, int], Run] = {}
    for path in paths:
        try:
            run = _read(path)
            result, start = run.result, run.result.start
            # Runs side by side have one start.
            boot = result.environment.boot_id
            identity = (boot, result.run, start.monotonic_ns, start.realtime_ns)
            first = seen.setdefault(identity, run)
            if first is not run:
                raise UsageError(f"{first.file} and {run.file} are results of the same run")
        except UsageError as error:
            told = _STDIN_TOLD if path == _STDIN else path
            failures.append(Failure(told, recorded.text(error.message)))
        else:
            runs.append(run)
    return runs, failures


def _read(path: Path) -> Run:
    """A result from a file, or from a pipe, which can be read only once."""
    try:
        if path == _STDIN:
            return _decoded(_STDIN_TOLD, sys.stdin.buffer.read())
        if not stat.S_ISFIFO(path.stat().st_mode):
            return Run(path, load_result(path))
        return _decoded(path, path.read_bytes())
    except FileNotFoundError:
        return Run(path, load_result(path))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error


def _decoded(path: Path, data: bytes) -> Run:
    if not data.strip():
        raise UsageError(f"{path} is empty; expected a result of a run")
    return Run(path, decode_result(path, data))


def names_of(paths: Sequence[Path], prefix: str = "") -> list[str]:
    """The names of files as words of letters, digits, _ and -, each unlike all others."""
    names: dict[str, None] = {}
    for path in paths:
        word = prefix + (re.sub(r"[^a-zA-Z0-9_-]+", "_", path.stem).strip("_") or "run")
        name, count = word, 1
        while name in names:
            count += 1
            name = f"{word}-{count}"
        names[name] = None
    return list(names)


def described(runs: Sequence[Run], prefix: str = "") -> list[Judged]:
    """What a verdict says of these runs."""
    names = names_of([run.path for run in runs], prefix)
    return [_described(run, name) for run, name in zip(runs, names, strict=True)]


def unjudged(failures: Sequence[Failure], runs: Sequence[Run]) -> list[Unjudged]:
    """What a verdict says of files without a result, whose names are unlike those of @runs."""
    paths = [*(run.path for run in runs), *(failure.path for failure in failures)]
    names = names_of(paths)[len(runs) :]
    return [
        Unjudged(recorded.text(str(failure.path)), name, failure.text)
        for failure, name in zip(failures, names, strict=True)
    ]


def _described(run: Run, name: str) -> Judged:
    result = run.result
    failed = result.failure
    durations = [phase.duration_ns for phase in result.phases if phase.phase == Phase.MEASURE]
    return Judged(
        file=run.file,
        name=name,
        run=result.run,
        started=timestamp(result.start.realtime_ns),
        duration_ns=sum(durations),
        workload=result.config.name,
        devices=[target.facts.path for target in result.targets],
        hostname=result.environment.hostname,
        kernel=result.environment.kernel,
        ok=not failed,
        text=failed or result.outcome.text,
    )

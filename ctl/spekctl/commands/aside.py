# SPDX-License-Identifier: GPL-2.0-or-later
"""Older files under the names that a command writes to.

A program that reads FILE after a command with -o FILE must not take an older result for that of the
command. So once options are parsed, and before anything else is done or checked, a result that is
there becomes FILE~: a command that is refused, fails or is killed leaves no FILE.
"""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from spekctl.errors import OverwriteError, SpekError

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

# Commands with results that measure, and so may be carried out in a guest.
_IN_GUESTS = ("run", "sweep", "verify")


def replaces_older(function: F, outputs: Sequence[str]) -> F:
    """@function of a command, which writes the files of its parameters @outputs."""

    @functools.wraps(function)
    def started(*args: Any, **given: Any) -> Any:
        if given.get("dry_run"):
            return function(*args, **given)
        inputs = list(_files(value for name, value in given.items() if name not in outputs))
        paths = [given[name] for name in outputs if isinstance(given.get(name), Path)]
        if isinstance(prefix := given.get("fio_logs"), Path):
            from spekctl.exports import fio_logs

            paths += fio_logs.paths(prefix).values()
        return carry_out(paths, inputs, lambda: function(*args, **given))

    return started  # type: ignore[return-value]


def replaces_older_in_guest(function: F) -> F:
    """@function of `spekctl vm`, which has a guest carry out the words of parameter ``command``."""

    @functools.wraps(function)
    def started(*args: Any, **given: Any) -> Any:
        words: Sequence[str] = given["command"]
        if given["plain"] or words[0] not in _IN_GUESTS or "--dry-run" in words:
            return function(*args, **given)
        # The option is given as in words that a user writes, not in every way that click takes.
        paths = [
            Path(word.partition("=")[2] if "=" in word else following)
            for word, following in itertools.zip_longest(words, words[1:], fillvalue="")
            if word in ("-o", "--output") or word.startswith("--output=")
        ]
        inputs = [file for file in _files(words) if file not in paths]
        return carry_out(paths, inputs, lambda: function(*args, **given))

    return started  # type: ignore[return-value]


def carry_out(
    paths: Sequence[Path],
    inputs: Sequence[Path],
    work: Callable[[], T],
    *,
    any_kind: bool = False,
) -> T:
    """@work, which writes @paths, reads @inputs, and returns an exit code. @any_kind: set aside
    files of every kind first, where @inputs are all files that @work may read."""
    # A file that the command reads stays: the command refuses to overwrite it.
    olds = [Old.at(path) for path in paths if not any(_same(path, file) for file in inputs)]
    for old in olds:
        old.set_aside_first(any_kind)
    failed = True
    try:
        code = work()
        failed = bool(code)
        return code
    except OverwriteError:
        failed = False
        raise
    finally:
        if failed:
            for old in olds:
                old.set_aside_if_left()


@dataclass(frozen=True, slots=True)
class Old:
    """What is at @path before a command. @status: of the file; None: there is none."""

    path: Path
    status: os.stat_result | None

    @classmethod
    def at(cls, path: Path) -> Old:
        from spekctl import files

        return cls(path, files.status_of_older(path))

    def set_aside_first(self, any_kind: bool) -> None:
        """At the start: a result, or any other JSON. A file of another kind may be one that the
        workload names, as a trace, and nobody takes it for a result: only @any_kind includes it."""
        if self.status is None:
            return
        from spekctl import files

        if any_kind or _is_json(self.path):
            files.set_aside(self.path)

    def set_aside_if_left(self) -> None:
        """At the end of a command that failed: the old file, whatever it is, unless the command
        has replaced it. Its failure is reported by others."""
        if self.status is None:
            return
        from spekctl import files

        now = files.status_of_older(self.path)
        if now is None or not os.path.samestat(now, self.status):
            return
        try:
            files.set_aside(self.path)
        except SpekError as error:
            click.echo(f"spekctl: {error.message}", err=True)


def _is_json(path: Path) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(4096).lstrip().startswith(b"{")
    except OSError:
        # Somebody who may read it may take it for the result.
        return True


def _files(values: Iterable[Any]) -> Iterator[Path]:
    """Files that the values of parameters may name."""
    for value in values:
        if isinstance(value, Path):
            yield value
        elif isinstance(value, str):
            yield Path(value)
            # As in fio:FILE#JOB.
            yield Path(value.partition(":")[2].partition("#")[0])
        elif isinstance(value, list | tuple):
            yield from _files(value)


def _same(path: Path, another: Path) -> bool:
    try:
        return path.samefile(another)
    except (OSError, ValueError):
        return False

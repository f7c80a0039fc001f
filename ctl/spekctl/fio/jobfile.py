# SPDX-License-Identifier: GPL-2.0-or-later
"""Sections and options of a job file: HOWTO.rst, section "Job file format".

Sections whose names begin with "global" hold defaults of the jobs after them. What follows a ; or #
is a comment, even within a value, `include FILE` reads options of another file in place, ${NAME} is
a variable of the environment, and $ncpus, $pagesize and $mb_memory are numbers of the machine.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from spekctl import files, recorded
from spekctl.errors import UsageError, at
from spekctl.fio.options import ALIASES

# As deep as fio follows them.
_DEEPEST = 16
_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_OF_MACHINE = re.compile(r"\$(pagesize|mb_memory|ncpus)\b")
# Given again, they add to the files that are there already.
_ADDED = frozenset(("filename",))


@dataclass(slots=True)
class Job:
    """A section with its options under their long names; None: an option without a value.

    The options are in the order in which they were last given.
    """

    name: str
    options: dict[str, str | None] = field(default_factory=dict)


def read(path: Path, before: dict[str, str | None] | None = None) -> list[Job]:
    """The jobs of a file; @before: defaults that it begins with. UsageError names the file, the
    line and what is wrong."""
    jobs: list[Job] = []
    defaults = dict(before or {})
    current: dict[str, str | None] | None = None
    for place, line in _lines(path, 0):
        with at(place):
            if line.startswith("["):
                name = _section(line)
                if name.startswith("global"):
                    current = defaults
                else:
                    jobs.append(Job(name, dict(defaults)))
                    current = jobs[-1].options
                continue
            if current is None:
                raise UsageError("an option before the first [section]")
            key, equals, value = line.partition("=")
            key = key.strip().lower()
            if not re.fullmatch(r"[a-z0-9_-]+", key):
                raise UsageError(f"'{line[:40]}' is not an option; write NAME=VALUE")
            key = ALIASES.get(key, key)
            put(current, key, _value(value.strip()) if equals else None)
    if not jobs:
        raise UsageError(f"{recorded.text(str(path))}: there is no job: no section but [global]")
    return jobs


def put(options: dict[str, str | None], key: str, value: str | None) -> None:
    """Give an option, by its long name, behind those that are there."""
    before = options.pop(key, None)
    if before and value and key in _ADDED:
        value = f"{before}:{value}"
    options[key] = value


def _lines(path: Path, depth: int) -> Iterator[tuple[str, str]]:
    """(file and line, text) of each line with an option, includes in their places."""
    name = recorded.text(str(path))
    if depth > _DEEPEST:
        raise UsageError(f"{name} is included more than {_DEEPEST} deep")
    for number, line in enumerate(files.read_text(path).splitlines(), start=1):
        stripped = re.split("[;#]", line, maxsplit=1)[0].strip()
        if not stripped:
            continue
        place = f"{name}:{number}"
        include = re.fullmatch(r"include\s+(\S.*)", stripped)
        if include:
            included = Path(include[1])
            yield from _lines(included if included.exists() else path.parent / included, depth + 1)
        elif stripped.startswith("[") and depth:
            raise UsageError(f"{place}: a section in an included file: fio takes options only")
        else:
            yield place, stripped


def _section(line: str) -> str:
    match = re.match(r"\[([^]]+)\]", line)
    if match is None:
        raise UsageError(f"'{line[:40]}' is not a section; write [NAME]")
    return match[1]


def _value(text: str) -> str:
    def variable(match: re.Match[str]) -> str:
        value = os.environ.get(match[1])
        if value is None:
            raise UsageError(f"the variable {match[1]} is not set")
        return value

    replaced = _VARIABLE.sub(variable, text)
    of_machine = _OF_MACHINE.sub(lambda match: str(_machine(match[1])), replaced)
    # As fio, whose calculator then gets the value.
    calculated = of_machine != replaced and re.search(r"[-+*/]", of_machine)
    return f"({of_machine})" if calculated else of_machine


def _machine(name: str) -> int:
    """A number of the machine that imports, as fio takes it from the machine that runs."""
    if name == "ncpus":
        return os.cpu_count() or 1
    page = os.sysconf("SC_PAGE_SIZE")
    return page if name == "pagesize" else page * os.sysconf("SC_PHYS_PAGES") >> 20

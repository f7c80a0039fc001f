# SPDX-License-Identifier: GPL-2.0-or-later
"""Definitions of a parameter file: the guide of vdbench 5.04, chapters 1.12 to 1.17.

A line holds parameters KEYWORD=VALUE with commas between them; the first one says what is defined.
A line that ends with a comma goes on in the next one, as does one of which the next begins with a
blank. Lines that begin with *, # or / are comments; what follows a blank is one, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from spekctl import files, recorded
from spekctl.errors import UsageError, at


@dataclass(slots=True)
class Definition:
    """A definition: its kind (sd), its name, and parameters with their values in order."""

    kind: str
    name: str
    given: dict[str, list[str]] = field(default_factory=dict)


# What an SD, WD or RD named default is for: the definitions after it.
DEFAULT = "default"
KINDS = ("hd", "sd", "wd", "rd", "fsd", "fwd")


def read(path: Path) -> list[Definition]:
    """The definitions, defaults filled in; parameters of the whole file have the kind ''."""
    name = recorded.text(str(path))
    found: list[Definition] = []
    defaults: dict[str, dict[str, list[str]]] = {}
    for number, line in _lines(files.read_text(path)):
        with at(f"{name}:{number}"):
            one = _definition(line)
        if one.name == DEFAULT:
            defaults[one.kind] = one.given
        else:
            one.given = {**defaults.get(one.kind, {}), **one.given}
            found.append(one)
    if not any(one.kind in KINDS for one in found):
        raise UsageError(f"{name}: there is no definition: no line begins with sd=, wd= or rd=")
    return found


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Numbers and texts of whole lines."""
    whole, first = "", 0
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.split()
        if not words or words[0][0] in "*#/":
            continue
        if whole and not (whole.endswith(",") or line[0].isspace()):
            yield first, whole.rstrip(",")
            whole = ""
        if not whole:
            first = number
        elif not whole.endswith(","):
            whole += ","
        whole += words[0]
    if whole:
        yield first, whole.rstrip(",")


def _definition(line: str) -> Definition:
    parameters = [_parameter(one) for one in _split(line)]
    if not parameters:
        raise UsageError(f"'{line[:40]}' is not a parameter; write NAME=VALUE")
    key, values = parameters[0]
    if key in KINDS:
        if len(values) != 1:
            raise UsageError(f"{key}: a definition has one name")
        return Definition(key, values[0], dict(parameters[1:]))
    return Definition("", key, dict(parameters))


def _parameter(text: str) -> tuple[str, list[str]]:
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise UsageError(f"'{text[:40]}' is not a parameter; write NAME=VALUE")
    if value.startswith("(") != value.endswith(")"):
        raise UsageError(f"'{text[:40]}' has a parenthesis that is not closed")
    values = value.removeprefix("(").removesuffix(")").split(",")
    return key.lower(), [one.strip("\"'") for one in values]


def _split(line: str) -> list[str]:
    """The parts between commas outside parentheses."""
    parts, depth = [""], 0
    for letter in line:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [one for one in parts if one]

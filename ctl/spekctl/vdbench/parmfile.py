# SPDX-License-Identifier: GPL-2.0-or-later
"""Definitions of a parameter file, read as vdbench 5.04 reads them.

Parameters are KEYWORD=VALUE with commas between them. Those of the whole file come first, then
hosts (HD), storage (SD), workloads (WD) and runs (RD), in this order: after the first WD, sd= is a
parameter of a WD, and after the first RD, wd= and sd= are parameters of an RD. A parameter belongs
to the definition before it, on the same line or not.

A line ends at its first blank outside double quotes; one that then ends with a comma continues on
the next one. Lines that begin with *, # or / are comments. A line that begins with eof ends the
file. include=FILE stands for the lines of another file, which includes no further ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from spekctl import files, recorded
from spekctl.errors import UsageError, at
from spekctl.units import LONGEST_NUMBER
from spekctl.vdbench.keywords import full_name


@dataclass(slots=True)
class Definition:
    """A definition: its kind (sd), its name, and parameters with their values in order.

    @hosts: of an SD with hosts of its own, those of each lun, in the order of the luns
    """

    kind: str
    name: str
    given: dict[str, list[str]] = field(default_factory=dict)
    hosts: list[list[str]] = field(default_factory=list)


# What an SD, WD or RD named default is for: the definitions after it.
DEFAULT = "default"
KINDS = ("hd", "rg", "sd", "fsd", "wd", "fwd", "rd")
# Kinds of which a definition begins inside one of another kind; the rest are its parameters.
_BEGIN: dict[str, tuple[str, ...]] = {
    "": KINDS,
    "hd": KINDS,
    "rg": KINDS,
    "sd": ("sd", "wd", "fwd", "rd"),
    "fsd": ("fsd", "wd", "fwd", "rd"),
    "wd": ("wd", "fwd", "rd"),
    "fwd": ("fwd", "rd"),
    "rd": ("rd",),
}
# Commas, equals signs and dashes in double quotes are no marks; nor are blanks.
_QUOTED = str.maketrans({" ": "\ue000", ",": "\ue001", "=": "\ue002", "-": "\ue003"})
_UNQUOTED = {0xE000: " ", 0xE001: ",", 0xE002: "=", 0xE003: "-"}
_NUMBER = re.compile(r"([0-9]+(?:\.[0-9]+)?)([kmgt]?)b?(%?)", re.ASCII | re.IGNORECASE)
_NUMBERED = re.compile(r"(.*?)([0-9]+)", re.ASCII | re.DOTALL)
_VALUES_MAX = 10000
# Parameters in whose values a dash is a letter.
_NO_RANGES = ("host", "hd", "lun", "system", "replay", "misc", "seekpct")


def read(path: Path) -> list[Definition]:
    """The definitions, defaults filled in; parameters of the whole file are of one definition of
    kind ''. That of an SD, WD or RD named default is the last one with this name."""
    name = recorded.text(str(path))
    whole = Definition("", "")
    definitions, current = [whole], whole
    defaults: dict[str, Definition] = {}
    for place, text in _parameters(path):
        with at(place):
            key, values = _parameter(text)
            kind = "hd" if key == "host" and current.kind in ("", "hd") else key
            if kind in _BEGIN[current.kind]:
                if len(values) != 1:
                    raise UsageError(f"{key}: a definition has one name")
                current = _begin(kind, values[0].translate(_UNQUOTED), defaults, definitions)
                continue
            key = full_name(current.kind, key)
            if text.partition("=")[2].startswith("("):
                values = _ranges(key, values)
            values = [value.translate(_UNQUOTED) for value in values]
            # A parameter given again replaces the former, and is the last loop of a run.
            before = current.given.pop(key, [])
            current.given[key] = [*before, *values] if key == "lun" else values
            if (current.kind, key) == ("sd", "host") and current.name != DEFAULT:
                current.hosts.append(values)
                current.given[key] = [host for hosts in current.hosts for host in hosts]
    if len(definitions) == 1:
        raise UsageError(f"{name}: there is no definition: no line begins with sd=, wd= or rd=")
    return [*definitions, *defaults.values()]


def _begin(
    kind: str, name: str, defaults: dict[str, Definition], definitions: list[Definition]
) -> Definition:
    default = defaults.get(kind, Definition(kind, DEFAULT))
    if name == DEFAULT:
        defaults[kind] = default
        return default
    if any(definition.kind == kind and definition.name == name for definition in definitions):
        raise UsageError(f"there are two definitions {kind}={name}")
    definitions.append(Definition(kind, name, dict(default.given)))
    return definitions[-1]


def _parameters(path: Path) -> Iterator[tuple[str, str]]:
    """Parameters, each with the place of its line for a complaint."""
    whole, first = "", ""
    for place, line in _lines(path, inside=False):
        if not whole:
            first = place
        whole += line
        if whole.endswith(","):
            continue
        yield from ((first, value) for value in _split(whole))
        whole = ""
    yield from ((first, value) for value in _split(whole))


def _lines(path: Path, inside: bool) -> Iterator[tuple[str, str]]:
    """Lines up to their first blanks, without comments."""
    name = recorded.text(str(path))
    for number, line in enumerate(files.read_text(path).splitlines(), start=1):
        line, place = line.strip(), f"{name}:{number}"
        if line.startswith("eof"):
            return
        if not line or line[0] in "*#/":
            continue
        if line.startswith("include="):
            with at(place):
                if inside:
                    raise UsageError("an included file includes no further ones")
                included = path.parent / line.split()[0].removeprefix("include=")
                lines = list(_lines(included, inside=True))
            yield from lines
            continue
        # Every second part is in quotes.
        parts = line.split('"')
        parts[1::2] = [quoted.translate(_QUOTED) for quoted in parts[1::2]]
        words = "".join(parts).split(maxsplit=1)
        if words:
            yield place, words[0]


def _parameter(text: str) -> tuple[str, list[str]]:
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise UsageError(f"'{text[:40].translate(_UNQUOTED)}' is not a parameter; write NAME=VALUE")
    if value.startswith("(") != value.endswith(")") or value.count("(") != value.count(")"):
        raise UsageError(f"'{text[:40].translate(_UNQUOTED)}' has a parenthesis that is not closed")
    values = value.removeprefix("(").removesuffix(")").split(",")
    return key.lower(), [value.strip("'") for value in values]


def _ranges(key: str, values: list[str]) -> list[str]:
    """The values of a list, with ranges written out: 1-8,d as 1,2,4,8; 1-7,3 as 1,4,7; sd1-sd3."""
    if key in _NO_RANGES or not any("-" in value for value in values):
        return values
    expanded: list[str] = []
    rest = iter(values)
    for value in rest:
        first, dash, last = value.partition("-")
        if not dash or not first:
            expanded.append(value)
        elif _NUMBER.fullmatch(first):
            expanded += _numbers(key, value, number(key, first), number(key, last), next(rest, ""))
        else:
            expanded += _names(key, value, first, last)
        if len(expanded) > _VALUES_MAX:
            raise UsageError(f"{key}: '{value}' has more than {_VALUES_MAX} values")
    return expanded


def _numbers(
    key: str, text: str, first: tuple[Fraction, str], last: tuple[Fraction, str], step: str
) -> Iterator[str]:
    (low, unit), (high, high_unit) = first, last
    if not step or unit != high_unit:
        raise UsageError(f"{key}: '{text}' is a range without a step: write ({text},d) or (1-8,1)")
    doubled = step.lower() == "d"
    add = Fraction(0) if doubled else number(key, step)[0]
    if (doubled and not low) or (not doubled and not add):
        raise UsageError(f"{key}: the range '{text},{step}' does not end")
    down = doubled and low > high
    value = low
    yield f"{float(low):.15g}{unit}" if low.denominator != 1 else f"{low}{unit}"
    for _ in range(_VALUES_MAX + 1):
        value = value / 2 if down else value * 2 if doubled else value + add
        if (value < high) if down else (value > high):
            return
        yield f"{float(value):.15g}{unit}" if value.denominator != 1 else f"{value}{unit}"


def number(key: str, text: str) -> tuple[Fraction, str]:
    """A number, 4k as 4096, and its per cent sign if it has one."""
    match = _NUMBER.fullmatch(text) if len(text) <= LONGEST_NUMBER else None
    if match is None:
        raise UsageError(f"{key}: '{text[:40]}' is not a number")
    power = " kmgt".index(match.group(2).lower() or " ")
    return Fraction(match.group(1)) * 1024**power, match.group(3)


def _names(key: str, text: str, first: str, last: str) -> Iterator[str]:
    """sd1-sd3 as sd1, sd2 and sd3. The numbers have no zeros before them, but the first may."""
    begin, end = _NUMBERED.fullmatch(first), _NUMBERED.fullmatch(last)
    numbers = [
        int(match.group(2))
        for match in (begin, end)
        if match and len(match.group(2)) <= LONGEST_NUMBER
    ]
    if begin is None or end is None or len(numbers) != 2 or begin.group(1) != end.group(1):
        raise UsageError(
            f"{key}: '{text}' is not a range of names; write for example (sd1-sd4), or quote a name"
            " with a dash"
        )
    if not numbers[0] < numbers[1] <= numbers[0] + _VALUES_MAX:
        raise UsageError(f"{key}: '{text}' is not a range of 2 to {_VALUES_MAX} names")
    yield first
    for number in range(numbers[0] + 1, numbers[1] + 1):
        yield f"{begin.group(1)}{number}"


def _split(line: str) -> list[str]:
    """The parts between commas outside parentheses."""
    parts, depth = [""], 0
    for letter in line:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [part for part in parts if part]

# SPDX-License-Identifier: GPL-2.0-or-later
"""Mains voltage, power factor and air intake of a test: typed in, or read from logs of spek-daq.

A log is what `spek-daq --log` and `--print=raw` write: a header with NAME.UNIT for each column, and
lines that begin with a time in CLOCK_MONOTONIC. A restart of spek-daq writes a header again. If
times go back, the lines before are of an earlier boot and are ignored.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, TextIO

from spekctl.documents.benchmark import Site, SiteMinute, SiteReading
from spekctl.documents.exact import decimal_text, rounded
from spekctl.errors import UsageError
from spekctl.suggest import did_you_mean

MINUTE_NS = 60 * 10**9
DECIMALS = 3
# Units of columns, and the power of ten that makes the quantity of them.
_UNITS = {
    "volts": {"uV": -6, "mV": -3, "V": 0},
    "power_factor": {"ppm": -6, "pf": 0},
    "celsius": {"mC": -3, "C": 0},
}
TYPED = ("volts", "power_factor", "first_celsius", "last_celsius")
_LOGGED = tuple(_UNITS)
# Least and most of what can be typed in.
LIMITS = {
    "volts": (Fraction(1), Fraction(100_000)),
    "power_factor": (Fraction(-1), Fraction(1)),
    "first_celsius": (Fraction(-100), Fraction(200)),
    "last_celsius": (Fraction(-100), Fraction(200)),
}
_MINUTES = {"first": "first minute of the test", "last": "last minute under load"}
_HOW = (
    f"write NAME=NUMBER, where NAME is one of {', '.join(TYPED)}, or NAME=FILE:COLUMN, where it is"
    f" one of {', '.join(_LOGGED)}"
)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a log."""

    quantity: str
    path: Path
    name: str

    @property
    def source(self) -> str:
        """The column, for the report."""
        return f"{self.path}:{self.name}"

    def check(self) -> None:
        """UsageError if there is no such log, or no such column in it."""
        try:
            with self.path.open(encoding="utf-8", errors="replace") as lines:
                heads = [line for line in lines if _is_head(line)]
        except OSError as error:
            raise UsageError(f"--site: cannot read {self.path}: {error.strerror}") from error
        if not heads:
            raise UsageError(
                f"--site: {self.path} has no header line 'time_ns,NAME.UNIT,...' as spek-daq --log"
                " writes it"
            )
        if self.place(heads[-1]) is None:
            units = ", ".join(_UNITS[self.quantity])
            known = ", ".join(heads[-1].strip().split(",")[1:]) or "none"
            raise UsageError(
                f"--site: {self.path} has no column '{self.name}' in {units}; its columns: {known}"
            )

    def place(self, head: str) -> tuple[int, int] | None:
        """Position of the column, and the power of ten of its unit."""
        units = _UNITS[self.quantity]
        for position, column in enumerate(head.strip().split(",")):
            name, _, unit = column.rpartition(".")
            if name == self.name and unit in units:
                return position, units[unit]
        return None


def between(
    path: Path, columns: Sequence[Column], start_ns: int, end_ns: int
) -> dict[str, list[Fraction]]:
    """The readings of this time by quantity, of the columns of a log; none if it cannot be read."""
    try:
        with path.open(encoding="utf-8", errors="replace") as lines:
            return _readings(lines, columns, start_ns, end_ns)
    except OSError:
        return {}


def _readings(
    lines: TextIO, columns: Sequence[Column], start_ns: int, end_ns: int
) -> dict[str, list[Fraction]]:
    places: dict[str, tuple[int, int] | None] = {}
    taken: defaultdict[str, list[Fraction]] = defaultdict(list)
    before_ns = 0
    for line in lines:
        if _is_head(line):
            places = {column.quantity: column.place(line) for column in columns}
            continue
        # The last line may be half written.
        fields = line[:-1].split(",") if line.endswith("\n") else []
        if not fields or not fields[0].isdecimal():
            continue
        at_ns = int(fields[0])
        if at_ns < before_ns:
            taken.clear()
        before_ns = at_ns
        if not start_ns <= at_ns <= end_ns:
            continue
        for quantity, place in places.items():
            if place is None or len(fields) <= place[0]:
                continue
            value = _number(fields[place[0]])
            if value is not None:
                taken[quantity].append(value * Fraction(10) ** place[1])
    return taken


def _is_head(line: str) -> bool:
    return line.startswith("time_ns,") and line.endswith("\n")


def _number(text: str) -> Fraction | None:
    try:
        value = Decimal(text)
    except ArithmeticError:
        return None
    return Fraction(value) if value.is_finite() and abs(value.adjusted()) <= 30 else None


def _mean(values: Sequence[Fraction]) -> SiteReading:
    total = sum(values, Fraction(0))
    mean = rounded(total / len(values), DECIMALS) if values else None
    return SiteReading(len(values), mean, decimal_text(total))


@dataclass(frozen=True, slots=True)
class SiteWish:
    """The requested values of the site. @typed: by name, as given."""

    typed: dict[str, str] = field(default_factory=dict)
    columns: tuple[Column, ...] = ()

    def minute(self, start_ns: int, end_ns: int) -> SiteMinute | None:
        """The means of a span of time; None if nothing is logged."""
        if not self.columns:
            return None
        logs: defaultdict[Path, list[Column]] = defaultdict(list)
        for column in self.columns:
            logs[column.path].append(column)
        readings: dict[str, SiteReading] = {}
        for path, columns in logs.items():
            values = between(path, columns, start_ns, end_ns)
            readings |= {
                column.quantity: _mean(values.get(column.quantity, [])) for column in columns
            }
        return SiteMinute(start_ns, end_ns, readings)

    def first(self, start_ns: int, end_ns: int) -> SiteMinute | None:
        """The first minute of a span of time, or all of a shorter one."""
        return self.minute(start_ns, min(end_ns, start_ns + MINUTE_NS))

    def last(self, start_ns: int, end_ns: int) -> SiteMinute | None:
        """The last minute of it."""
        return self.minute(max(start_ns, end_ns - MINUTE_NS), end_ns)


def parse(words: Sequence[str]) -> SiteWish:
    """The values of --site, each name once; logs are checked."""
    typed: dict[str, str] = {}
    columns: dict[str, Column] = {}
    for word in words:
        name, equals, text = (part.strip() for part in word.partition("="))
        if not equals or not text or name not in (*TYPED, *_LOGGED):
            known = {*TYPED, *_LOGGED}
            hint = did_you_mean(name, known) if name not in known else ""
            raise UsageError(f"--site '{word}'{hint}: {_HOW}")
        if name in typed or name in columns:
            raise UsageError(f"--site: {name} is given twice")
        value = _number(text)
        path, _, column = text.rpartition(":")
        if value is not None and name in TYPED:
            check_typed(name, value, f"--site '{word}'")
            typed[name] = decimal_text(value)
        elif value is None and path and column and name in _LOGGED:
            columns[name] = Column(name, Path(path), column)
        else:
            raise UsageError(f"--site '{word}': {_HOW}")
    if "celsius" in columns and {"first_celsius", "last_celsius"} & typed.keys():
        raise UsageError("--site: celsius of a log is first_celsius and last_celsius")
    for wanted in columns.values():
        wanted.check()
    return SiteWish(typed, tuple(columns.values()))


def check_typed(name: str, value: Fraction, place: str) -> None:
    """UsageError for a number that @name, of TYPED, cannot have."""
    least, most = LIMITS[name]
    if not least <= value <= most:
        raise UsageError(f"{place}: {name} must be from {least} to {most}")


def given(typed: dict[str, str]) -> Site:
    """A site with typed values only."""
    known: dict[str, Any] = {**typed, "sources": dict.fromkeys(typed, "given")}
    return Site(**known)


def site_of(
    wish: SiteWish, first: SiteMinute | None, last: SiteMinute | None
) -> tuple[Site | None, list[str]]:
    """The site as a report has it, and remarks on missing readings."""
    if not wish.typed and not wish.columns:
        return None, []
    values: dict[str, Any] = dict(wish.typed)
    sources = dict.fromkeys(wish.typed, "given")
    remarks: list[str] = []
    minutes = {"first": first, "last": last}
    for column in wish.columns:
        parts = {
            when: minute.readings[column.quantity]
            for when, minute in minutes.items()
            if minute is not None and column.quantity in minute.readings
        }
        known = {when: part for when, part in parts.items() if part.readings}
        remarks += [
            f"site: {column.source} has no reading in the {_MINUTES[when]}"
            for when in minutes
            if when not in known
        ]
        if column.quantity == "celsius":
            news = {f"{when}_celsius": part.mean for when, part in known.items()}
        elif known:
            total = sum((Fraction(part.total) for part in known.values()), Fraction(0))
            count = sum(part.readings for part in known.values())
            news = {column.quantity: rounded(total / count, DECIMALS)}
        else:
            news = {}
        values |= {name: text for name, text in news.items() if text is not None}
        sources |= dict.fromkeys(news, column.source)
    return Site(**values, sources=sources, first_minute=first, last_minute=last), remarks

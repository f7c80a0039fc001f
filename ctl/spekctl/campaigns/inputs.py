# SPDX-License-Identifier: GPL-2.0-or-later
"""Numbers that are typed in or read again, exactly as written; every complaint is one sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from spekctl import files, toml
from spekctl.campaigns import usage
from spekctl.campaigns.emerald import figures as emerald
from spekctl.documents import dcse, document
from spekctl.documents.benchmark import Profile, Site
from spekctl.documents.exact import decimal_text
from spekctl.errors import UsageError
from spekctl.power import site
from spekctl.suggest import did_you_mean
from spekctl.units import LONGEST_NUMBER


def fraction_of(text: str, what: str) -> Fraction:
    """A decimal from the command line, or a fraction of whole numbers."""
    try:
        if not all(_is_handy(Decimal(part)) for part in text.split("/")):
            raise UsageError(f"{what}: '{_short(text)}': {_HANDY}")
        return Fraction(text)
    except (ValueError, ArithmeticError) as error:
        raise UsageError(f"{what}: '{_short(text)}' is not a number") from error


_HANDY = f"it must be 0 or between 1e-100 and 1e100, with at most {LONGEST_NUMBER} digits"


def _is_handy(value: Decimal) -> bool:
    """As a fraction 1e99999999 has a hundred million digits, which take hours to compute."""
    if not value.is_finite() or len(value.as_tuple().digits) > LONGEST_NUMBER:
        return False
    return value.is_zero() or abs(value.adjusted()) <= 100


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_NUMBER else f"{text[:20]}..."


def read_toml(path: Path) -> dict[str, Any]:
    """The tables of a file; numbers are exact."""
    if document.is_document(path):
        raise UsageError(f"{path} is {document.description(path)}; numbers are read from TOML")
    text = files.read_text(path)
    try:
        return toml.parse(text, parse_float=Decimal)
    except UsageError as error:
        error.say(f"{path} is {error.message}")
        raise


class Table:
    """A table of a file whose keys are taken one by one; remaining ones are errors."""

    def __init__(self, path: Path, values: Mapping[str, Any], where: str = "") -> None:
        self._path = path
        self._values = values
        self._where = where
        self._known: list[str] = []

    def _wrong(self, text: str) -> UsageError:
        place = f"[{self._where}]: " if self._where else ""
        return UsageError(f"{self._path}: {place}{text}")

    def optional_number(self, key: str) -> Fraction | None:
        """The number of @key; None if missing."""
        self._known.append(key)
        value = self._values.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | Decimal):
            raise self._wrong(f"{key} is not a number")
        exact = Decimal(value)
        if not exact.is_finite():
            raise self._wrong(f"{key} is not a finite number")
        if not _is_handy(exact):
            raise self._wrong(f"{key} is {exact:.3g}; {_HANDY}")
        return Fraction(exact)

    def number(self, key: str) -> Fraction:
        """The number of @key, which is required."""
        value = self.optional_number(key)
        if value is None:
            raise self._wrong(f"the key '{key}' is missing")
        return value

    def optional_table(self, key: str) -> Table | None:
        """The table of @key; None if missing."""
        self._known.append(key)
        value = self._values.get(key)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise self._wrong(f"{key} is not a section")
        return Table(self._path, value, f"{self._where}.{key}" if self._where else key)

    def tables(self, keys: Sequence[str]) -> list[Table]:
        """The tables of all @keys, which are required."""
        tables = {key: self.optional_table(key) for key in keys}
        missing = [f"[{key}]" for key, table in tables.items() if table is None]
        if missing:
            sections = "section" if len(missing) == 1 else "sections"
            are = "is" if len(missing) == 1 else "are"
            raise self._wrong(f"the {sections} {', '.join(missing)} {are} missing")
        return [table for table in tables.values() if table is not None]

    def end(self) -> None:
        """Refuse unknown keys."""
        for key in self._values:
            if key not in self._known:
                hint = did_you_mean(key, self._known) or "; the keys are " + ", ".join(self._known)
                raise self._wrong(f"unknown key '{key}'{hint}")


def hours_again(rows: Sequence[Profile], path: Path) -> dict[str, usage.Hours]:
    """The hours of a report's usage profiles."""
    profiles = dict(usage.PROFILES)
    for row in rows:
        what = f"{path}: the hours of {row.name}"
        hours = [fraction_of(text, what) for text in row.hours]
        if row.name not in profiles or len(hours) != 3:
            raise UsageError(f"{what} are not those of a usage profile")
        profiles[row.name] = usage.Hours(*hours)
        if fault := usage.day_fault(profiles[row.name]):
            raise UsageError(f"{what}: {fault}")
    return profiles


def spc1e_levels(path: Path) -> tuple[usage.Levels, Fraction | None, Site | None]:
    """The three levels of a file, with the price and the site if given."""
    whole = Table(path, read_toml(path))
    heavy, moderate, idle = whole.tables(("heavy", "moderate", "idle"))
    levels = usage.Levels(
        heavy=usage.Level(heavy.number("watts"), heavy.number("iops")),
        moderate=usage.Level(moderate.number("watts"), moderate.number("iops")),
        idle=usage.Level(idle.number("watts"), idle.optional_number("iops") or Fraction(0)),
    )
    price = whole.optional_number("price")
    given = _site(whole.optional_table("site"), f"{path}: site")
    for table in (whole, heavy, moderate, idle):
        table.end()
    text = usage.fault(levels)
    if text:
        raise UsageError(f"{path}: {text}")
    if price is not None and price < 0:
        raise UsageError(f"{path}: the price is {decimal_text(price)}; it must be 0 or more")
    return levels, price, given


def _site(table: Table | None, place: str) -> Site | None:
    if table is None:
        return None
    values = {name: table.optional_number(name) for name in site.TYPED}
    table.end()
    known = {name: value for name, value in values.items() if value is not None}
    for name, value in known.items():
        site.check_typed(name, value, place)
    return site.given({name: decimal_text(value) for name, value in known.items()})


def dcse_inputs(path: Path) -> dcse.Inputs:
    """The numbers of a system in a file."""
    table = Table(path, read_toml(path))
    known = dcse.Inputs(**{name: table.optional_number(name) for name in DCSE_KEYS})
    table.end()
    text = dcse.fault(known)
    if text:
        raise UsageError(f"{path}: {text}")
    return known


DCSE_KEYS = ("gigabytes", "idle_watts", "load_watts", "iops", "megabytes_per_s")


def emerald_inputs(path: Path) -> tuple[dict[str, tuple[Fraction, Fraction]], Fraction | None]:
    """Work and watts of each phase of a file, and the raw capacity in GB."""
    whole = Table(path, read_toml(path))
    gigabytes = whole.optional_number("raw_gigabytes")
    phases: dict[str, tuple[Fraction, Fraction]] = {}
    for kind in emerald.KINDS:
        table = whole.optional_table(kind.phase)
        if table is None:
            continue
        watts = table.number("watts")
        if kind.name == emerald.IDLE:
            if gigabytes is None:
                raise UsageError(f"{path}: [{kind.phase}] needs the key 'raw_gigabytes' above it")
            work = gigabytes
        else:
            work = table.number("mib_per_s" if kind.unit == "MiB/s/W" else "iops")
        table.end()
        text = emerald.fault(kind, work, watts)
        if text:
            raise UsageError(f"{path}: {text}")
        phases[kind.phase] = (work, watts)
    whole.end()
    if not phases:
        names = ", ".join(f"[{kind.phase}]" for kind in emerald.KINDS)
        raise UsageError(f"{path}: there is no phase; the sections are {names}")
    idle = phases.get("ready-idle")
    for phase, (_, watts) in phases.items():
        if idle is not None and watts < idle[1]:
            raise UsageError(
                f"{path}: idle power, {float(idle[1]):g} W, is above that of {phase},"
                f" {float(watts):g} W"
            )
    return phases, gigabytes

# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures that the maker of a drive states, compared with measured ones.

    title = "OCZ Vertex 2, 60 GB"
    sources = ["data sheet of August 2010"]
    drives = 1                       # behind each device of a result; 6: an array of six

    [watts]
    idle = 0.5
    active = 2.0

    [[claim]]
    name = "random writes of 4 KiB"
    direction = "write"              # or read, or all (the default)
    workloads = ["random-write-*"]   # left out: results of any workload
    iops = 50000
    mb_s = 205                       # 10^6 bytes per second
    latency = "100us"                # mean response time
    latency_p99 = "1ms"

Power that is unknown for more than 5 % of a measure phase is not compared.

All figures are for one drive; rates and watts are multiplied by the number of drives. A drive model
of `spekctl drive` also states watts, active ones with all of its arms or channels at work, and, if
its platters turn, the data rate of its outer zone.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from spekctl import fields, files, recorded, toml, units
from spekctl.documents.curve import Curve, Point
from spekctl.documents.energy import Spc1eReport
from spekctl.documents.power import power_of
from spekctl.documents.result import Result
from spekctl.documents.result_parts import Total
from spekctl.errors import UsageError, at

Direction = Literal["read", "write", "all"]
DRIVES_MAX = 10_000
MIB = 1 << 20
# The documents that can be compared with a data sheet, for a refusal.
COMPARABLE = "results of runs, load curves and reports of `spekctl energy spc1e`"


class WattsTable(msgspec.Struct, forbid_unknown_fields=True):
    """[watts]"""

    idle: float | None = None
    active: float | None = None


class ClaimTable(msgspec.Struct, forbid_unknown_fields=True):
    """[[claim]]"""

    name: str
    direction: Direction = "all"
    workloads: list[str] = []
    iops: float | None = None
    mb_s: float | None = None
    latency: str | None = None
    latency_p99: str | None = None


class DataSheetFile(msgspec.Struct, forbid_unknown_fields=True):
    """A data sheet."""

    title: str
    sources: list[str]
    drives: Annotated[int, Meta(ge=1, le=DRIVES_MAX)] = 1
    watts: WattsTable | None = None
    claim: list[ClaimTable] = []


@dataclass(frozen=True, slots=True)
class Claim:
    """Figures of one drive at a kind of load; times in ns."""

    name: str
    direction: Direction = "all"
    workloads: Sequence[str] = ()
    iops: float | None = None
    mb_s: float | None = None
    mean_ns: int | None = None
    p99_ns: int | None = None

    def is_of(self, workload: str) -> bool:
        """Whether it is about loads like this one."""
        return not self.workloads or any(fnmatchcase(workload, each) for each in self.workloads)


@dataclass(frozen=True, slots=True)
class DataSheet:
    """A checked data sheet. @file: where it is from."""

    file: str
    title: str
    sources: Sequence[str]
    drives: int = 1
    idle_w: float | None = None
    active_w: float | None = None
    claims: Sequence[Claim] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """A stated figure, times the drives, and the measured one, with their text."""

    what: str
    stated: float
    measured: float
    text: Callable[[float], str]

    @property
    def difference(self) -> float:
        """Of the measured figure from the stated one, as a share of the latter."""
        return self.measured / self.stated - 1


# --- reading -------------------------------------------------------------------------------------


def load(name: str) -> DataSheet:
    """A data sheet from a file, or what a drive model states; UsageError in one sentence."""
    if not os.path.isfile(name):
        return _of_model(name)
    data = toml.parse(files.read_text(Path(name)))
    if not data.keys() & {"claim", "watts"} and data.keys() & {"heads", "flash"}:
        return _of_model(name)
    with at(recorded.text(name)):
        fields.check(data, DataSheetFile)
        table = msgspec.convert(data, DataSheetFile)
        watts = table.watts or WattsTable()
        for key in ("idle", "active"):
            _check_number(f"watts.{key}", getattr(watts, key))
        if None not in (watts.idle, watts.active) and watts.idle > watts.active:  # type: ignore[operator]
            raise UsageError(
                f"watts: idle, {watts.idle:g} W, is more than active, {watts.active:g} W"
            )
        sheet = DataSheet(
            recorded.text(name),
            table.title,
            table.sources,
            table.drives,
            watts.idle,
            watts.active,
            [_claim(each) for each in table.claim],
        )
        for what, text in (("title", table.title), *(("sources", each) for each in table.sources)):
            if not text.strip() or not text.isprintable():
                raise UsageError(f"{what}: {text!r} is not a line of text")
        if not sheet.sources:
            raise UsageError("sources is empty: say where the figures are from")
        if sheet.idle_w is None and sheet.active_w is None and not sheet.claims:
            raise UsageError("it states no figure; it needs [watts] or a [[claim]]")
    return sheet


def _claim(table: ClaimTable) -> Claim:
    if not table.name.strip() or not table.name.isprintable():
        raise UsageError(f"claim: the name {table.name!r} is not a line of text")
    with at(f"claim '{table.name}'"):
        _check_number("iops", table.iops)
        _check_number("mb_s", table.mb_s)
        times = [_time(key, getattr(table, key)) for key in ("latency", "latency_p99")]
        if table.iops is None and table.mb_s is None and times == [None, None]:
            raise UsageError("it states no figure: give iops, mb_s, latency or latency_p99")
        return Claim(table.name, table.direction, table.workloads, table.iops, table.mb_s, *times)


def _check_number(key: str, value: float | None) -> None:
    if value is not None and not (math.isfinite(value) and value > 0):
        raise UsageError(f"{key} is {value:g}; it must be more than 0")


def _time(key: str, text: str | None) -> int | None:
    if text is None:
        return None
    with at(key):
        time_ns = units.parse_duration_ns(text)
        if not time_ns:
            raise UsageError("it must be more than 0")
        return time_ns


def _of_model(name: str) -> DataSheet:
    """What the model of a drive states, whose sources say how far that is the maker's."""
    from spekctl.drive import file

    model = file.load(name)
    watts = model.watts
    arms = len(model.arm_angles)
    idle_w = watts.active_uw(arms) / 1e6
    # Of each arm or channel, and all of them can be at work.
    most = max(watts.seek, watts.rotate, watts.read, watts.write, watts.erase)
    busy_w = (model.flash.channels if model.flash is not None else arms) * most / 1e6
    claims = []
    if model.flash is None and model.zones:
        outer = model.sustained_rate(model.zones[0]) / 1e6
        claims.append(Claim("sequential, outer zone", workloads=("sequential-*",), mb_s=outer))
    if not idle_w and not claims:
        raise UsageError(f"the drive model {name} states neither watts nor a data rate")
    return DataSheet(
        name,
        model.title,
        model.sources,
        idle_w=idle_w or None,
        active_w=idle_w + busy_w if idle_w else None,
        claims=claims,
    )


# --- comparing -----------------------------------------------------------------------------------


def compare(sheet: DataSheet, document: Any) -> list[Comparison]:
    """The figures of the sheet that @document has measured; UsageError if there are none."""
    match document:
        case Result():
            rows = [*of_result(sheet, document)]
        case Curve():
            rows = [*_of_curve(sheet, document)]
        case Spc1eReport():
            rows = [*_of_levels(sheet, document)]
        case _:
            raise UsageError(f"a data sheet can be compared with {COMPARABLE}")
    if not rows:
        raise UsageError(f"{sheet.file} has no figure that was measured here")
    return rows


def drives_of(sheet: DataSheet, document: Result | Curve | Spc1eReport) -> int:
    """Number of drives that were measured together. A device that several hosts of a fleet share
    appears once for each of them, but counts once, by its WWN."""
    if isinstance(document, Result):
        wwns = [target.facts.wwn for target in document.targets]
    else:
        wwns = [target.wwn for target in document.targets]
    return sheet.drives * max(1, len({wwn for wwn in wwns if wwn}) + wwns.count(""))


def of_result(sheet: DataSheet, result: Result) -> Iterator[Comparison]:
    """The figures of the sheet that a run has measured; there may be none."""
    count = drives_of(sheet, result)
    for claim in sheet.claims:
        total: Total = getattr(result.totals, claim.direction)
        if not total.ios or not claim.is_of(result.workload.workload.name):
            continue
        response = total.times.response
        yield from _rates(claim, count, total.iops, total.bytes_per_s / 1e6)
        if response is not None:
            p99 = response.percentiles_ns.get("p99")
            yield from _times(claim, response.mean_ns, p99)
    power = power_of(result)
    if power is not None and power.is_known:
        yield from _watts("active", sheet.active_w, count, power.total.mean_w, power.baseline_w)


def _of_curve(sheet: DataSheet, curve: Curve) -> Iterator[Comparison]:
    """The highest rates, the most power and the shortest times of all points that were run to
    their end: one that failed may have measured no more than a cache."""
    count = drives_of(sheet, curve)
    done = [point for point in curve.points if point.ok and point.response is not None]
    for claim in sheet.claims:
        points = [point for point in done if claim.direction in ("all", _direction(point))]
        if not points or not claim.is_of(curve.workload):
            continue
        best = max(point.iops for point in points)
        yield from _rates(claim, count, best, max(point.mib_s for point in points) * MIB / 1e6)
        times = [point.response for point in points if point.response is not None]
        yield from _times(claim, min(each.mean for each in times), min(each.p99 for each in times))
    powered = [power for point in done if (power := point.known_power) is not None]
    if powered:
        most = max(powered, key=lambda power: power.net_watts)
        yield from _watts("active", sheet.active_w, count, most.watts, most.baseline_w)


def _direction(point: Point) -> Direction:
    if not point.writes:
        return "read"
    return "all" if point.reads else "write"


def _of_levels(sheet: DataSheet, report: Spc1eReport) -> Iterator[Comparison]:
    """The heaviest level is compared with the active power."""
    count = drives_of(sheet, report)
    levels = [level for level in report.levels if level.watts is not None]
    for level in levels:
        assert level.watts is not None
        if level.name in ("heavy", "idle"):
            stated = sheet.idle_w if level.name == "idle" else sheet.active_w
            what = "idle" if level.name == "idle" else "active (heavy)"
            yield from _watts(what, stated, count, float(level.watts), 0.0)


def _rates(claim: Claim, count: int, iops: float, mb_s: float) -> Iterator[Comparison]:
    if claim.iops is not None:
        yield Comparison(f"{claim.name}, IOPS", claim.iops * count, iops, units.format_rate)
    if claim.mb_s is not None:
        yield Comparison(
            f"{claim.name}, MB/s", claim.mb_s * count, mb_s, lambda value: f"{value:,.1f}"
        )


def _times(claim: Claim, mean_ns: float, p99_ns: float | None) -> Iterator[Comparison]:
    if claim.mean_ns is not None:
        yield Comparison(f"{claim.name}, mean response", claim.mean_ns, mean_ns, units.format_ns)
    if claim.p99_ns is not None and p99_ns is not None:
        yield Comparison(f"{claim.name}, p99", claim.p99_ns, p99_ns, units.format_ns)


def _watts(
    what: str, stated: float | None, count: int, watts: float | None, baseline_w: float
) -> Iterator[Comparison]:
    """The measured power of the drives is the total less the baseline."""
    if stated is not None and watts is not None:
        yield Comparison(f"{what} power", stated * count, watts - baseline_w, units.format_watts)

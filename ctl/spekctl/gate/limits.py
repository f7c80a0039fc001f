# SPDX-License-Identifier: GPL-2.0-or-later
"""A file of limits, and whether results keep them.

    [gate]                    # optional
    workload = "oltp"         # refuse results of other workloads
    report = ["read.iops"]    # figures to report without a limit

    [[limit]]
    metric = "response.p99"
    max = "2ms"

Limits are written as everywhere in spek: "2ms", "200MiB/s", "5W"; rates and counts are numbers.
Times of a guest that counts instructions have limits such as "1600 instructions".
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spekctl import recorded, units
from spekctl.documents import document
from spekctl.documents.verdict import Check, CheckVerdict, GateReport, GateVerdict, Judged
from spekctl.errors import UsageError
from spekctl.gate import judged, metrics
from spekctl.gate.judged import Run
from spekctl.gate.metrics import Metric, Unit
from spekctl.gate.values import format_apart, format_value
from spekctl.suggest import did_you_mean

Number = int | float | str


@dataclass(frozen=True, slots=True)
class Bound:
    """A limit's value, in the unit it was given in."""

    value: float
    unit: Unit


@dataclass(frozen=True, slots=True)
class Limit:
    """The limits of a metric; without any it is reported only."""

    metric: Metric
    least: Bound | None = None
    most: Bound | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """The contents of a file of limits."""

    path: Path
    workload: str | None
    limits: list[Limit]


def load(path: Path) -> Limits:
    """Read a file of limits; UsageError names the file and what is wrong in it."""
    if document.is_document(path):
        raise UsageError(f"{path} is {document.description(path)}; limits are read from TOML")
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"cannot read {path}: it is not UTF-8 text") from error
    try:
        return parse(text, path)
    except UsageError as error:
        raise UsageError(f"{recorded.text(str(path))}: {error.message}") from error


def parse(text: str, path: Path) -> Limits:
    """Limits from the text of their file."""
    try:
        data = tomllib.loads(text)
    except RecursionError as error:
        raise UsageError("not valid TOML: it is nested too deeply") from error
    except ValueError as error:  # tomllib's own, and Python's for a number that is too long
        reason = str(error)
        raise UsageError(f"not valid TOML: {reason[:1].lower()}{reason[1:]}") from error
    _check_keys(data, ("gate", "limit"), "")
    gate = data.get("gate", {})
    if not isinstance(gate, dict):
        raise UsageError("gate is not a section; write [gate]")
    _check_keys(gate, ("workload", "report"), "gate: ")
    workload = gate.get("workload")
    if workload is not None and not isinstance(workload, str):
        raise UsageError("gate: workload is not a string (in quotes)")
    report = gate.get("report", [])
    if not isinstance(report, list) or not all(isinstance(one, str) for one in report):
        raise UsageError('gate: report is not a list of metrics such as ["iops", "response.p99"]')
    tables = data.get("limit", [])
    if not isinstance(tables, list) or not all(isinstance(one, dict) for one in tables):
        raise UsageError("limit is not a list of sections; write [[limit]]")
    found = [_limit(table, f"limit {number}: ") for number, table in enumerate(tables, start=1)]
    found += [Limit(_metric(name, "gate, report: ")) for name in report]
    if not found:
        raise UsageError("there is no [[limit]] and nothing to report")
    names = [one.metric.name for one in found]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"there are two entries for {name}; one may have both min and max")
    return Limits(path, workload, found)


def _check_keys(table: dict[str, Any], known: Sequence[str], where: str) -> None:
    for key in table:
        if key not in known:
            hint = did_you_mean(key, known) or "; the keys are " + ", ".join(known)
            raise UsageError(f"{where}unknown key '{key}'{hint}")


def _metric(name: str, where: str) -> Metric:
    try:
        return metrics.find(name)
    except UsageError as error:
        raise UsageError(f"{where}{error.message}") from error


def _limit(table: dict[str, Any], where: str) -> Limit:
    _check_keys(table, ("metric", "min", "max"), where)
    name = table.get("metric")
    if not isinstance(name, str):
        wrong = "is missing" if name is None else "is not a string (in quotes)"
        raise UsageError(f"{where}the key 'metric' {wrong}")
    metric = _metric(name, where)
    bounds: dict[str, Bound] = {}
    for key in ("min", "max"):
        if key in table:
            try:
                bounds[key] = bound_of(table[key], metric.unit)
            except UsageError as error:
                raise UsageError(f"{where}{name}: {key}: {error.message}") from error
    if not bounds:
        raise UsageError(f"{where}{name} has neither min nor max")
    least, most = bounds.get("min"), bounds.get("max")
    if least is not None and most is not None:
        if least.unit != most.unit:
            raise UsageError(f"{where}{name}: min is in {least.unit}, and max in {most.unit}")
        if least.value > most.value:
            raise UsageError(f"{where}{name}: min is more than max")
    return Limit(metric, least, most)


_INSTRUCTIONS = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?instructions", re.ASCII)


def bound_of(value: object, unit: Unit) -> Bound:
    """A limit of a metric with this unit; UsageError says how it is written."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise UsageError("not a number or a string")
    if isinstance(value, str) and len(value) > units.LONGEST_NUMBER:
        raise UsageError(f"'{value[:20]}...' is too long: {len(value)} characters")
    match unit, value:
        case Unit.TIME, str():
            counted = _INSTRUCTIONS.fullmatch(value.strip())
            if counted:
                return Bound(float(counted[1]), Unit.INSTRUCTIONS)
            return Bound(float(units.parse_duration_ns(value)), unit)
        case Unit.TIME, _:
            raise UsageError(f'{value} has no unit; write for example "{value}us", in quotes')
        case Unit.BANDWIDTH, str():
            size, slash, per = value.rpartition("/")
            if not slash or per.strip() != "s":
                raise UsageError(f"'{value}' is not a bandwidth; write for example 200MiB/s")
            return Bound(float(units.parse_size(size.strip())), unit)
        case Unit.BANDWIDTH, _:
            raise UsageError(f'{value} has no unit; write for example "200MiB/s", in quotes')
        case Unit.POWER, str():
            return Bound(units.parse_watts(value), unit)
        case _, str():
            in_unit = f" (in {unit})" if unit else ""
            raise UsageError(
                f"'{value}' is a string; write a number{in_unit} without quotes and without a unit"
            )
        case _, _:
            return Bound(_number(value), unit)


def _number(value: int | float) -> float:
    try:
        found = float(value)
    except OverflowError as error:
        raise UsageError("the number is too large") from error
    if not math.isfinite(found) or found < 0:
        raise UsageError(f"{value} is not a limit; it must be 0 or more")
    return found


def judge(limits: Limits, runs: Sequence[Run]) -> GateReport:
    """Whether results keep the limits. UsageError if a limit cannot be one of a result."""
    for run in runs:
        name = run.result.config.name
        if limits.workload is not None and name != limits.workload:
            raise UsageError(
                f"{run.file} is a result of the workload {name};"
                f" the limits of {limits.path} are for {limits.workload}"
            )
    described = judged.described(runs)
    checks = [
        _check(index, run, limit) for index, run in enumerate(runs) for limit in limits.limits
    ]
    verdict, text = _verdict(described, checks)
    return GateReport(
        limits=recorded.text(str(limits.path)),
        runs=described,
        checks=checks,
        verdict=verdict,
        text=text,
    )


def _check(index: int, run: Run, limit: Limit) -> Check:
    metric = limit.metric
    unit = metric.unit_in(run.result)
    for bound in (limit.least, limit.most):
        if bound is not None and bound.unit != unit:
            raise UsageError(
                f"the limit of {metric.name} is in {bound.unit}, and {run.file} has it in {unit}"
            )
    value = metric.value(run.result)
    least = None if limit.least is None else limit.least.value
    most = None if limit.most is None else limit.most.value
    verdict, text = _text(metric.name, value, least, most, unit)
    return Check(
        run=index,
        metric=metric.name,
        unit=unit,
        value=value,
        least=least,
        most=most,
        verdict=verdict,
        text=text,
    )


def _text(
    name: str, value: float | None, least: float | None, most: float | None, unit: Unit
) -> tuple[CheckVerdict, str]:
    if value is None:
        return CheckVerdict.MISSING, f"the result does not have {name}"
    told = f"{name} is {format_value(value, unit)}"
    if least is None and most is None:
        return CheckVerdict.REPORTED, told
    for bound, missed, words in (
        (least, least is not None and value < least, "less"),
        (most, most is not None and value > most, "more"),
    ):
        if bound is not None and missed:
            given, allowed = format_apart(value, bound, unit)
            return CheckVerdict.FAILED, f"{name} is {given}, {words} than {allowed}"
    bounds = [f"at least {format_value(least, unit)}"] if least is not None else []
    bounds += [f"at most {format_value(most, unit)}"] if most is not None else []
    return CheckVerdict.PASSED, f"{told}, {' and '.join(bounds)} allowed"


def _verdict(runs: Sequence[Judged], checks: Sequence[Check]) -> tuple[GateVerdict, str]:
    failed = sum(not one.ok for one in runs)
    missed = sum(one.verdict is CheckVerdict.FAILED for one in checks)
    limited = [one for one in checks if one.least is not None or one.most is not None]
    missing = sum(one.verdict is CheckVerdict.MISSING for one in limited)
    parts = []
    if failed:
        parts.append(f"{failed} of {len(runs)} run{'s' * (len(runs) != 1)} failed")
    if missed:
        parts.append(f"{missed} of {len(limited)} limit{'s' * (len(limited) != 1)} missed")
    if missing:
        parts.append(f"{missing} figure{'s' * (missing != 1)} with a limit missing")
    if failed or missed:
        return GateVerdict.FAILED, "failed: " + ", ".join(parts)
    if missing:
        return GateVerdict.UNDECIDED, "undecided: " + ", ".join(parts)
    if not limited:
        return GateVerdict.PASSED, "passed: every run completed"
    return GateVerdict.PASSED, f"passed: {len(limited)} limit{'s' * (len(limited) != 1)} kept"

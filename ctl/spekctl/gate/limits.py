# SPDX-License-Identifier: GPL-2.0-or-later
"""A file of limits, and whether results keep them.

    [gate]                    # optional
    workload = "oltp"         # refuse results of other workloads
    report = ["read.iops"]    # figures to report without a limit

    [[limit]]
    metric = "response.p99"
    max = "2ms"

Limits are quantities of condition.py: "2ms", "200MiB/s", "5W"; rates and counts are numbers.
Times of a guest that counts instructions have limits such as "1600 instructions".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spekctl import condition, files, recorded, toml
from spekctl.condition import Condition, Unit, format_value
from spekctl.documents import document
from spekctl.documents.verdict import Check, CheckVerdict, GateReport, GateVerdict, Judged
from spekctl.errors import UsageError
from spekctl.gate import judged, metrics
from spekctl.gate.judged import Run
from spekctl.gate.metrics import Metric
from spekctl.gate.values import format_apart
from spekctl.suggest import did_you_mean


@dataclass(frozen=True, slots=True)
class Limit:
    """The limits of a metric; without any it is reported only."""

    metric: Metric
    least: Condition[Metric] | None = None
    most: Condition[Metric] | None = None


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
    text = files.read_text(path)
    try:
        return parse(text, path)
    except UsageError as error:
        raise UsageError(f"{recorded.text(str(path))}: {error.message}") from error


def parse(text: str, path: Path) -> Limits:
    """Limits from the text of their file."""
    data = toml.parse(text)
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
    bounds: dict[str, Condition[Metric]] = {}
    for key, operator in (("min", ">="), ("max", "<=")):
        if key in table:
            try:
                bound = condition.quantity_of(table[key], metric.unit)
            except UsageError as error:
                raise UsageError(f"{where}{name}: {key}: {error.message}") from error
            bounds[key] = Condition(metric, operator, bound, str(table[key]))
    if not bounds:
        raise UsageError(f"{where}{name} has neither min nor max")
    least, most = bounds.get("min"), bounds.get("max")
    if least is not None and most is not None:
        low, high = least.bound, most.bound
        if low.unit != high.unit:
            raise UsageError(f"{where}{name}: min is in {low.unit}, and max in {high.unit}")
        if low.value > high.value:
            raise UsageError(f"{where}{name}: min is more than max")
    return Limit(metric, least, most)


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
    for one in (limit.least, limit.most):
        if one is not None and one.bound.unit != unit:
            raise UsageError(
                f"the limit of {metric} is in {one.bound.unit}, and {run.file} has it in {unit}"
            )
    value = metric.value(run.result)
    verdict, text = _text(limit, value, unit)
    return Check(
        run=index,
        metric=metric.name,
        unit=unit,
        value=value,
        least=_bound(limit.least),
        most=_bound(limit.most),
        verdict=verdict,
        text=text,
    )


def _bound(one: Condition[Metric] | None) -> float | None:
    return float(one.bound.value) if one is not None else None


def _text(limit: Limit, value: float | None, unit: Unit) -> tuple[CheckVerdict, str]:
    name = limit.metric
    if value is None:
        return CheckVerdict.MISSING, f"the result does not have {name}"
    told = f"{name} is {format_value(value, unit)}"
    given = [
        (one, float(one.bound.value), missed, allowed)
        for one, missed, allowed in (
            (limit.least, "less", "at least"),
            (limit.most, "more", "at most"),
        )
        if one is not None
    ]
    if not given:
        return CheckVerdict.REPORTED, told
    for one, bound, missed, _ in given:
        if not one.holds(value):
            found, allowed = format_apart(value, bound, unit)
            return CheckVerdict.FAILED, f"{name} is {found}, {missed} than {allowed}"
    bounds = " and ".join(
        f"{allowed} {format_value(bound, unit)}" for _, bound, _, allowed in given
    )
    return CheckVerdict.PASSED, f"{told}, {bounds} allowed"


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

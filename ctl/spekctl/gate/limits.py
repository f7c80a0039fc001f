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

import msgspec

from spekctl import condition, fields, files, recorded, toml
from spekctl.condition import Condition, Unit, format_value
from spekctl.documents import document
from spekctl.documents.result import Result
from spekctl.documents.verdict import (
    Check,
    CheckVerdict,
    GateReport,
    GateVerdict,
    Judged,
    Unjudged,
)
from spekctl.errors import UsageError, at
from spekctl.gate import judged, metrics, paced
from spekctl.gate.judged import Failure, Run
from spekctl.gate.metrics import Metric
from spekctl.gate.values import format_apart


class GateTable(msgspec.Struct):
    """[gate]"""

    workload: str | None = None
    report: list[str] = []


class LimitTable(msgspec.Struct):
    """[[limit]]"""

    metric: str
    min: int | float | str | None = None
    max: int | float | str | None = None


class LimitsFile(msgspec.Struct):
    """What a file of limits may have."""

    gate: GateTable = msgspec.field(default_factory=GateTable)
    limit: list[LimitTable] = []


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
    with at(recorded.text(str(path))):
        return parse(text, path)


def parse(text: str, path: Path) -> Limits:
    """Limits from the text of their file."""
    data = toml.parse(text)
    fields.check(data, LimitsFile)
    file = msgspec.convert(data, LimitsFile)
    limits = []
    for number, entry in enumerate(file.limit, start=1):
        with at(f"limit {number}"):
            limits.append(_limit(entry))
    for name in file.gate.report:
        with at("gate, report"):
            limits.append(Limit(metrics.find(name)))
    if not limits:
        raise UsageError("there is no [[limit]] and nothing to report")
    names = [limit.metric.name for limit in limits]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"there are two entries for {name}; one may have both min and max")
    return Limits(path, file.gate.workload, limits)


def _limit(given: LimitTable) -> Limit:
    metric = metrics.find(given.metric)
    least = _condition(metric, "min", ">=", given.min)
    most = _condition(metric, "max", "<=", given.max)
    if least is None and most is None:
        raise UsageError(f"{metric} has neither min nor max")
    if least is not None and most is not None:
        low, high = least.bound, most.bound
        if low.unit != high.unit:
            raise UsageError(f"{metric}: min is in {low.unit}, and max in {high.unit}")
        if low.value > high.value:
            raise UsageError(f"{metric}: min is more than max")
    return Limit(metric, least, most)


def _condition(
    metric: Metric, key: str, operator: str, value: int | float | str | None
) -> Condition[Metric] | None:
    if value is None:
        return None
    with at(f"{metric}: {key}"):
        return Condition(metric, operator, condition.quantity_of(value, metric.unit), str(value))


def judge(limits: Limits, given: Sequence[Run], failures: Sequence[Failure] = ()) -> GateReport:
    """Whether results keep the limits; a result that these limits are not for fails as a file that
    holds none, as @failures do."""
    failures = list(failures)
    runs: list[Run] = []
    checks: list[Check] = []
    for run in given:
        try:
            _check_workload(limits, run)
            checks += [_check(len(runs), run, limit) for limit in limits.limits]
        except UsageError as error:
            failures.append(Failure(run.path, error.message))
        else:
            runs.append(run)
    described = judged.described(runs)
    unjudged = judged.unjudged(failures, runs)
    verdict, text = _verdict(described, checks, unjudged)
    return GateReport(
        limits=recorded.text(str(limits.path)),
        runs=described,
        checks=checks,
        verdict=verdict,
        text=text,
        unjudged=unjudged,
        limited=[limit.metric.name for limit in limits.limits if limit.least or limit.most],
    )


def _check_workload(limits: Limits, run: Run) -> None:
    name = run.result.config.name
    if limits.workload is not None and name != limits.workload:
        raise UsageError(
            f"{run.file} is a result of the workload {name};"
            f" the limits of {limits.path} are for {limits.workload}"
        )


def _check(index: int, run: Run, limit: Limit) -> Check:
    metric = limit.metric
    unit = metric.unit_in(run.result)
    for bound in (limit.least, limit.most):
        if bound is not None and bound.bound.unit != unit:
            raise UsageError(
                f"the limit of {metric} is in {bound.bound.unit}, and {run.file} has it in {unit}"
            )
    value = metric.value(run.result)
    verdict, text = _text(limit, value, unit)
    if value is not None and (late := _unanswered(limit, run.result, value)) is not None:
        (value, text), verdict = late, CheckVerdict.FAILED
    reason = "" if value is None else paced.set_by_load(metric.name, run.result)
    if reason:
        text += f"; it is set by {reason}, so that a faster device has no better one"
    remark = metric.remark(run.result)
    if remark:
        text += f"; {remark}"
    return Check(
        run=index,
        metric=metric.name,
        unit=unit,
        value=value,
        least=_bound(limit.least),
        most=_bound(limit.most),
        verdict=verdict,
        text=text,
        set_by=reason,
        remark=remark,
    )


def _unanswered(limit: Limit, result: Result, value: float) -> tuple[float, str] | None:
    """What a time of @value that is allowed is at least, if that is not, and the sentence; None: no
    I/O in flight at the end decides."""
    if limit.most is None or not limit.most.holds(value):
        return None
    least, why = limit.metric.bound(result, value) or (value, "")
    if limit.most.holds(least):
        return None
    told, allowed = format_apart(least, float(limit.most.bound.value), limit.most.bound.unit)
    return least, f"{limit.metric} is at least {told}, more than {allowed}: {why}"


def _bound(demand: Condition[Metric] | None) -> float | None:
    return float(demand.bound.value) if demand is not None else None


def _text(limit: Limit, value: float | None, unit: Unit) -> tuple[CheckVerdict, str]:
    name = limit.metric
    if value is None:
        return CheckVerdict.MISSING, f"the result does not have {name}"
    told = f"{name} is {format_value(value, unit)}"
    given = [
        (demand, float(demand.bound.value), missed, allowed)
        for demand, missed, allowed in (
            (limit.least, "less", "at least"),
            (limit.most, "more", "at most"),
        )
        if demand is not None
    ]
    if not given:
        return CheckVerdict.REPORTED, told
    for demand, bound, missed, _ in given:
        if not demand.holds(value):
            measured, allowed = format_apart(value, bound, unit)
            return CheckVerdict.FAILED, f"{name} is {measured}, {missed} than {allowed}"
    bounds = " and ".join(
        f"{allowed} {format_value(bound, unit)}" for _, bound, _, allowed in given
    )
    return CheckVerdict.PASSED, f"{told}, {bounds} allowed"


def _verdict(
    runs: Sequence[Judged], checks: Sequence[Check], unjudged: Sequence[Unjudged]
) -> tuple[GateVerdict, str]:
    failed = sum(not run.ok for run in runs)
    missed = sum(check.verdict is CheckVerdict.FAILED for check in checks)
    limited = [check for check in checks if check.least is not None or check.most is not None]
    missing = sum(check.verdict is CheckVerdict.MISSING for check in limited)
    parts = []
    if unjudged:
        files = len(runs) + len(unjudged)
        parts.append(f"{len(unjudged)} of {files} file{'s' * (files != 1)} without a result")
    if failed:
        parts.append(f"{failed} of {len(runs)} run{'s' * (len(runs) != 1)} failed")
    if missed:
        parts.append(f"{missed} of {len(limited)} limit{'s' * (len(limited) != 1)} missed")
    if missing:
        parts.append(f"{missing} limit{'s' * (missing != 1)} without a figure")
    if failed or missed or unjudged:
        return GateVerdict.FAILED, "failed: " + ", ".join(parts)
    if missing:
        return GateVerdict.UNDECIDED, "undecided: " + ", ".join(parts)
    if not limited:
        return GateVerdict.PASSED, "passed: every run completed"
    return GateVerdict.PASSED, f"passed: {len(limited)} limit{'s' * (len(limited) != 1)} kept"

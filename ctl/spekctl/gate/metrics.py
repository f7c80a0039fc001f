# SPDX-License-Identifier: GPL-2.0-or-later
"""The figures of a result that can be judged: their names, units, and which way is better.

Rates of a fleet are those of its common window; all else is of the sum over its hosts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from spekctl.condition import Unit, unit_of
from spekctl.documents import histogram, unanswered
from spekctl.documents.hosts import WindowSum
from spekctl.documents.power import MOST_UNKNOWN, power_of
from spekctl.documents.result import Result
from spekctl.documents.result_parts import Cell, Total
from spekctl.documents.times import PERCENTILES
from spekctl.errors import UsageError
from spekctl.kernel.records import Histogram, Phase
from spekctl.suggest import did_you_mean


@dataclass(frozen=True, slots=True)
class Metric:
    """A figure of a result; its value is None where the result does not have it. @remark: what
    makes it less certain, or why it is missing; empty if there is nothing to say."""

    name: str
    unit: Unit
    better: Literal["higher", "lower"]
    help: str
    get: Callable[[Result], float | None]
    # Of times: what I/Os in flight at the end make it at least; None: nothing.
    least: Callable[[Result], float | None] = lambda result: None
    # Of times: ages of those I/Os.
    ages: Callable[[Result], Histogram | None] = lambda result: None
    remark: Callable[[Result], str] = lambda result: ""

    def __str__(self) -> str:
        return self.name

    def value(self, result: Result) -> float | None:
        """The figure, in its unit."""
        value = self.get(result)
        return value if value is not None and math.isfinite(value) else None

    def bound(self, result: Result, value: float) -> tuple[float, str] | None:
        """What a time that is @value by the completed I/Os is at least, in ns, and the sentence on
        the I/Os in flight at the end that make it more; None: they do not."""
        ages = self.ages(result)
        if ages is None or ages.max_ns <= value:
            return None
        least = self.least(result)
        if least is None or least <= value:
            return None
        return least, unanswered.sentence(histogram.count_of(ages), ages.max_ns)

    def unit_in(self, result: Result) -> Unit:
        """Its unit in this result."""
        return unit_of(self.unit, result.environment.counts_instructions)


DIRECTIONS = ("all", "read", "write")
TIMES = {
    "response": "completion minus intended arrival",
    "service": "completion minus issue",
    "slip": "issue minus intended arrival",
}
# Beside those that a result has as such: by histogram, which tells as many digits.
COMPUTED = {"p99.999": 999_990}
STATISTICS = ("mean", *PERCENTILES, *COMPUTED, "max")


def find(name: str) -> Metric:
    """The metric of this name; UsageError with the nearest one."""
    metric = METRICS.get(name)
    if metric is None:
        hint = did_you_mean(name, METRICS) or f"; the metrics are {summary()}"
        raise UsageError(f"there is no metric '{name}'{hint}")
    return metric


def summary() -> str:
    """All names in short."""
    times = f"{{{','.join(TIMES)}}}.{{{','.join(STATISTICS)}}}"
    return (
        f"{', '.join(metric for metric in METRICS if '.' not in metric)}, {times};"
        f" iops, bandwidth and times also of one direction, as in read.iops"
    )


def _rates(direction: str) -> list[Metric]:
    prefix = "" if direction == "all" else f"{direction}."
    return [
        Metric(f"{prefix}iops", Unit.RATE, "higher", "I/Os per second", _rate(direction, _iops)),
        Metric(
            f"{prefix}bandwidth", Unit.BANDWIDTH, "higher", "bytes per second",
            _rate(direction, _bandwidth),
        ),
    ]  # fmt: skip


def _times(direction: str) -> list[Metric]:
    prefix = "" if direction == "all" else f"{direction}."
    return [
        Metric(
            f"{prefix}{kind}.{statistic}", Unit.TIME, "lower", f"{statistic} of {kind}: {words}",
            _computed(direction, kind, COMPUTED[statistic])
            if statistic in COMPUTED
            else _of(direction, _time(kind, statistic)),
            least=_at_least(direction, kind, statistic),
            ages=_ages(direction, kind),
        )
        for kind, words in TIMES.items()
        for statistic in STATISTICS
    ]  # fmt: skip


def _of(direction: str, get: Callable[[Total], float | None]) -> Callable[[Result], float | None]:
    return lambda result: get(getattr(result.totals, direction))


def _rate(
    direction: str, get: Callable[[Total | WindowSum], float]
) -> Callable[[Result], float | None]:
    """Of a fleet: in the time in which all hosts were at work."""

    def of(result: Result) -> float | None:
        if result.common is None:
            return get(getattr(result.totals, direction))
        return get(getattr(result.common, direction)) if result.common.intervals else None

    return of


def _iops(total: Total | WindowSum) -> float:
    return total.iops


def _bandwidth(total: Total | WindowSum) -> float:
    return total.bytes_per_s


def _time(kind: str, statistic: str) -> Callable[[Total], float | None]:
    def get(total: Total) -> float | None:
        times = getattr(total.times, kind)
        if times is None:
            return None
        if statistic == "mean":
            return float(times.mean_ns)
        time_ns = times.max_ns if statistic == "max" else times.percentiles_ns.get(statistic)
        return None if time_ns is None else float(time_ns)

    return get


def _computed(direction: str, kind: str, ppm: int) -> Callable[[Result], float | None]:
    def get(result: Result) -> float | None:
        times = unanswered.times_of(_cells(result, direction), kind)
        return None if times is None else float(histogram.percentile(times, ppm))

    return get


def _cells(result: Result, direction: str) -> list[Cell]:
    return [cell for cell in result.cells if direction in ("all", cell.direction.name.lower())]


def _ages(direction: str, kind: str) -> Callable[[Result], Histogram | None]:
    if kind not in unanswered.KINDS:
        return lambda result: None
    return lambda result: unanswered.ages_of(_cells(result, direction), kind)


def _at_least(direction: str, kind: str, statistic: str) -> Callable[[Result], float | None]:
    """With I/Os in flight at the end counted by their ages."""

    def get(result: Result) -> float | None:
        ages = _ages(direction, kind)(result)
        times = unanswered.times_of(_cells(result, direction), kind)
        if ages is None or times is None:
            return None
        whole = histogram.merge([times, ages])
        assert whole is not None
        if statistic == "mean":
            return histogram.mean(whole)
        if statistic == "max":
            return float(whole.max_ns)
        ppm = COMPUTED.get(statistic) or PERCENTILES[statistic]
        return float(histogram.percentile(whole, ppm))

    return get


def _time_per_io(result: Result) -> float | None:
    for phase in result.phases:
        if phase.phase == Phase.MEASURE and phase.ios:
            return phase.duration_ns / phase.ios
    return None


def _cpu_per_io(result: Result) -> float | None:
    return _per_io(result, sum(worker.cpu_ns for worker in result.workers))


def _switches_per_io(result: Result) -> float | None:
    switches = (
        worker.voluntary_switches + worker.involuntary_switches for worker in result.workers
    )
    return _per_io(result, sum(switches))


def _per_io(result: Result, amount: int) -> float | None:
    ios = sum(phase.ios for phase in result.phases)
    return amount / ios if ios and result.workers else None


def _power(result: Result) -> float | None:
    """Missing if it is known for too little of the measure phase."""
    power = power_of(result)
    return power.total.mean_w if power is not None and power.is_known else None


def _efficiency(name: str) -> Callable[[Result], float | None]:
    def get(result: Result) -> float | None:
        efficiency = None if result.power is None else result.power.measure.efficiency
        if efficiency is None or _power(result) is None:
            return None
        return float(getattr(efficiency, name))

    return get


def _power_remark(result: Result) -> str:
    power = power_of(result)
    if power is None:
        return result.power_text
    if power.remark and power.net_w is not None and not power.is_known:
        return f"{power.remark}; at most {MOST_UNKNOWN:.0%} may be unknown"
    return power.remark


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        *_rates("all"),
        Metric(
            "time_per_io", Unit.TIME, "lower",
            "measure phase over its I/Os; in counts, also what other tasks executed, and idle time",
            _time_per_io,
        ),
        Metric(
            "cpu_per_io", Unit.TIME, "lower",
            "CPU time of the workers over the I/Os, from start to end, with interrupts meanwhile",
            _cpu_per_io,
        ),
        Metric(
            "switches_per_io", Unit.COUNT, "lower",
            "context switches of the workers over the I/Os, from start to end", _switches_per_io,
        ),
        Metric(
            "errors", Unit.COUNT, "lower", "failed I/Os", lambda result: result.outcome.errors
        ),
        Metric(
            "backlog", Unit.COUNT, "lower", "largest backlog at the end of an interval",
            lambda result: result.outcome.backlog_max,
        ),
        Metric(
            "power", Unit.POWER, "lower", "mean power of all rails", _power,
            remark=_power_remark,
        ),
        Metric(
            "iops_per_w", Unit.RATE_PER_POWER, "higher", "I/Os per second and watt",
            _efficiency("iops_per_w"), remark=_power_remark,
        ),
        Metric(
            "mw_per_iops", Unit.POWER_PER_RATE, "lower", "power per I/O per second",
            _efficiency("mw_per_iops"), remark=_power_remark,
        ),
        Metric(
            "j_per_gib", Unit.ENERGY_PER_DATA, "lower", "energy per GiB",
            _efficiency("j_per_gib"), remark=_power_remark,
        ),
        *_times("all"),
        *(metric for direction in DIRECTIONS[1:] for metric in _rates(direction)),
        *(metric for direction in DIRECTIONS[1:] for metric in _times(direction)),
    )
}  # fmt: skip

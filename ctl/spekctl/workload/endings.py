# SPDX-License-Identifier: GPL-2.0-or-later
"""What may end a run before its time: steady state, and thresholds; what the options' texts mean.

    --until      steady[:PART,...]       PART: METRIC, window=N, range=P%, slope=P%
    --stop-when  COMPARISON [and ...]    COMPARISON: METRIC > VALUE, with >, >=, < or <=

A METRIC is one of METRICS, of both directions or, as read.METRIC and write.METRIC, of one. Steady
state is that of the SNIA Performance Test Specification: over the last N rounds, the range of the
metric is at most range % of its average, and the excursion of its least-squares line, which is
slope x (N - 1), at most slope % of it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from spekctl import units
from spekctl.errors import UsageError
from spekctl.suggest import did_you_mean

Side = Literal["", "read", "write"]


@dataclass(frozen=True, slots=True)
class MetricKind:
    """A metric of a report interval."""

    unit: Literal["per second", "bytes per second", "ns", "count"]
    sided: bool = True  # reads and writes have their own
    steady: bool = True  # steady state can be that of this metric


METRICS: dict[str, MetricKind] = {
    "iops": MetricKind("per second"),
    "bandwidth": MetricKind("bytes per second"),
    "latency": MetricKind("ns"),
    "p50": MetricKind("ns"),
    "p90": MetricKind("ns"),
    "p99": MetricKind("ns"),
    "p99.9": MetricKind("ns"),
    "max": MetricKind("ns", steady=False),
    "errors": MetricKind("count", steady=False),
    "backlog": MetricKind("count", sided=False, steady=False),
    "outstanding": MetricKind("count", sided=False, steady=False),
}
OPERATORS = (">=", "<=", ">", "<")
WINDOW, WINDOW_MAX = 5, 1000
RANGE, SLOPE = Fraction(20, 100), Fraction(10, 100)

_SIDED = re.compile(r"(?:(read|write)\.)?(.*)", re.DOTALL)
_COMPARISON = re.compile(r"\s*([^<>=\s]*)\s*([<>=!]+)\s*(.*?)\s*", re.DOTALL)
_NUMBER = re.compile(r"[0-9]+(\.[0-9]+)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric, of both directions or of one."""

    name: str
    side: Side = ""

    def __str__(self) -> str:
        return f"{self.side}.{self.name}" if self.side else self.name

    @property
    def kind(self) -> MetricKind:
        """Unit and uses."""
        return METRICS[self.name]

    def text(self, value: float) -> str:
        """A value of it for people."""
        if self.kind.unit == "ns":
            return units.format_ns(value)
        if self.kind.unit == "bytes per second":
            return f"{units.format_bytes(round(value))}/s"
        return f"{value:,.0f}" if self.kind.unit == "count" else units.format_rate(value)


@dataclass(frozen=True, slots=True)
class Comparison:
    """A metric and its bound."""

    metric: Metric
    operator: str
    bound: Fraction
    written: str  # the bound as the user wrote it

    def __str__(self) -> str:
        return f"{self.metric} {self.operator} {self.written}"

    def holds(self, value: float) -> bool:
        """Whether it is true of a value of the metric."""
        if self.operator == ">":
            return value > self.bound
        if self.operator == ">=":
            return value >= self.bound
        return value < self.bound if self.operator == "<" else value <= self.bound


@dataclass(frozen=True, slots=True)
class Threshold:
    """Comparisons that all have to be true of the same interval."""

    parts: tuple[Comparison, ...]

    def __str__(self) -> str:
        return " and ".join(str(one) for one in self.parts)


@dataclass(frozen=True, slots=True)
class Steady:
    """Steady state of one or more metrics at once; shares are of the average."""

    metrics: tuple[Metric, ...] = ()  # none named: that of the IOPS
    window: int = WINDOW
    range: Fraction = RANGE
    slope: Fraction = SLOPE

    @property
    def watched(self) -> tuple[Metric, ...]:
        """The metrics that have to be steady."""
        return self.metrics or (Metric("iops"),)

    def __str__(self) -> str:
        parts = [str(one) for one in self.watched]
        parts += [f"window={self.window}", f"range={_percent(self.range)}"]
        return f"steady:{','.join(parts)},slope={_percent(self.slope)}"


def _percent(share: Fraction) -> str:
    return f"{float(share * 100):.10g}%"


def parse_metric(text: str) -> Metric:
    """``p99``, ``read.iops`` as a metric."""
    match = _SIDED.fullmatch(text.strip())
    assert match is not None
    side, name = match.group(1) or "", match.group(2)
    if name not in METRICS:
        raise UsageError(
            f"'{_short(text)}' is not a metric (they are {', '.join(METRICS)}; each but backlog"
            f" and outstanding also as read.NAME and write.NAME){did_you_mean(name, METRICS)}"
        )
    if side and not METRICS[name].sided:
        raise UsageError(f"{name} is that of both directions; write {name}, not {side}.{name}")
    return Metric(name, side)  # type: ignore[arg-type]


def parse_threshold(text: str) -> Threshold:
    """``p99 > 10ms``, ``iops < 1000 and errors > 0`` as a threshold."""
    parts = re.split(r"\s+and\s+", text.strip())
    return Threshold(tuple(_comparison(part, text) for part in parts))


def _comparison(part: str, whole: str) -> Comparison:
    match = _COMPARISON.fullmatch(part)
    if match is None:
        raise UsageError(
            f"'{_short(whole)}' is not a threshold; write METRIC > VALUE, for example 'p99 > 10ms',"
            " 'iops < 1000' or 'errors > 0', several of them joined by 'and'"
        )
    name, operator, value = match.groups()
    if operator not in OPERATORS:
        raise UsageError(
            f"'{_short(part.strip())}': '{operator}' is not a comparison; they are"
            f" {', '.join(OPERATORS)}"
        )
    if not name or not value:
        side = "left" if not name else "right"
        raise UsageError(f"'{_short(part.strip())}': nothing is on the {side} of {operator}")
    metric = parse_metric(name)
    bound = _bound(metric, value)
    return Comparison(metric, operator, bound, value)


def _bound(metric: Metric, value: str) -> Fraction:
    unit = metric.kind.unit
    try:
        if unit == "ns":
            return Fraction(units.parse_duration_ns(value))
        if unit == "bytes per second":
            return Fraction(units.parse_size(value.removesuffix("/s")))
    except UsageError as error:
        raise UsageError(f"{metric}: {error.message}") from error
    if not _NUMBER.fullmatch(value) or len(value) > units.LONGEST_NUMBER:
        example = "1000" if unit == "per second" else "0"
        raise UsageError(
            f"{metric}: '{_short(value)}' is not a number without a unit, such as {example}"
        )
    return Fraction(value)


def parse_until(text: str) -> Steady:
    """``steady``, ``steady:latency,window=10,range=15%`` as steady state."""
    word, colon, rest = text.strip().partition(":")
    if word != "steady":
        raise UsageError(
            f"'{_short(text)}' is not an end of a run; write steady, or for example"
            " steady:iops,latency,window=10,range=15%,slope=5%"
        )
    if not colon:
        return Steady()
    metrics: list[Metric] = []
    values: dict[str, str] = {}
    for part in (one.strip() for one in rest.split(",")):
        key, equals, value = part.partition("=")
        if not equals:
            metrics.append(_steady_metric(part, metrics))
        elif key not in ("window", "range", "slope"):
            hint = did_you_mean(key, ("window", "range", "slope"))
            raise UsageError(
                f"'{_short(key)}' is not a parameter of steady state (they are window, range and"
                f" slope){hint}"
            )
        elif key in values:
            raise UsageError(f"{key} is given twice")
        else:
            values[key] = value
    return Steady(
        tuple(metrics),
        _window(values["window"]) if "window" in values else WINDOW,
        units.parse_percent(values["range"]) if "range" in values else RANGE,
        units.parse_percent(values["slope"]) if "slope" in values else SLOPE,
    )


def _steady_metric(part: str, before: list[Metric]) -> Metric:
    metric = parse_metric(part)
    if not metric.kind.steady:
        usable = ", ".join(name for name, kind in METRICS.items() if kind.steady)
        raise UsageError(f"steady state cannot be that of {metric}; it can be of {usable}")
    if metric in before:
        raise UsageError(f"{metric} is listed twice")
    return metric


def _window(text: str) -> int:
    if not re.fullmatch("[0-9]{1,4}", text, re.ASCII) or not 2 <= int(text) <= WINDOW_MAX:
        raise UsageError(f"window={_short(text)} is not a number of rounds from 2 to {WINDOW_MAX}")
    return int(text)


def _short(text: str) -> str:
    return text if len(text) <= units.LONGEST_NUMBER else f"{text[:20]}..."

# SPDX-License-Identifier: GPL-2.0-or-later
"""What may end a run before its time: steady state, and thresholds; what the options' texts mean.

    --until      steady[:PART,...]    PART: METRIC, window=N, range=P%, slope=P%
    --stop-when  CONDITION            of condition.py

A METRIC is one of METRICS, of both directions or, as read.METRIC and write.METRIC, of one. Steady
state is that of the SNIA Performance Test Specification: over the last N rounds, the range of the
metric is at most range % of its average, and the excursion of its least-squares line, which is
slope x (N - 1), at most slope % of it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Literal

from spekctl import condition, units
from spekctl.condition import Condition, Unit, shortened
from spekctl.errors import UsageError
from spekctl.suggest import did_you_mean

Side = Literal["", "read", "write"]


@dataclass(frozen=True, slots=True)
class MetricKind:
    """A metric of a report interval."""

    unit: Unit
    sided: bool = True  # reads and writes have their own
    steady: bool = True  # steady state can be that of this metric


METRICS: dict[str, MetricKind] = {
    "iops": MetricKind(Unit.RATE),
    "bandwidth": MetricKind(Unit.BANDWIDTH),
    "latency": MetricKind(Unit.TIME),
    "p50": MetricKind(Unit.TIME),
    "p90": MetricKind(Unit.TIME),
    "p99": MetricKind(Unit.TIME),
    "p99.9": MetricKind(Unit.TIME),
    "max": MetricKind(Unit.TIME, steady=False),
    "errors": MetricKind(Unit.COUNT, steady=False),
    "backlog": MetricKind(Unit.COUNT, sided=False, steady=False),
    "outstanding": MetricKind(Unit.COUNT, sided=False, steady=False),
}
WINDOW, WINDOW_MAX = 5, 1000
RANGE, SLOPE = Fraction(20, 100), Fraction(10, 100)

_SIDED = re.compile(r"(?:(read|write)\.)?(.*)", re.DOTALL)


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

    @property
    def unit(self) -> Unit:
        """Unit of its values."""
        return self.kind.unit

    def text(self, value: float) -> str:
        """A value of it for people; that of a rate goes without saying."""
        if self.unit is Unit.RATE:
            return units.format_rate(value)
        return condition.format_value(value, self.unit)


Comparison = Condition[Metric]


@dataclass(frozen=True, slots=True)
class Threshold:
    """Comparisons that all have to be true of the same interval."""

    parts: tuple[Comparison, ...]

    def __str__(self) -> str:
        return " and ".join(str(part) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Steady:
    """Steady state of one or more metrics at once; shares are of the average."""

    metrics: tuple[Metric, ...] = ()  # none named: as the load is, see run.until.chosen()
    window: int = WINDOW
    range: Fraction = RANGE
    slope: Fraction = SLOPE

    @property
    def watched(self) -> tuple[Metric, ...]:
        """The metrics that have to be steady."""
        return self.metrics or (Metric("iops"),)

    def __str__(self) -> str:
        """What parse_until() makes it of again: metrics that are not named are not, as the load
        decides which they are."""
        parts = [str(metric) for metric in self.metrics]
        parts += [f"window={self.window}", f"range={_percent(self.range)}"]
        return f"steady:{','.join(parts)},slope={_percent(self.slope)}"


def _percent(share: Fraction) -> str:
    percent = Decimal(share.numerator * 100) / Decimal(share.denominator)
    return f"{percent.normalize():f}%"


def parse_metric(text: str) -> Metric:
    """``p99``, ``read.iops`` as a metric."""
    match = _SIDED.fullmatch(text.strip())
    assert match is not None
    side, name = match.group(1) or "", match.group(2)
    if name not in METRICS:
        raise UsageError(
            f"'{shortened(text)}' is not a metric (they are {', '.join(METRICS)}; each but backlog"
            f" and outstanding also as read.NAME and write.NAME){did_you_mean(name, METRICS)}"
        )
    if side and not METRICS[name].sided:
        raise UsageError(f"{name} is that of both directions; write {name}, not {side}.{name}")
    return Metric(name, side)  # type: ignore[arg-type]


def parse_threshold(text: str) -> Threshold:
    """``p99 > 10ms``, ``iops < 1000 and errors > 0`` as a threshold."""
    return Threshold(condition.parse(text, parse_metric))


def parse_until(text: str) -> Steady:
    """``steady``, ``steady:latency,window=10,range=15%`` as steady state."""
    word, colon, rest = text.strip().partition(":")
    if word != "steady":
        raise UsageError(
            f"'{shortened(text)}' is not an end of a run; write steady, or for example"
            " steady:iops,latency,window=10,range=15%,slope=5%"
        )
    if not colon:
        return Steady()
    metrics: list[Metric] = []
    values: dict[str, str] = {}
    for part in (text.strip() for text in rest.split(",")):
        key, equals, value = part.partition("=")
        if not equals:
            metrics.append(_steady_metric(part, metrics))
        elif key not in ("window", "range", "slope"):
            hint = did_you_mean(key, ("window", "range", "slope"))
            raise UsageError(
                f"'{shortened(key)}' is not a parameter of steady state (they are window, range and"
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
        raise UsageError(
            f"window={shortened(text)} is not a number of rounds from 2 to {WINDOW_MAX}"
        )
    return int(text)

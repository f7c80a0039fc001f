# SPDX-License-Identifier: GPL-2.0-or-later
"""Ends a run at steady state or at a threshold, by its report intervals as they come in.

A round of steady state is one interval of the measure phase, so --interval sets its length. An
interval cut short by the end of the run, or one without the I/Os of a worker that was blocked, is
not a round, and its rates are not compared.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence

from spekctl import units
from spekctl.condition import Unit
from spekctl.documents.result_parts import EndingResult
from spekctl.documents.steady import Criteria, Window, judge
from spekctl.errors import UsageError
from spekctl.kernel.records import IntervalCell, IntervalRow, Phase, is_covered
from spekctl.workload import pace
from spekctl.workload.config import RunConfig
from spekctl.workload.endings import Metric, Steady, Threshold

# Share of its length from which on an interval counts as a whole one.
WHOLE = 0.9


def check(until: Steady | None, stop_when: Sequence[Threshold], config: RunConfig) -> None:
    """Refuse endings that this run cannot come to."""
    if until is None and not stop_when:
        return
    check_rounds(until, stop_when, config.interval_ns, config.time_ns)
    if config.detached:
        raise UsageError(
            f"{_flag(until)} cannot be combined with --detach: nothing stays attached to the run"
        )
    metrics = list(until.metrics) if until is not None else []
    metrics += [part.metric for threshold in stop_when for part in threshold.parts]
    for metric in metrics:
        if metric.side and not _has(config, metric.side):
            raise UsageError(f"{metric}: {config.name} has no {metric.side}s")


def check_rounds(
    until: Steady | None, stop_when: Sequence[Threshold], interval_ns: int, time_ns: int
) -> None:
    """Refuse endings without a report interval to judge, or with too few of them. @time_ns: length
    of the measure phase; 0: no time ends it."""
    if until is None and not stop_when:
        return
    if not interval_ns:
        raise UsageError(f"{_flag(until)} is judged at each report interval; --interval 0 has none")
    if until is not None and time_ns and time_ns < until.window * interval_ns:
        raise UsageError(
            f"--until: {until.window} rounds of --interval"
            f" {units.format_duration(interval_ns)} are longer than the measure phase,"
            f" {units.format_duration(time_ns)}"
        )


def _flag(until: Steady | None) -> str:
    return "--until" if until is not None else "--stop-when"


def chosen(until: Steady | None, config: RunConfig, trace_waits: bool = False) -> Steady | None:
    """@until with a metric, if it names none: the IOPS, or, of a load that fixes them, latency.

    @trace_waits: a trace is replayed in a closed loop without think times
    """
    if until is None or until.metrics:
        return until
    is_paced = pace.pace_of_all(config, trace_waits)
    return dataclasses.replace(until, metrics=(Metric("latency" if is_paced else "iops"),))


def remarks(until: Steady | None, config: RunConfig, trace_waits: bool = False) -> list[str]:
    """What to say of a steady state that the load is in from its first round on."""
    if until is None or not until.metrics:
        return []
    if any(metric.unit not in (Unit.RATE, Unit.BANDWIDTH) for metric in until.metrics):
        return []
    reasons = [pace.pace_of_all(config, trace_waits, metric.side) for metric in until.metrics]
    if not all(reasons):
        return []
    reason = reasons[0]
    names = " and ".join(str(metric) for metric in until.metrics)
    return [
        f"--until: {reason} sets {names}, which are steady on any device that keeps up;"
        " steady:latency tells"
    ]


def _has(config: RunConfig, side: str) -> bool:
    return any(pace.has(stream, side) for stream in config.streams)


# --- metrics of an interval ----------------------------------------------------------------------


def _seconds(row: IntervalRow) -> float:
    return max(row.end_ns - row.start_ns, 1) / 1e9


def _cells(row: IntervalRow, metric: Metric) -> list[IntervalCell]:
    if metric.side:
        return [row.read if metric.side == "read" else row.write]
    return [row.read, row.write]


def _latency(cells: Iterable[IntervalCell]) -> float | None:
    ios = sum(cell.ios for cell in cells)
    return sum(cell.response_sum_ns for cell in cells) / ios if ios else None


_TIMES: dict[str, Callable[[IntervalCell], int | None]] = {
    "p50": lambda cell: cell.response_p50_ns,
    "p90": lambda cell: cell.response_p90_ns,
    "p99": lambda cell: cell.response_p99_ns,
    "p99.9": lambda cell: cell.response_p999_ns,
    "max": lambda cell: cell.response_max_ns,
}


def value_of(row: IntervalRow, metric: Metric) -> float | None:
    """A metric in an interval; None: no I/O completed, so there is none.

    A percentile of both directions is the larger of the two: that of all I/Os is not above it.
    """
    cells = _cells(row, metric)
    if metric.name == "iops":
        return sum(cell.ios for cell in cells) / _seconds(row)
    if metric.name == "bandwidth":
        return sum(cell.bytes for cell in cells) / _seconds(row)
    if metric.name == "latency":
        return _latency(cells)
    if metric.name == "errors":
        return sum(cell.errors for cell in cells)
    if metric.name == "backlog":
        return row.backlog
    if metric.name == "outstanding":
        return row.outstanding
    times = [_TIMES[metric.name](cell) for cell in cells if cell.ios]
    return max((time for time in times if time is not None), default=None)


# --- the watch -----------------------------------------------------------------------------------


class Watch:
    """The endings of a run under way, and how far they have come."""

    def __init__(
        self, until: Steady | None, stop_when: Sequence[Threshold], interval_ns: int
    ) -> None:
        self._until = until
        self._stop_when = stop_when
        self._interval_ns = interval_ns
        self._values: dict[Metric, list[float]] = {}
        self._windows: list[Window] = []
        self._rounds = 0
        self._seq = -1
        self._steady = False
        self._stopped_by = ""
        self._seen = ""  # what the threshold was true of
        self._text = ""

    @property
    def over(self) -> bool:
        """The run has to end."""
        return self._steady or bool(self._stopped_by)

    @property
    def text(self) -> str:
        """Why, as a sentence."""
        return self._text

    def take(self, rows: Iterable[IntervalRow]) -> None:
        """Judge the intervals that were closed since the last call."""
        for row in rows:
            if row.phase is Phase.MEASURE and not self.over:
                self._judge(row)

    def _judge(self, row: IntervalRow) -> None:
        whole = is_covered(row) and row.end_ns - row.start_ns >= WHOLE * self._interval_ns
        for threshold in self._stop_when:
            if self._exceeded(threshold, row, whole):
                return
        if self._until is None or not whole:
            return
        if row.seq != self._seq + 1:
            self._forget()
        self._seq = row.seq
        self._rounds += 1
        value_by_metric = {metric: value_of(row, metric) for metric in self._until.watched}
        if any(value is None for value in value_by_metric.values()):
            self._forget()
            return
        limits = criteria_of(self._until)
        for metric, value in value_by_metric.items():
            assert value is not None
            self._values[metric] = [*self._values.get(metric, ()), value][-limits.window :]
        self._windows = [
            judge(str(metric), values, limits, self._rounds - len(values))
            for metric, values in self._values.items()
        ]
        self._steady = all(window.steady for window in self._windows)
        if self._steady:
            self._text = f"{self._subject()} was reached after {self._count()}"

    def _exceeded(self, threshold: Threshold, row: IntervalRow, whole: bool) -> bool:
        said = []
        for part in threshold.parts:
            rate = part.metric.unit in (Unit.RATE, Unit.BANDWIDTH)
            value = None if rate and not whole else value_of(row, part.metric)
            if value is None or not part.holds(value):
                return False
            said.append(f"{part.metric} was {part.metric.text(value)}")
        self._stopped_by = str(threshold)
        self._seen = f"{' and '.join(said)} in interval {row.seq + 1}"
        self._text = f"--stop-when {threshold} ended the run: {self._seen}"
        return True

    def _forget(self) -> None:
        """Rounds before a gap are not in a row with those after it."""
        self._values.clear()
        self._windows = []

    def _subject(self) -> str:
        assert self._until is not None
        return f"steady state of {' and '.join(str(metric) for metric in self._until.watched)}"

    def _count(self) -> str:
        rounds = f"{self._rounds:,} round{'' if self._rounds == 1 else 's'}"
        return f"{rounds} of {units.format_duration(self._interval_ns)}"

    def result(self, stopped: bool = True) -> EndingResult:
        """What a result says of the endings. @stopped: the run was; otherwise it has ended by
        itself, and a threshold was true of its last interval."""
        text = self._text
        if self._stopped_by and not stopped:
            text = f"--stop-when {self._stopped_by} was true: {self._seen}"
        if self._until is not None and not self._steady and not text:
            text = f"{self._subject()} was not reached in {self._count()}"
            missed = [_missed(window, criteria_of(self._until)) for window in self._windows]
            text += "".join(f"; {sentence}" for sentence in missed if sentence)
        return EndingResult(
            until=str(self._until) if self._until is not None else None,
            criteria=criteria_of(self._until) if self._until is not None else None,
            round_ns=self._interval_ns,
            steady=self._steady if self._until is not None else None,
            rounds=self._rounds,
            windows=self._windows,
            stop_when=[str(threshold) for threshold in self._stop_when],
            stopped_by=self._stopped_by,
            text=text,
        )


def criteria_of(steady: Steady) -> Criteria:
    """The limits as they are recorded."""
    return Criteria(steady.window, float(steady.range), float(steady.slope))


def _missed(window: Window, limits: Criteria) -> str:
    """By what the last rounds of a variable are not steady; empty: they are, or are too few."""
    if window.steady or len(window.values) < limits.window:
        return ""
    said = []
    if window.range > limits.range:
        said.append(f"range {window.range * 100:.1f} % (limit {limits.range * 100:.4g} %)")
    if window.excursion > limits.slope:
        said.append(f"slope {window.excursion * 100:.1f} % (limit {limits.slope * 100:.4g} %)")
    if not said:
        return f"{window.variable}: no I/O completed"
    return f"{window.variable} of the last {limits.window} rounds: {', '.join(said)}"

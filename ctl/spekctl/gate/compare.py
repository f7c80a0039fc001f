# SPDX-License-Identifier: GPL-2.0-or-later
"""Results of one set of runs, A, against those of another, B.

The unit of observation is a run: I/Os and intervals of one run are not independent of each other,
and differences between boots are larger than those within one. There are two methods.

counts: guests that count instructions. Their runs repeat almost exactly, so a change is one that
every run of B shows against every run of A, by more than a bound: the tolerance, or three times
the largest spread within a side if that is more. There are no probabilities.

runs: time. The exact Mann-Whitney test on one value for each run, and Hodges and Lehmann's interval
of the change. Same: the interval lies within the tolerance. Better, worse: it lies outside, and p
is less than alpha. Else undecided, with an estimate of the number of runs that are missing.

I/Os in flight at the end of a run count by their ages where that makes a time longer, so that the
time is a lower bound. Where it exceeds the time of the completed I/Os by more than the tolerance,
the true one may be any longer: such runs can show that their side is slower, and nothing else.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import msgspec

from spekctl.condition import format_value
from spekctl.documents.verdict import Change, Comparison, Difference, Figure, Method
from spekctl.errors import RefusedError, UsageError
from spekctl.gate import functions, judged, likeness, paced, ranks
from spekctl.gate.judged import Run
from spekctl.gate.metrics import Metric
from spekctl.gate.values import format_share

FEWEST_COUNTS = 2
SPREADS = 3
# Per side: counting every choice of 100 in 200 runs takes a second, and of more soon a minute.
MOST_RUNS = 100
PRIMARY = {Method.COUNTS: "cpu_per_io", Method.RUNS: "iops"}
TOLERANCE = {Method.COUNTS: Fraction(1, 200), Method.RUNS: Fraction(1, 50)}
ALPHA = Fraction(1, 100)


@dataclass(frozen=True, slots=True)
class Rules:
    """What was fixed before looking at the results."""

    primary: Metric
    others: Sequence[Metric]
    tolerance: Fraction
    alpha: Fraction


def method_of(runs: Sequence[Run]) -> Method:
    """How these runs are compared."""
    counts = runs[0].result.environment.counts_instructions
    return Method.COUNTS if counts else Method.RUNS


def compare(
    a: Sequence[Run],
    b: Sequence[Run],
    rules: Rules,
    vary: Collection[str] = (),
    profiles: Sequence[Path] = (),
) -> Comparison:
    """The verdict; with @profiles of A and of B, the functions that changed.

    RefusedError: the sides are unlike, a run failed, or a profile is of something else. UsageError:
    a result does not have a metric, or there are more than MOST_RUNS.
    """
    most = max(len(a), len(b))
    if most > MOST_RUNS:
        raise UsageError(f"a side has {most} runs; at most {MOST_RUNS} per side are compared")
    for run in (*a, *b):
        if text := run.result.failure:
            raise RefusedError(
                f"the run of {run.file} failed ({text}), so its figures are not those of a complete"
                " run"
            )
    differences = likeness.check(a, b, vary)
    method = method_of(a)
    chosen = [rules.primary, *rules.others]
    figure = _by_counts if method is Method.COUNTS else _by_runs
    values = {metric.name: (_values(metric, a), _values(metric, b)) for metric in chosen}
    figures = [
        figure(metric, _least(values[metric.name][0]), _least(values[metric.name][1]), rules)
        for metric in chosen
    ]
    figures = [
        msgspec.structs.replace(figure, unit=_unit(figure.metric, chosen, a)) for figure in figures
    ]
    figures = _adjusted(figures, rules) if method is Method.RUNS else figures
    late = {
        name: [_late(side, rules.tolerance) for side in sides] for name, sides in values.items()
    }
    figures = [_sure(figure, *late[figure.metric]) for figure in figures]
    figures = [_telling(figure, [*a, *b]) for figure in figures]
    first = figures[0]
    changed = functions.between(profiles, (a, b)) if profiles else None
    named = judged.described(a, "a-"), judged.described(b, "b-")
    return Comparison(
        method=method,
        alpha=float(rules.alpha) if method is Method.RUNS else None,
        a=named[0],
        b=named[1],
        differences=differences,
        figures=figures,
        remarks=[
            *_remarks(a, b, method, vary, differences),
            *_of_figures(chosen, [*a, *b]),
            *(value.text for sides in late.values() for side in sides for value in side),
        ],
        verdict=first.verdict,
        text=first.text,
        functions=changed,
    )


def primary_of(runs: Sequence[Run]) -> str:
    """The figure that decides where none is named: one that these loads do not fix themselves."""
    method = method_of(runs)
    if method is Method.RUNS and any(paced.is_paced(run.result) for run in runs):
        return paced.TELLING
    return PRIMARY[method]


def _telling(figure: Figure, runs: Sequence[Run]) -> Figure:
    """Figures that are the same because the load fixes them say nothing on the device."""
    reasons = [paced.set_by_load(figure.metric, run.result) for run in runs]
    if figure.verdict is not Change.SAME or not all(reasons):
        return figure
    text = (
        f"undecided: {figure.metric} is set by {reasons[0]}, which every run kept, so that it is"
        f" the same on any device that keeps up; compare {paced.TELLING}"
    )
    return msgspec.structs.replace(figure, verdict=Change.UNDECIDED, more_runs=None, text=text)


def _unit(name: str, metrics: Sequence[Metric], runs: Sequence[Run]) -> str:
    return next(metric for metric in metrics if metric.name == name).unit_in(runs[0].result)


@dataclass(frozen=True, slots=True)
class _Value:
    """A figure of a run. @least: with I/Os in flight at its end counted by their ages. @text: the
    sentence on these; empty if they do not change it."""

    known: float
    least: float
    text: str = ""


def _least(values: Sequence[_Value]) -> list[float]:
    return [value.least for value in values]


def _late(values: Sequence[_Value], tolerance: Fraction) -> list[_Value]:
    """Those whose I/Os in flight change them by more than the tolerance."""
    limit = 1 + float(tolerance)
    return [value for value in values if value.text and value.least > value.known * limit]


def _sure(figure: Figure, late_a: Sequence[_Value], late_b: Sequence[_Value]) -> Figure:
    """Undecided, if the verdict does not follow for any longer times of the runs that have only a
    lower bound of them."""
    loose: dict[Change, Sequence[_Value]] = {
        Change.SAME: [*late_a, *late_b],
        Change.WORSE: late_a,
        Change.BETTER: late_b,
        Change.UNDECIDED: [],
    }
    if not loose[figure.verdict]:
        return figure
    runs = " and ".join(
        f"{len(late)} run{'s' * (len(late) != 1)} of {side}"
        for late, side in ((late_a, "A"), (late_b, "B"))
        if late
    )
    text = (
        f"undecided: {figure.text.removeprefix(f'{figure.verdict}: ')}; but I/Os in flight at the"
        f" end make it a lower bound in {runs}"
    )
    return msgspec.structs.replace(figure, verdict=Change.UNDECIDED, more_runs=None, text=text)


def _values(metric: Metric, runs: Sequence[Run]) -> list[_Value]:
    values = []
    for run in runs:
        value = metric.value(run.result)
        if value is None:
            remark = metric.remark(run.result)
            why = f": {remark}" if remark else ""
            raise UsageError(f"{run.file} does not have {metric.name}{why}")
        known = float(value)
        least, why = metric.bound(run.result, known) or (known, "")
        told = format_value(least, metric.unit_in(run.result))
        text = f"{run.file}: {metric} is at least {told}: {why}" if why else ""
        values.append(_Value(known, least, text))
    return values


@dataclass(frozen=True, slots=True)
class _Found:
    """What a method found out about a figure."""

    verdict: Change
    text: str
    shift: float | None = None
    low: float | None = None
    high: float | None = None
    bound: float | None = None
    p: float | None = None
    more_runs: int | None = None


def _figure(
    metric: Metric, a: list[float], b: list[float], rules: Rules, outcome: _Found
) -> Figure:
    return Figure(
        metric=metric.name,
        unit=metric.unit,
        better=metric.better,
        primary=metric.name == rules.primary.name,
        a=a,
        b=b,
        median_a=statistics.median(a),
        median_b=statistics.median(b),
        shift=outcome.shift,
        low=outcome.low,
        high=outcome.high,
        tolerance=float(rules.tolerance),
        bound=outcome.bound,
        p=outcome.p,
        p_adjusted=None,
        verdict=outcome.verdict,
        more_runs=outcome.more_runs,
        text=outcome.text,
    )


def _without_ratios(metric: Metric, a: list[float], b: list[float]) -> _Found | None:
    """The verdict on figures that are not positive, which have no ratios; None: they are."""
    if min(*a, *b, math.inf) > 0:
        return None
    if len({*a, *b}) == 1:
        told = f"same: {metric.name} is {a[0]:g} in every run"
        return _Found(Change.SAME, told, 0.0, 0.0, 0.0)
    # Power less its offset may be below 0.
    least = "0 or less" if min(*a, *b) < 0 else "0"
    return _Found(
        Change.UNDECIDED,
        f"undecided: {metric.name} is {least} in some runs, so that there is no ratio; give it a"
        " limit of `spekctl gate` instead",
    )


def _changed(metric: Metric, is_more: bool) -> Change:
    return Change.BETTER if is_more == (metric.better == "higher") else Change.WORSE


# --- counts --------------------------------------------------------------------------------------


def _by_counts(metric: Metric, a: list[float], b: list[float], rules: Rules) -> Figure:
    outcome = _without_ratios(metric, a, b) or _counted(metric, a, b, float(rules.tolerance))
    return _figure(metric, a, b, rules, outcome)


def _counted(metric: Metric, a: list[float], b: list[float], tolerance: float) -> _Found:
    low, high = min(b) / max(a) - 1, max(b) / min(a) - 1
    shift = statistics.median(b) / statistics.median(a) - 1
    few = min(len(a), len(b))
    if few < FEWEST_COUNTS:
        text = (
            f"undecided: {metric.name} needs {FEWEST_COUNTS} runs on each side, and one has {few}"
        )
        return _Found(Change.UNDECIDED, text, shift, low, high, None, None, FEWEST_COUNTS - few)
    spread = max(max(side) / min(side) - 1 for side in (a, b))
    bound = max(tolerance, SPREADS * spread)
    told = f"{metric.name} {format_share(shift)}"
    between = f"every pair of runs between {format_share(low)} and {format_share(high)}"
    if low > bound or high < -bound:
        verdict = _changed(metric, low > bound)
        text = f"{verdict}: {told}, {between}, beyond the bound of {format_share(bound)[1:]}"
    elif -tolerance <= low and high <= tolerance:
        verdict = Change.SAME
        text = f"same: {told}, {between}, within {format_share(tolerance)[1:]}"
    else:
        verdict = Change.UNDECIDED
        text = (
            f"undecided: {told}, {between}: not within {format_share(tolerance)[1:]}, nor all"
            f" beyond the bound of {format_share(bound)[1:]}"
        )
        if bound > tolerance:
            text += f", which is {SPREADS} times the spread within a side"
    return _Found(verdict, text, shift, low, high, bound)


# --- runs ----------------------------------------------------------------------------------------


def _by_runs(metric: Metric, a: list[float], b: list[float], rules: Rules) -> Figure:
    outcome = _without_ratios(metric, a, b)
    if outcome is None:
        p = float(ranks.mann_whitney(a, b))
        shift = ranks.shift(a, b, rules.alpha)
        outcome = _Found(Change.UNDECIDED, "", shift.estimate, shift.low, shift.high, None, p)
    result = _figure(metric, a, b, rules, outcome)
    return result if outcome.text else _decided(result, metric, outcome.p, rules)


def _decided(figure: Figure, metric: Metric, p: float | None, rules: Rules) -> Figure:
    """The verdict by this p, which may be an adjusted one."""
    assert figure.shift is not None and p is not None
    tolerance = float(rules.tolerance)
    band = format_share(tolerance)[1:]
    told = f"{metric.name} {format_share(figure.shift)}"
    low, high = figure.low, figure.high
    more: int | None = None
    if low is None or high is None:
        fewest = ranks.fewest_runs(rules.alpha)
        few = min(len(figure.a), len(figure.b))
        more = max(1, fewest - few)
        verdict = Change.UNDECIDED
        text = (
            f"undecided: {told}, but {len(figure.a)} and {len(figure.b)} runs are too few for alpha"
            f" {float(rules.alpha):g}: at least {fewest} per side are needed"
        )
    else:
        confidence = f"{float(1 - rules.alpha) * 100:g} %"
        between = f"{confidence} interval {format_share(low)} to {format_share(high)}"
        if -tolerance <= low and high <= tolerance:
            verdict = Change.SAME
            text = f"same: {told}, {between}, within {band}"
        elif (low > tolerance or high < -tolerance) and p < rules.alpha:
            verdict = _changed(metric, low > tolerance)
            text = f"{verdict}: {told}, {between}, beyond {band}, p {p:.2g}"
        else:
            verdict = Change.UNDECIDED
            more = _missing(figure, tolerance)
            text = f"undecided: {told}, {between}, neither within {band} nor beyond; p {p:.2g}"
            if more is not None:
                text += f"; about {more} more runs per side may decide it"
            else:
                text += "; more runs will hardly decide it"
    return msgspec.structs.replace(figure, verdict=verdict, more_runs=more, text=text)


def _missing(figure: Figure, tolerance: float) -> int | None:
    """Runs per side that are missing: the interval's width falls with the root of their number, and
    has to fit between the estimate and the nearest edge of the tolerance. None: too many."""
    assert figure.shift is not None and figure.low is not None and figure.high is not None
    room = abs(abs(figure.shift) - tolerance)
    half = (figure.high - figure.low) / 2
    now = 2 / (1 / len(figure.a) + 1 / len(figure.b))
    if room * math.sqrt(MOST_RUNS) <= half * math.sqrt(now):
        return None
    return max(1, math.ceil(now * (half / room) ** 2 - now))


def _adjusted(figures: Sequence[Figure], rules: Rules) -> list[Figure]:
    """Figures beside the primary one by p values that allow for their number."""
    by_name = {metric.name: metric for metric in rules.others}
    others = [figure for figure in figures[1:] if figure.p is not None]
    ps = ranks.adjusted([Fraction(figure.p) for figure in others if figure.p is not None])
    p_of = {figure.metric: p for figure, p in zip(others, ps, strict=True)}
    corrected = [figures[0]]
    for figure in figures[1:]:
        if figure.metric in p_of:
            p = float(p_of[figure.metric])
            figure = _decided(figure, by_name[figure.metric], p, rules)
            figure = msgspec.structs.replace(figure, p_adjusted=p)
        corrected.append(figure)
    return corrected


# --- remarks -------------------------------------------------------------------------------------


def _remarks(
    a: Sequence[Run],
    b: Sequence[Run],
    method: Method,
    vary: Collection[str],
    differences: Sequence[Difference],
) -> list[str]:
    remarks = []
    for name in vary:
        if not any(difference.condition == name for difference in differences):
            remarks.append(f"--vary {name}: the sides do not differ in it")
    boots = [{run.result.environment.boot_id for run in side} for side in (a, b)]
    if min(len(a), len(b)) > 1 and boots[0] != boots[1] and all(len(ids) == 1 for ids in boots):
        remarks.append(
            "each side is of one boot: a difference between boots looks like a change; boot or"
            " reload the module for each run"
        )
    if method is Method.COUNTS:
        return remarks
    started = [[run.result.start.realtime_ns for run in side] for side in (a, b)]
    if min(len(a), len(b)) > 1 and (
        max(started[0]) < min(started[1]) or max(started[1]) < min(started[0])
    ):
        remarks.append(
            "all runs of one side came before all of the other: a drift of the machine looks like"
            " a change; alternate them, as in A B B A"
        )
    return remarks


def _of_figures(metrics: Sequence[Metric], runs: Sequence[Run]) -> list[str]:
    """What makes figures less certain, run by run; figures of one kind say the same."""
    said = [
        f"{run.file}: {remark}"
        for run in runs
        for metric in metrics
        if (remark := metric.remark(run.result))
    ]
    return list(dict.fromkeys(said))

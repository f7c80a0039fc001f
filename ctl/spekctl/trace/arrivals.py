# SPDX-License-Identifier: GPL-2.0-or-later
"""An arrival law with the burstiness of a trace, made of the laws that spek has.

Arrivals are a sum of independent processes: one Poisson, and bursts of fixed lengths at fixed
intervals. In a window of W a Poisson process of rate r has the variance r W. Bursts of L requests
every T have L^2 f (1 - f), f being the fraction of W / T that is no whole number. Rates of the
processes and intervals are chosen so that the index of dispersion of the sum comes closest to that
of the trace over all windows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from spekctl.documents.trace import TraceDispersion
from spekctl.trace.columns import Array

# Intervals of bursts, ns: primes of ms, so that bursts of several processes rarely coincide.
_INTERVALS_NS = tuple(ms * 10**6 for ms in (3, 11, 31, 101, 307, 1009, 3109, 10007, 30011, 100003))
_SHARES = tuple(np.arange(1, 21) / 20)
# Lengths are whole numbers: so much more than the rate is taken for the rate.
_SLACK = 1.01
_MOST_BURSTS = 2
# One more process has to improve the mean error by this much (natural logarithm).
_PRICE = 0.02
_FLOOR = 1e-3
# The index of n windows is that of the law but for so many standard deviations of its logarithm.
_DEVIATIONS = 2
# Windows up to this length have full weight: longer ones matter less to a device's queue.
_FULL_WEIGHT_NS = 10**9
# More regular than this is a constant rate.
_CONSTANT_CV = 0.1


@dataclass(frozen=True, slots=True)
class Poisson:
    """Exponential gaps."""

    rate: float


@dataclass(frozen=True, slots=True)
class Constant:
    """Equal gaps."""

    rate: float


@dataclass(frozen=True, slots=True)
class Bursts:
    """@length requests at once, every @interval_ns."""

    length: int
    interval_ns: int

    @property
    def rate(self) -> float:
        """Requests per second."""
        return self.length * 1e9 / self.interval_ns


Process = Poisson | Constant | Bursts


def fit(
    rate: float, gap_cv: float | None, dispersion: Sequence[TraceDispersion], span_ns: int
) -> list[Process]:
    """Processes whose sum has this rate per second, and about this dispersion."""
    windows = [window for window in dispersion if window.index > 0]
    if gap_cv is not None and gap_cv < _CONSTANT_CV:
        return [Constant(rate)]
    if not windows:
        return [Poisson(rate)]
    window_s = np.array([window.window_ns for window in windows]) / 1e9
    wanted = np.log(np.array([window.index for window in windows]))
    weights = np.minimum(1.0, np.sqrt(_FULL_WEIGHT_NS / (window_s * 1e9)))
    single = _candidates(rate, span_ns)
    slack = _DEVIATIONS * np.sqrt([2 / (window.windows - 1) for window in windows])
    goal = _Goal(window_s, wanted, slack, weights)
    poisson = goal.errors(np.ones((1, len(windows))))
    best: tuple[float, list[Bursts]] = (float(poisson[0]), [])
    variances = np.array([_variance(burst, window_s) for burst in single]).reshape(
        -1, len(window_s)
    )
    rates = np.array([burst.rate for burst in single])
    for count in range(1, _MOST_BURSTS + 1):
        better = _best_of(count, single, rates, variances, rate, goal)
        if better is not None and better[0] + _PRICE < best[0]:
            best = better
    bursts = best[1]
    left = rate - sum(burst.rate for burst in bursts)
    processes: list[Process] = [Poisson(left)] if left > (_SLACK - 1) * rate else []
    return [*processes, *bursts]


def _candidates(rate: float, span_ns: int) -> list[Bursts]:
    by_shape: dict[tuple[int, int], Bursts] = {}
    for interval_ns in _INTERVALS_NS:
        if interval_ns > span_ns // 10:
            break
        for share in _SHARES:
            length = round(share * rate * interval_ns / 1e9)
            if 2 <= length < 2**32 and length * 1e9 / interval_ns <= rate * _SLACK:
                by_shape[length, interval_ns] = Bursts(length, interval_ns)
    return list(by_shape.values())


def _variance(bursts: Bursts, window_s: Array) -> Array:
    fraction = np.modf(window_s * 1e9 / bursts.interval_ns)[0]
    variance: Array = bursts.length**2 * fraction * (1 - fraction)
    return variance


@dataclass(frozen=True, slots=True)
class _Goal:
    """The dispersion of the trace: of each window the logarithm of the index, how much of a
    difference is chance, and the weight."""

    window_s: Array
    wanted: Array
    slack: Array
    weights: Array

    def errors(self, index: Array, slack: bool = True) -> Array:
        """Of each row: root of the weighted mean square of the logarithms' differences, but for
        what is chance, with @slack."""
        off = np.abs(np.log(np.maximum(index, _FLOOR)) - self.wanted)
        squares = np.maximum(off - self.slack * slack, 0) ** 2
        errors: Array = np.sqrt(squares @ self.weights / self.weights.sum())
        return errors


def _best_of(
    count: int,
    single: list[Bursts],
    rates: Array,
    variances: Array,
    rate: float,
    goal: _Goal,
) -> tuple[float, list[Bursts]] | None:
    """The best sum of @count burst processes and the Poisson one; None if there is none."""
    if len(single) < count:
        return None
    grid = np.indices((len(single),) * count).reshape(count, -1)
    if count == 2:
        grid = grid[:, grid[0] < grid[1]]
    burst_rate = rates[grid].sum(axis=0)
    fits = burst_rate <= rate * _SLACK
    grid, burst_rate = grid[:, fits], burst_rate[fits]
    if not grid.shape[1]:
        return None
    poisson = np.outer(np.maximum(rate - burst_rate, 0), goal.window_s)
    index = (variances[grid].sum(axis=0) + poisson) / (rate * goal.window_s)
    errors = goal.errors(index)
    # Of those that are off by chance only, the closest.
    place = int(np.lexsort((goal.errors(index, slack=False), errors))[0])
    return float(errors[place]), [single[index] for index in grid[:, place]]

# SPDX-License-Identifier: GPL-2.0-or-later
"""Cumulative distributions of times."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, log10
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from spekctl.documents import histogram
from spekctl.documents.result import load_result
from spekctl.errors import UsageError
from spekctl.kernel.records import Histogram
from spekctl.log import times as log_times
from spekctl.log.file import open_measured
from spekctl.plots import source, style
from spekctl.plots.style import Origin
from spekctl.report import runs

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

METRICS = ("response", "service", "slip")
DIRECTIONS = ("read", "write", "all")
_AXIS = {
    "response": "response time",
    "service": "service time",
    "slip": "slip, intended arrival to issue",
}
_MOST_NINES = 12.0


@dataclass(frozen=True, slots=True)
class Distributions:
    """Times of one file in its measure phase, by direction; only directions that occur."""

    origin: Origin
    metric: str
    times: dict[str, Histogram]


def of_result(path: Path, metric: str) -> Distributions:
    """The buckets of a result, added up over streams."""
    result = load_result(path)
    times = runs.response_times(result, metric)
    if not times:
        raise UsageError(f"{path} has no {metric} times of a measure phase")
    return Distributions(source.result_origin(path, result), metric, times)


def of_log(path: Path, metric: str) -> Distributions:
    """The measure phase of a log."""
    log = open_measured(path)
    times = runs.merged_times(log_times.of_log(log, metric))
    return Distributions(source.log_origin(path, log), metric, times)


def steps(times: Histogram) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(times in ns, share of I/Os at or below each): the level holds up to the next time."""
    used = sorted(index for index, count in times.counts.items() if count)
    counts = np.array([times.counts[index] for index in used], dtype=np.float64)
    ns = [min(histogram.bucket_value(index, times.bits), times.max_ns) for index in used]
    if used[-1] == histogram.last_bucket(times.bits):
        ns[-1] = max(ns[-1], times.max_ns)
    return np.array(ns, dtype=np.float64), np.cumsum(counts) / counts.sum()


# ---- the picture ----


def draw(
    distributions: Sequence[Distributions],
    title: str = "",
    labels: Sequence[str] = (),
    directions: Iterable[str] | None = None,
) -> Figure:
    """Time to the right, percentiles upwards: every further nine has the same height.

    One file is drawn by direction; several by file, only in total unless @directions says more.
    """
    chosen = tuple(directions or (DIRECTIONS if len(distributions) == 1 else ("all",)))
    figure, (axes,) = style.new_figure(
        [5.0],
        title or _title(distributions),
        [distribution.origin for distribution in distributions],
    )
    names = list(labels) or [distribution.origin.file for distribution in distributions]
    curves = [
        (file, name, distribution.times[name])
        for file, distribution in enumerate(distributions)
        for name in chosen
        if name in distribution.times
        and (name != "all" or len(distribution.times) > 2 or len(chosen) == 1)
    ]
    if not curves:
        raise UsageError(f"there are no {' or '.join(chosen)} I/Os in {', '.join(names)}")
    # From the middle of the axis: between medians and maxima, as a logarithm sees it.
    typical = [(histogram.percentile(times, 500_000), times.max_ns) for _, _, times in curves]
    unit, unit_ns = style.ns_unit(float(np.exp(np.log(np.maximum(1, typical)).mean())))
    for file, name, times in curves:
        ns, share = steps(times)
        # From 0 at the smallest time; at the largest the last step leaves through the top.
        x = np.concatenate([ns[:1], ns]) / unit_ns
        axes.plot(
            np.maximum(x, 1 / unit_ns),
            np.concatenate([[0.0], share]),
            drawstyle="steps-post",
            label=_label(names, file, name, times, chosen),
            **_look(len(distributions), file, name, len(chosen) > 1),
        )
    _percentile_axis(axes, max(histogram.count_of(times) for _, _, times in curves))
    axes.set_xscale("log")
    style.log_ticks(axes, "x")
    axes.set_xlabel(f"{_AXIS[distributions[0].metric]} ({unit})")
    axes.set_ylabel("I/Os that took at most this long (%)")
    figure.legend(loc="outside right center")
    return figure


def _title(distributions: Sequence[Distributions]) -> str:
    what = f"{_AXIS[distributions[0].metric].split(',')[0].capitalize()} distribution"
    return f"{what}: {distributions[0].origin.what}" if len(distributions) == 1 else what


def _label(
    names: Sequence[str], file: int, name: str, times: Histogram, chosen: Sequence[str]
) -> str:
    direction = name if len(names) == 1 or len(chosen) > 1 else ""
    head = " ".join(filter(None, [names[file] if len(names) > 1 else "", direction]))
    return f"{head}\n({histogram.count_of(times):,} I/Os)"


def _look(files: int, file: int, name: str, by_direction: bool) -> dict[str, Any]:
    if files == 1:
        colour = {"read": style.READ, "write": style.WRITE, "all": style.ALL}[name]
        dash = style.DASHES[DIRECTIONS.index(name)]
        return {"color": colour, "linestyle": dash}
    dash = DIRECTIONS.index(name) if by_direction else file
    return {
        "color": style.colours(files)[file],
        "linestyle": style.DASHES[dash % len(style.DASHES)],
    }


def _percentile_axis(axes: Axes, count: int) -> None:
    """Height is the number of nines, up to the resolution of this number of I/Os."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    nines = min(_MOST_NINES - 1, max(2.0, ceil(log10(count))))
    axes.set_yscale("function", functions=(_to_nines, _from_nines))
    axes.set_ylim(0, 1 - 10**-nines)
    whole = [1 - 10**-power for power in range(1, int(nines) + 1)]
    axes.yaxis.set_major_locator(FixedLocator([0, 0.5, *whole]))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda share, _: _percent(share)))


def _percent(share: float) -> str:
    """50, 99, 99.9, 99.99: as many nines as there are."""
    return f"{share * 100:.10f}".rstrip("0").rstrip(".")


def _to_nines(share: NDArray[np.float64]) -> NDArray[np.float64]:
    left = 1 - np.asarray(share, dtype=np.float64)
    nines: NDArray[np.float64] = -np.log10(np.clip(left, 10**-_MOST_NINES, None))
    return nines


def _from_nines(nines: NDArray[np.float64]) -> NDArray[np.float64]:
    return 1 - np.power(10.0, -np.asarray(nines, dtype=np.float64))

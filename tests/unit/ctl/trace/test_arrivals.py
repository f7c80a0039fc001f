# SPDX-License-Identifier: GPL-2.0
"""Arrival processes whose sum has the rate and the burstiness of a trace."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spekctl.documents.trace import TraceDispersion
from spekctl.trace.arrivals import Bursts, Constant, Poisson, fit
from spekctl.trace.columns import Op
from spekctl.trace.figures import Figures
from spekctl.trace.twin import Twin, TwinStream

WINDOWS_NS = [10**exponent for exponent in range(6, 11)]


def dispersion(*indices: float) -> list[TraceDispersion]:
    """Indices of the windows from 1 ms."""
    return [
        TraceDispersion(window_ns, 1000, index, 9)
        for window_ns, index in zip(WINDOWS_NS, indices, strict=False)
    ]


def test_the_predicted_dispersion_is_that_of_the_twin() -> None:
    """fit() chooses by formula; the formula holds for what it has chosen."""
    wanted = dispersion(20.0, 20.0, 12.0, 5.0)
    processes = fit(800.0, 3.0, wanted, 1000 * 10**9)
    assert sum(process.rate for process in processes) == pytest.approx(800, rel=0.01)
    stream = TwinStream(0, Op.READ, 1, 0, 1 << 26, ((4096, 1),), 4096, 0.6)
    figures = Figures()
    for batch in Twin([stream], processes, 300 * 10**9).batches():
        figures.add(batch)
    for window, predicted in zip(figures.windows, wanted, strict=False):
        seen = window.dispersion()
        assert seen is not None
        assert 0.5 < seen.index / predicted.index < 2, window.window_ns


def test_arrivals_without_bursts_need_none() -> None:
    poisson = dispersion(1.0, 1.0, 1.0, 1.0)
    assert fit(50.0, 1.0, poisson, 10**12) == [Poisson(50.0)]
    assert fit(50.0, 0.01, poisson, 10**12) == [Constant(50.0)]
    assert fit(50.0, None, [], 10**12) == [Poisson(50.0)]


@given(
    st.floats(0.01, 1e6),
    st.one_of(st.none(), st.floats(0.2, 50)),
    st.lists(st.floats(0, 1e4), max_size=len(WINDOWS_NS)),
    st.integers(0, 10**13),
)
def test_the_sum_has_the_rate_and_bursts_come_ten_times(
    rate: float, gap_cv: float | None, indices: list[float], span_ns: int
) -> None:
    processes = fit(rate, gap_cv, dispersion(*indices), span_ns)
    assert sum(process.rate for process in processes) == pytest.approx(rate, rel=0.0101)
    for process in processes:
        if isinstance(process, Bursts):
            assert process.length >= 2
            assert 10 * process.interval_ns <= span_ns


def test_windows_without_a_request_say_nothing() -> None:
    silent = dispersion(0.0, 0.0, 20.0)
    assert fit(800.0, 3.0, silent[:2], 10**12) == [Poisson(800.0)]
    assert fit(800.0, 3.0, silent, 10**12) == fit(800.0, 3.0, silent[2:], 10**12)


def test_bursts_alone_are_found_exactly() -> None:
    """The index of bursts of L is L (1 - f) in windows of a fraction f of their interval."""
    interval_ns, length = 307 * 10**6, 40
    wanted = [
        TraceDispersion(window_ns, 1000, length * (1 - window_ns / interval_ns), 40)
        for window_ns in (10**6, 10**7, 10**8)
    ]
    rate = length * 1e9 / interval_ns
    assert fit(rate, 5.0, wanted, 10**12) == [Bursts(length, interval_ns)]


def test_chance_is_no_burstiness() -> None:
    """The indices of 60,000 Poisson arrivals of 500 per second."""
    windows = (119_000, 11_900, 1190, 119, 11)
    indices = (1.0, 1.02, 0.99, 0.78, 0.54)
    seen = [
        TraceDispersion(window_ns, number, index, 9)
        for window_ns, number, index in zip(WINDOWS_NS, windows, indices, strict=True)
    ]
    assert fit(500.0, 1.0, seen, 119 * 10**9) == [Poisson(500.0)]
    # As many windows show a burstiness this small.
    clear = [
        TraceDispersion(window.window_ns, window.windows, 1.2, 9) for window in seen[:3]
    ] + seen[3:]
    assert fit(500.0, 1.0, clear, 119 * 10**9) != [Poisson(500.0)]

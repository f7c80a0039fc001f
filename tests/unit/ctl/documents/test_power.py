# SPDX-License-Identifier: GPL-2.0
"""Power as a result has it."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from lib.ctl import results
from lib.fakes.feeds import use
from msgspec.structs import replace

from spekctl.documents.power import Amount, figures_of, interval_power, power_of, total_of
from spekctl.documents.result import Result
from spekctl.documents.result_parts import PowerResult, RailPower
from spekctl.kernel.records import Use


def result_with(power: PowerResult | None) -> Result:
    return replace(results.build(), power=power)


def test_a_result_has_the_power_of_its_measure_phase() -> None:
    amounts = [Amount("5V", "board", 0, use(20, 10)), Amount("12V", "board", 0, use(50, 10))]
    measure = interval_power(amounts)
    whole = PowerResult(
        feeds=[], baseline_w=0.5, measure=measure, uncertainty_ns=0, shift_j=0, uncertainty_j=0
    )
    figures = power_of(result_with(whole))
    assert figures is not None and figures.net_w == 6.5
    assert [rail.name for rail in figures.rails] == ["5V", "12V"]
    assert msgspec.json.decode(msgspec.json.encode(figures), type=type(figures)) == figures


@given(
    st.lists(
        st.tuples(st.integers(0, 10**24), st.integers(1, 10**15), st.integers(0, 10**9)),
        min_size=1,
        max_size=9,
    ),
    st.randoms(use_true_random=False),
)
def test_a_sum_of_rails_is_exact_and_the_same_in_any_order(
    drawn: list[tuple[int, int, int]], random: Any
) -> None:
    amounts = [
        Amount(f"rail{number}", "board", lsb_nw, Use(energy_fj, known_ns, 0, 0, 0, 9, 1, 2))
        for number, (energy_fj, known_ns, lsb_nw) in enumerate(drawn)
    ]
    total = interval_power(amounts).total
    energy_fj = sum(energy for energy, _, _ in drawn)
    assert total.energy_fj == energy_fj and total.joules == float(Fraction(energy_fj, 10**15))
    random.shuffle(amounts)
    assert interval_power(amounts).total == total
    read = msgspec.json.decode(msgspec.json.encode(total), type=RailPower)
    assert read == total


def test_energy_that_is_not_known_exactly_is_added_as_it_is_known() -> None:
    exact = interval_power([Amount("5V", "board", 0, use(20, 10))]).total
    # As of a file without it.
    before = replace(exact, joules=0.1, energy_fj=None)
    total = total_of([exact, before, before, before])
    assert total.energy_fj is None and total.joules == math.fsum([exact.joules, 0.1, 0.1, 0.1])


def test_a_result_without_power_has_none() -> None:
    assert power_of(result_with(None)) is None
    assert figures_of(interval_power([])) is None

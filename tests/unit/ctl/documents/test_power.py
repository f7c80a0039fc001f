# SPDX-License-Identifier: GPL-2.0
"""Power as a result has it."""

from __future__ import annotations

import msgspec
from lib.ctl import results
from lib.fakes.feeds import use
from msgspec.structs import replace

from spekctl.documents.power import Amount, figures_of, interval_power, power_of
from spekctl.documents.result import Result
from spekctl.documents.result_parts import PowerResult


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


def test_a_result_without_power_has_none() -> None:
    assert power_of(result_with(None)) is None
    assert figures_of(interval_power([])) is None

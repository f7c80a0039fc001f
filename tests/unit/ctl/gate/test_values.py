# SPDX-License-Identifier: GPL-2.0
"""Figures beside others, shares, and figures for machines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spekctl.condition import Unit
from spekctl.gate.values import exact, format_apart, format_share


@pytest.mark.parametrize(
    ("value", "near", "unit", "texts"),
    [
        (2_000_000, 1_000_000, Unit.TIME, ("2.00 ms", "1.00 ms")),
        (3_000_000, 2_999_999, Unit.TIME, ("3000000 ns", "2999999 ns")),
        (999.9999999, 1000, Unit.RATE, ("999.9999999 IOPS", "1000 IOPS")),
        (1.0000001, 1.0000002, Unit.COUNT, ("1.0000001", "1.0000002")),
    ],
)
def test_different_figures_never_look_the_same(
    value: float, near: float, unit: Unit, texts: tuple[str, str]
) -> None:
    assert format_apart(value, near, unit) == texts


@pytest.mark.parametrize(
    ("share", "text"), [(0.5, "+50.00 %"), (-0.01234, "-1.23 %"), (0, "+0.00 %")]
)
def test_a_share_has_its_sign(share: float, text: str) -> None:
    assert format_share(share) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_figure_for_machines_reads_back(value: float) -> None:
    assert float(exact(value)) == value

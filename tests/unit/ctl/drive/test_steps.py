# SPDX-License-Identifier: GPL-2.0
"""Milliseconds and watts as integers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spekctl.drive import steps
from spekctl.errors import UsageError


@given(st.integers(0, 10**9))
def test_whole_steps_survive_the_detour_over_decimals(count: int) -> None:
    assert steps.ns(count / 10**6, "x") == count
    assert steps.uw(float(f"{count // 10**6}.{count % 10**6:06}"), "x") == count


@pytest.mark.parametrize("ms", [1e-7, 0.8000004, 1.5e-6])
def test_what_is_finer_than_a_step_is_not_rounded(ms: float) -> None:
    with pytest.raises(UsageError, match=f"seek_ms: {ms!r} is finer than 1 ns, the smallest step"):
        steps.ns(ms, "seek_ms")
    with pytest.raises(UsageError, match=r"power\.x\.hold: .* is finer than 1 uW"):
        steps.uw(ms, "power.x.hold")

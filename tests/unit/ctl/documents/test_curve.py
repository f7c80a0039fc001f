# SPDX-License-Identifier: GPL-2.0
"""Loads in words, and power less its baseline."""

from __future__ import annotations

import msgspec
import pytest
from lib.ctl.plot_files import point

from spekctl.documents.curve import Load, LoadKind, Power


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("bsu", 12.5, "12.5 BSU"),
        ("rate", 999_999, "999999 I/Os per second"),
        ("rate", 2_500_000, "2500000 I/Os per second"),
        ("depth", 16, "depth 16"),
    ],
)
def test_a_load_is_said_without_an_exponent(kind: LoadKind, value: float, text: str) -> None:
    assert str(Load(kind, value)) == text


def test_efficiency_is_of_the_power_that_the_load_takes() -> None:
    unpowered = point(500, 2e6, 500, mib_s=2.0)
    assert unpowered.efficiency is None
    powered = msgspec.structs.replace(unpowered, power=Power(7.5, {}, baseline_w=5.0))
    efficiency = powered.efficiency
    assert efficiency is not None and powered.power is not None
    assert powered.power.net_watts == 2.5
    assert (efficiency.iops_per_w, efficiency.mw_per_iops, efficiency.mib_s_per_w) == (200, 5, 0.8)
    assert efficiency.j_per_gib == pytest.approx(2.5 * 512)
    # A load that takes no more than the baseline has no efficiency.
    rested = msgspec.structs.replace(unpowered, power=Power(5.0, {}, baseline_w=5.0))
    assert rested.efficiency is None

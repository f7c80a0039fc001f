# SPDX-License-Identifier: GPL-2.0
"""Which intervals say how fast a device was."""

from __future__ import annotations

import dataclasses

import pytest

from spekctl.kernel import records
from spekctl.kernel.records import Histogram, Phase, StatsCell, tells_rate

SECOND = 10**9


@pytest.mark.parametrize(
    ("phase", "length_ns", "whole_ns", "tells"),
    [
        (Phase.MEASURE, SECOND, SECOND, True),
        (Phase.RAMP, SECOND // 10, SECOND, True),
        (Phase.MEASURE, SECOND // 10 - 1, SECOND, False),
        (Phase.MEASURE, 0, SECOND, False),
        # No report intervals: the only one is the whole phase.
        (Phase.MEASURE, 1, 0, True),
        (Phase.DRAIN, SECOND, SECOND, False),
        (Phase.DRAIN, SECOND, 0, False),
    ],
)
def test_a_remainder_and_the_drain_say_nothing(
    phase: Phase, length_ns: int, whole_ns: int, tells: bool
) -> None:
    assert tells_rate(phase, length_ns, whole_ns) is tells
    # As a file names it.
    assert tells_rate(str(phase), length_ns, whole_ns) is tells


def test_cells_do_not_share_their_counters() -> None:
    first, second = (StatsCell(Phase.MEASURE, 0, records.Direction.READ, 1, 2, 3, 0) for _ in "ab")
    first.errors_by_errno[5] = 1
    assert second.errors_by_errno == {}


def test_records_do_not_change() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Histogram(6, {}, 0, 0, 0).bits = 7  # type: ignore[misc]

# SPDX-License-Identifier: GPL-2.0
"""Idle disks sleep, as long as they have starts left."""

from __future__ import annotations

import pytest

from spekctl.augment.rest import DAY_NS, Rules, Spindle


@pytest.mark.parametrize(("now_ns", "may_rest"), [(109, False), (110, True)])
def test_a_disk_is_idle_after_a_time_without_io(now_ns: int, may_rest: bool) -> None:
    spindle = Spindle(0)
    spindle.is_used(100)
    assert spindle.may_rest(Rules(10), now_ns) is may_rest


def test_a_disk_without_starts_left_stays_awake() -> None:
    spindle, rules = Spindle(0), Rules(10, starts_per_day=2)
    for at_ns in (100, 200):
        assert spindle.may_rest(rules, at_ns)
        spindle.has_started(at_ns)
    assert not spindle.may_rest(rules, 100 + DAY_NS - 1)
    assert spindle.may_rest(rules, 100 + DAY_NS)
    assert spindle.starts_of_a_day(100 + DAY_NS) == 1
    assert spindle.may_rest(Rules(10), 300)

# SPDX-License-Identifier: GPL-2.0
"""Power states of a disk: which of them are awake, and how they are counted."""

from __future__ import annotations

from lib.ctl.power_states import DISK

from spekctl.documents.disk_states import PowerState


def test_no_state_is_both_up_and_down() -> None:
    down = {state for state in PowerState if state.is_spun_down}
    assert down == {PowerState.STANDBY, PowerState.STOPPED, PowerState.SLEEP}
    assert not any(state.is_up for state in down)


def test_the_first_state_is_no_transition() -> None:
    assert len(DISK.changes) == 3
    assert DISK.transitions == 2

# SPDX-License-Identifier: GPL-2.0
"""Power states as people read them."""

from __future__ import annotations

import msgspec
from lib.ctl.power_states import CHANGES, DISK, START, STATES
from lib.ctl.shown import contents, row_of

from spekctl.documents.disk_states import PowerState, StateChange
from spekctl.render import power_states


def test_a_single_look_is_a_row_for_each_disk() -> None:
    disk = msgspec.structs.replace(DISK, changes=CHANGES[:1])
    text = contents(msgspec.structs.replace(STATES, interval_ns=0, disks=[disk]))
    assert row_of(text, "/dev/sda") == [
        "/dev/sda",
        "standby",
        "command",
        "by",
        "timer",
        "ST3500320AS",
    ]
    assert "spin-ups" not in text


def test_a_series_has_times_transitions_and_spin_ups() -> None:
    text = contents(STATES)
    lines = text.splitlines()
    assert lines[1].split() == ["/dev/sda", "standby", "command", "ST3500320AS"]
    assert lines[3].startswith("nas: looks every 4s for 1:40;")
    assert lines[4].split() == [
        "disk",
        "active",
        "standby",
        "transitions",
        "spin-ups",
        "looks",
        "commands",
    ]
    assert lines[5].split() == ["/dev/sda", "0:15", "15%", "1:25", "85%", "2", "1", "26", "23"]
    assert lines[-3:] == [
        "     0:00  /dev/sda  standby  by timer",
        "     1:00  /dev/sda  active",
        "     1:15  /dev/sda  standby",
    ]
    assert "may have started more often" not in text


def test_a_state_that_a_disk_never_had_has_no_time() -> None:
    second = msgspec.structs.replace(DISK, disk="/dev/sdb", seconds={PowerState.IDLE: 100.0})
    lines = contents(msgspec.structs.replace(STATES, disks=[DISK, second])).splitlines()
    (row,) = [line.split() for line in lines if "1:40 100%" in line]
    assert row == ["/dev/sdb", "-", "1:40", "100%", "-", "2", "1", "26", "23"]


def test_a_disk_that_may_have_started_unseen_is_named() -> None:
    disk = msgspec.structs.replace(DISK, hidden_starts=3)
    text = contents(msgspec.structs.replace(STATES, disks=[disk]))
    assert "/dev/sda: 3 times I/O completed between two looks at a standing spindle" in text


def test_a_long_course_is_cut_and_counted() -> None:
    states = (PowerState.IDLE, PowerState.ACTIVE)
    most = power_states.MOST_CHANGES
    changes = [StateChange(START + n, 0, states[n % 2], CHANGES[0].basis) for n in range(most + 5)]
    disk = msgspec.structs.replace(DISK, changes=changes)
    text = contents(msgspec.structs.replace(STATES, disks=[disk]))
    assert text.endswith("and 5 more changes of /dev/sda\n")
    assert text.count("  /dev/sda  ") == most

# SPDX-License-Identifier: GPL-2.0
"""Power states of disks in reports."""

from __future__ import annotations

import msgspec
from lib.ctl import probes
from lib.ctl.power_states import DISK, SECOND, START, STATES

from spekctl.documents.disk_states import DEPTHS, Basis, PowerState, StateChange
from spekctl.report.disk_states import add, states_sheet
from spekctl.report.probers import prober_sheet
from spekctl.report.sheet import Sheet


def test_a_change_is_drawn_from_look_to_look() -> None:
    sheet = states_sheet("states.json", STATES)
    (plot,) = sheet.plots
    (strand,) = plot.strands
    assert strand.xs == [0, 58, 62, 73, 77, 100]
    (line,) = strand.lines
    assert (line.name, line.ys) == ("/dev/sda", [4, 4, 0, 0, 4, 4])
    assert plot.note.startswith(DEPTHS)
    (bars,) = sheet.bars
    assert bars.parts == ["active", "standby"] and bars.rows == [("/dev/sda", [15.0, 85.0])]
    assert ("spin-ups", "1") in sheet.figures and ("transitions", "2") in sheet.figures


def test_changes_at_each_look_keep_their_order_and_what_is_not_known_is_a_gap() -> None:
    states = [PowerState.IDLE, PowerState.UNKNOWN, PowerState.SLEEP]
    changes = [
        StateChange(START + at * SECOND, bool(at) * SECOND, state, Basis.COMMAND)
        for at, state in zip([0, 1, 3], states, strict=True)
    ]
    disk = msgspec.structs.replace(DISK, changes=changes, seconds={PowerState.IDLE: 4.0})
    sheet = Sheet("", "", "")
    add(sheet, [disk], START)
    (strand,) = sheet.plots[0].strands
    assert [line.ys for line in strand.lines] == [[1, None, 5]]
    assert strand.xs == [0, 2, 4]


def test_depths_are_those_of_their_sentence() -> None:
    for part in DEPTHS.split("; "):
        depth, _, names = part.partition(" ")
        for name in names.split(", "):
            assert PowerState(name).depth == int(depth)
    told = {name for part in DEPTHS.split("; ") for name in part.partition(" ")[2].split(", ")}
    assert {state for state in PowerState if state.depth is not None} == told


def test_a_single_look_has_no_plot() -> None:
    single = msgspec.structs.replace(STATES, interval_ns=0)
    sheet = states_sheet("states.json", single)
    assert sheet.plots == [] and sheet.bars == []
    assert len(sheet.grids) == 1


def test_samples_of_the_prober_have_them() -> None:
    report = msgspec.structs.replace(probes.report(), power_states=[DISK])
    keys = [plot.key for plot in prober_sheet("m.json", report).plots]
    assert keys[-1] == "power-states" and len(keys) > 1

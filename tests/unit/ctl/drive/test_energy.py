# SPDX-License-Identifier: GPL-2.0
"""The energy of a drive by mode: nothing is lost, and nothing counts twice."""

from __future__ import annotations

from dataclasses import replace

import pytest
from lib.ctl.drive_requests import random_requests

from spekctl.drive import file
from spekctl.drive.core import RESULT, Account, Rule, Simulation
from spekctl.drive.energy import modes_of
from spekctl.drive.model import CONDITIONS

SECOND = 10**9


@pytest.mark.parametrize("arms", [1, 4])
def test_times_and_energies_add_up(arms: int) -> None:
    model = file.load("barracuda-es").with_arms(arms)
    drive = Simulation(model, Rule())
    results = drive.feed(random_requests(2000, model.capacity, gap_ns=9e6, writes=0.4))
    results += drive.drain()
    last_ns = 0
    for record in RESULT.iter_unpack(results):
        _, arrival, _, start, end, overhead, seek, rotate, transfer, *_ = record
        assert arrival <= start and last_ns <= end
        assert start + overhead + seek + rotate + transfer == end
        last_ns = end
    account = drive.account()
    modes = modes_of(model, account)
    assert sum(mode.seconds for mode in modes.values()) == pytest.approx(account.now_ns / 1e9)
    used = sum(mode.joules for mode in modes.values())
    assert used == pytest.approx(sum(account.energy_nj) / 1e9, rel=1e-9)
    # 10 s at rest.
    later = drive.account(account.now_ns + 10**10)
    rest = sum(later.energy_nj) - sum(account.energy_nj)
    assert rest == pytest.approx(10e9 * model.watts.active_uw(arms) / 1e6, abs=2)


def test_several_arms_at_work_divide_what_flows_anyway() -> None:
    model = file.load("barracuda-es", ["arms.count=4", "arms.channels=4"])
    drive = Simulation(model, Rule("sptf", closed=32))
    drive.feed(random_requests(2000, model.capacity), keep=False)
    drive.drain()
    account = drive.account()
    modes = modes_of(model, account)
    assert sum(mode.seconds for mode in modes.values()) == pytest.approx(account.now_ns / 1e9)
    used = sum(mode.joules for mode in modes.values())
    assert used == pytest.approx(sum(account.energy_nj) / 1e9, rel=1e-9)


def account_of(conditions: list[int], phases: list[int]) -> Account:
    drive = Simulation(file.load("barracuda-es"), Rule())
    return replace(drive.account(), condition_ns=tuple(conditions), phase_ns=tuple(phases))


def test_each_mode_has_the_whole_drive_and_its_own_part() -> None:
    model = file.load("barracuda-es")
    account = account_of([10 * SECOND, 0, 0, 0, 0, 0], [0, SECOND, 2 * SECOND, SECOND, SECOND, 0])
    modes = modes_of(model, account)
    assert {name: mode.seconds for name, mode in modes.items()} == {
        **{"idle": 5.0, "seek": 1.0, "rotation": 2.0, "transfer": 2.0},
    }
    assert modes["seek"].joules == pytest.approx(9.30 + 4.675)
    assert modes["rotation"].joules == pytest.approx(2 * 9.30)
    assert modes["transfer"].joules == pytest.approx(2 * (9.30 + 1.3))


def test_a_spindle_that_was_not_at_speed_is_a_mode_of_its_own() -> None:
    model = file.load("barracuda-es")
    assert CONDITIONS[1] == "standby" and CONDITIONS[3] == "starting"
    account = account_of([SECOND, 100 * SECOND, 0, 10 * SECOND, 0, 0], [0] * 6)
    spindle = modes_of(model, account)["spindle"]
    assert spindle.seconds == 110
    assert spindle.joules == pytest.approx(100 * 0.8 + 10 * 20)
    assert "spindle" not in modes_of(model, account_of([SECOND, 0, 0, 0, 0, 0], [0] * 6))

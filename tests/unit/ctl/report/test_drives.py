# SPDX-License-Identifier: GPL-2.0
"""Modelled drives in a report: shares of time and energy, and claims that hold."""

from __future__ import annotations

import msgspec
import pytest

from spekctl.documents.drive import DriveSimulation, DriveStudy
from spekctl.report import drives


def test_states_have_shares_of_the_time_and_of_the_energy(simulation: DriveSimulation) -> None:
    (bars,) = drives.simulation_sheet("s", simulation).bars
    assert list(bars.parts) == ["idle", "seek", "rotation", "transfer"]
    (_, times), (_, joules) = bars.rows
    assert list(times) == pytest.approx([60, 30, 10, 0])
    assert list(joules) == pytest.approx([100 * one / 62 for one in (24, 30, 8, 0)])


def test_without_power_only_the_time_has_shares(simulation: DriveSimulation) -> None:
    modes = {name: msgspec.structs.replace(one, joules=0) for name, one in simulation.modes.items()}
    plain = msgspec.structs.replace(simulation, modes=modes, profile="")
    made = drives.simulation_sheet("s", plain)
    assert [name for name, _ in made.bars[0].rows] == ["time"]
    assert "power" not in dict(made.figures)


@pytest.mark.parametrize(("closed", "words"), [(4, "4 outstanding"), (0, "open loop")])
def test_the_loop_is_said(closed: int, words: str, simulation: DriveSimulation) -> None:
    made = drives.simulation_sheet("s", msgspec.structs.replace(simulation, closed=closed))
    assert dict(made.conditions)["requests"] == f"1,000, {words}"


def test_a_claim_that_is_not_judged_counts_for_nothing(study: DriveStudy) -> None:
    made = drives.study_sheet("s", study)
    assert (made.verdict, made.good) == ("1 of 2 claims hold", False)
    assert [one.passed for one in made.verdicts] == [True, False, None]
    kept = msgspec.structs.replace(study, claims=[study.claims[0], study.claims[2]])
    made = drives.study_sheet("s", kept)
    assert (made.verdict, made.good) == ("1 of 1 claims hold", True)


def test_a_state_that_a_system_does_not_have_takes_no_power(study: DriveStudy) -> None:
    (load,) = study.loads
    parked = msgspec.structs.replace(load.array, watts={"base": {"idle": 3, "standby": 1}})
    changed = msgspec.structs.replace(load, array=parked)
    bars = drives.study_sheet("s", msgspec.structs.replace(study, loads=[changed])).bars[0]
    assert list(bars.parts) == ["idle", "standby", "seek"]
    assert [(name, list(watts)) for name, watts in bars.rows] == [
        ("MD, saturated", [3, 1, 0]),
        ("HC-SD", [4, 0, 2]),
    ]

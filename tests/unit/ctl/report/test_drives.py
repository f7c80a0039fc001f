# SPDX-License-Identifier: GPL-2.0
"""Modelled drives in a report: shares of time and energy, and claims that hold."""

from __future__ import annotations

import msgspec
import pytest
from lib.ctl.study import short_study

from spekctl.documents.drive import DriveSimulation, DriveStudy
from spekctl.errors import UsageError
from spekctl.report import drives
from spekctl.report.sheet import Bars, Plot


def test_states_have_shares_of_the_time_and_of_the_energy(simulation: DriveSimulation) -> None:
    (bars,) = drives.simulation_sheet("s", simulation).bars
    assert list(bars.parts) == ["idle", "seek", "rotation", "transfer"]
    (_, times), (_, joules) = bars.rows
    assert list(times) == pytest.approx([60, 30, 10, 0])
    assert list(joules) == pytest.approx([100 * amount / 62 for amount in (24, 30, 8, 0)])


def test_without_power_only_the_time_has_shares(simulation: DriveSimulation) -> None:
    modes = {
        name: msgspec.structs.replace(mode, joules=0) for name, mode in simulation.modes.items()
    }
    plain = msgspec.structs.replace(simulation, modes=modes, profile="")
    sheet = drives.simulation_sheet("s", plain)
    assert [name for name, _ in sheet.bars[0].rows] == ["time"]
    assert "power" not in dict(sheet.figures)


@pytest.mark.parametrize(("closed", "words"), [(4, "4 outstanding"), (0, "open loop")])
def test_the_loop_is_said(closed: int, words: str, simulation: DriveSimulation) -> None:
    sheet = drives.simulation_sheet("s", msgspec.structs.replace(simulation, closed=closed))
    assert dict(sheet.conditions)["requests"] == f"1,000, {words}"


def test_a_claim_that_is_not_judged_counts_for_nothing(study: DriveStudy) -> None:
    sheet = drives.study_sheet("s", study)
    assert (sheet.verdict, sheet.good) == ("1 of 2 claims hold", False)
    assert [verdict.passed for verdict in sheet.verdicts] == [True, False, None]
    kept = msgspec.structs.replace(study, claims=[study.claims[0], study.claims[2]])
    sheet = drives.study_sheet("s", kept)
    assert (sheet.verdict, sheet.good) == ("1 of 1 claims hold", True)


def test_a_state_that_a_system_does_not_have_takes_no_power(study: DriveStudy) -> None:
    (load,) = study.loads
    parked = msgspec.structs.replace(load.array, watts={"base": {"idle": 3, "standby": 1}})
    changed = msgspec.structs.replace(load, array=parked)
    bars = drives.study_sheet("s", msgspec.structs.replace(study, loads=[changed])).bars[0]
    assert list(bars.parts) == ["idle", "standby", "seek"]
    assert [(name, list(watts)) for name, watts in bars.rows] == [
        ("Financial-like, MD", [3, 1, 0]),
        ("Financial-like, HC-SD", [4, 0, 2]),
    ]


def test_saturated_systems_are_named_so_or_left_out() -> None:
    study = short_study()
    load = study.loads[0]
    array = msgspec.structs.replace(load.array, saturated=True)
    full = msgspec.structs.replace(study, loads=[msgspec.structs.replace(load, array=array)])
    for plot in (drives.figure_parts(full, 2)[0], drives.study_sheet("s", full).plots[0]):
        assert isinstance(plot, Plot)
        assert plot.strands[0].lines[0].name == f"{load.array.name}, saturated"
    arrays = [
        msgspec.structs.replace(
            array, systems=[msgspec.structs.replace(each, saturated=True) for each in array.systems]
        )
        for array in study.arrays
    ]
    parts = drives.figure_parts(msgspec.structs.replace(study, arrays=arrays), 8)
    plots = [part for part in parts if isinstance(part, Plot)]
    assert len(plots) == 3
    assert all(list(strand.xs) == [] for plot in plots for strand in plot.strands)


def test_bars_of_a_figure_are_the_mean_power_by_state() -> None:
    study = short_study()
    (bars,) = drives.figure_parts(study, 3)
    assert isinstance(bars, Bars)
    load, profile = study.loads[0], study.profiles[0]
    for (name, watts), system in zip(bars.rows, (load.array, load.single[0]), strict=False):
        assert name.startswith(load.name)
        assert sum(watts) == pytest.approx(sum(system.watts[profile].values()))


def test_shares_are_percent() -> None:
    study = short_study()
    cdf, rotation = drives.figure_parts(study, 5)[:2]
    assert isinstance(cdf, Plot) and isinstance(rotation, Plot)
    load = study.loads[0]
    assert list(cdf.strands[0].lines[0].ys) == [100 * share for share in load.array.cdf]
    (strand,) = rotation.strands
    assert strand.xs[-1] < 10 and len(strand.xs) == len(strand.lines[0].ys)
    assert strand.lines[0].ys[0] == 100 * load.single[0].rotation_pdf[0]


def test_the_bars_of_figure_9_reach_from_the_lowest_cost_to_the_highest() -> None:
    study = short_study()
    (bars,) = drives.figure_parts(study, 9)
    assert isinstance(bars, Bars)
    shown = {each.title: each.rows for each in drives.study_sheet("s", study).bars}
    assert shown[f"Figure 9: {bars.title}"] == bars.rows
    totals = {name: (low, low + more) for name, (low, more) in bars.rows}
    assert totals["4 x conventional"] == pytest.approx((4 * 67.7, 4 * 80.8))
    assert totals["1 x 4-actuator"] == pytest.approx((165.8, 188.2))


def test_figure_9_of_an_older_study_is_refused() -> None:
    older = msgspec.structs.replace(short_study(), costs=[])
    with pytest.raises(UsageError, match="figure 9 needs the costs of arrays"):
        drives.figure_parts(older, 9)
    assert drives.study_sheet("s", older).title

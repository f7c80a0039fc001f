# SPDX-License-Identifier: GPL-2.0
"""Modelled drives as people read them."""

from __future__ import annotations

import pytest
from lib.ctl.shown import row_of, shown
from msgspec.structs import replace

from spekctl.documents.drive import DriveSimulation, DriveStudy, FlashStep, FlashUse
from spekctl.render import drive
from spekctl.render.console import print_parts


def text_of(simulation: DriveSimulation) -> str:
    return shown(
        lambda contents, out: print_parts(drive.simulation_parts(contents), 100, out), simulation
    )


def test_states_add_up_to_all(simulation: DriveSimulation) -> None:
    text = text_of(simulation)
    assert "2 arms, 7,200 rpm, sptf, 4 outstanding" in text
    assert "by arm: 40.0%, 60.0%" in text
    seeks = [line.split()[:3] for line in text.splitlines() if line.startswith("seek")]
    assert seeks == [["seek", "5.00", "ms"], ["seek", "3.00", "s"]]
    cells = [line.split() for line in text.splitlines() if line.split()[:1] == ["idle"]]
    assert cells == [["idle", "6.00", "s", "60.0%", "24.0", "J", "2.40", "W"]]
    assert row_of(text, "all")[1:6] == ["10.0", "s", "100.0%", "62.0", "J"]
    assert "5 V: 20.0 J, 12 V: 42.0 J; profile measured" in text


def test_what_a_model_does_not_have_is_not_shown(simulation: DriveSimulation) -> None:
    text = text_of(replace(simulation, arms=1, profile="", hits=250, closed=0))
    assert "1 arm, " in text and "by arm" not in text
    assert "open loop" in text
    assert "from the cache: 25.0%" in text
    assert "the model has no power profile" in text
    assert "mean power" not in text


@pytest.mark.parametrize(("host", "moved", "factor"), [(100, 50, "1.50"), (0, 0, "1.00")])
def test_flash_has_an_amplification_and_no_seeks(
    host: int, moved: int, factor: str, simulation: DriveSimulation
) -> None:
    steps = [FlashStep(10**9, 10, 4e6, 1.25)] if host else []
    use = FlashUse(
        channels=8, pages_programmed=host, pages_moved=moved, blocks_erased=2, steps=steps
    )
    text = text_of(replace(simulation, flash=use))
    assert "flash, 8 channels" in text
    assert f"write amplification {factor}" in text
    assert ("4.00 MB/s" in text) == bool(host)
    assert "\nrotation" not in text.split("mode")[0]


def test_remarks_are_told_once_for_all_their_claims(study: DriveStudy) -> None:
    first, second, third = study.claims
    twice = [replace(first, remark="why it is so"), second, replace(third, place="Table 3")]
    text = shown(
        lambda study, out: print_parts(drive.study_parts(study), drive.STUDY_WIDTH, out),
        replace(study, claims=twice),
        drive.STUDY_WIDTH,
    )
    assert text.count("why it is so") == 1
    assert "Figure 2, Table 3: why it is so" in text
    holds = [line.split()[-1] for line in text.splitlines() if "it " in line and "yes" in line]
    assert holds[:1] == ["yes"]
    assert "Financial-like: known; assumed: assumed" in text

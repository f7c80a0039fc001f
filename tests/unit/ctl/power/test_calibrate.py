# SPDX-License-Identifier: GPL-2.0
"""Calibration of rails: zero and gain."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lib.ctl.rails import RAILS, rails_file, run

from spekctl.errors import SpekError, UsageError
from spekctl.power import calibrate
from spekctl.power.calibrate import Reading
from spekctl.power.rails import Rail, RailsFile

rails = pytest.fixture(rails_file)


def test_the_zero_is_measured_and_nothing_else_is_touched(rails: Path) -> None:
    assert run("calibrate", rails, "--zero", "--rail", "12V", "--time", "1s") == 0
    rails_file = RailsFile(rails)
    # Half a step of the simulated converter.
    assert rails_file.rail("12V").zero_uv == pytest.approx(2_512_345, abs=316)
    measured = f"zero_uv = {rails_file.rail('12V').zero_uv}\n"
    assert rails.read_text().replace(measured, "", 1) == RAILS
    assert list(rails.parent.iterdir()) == [rails]


def test_the_gain_is_measured_at_a_known_load(
    rails: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--rail", "5V", "--current", "2A", "--time", "1s", "--json"]
    assert run("calibrate", rails, *words) == 0
    (change,) = json.loads(capsys.readouterr().out)
    assert change["constant"] == "sens_uv_per_a"
    assert change["after"] == pytest.approx(104_167, abs=316)
    assert RailsFile(rails).rail("5V").sens_uv_per_a == change["after"]


RAIL = Rail("12V", "AIN0", 12_000, None, 2_500_000, 104_167, 1)


@given(
    st.integers(2_400_000, 2_600_000),
    st.integers(95_000, 113_000),
    st.integers(1, 3),
    st.integers(100_000, 6_000_000),
)
def test_gain_is_the_one_that_was(zero: int, sens: int, turns: int, load_ua: int) -> None:
    rail = Rail("r", "AIN0", 12_000, None, zero, 104_167, turns)
    uv = zero + round(load_ua * sens * turns / 1e6)
    change = calibrate.gain(rail, {"AIN0": Reading(uv, 0, 100)}, load_ua)
    assert change.after == pytest.approx(sens, abs=10**6 / (load_ua * turns) + 1)


def test_readings_are_averaged_and_gaps_left_out() -> None:
    text = "time_ns,AIN0.uV,p.nW\n1,2500000,5\n2,,\n3,2500003,6\n"
    assert calibrate.parse(text) == {"AIN0": Reading(2_500_002, 2, 2)}
    text = "time_ns,AIN0.uV\n1,\n2,\n"
    assert calibrate.parse(text) == {"AIN0": Reading(0, 0, 0)}
    assert calibrate.parse("") == {}


def test_a_channel_that_puts_out_nothing_is_named() -> None:
    with pytest.raises(UsageError, match="rail '12V': channel 'AIN0' is not a transducer's output"):
        calibrate.zero(RAIL, {})
    with pytest.raises(SpekError, match="unplugged or has no supply: its output is 0"):
        calibrate.zero(RAIL, {"AIN0": Reading(100_000, 0, 100)})
    with pytest.raises(SpekError, match="only 3 readings arrived; increase --time"):
        calibrate.zero(RAIL, {"AIN0": Reading(2_500_000, 0, 3)})
    with pytest.raises(SpekError, match="only 0 readings arrived; increase --time"):
        calibrate.zero(RAIL, {"AIN0": Reading(0, 0, 0)})


def test_a_time_without_a_reading_is_too_short(
    rails: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPEK_DAQ", "/bin/true")
    assert run("calibrate", rails, "--zero") == 1
    assert capsys.readouterr().err == "spekctl: no reading arrived; increase --time\n"
    assert rails.read_text() == RAILS

# SPDX-License-Identifier: GPL-2.0
"""spekctl power calibrate: files of rails, and what is refused."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from lib.ctl.rails import RAILS, rails_file, run

from spekctl.commands.power import parse_ampere_ua
from spekctl.errors import ExitCode

rails = pytest.fixture(rails_file)


def test_a_dry_run_leaves_the_file_alone(rails: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("calibrate", rails, "--zero", "--rail", "12V", "--time", "1s", "--dry-run") == 0
    assert "zero_uv" in capsys.readouterr().out
    assert rails.read_text() == RAILS


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        ([], 2, "give either --zero or --current AMPERE"),
        (["--zero", "--current", "2"], 2, "give either --zero or --current AMPERE"),
        (["--current", "2"], 2, "the gain is measured one rail at a time"),
        (["--zero", "--rail", "12v"], 2, "there is no rail '12v' in"),
        (["--current", "x", "--rail", "5V"], 2, "'x' is not a current; write for example 2.5A"),
        (["--current", "1e99999999", "--rail", "5V"], 2, "'1e99999999' is not a current"),
        (["--current", "0", "--rail", "5V"], 2, "a current of '0' is out of range"),
        (["--zero"], 1, "rail '5V': its output is 2.7"),
        (["--current", "3", "--rail", "5V"], 1, "check the load, the rail"),
        (["--zero", "--set", "unplugged=0"], 1, "rail '12V': the transducer on const:0 is"),
        (["--zero", "--set", "transducer=false"], 2, "measures power; remove the rail's voltage"),
    ],
)
def test_what_can_not_be_calibrated_is_refused_and_the_file_stays(
    rails: Path, capsys: pytest.CaptureFixture[str], words: list[str], code: int, sentence: str
) -> None:
    assert run("calibrate", rails, *words, "--time", "1s") == code
    error = capsys.readouterr().err
    assert error.startswith("spekctl: ")
    assert sentence in error
    assert error.count("\n") == 1
    assert rails.read_text() == RAILS


def test_the_file_keeps_its_mode_owner_and_place(
    rails: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[tuple[int, int]] = []
    monkeypatch.setattr(os, "fchown", lambda fd, uid, gid: given.append((uid, gid)))
    link = rails.with_name("link.toml")
    link.symlink_to(rails)
    assert run("calibrate", link, "--zero", "--rail", "12V", "--time", "1s") == 0
    assert stat.S_IMODE(rails.stat().st_mode) == 0o640
    assert given == [(rails.stat().st_uid, rails.stat().st_gid)]
    assert link.is_symlink()
    assert "zero_uv = 2512" in rails.read_text().split("5V")[0]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("x =\n", "rails.toml"),
        ("rail = 5\n", "'rail' has to be a list of tables"),
        ("[[rail]]\nchannel = 'x'\n", "a rail has no name"),
        ("[[rail]]\nname = 'x'\nturns = 'y'\n", "'turns' has to be a whole number"),
    ],
)
def test_a_broken_rails_file_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, sentence: str
) -> None:
    path = tmp_path / "rails.toml"
    path.write_text(text)
    assert run("rails", path) == ExitCode.USAGE
    assert sentence in capsys.readouterr().err
    assert run("rails", tmp_path / "none.toml") == ExitCode.USAGE


def test_without_spek_daq_it_says_so(
    rails: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SPEK_DAQ", "/does/not/exist")
    assert run("calibrate", rails, "--zero", "--rail", "12V") == ExitCode.NO_KERNEL_SIDE
    assert "/does/not/exist can't be run" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "ua"),
    [("2", 2_000_000), ("2.5A", 2_500_000), ("500mA", 500_000), ("0.0015 A", 1500)],
)
def test_currents(text: str, ua: int) -> None:
    assert parse_ampere_ua(text) == ua

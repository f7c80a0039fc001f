# SPDX-License-Identifier: GPL-2.0
"""MODEL and the options that change it, as every command of spekctl drive has them."""

from __future__ import annotations

import json

import click
import pytest
from lib.ctl.command_line import Spekctl, caller

from spekctl.commands.drive_model import complete_model
from spekctl.drive import file


@pytest.fixture
def spekctl(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Spekctl:
    monkeypatch.setenv("COLUMNS", "160")
    return caller(capfd)


def test_what_is_shown_follows_the_changes(spekctl: Spekctl) -> None:
    given = ("--rpm", 4200, "--profile", "isca08-watts", "--set", "settle_ms=0.25")
    shown = spekctl("drive", "show", "barracuda-es", *given).out
    assert "4,200 rpm, 14.286 ms per revolution" in shown
    assert "write settle 0.25 ms" in shown
    assert len([line for line in shown.splitlines() if line.endswith("MB/s")]) == 16


def test_a_fall_of_the_curve_is_remarked(spekctl: Spekctl) -> None:
    done = spekctl("drive", "show", "atlas10k", "--json")
    assert done.sentence == "atlas10k: the seek curve falls by 29% at 4800 cylinders"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("nosuch",), "there is no model 'nosuch'; choose from atlas-iii"),
        (("mach2", "--set", "heads=0"), "mach2.toml: heads: 0 is out of range; allowed are 1 to"),
        (("mach2", "--arms", 1), "arms.channels: 2 is out of range; allowed are 1 to 1"),
        (("mach2", "--profile", "x"), "there is no profile 'x'; allowed are: datasheet-arms"),
    ],
)
def test_refusals_are_sentences(spekctl: Spekctl, words: tuple[object, ...], sentence: str) -> None:
    refused = spekctl("drive", "show", *words)
    assert (refused.code, refused.out) == (2, "")
    assert sentence in refused.sentence


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--arms", 0), "0 is not in the range 1<=x<=8"),
        (("--channels", 2), "arms.channels: 2 is out of range; allowed are 1 to 1"),
        (("--rpm", 59), "59.0 is not in the range 60<=x<=60000"),
        (("--set", "rpm"), "--set rpm: write FIELD=VALUE"),
        (("--dash", "SA2"), "--dash SA2: not of the form D1A2S1H1, with degrees of 1 or more"),
        (("--dash", "D0A1S1H1"), "--dash D0A1S1H1: not of the form D1A2S1H1"),
        (("--dash", "D1A9S1H1"), "arms.count: 9 is out of range; allowed are 1 to 8"),
        (("--dash", "D1A1S3H1"), "surfaces: 3 does not divide the 8 heads"),
        (
            ("--dash", "D1A2S1H2"),
            "the drive is D1A2S1H1; angles of several heads are given by --set head_angles=",
        ),
        (("--dash", "D1A2S1H1", "--arms", 4), "by its model and other options the drive is D1A4S1"),
    ],
)
def test_an_option_out_of_range_is_refused(
    spekctl: Spekctl, words: tuple[object, ...], sentence: str
) -> None:
    refused = spekctl("drive", "show", "barracuda-es", *words)
    assert (refused.code, refused.out) == (2, "")
    assert sentence in refused.sentence


def test_an_option_wins_over_set(spekctl: Spekctl) -> None:
    words = ("--set", "arms.count=2", "--arms", 4, "--channels", 3)
    facts = json.loads(spekctl("drive", "show", "barracuda-es", *words, "--json").out)
    assert (facts["arms"], facts["channels"]) == (4, 3)


@pytest.mark.parametrize(
    ("words", "stacks", "arms"),
    [
        (("--dash", "D1A1S1H1"), 1, 1),
        (("--dash", "D1A2S1H1"), 1, 2),
        (("--dash", "D2A4S8H2", "--set", "head_angles=[0, 0.05]", "--set", "sectors=0"), 2, 4),
    ],
)
def test_the_taxonomy_of_paper_003_names_a_drive(
    spekctl: Spekctl, words: tuple[object, ...], stacks: int, arms: int
) -> None:
    shown = spekctl("drive", "show", "barracuda-es", *words).out
    assert f"parallelism   {words[1]} (disk stacks, arm assemblies, surfaces, heads)" in shown
    facts = json.loads(spekctl("drive", "show", "barracuda-es", *words, "--json").out)
    assert (facts["dash"], facts["arms"]) == (words[1], arms)
    plain = json.loads(spekctl("drive", "show", "barracuda-es", "--json").out)
    # Each stack has the capacity of a plain drive.
    assert facts["bytes"] // plain["bytes"] == stacks


def test_a_flash_drive_has_no_place_in_the_taxonomy(spekctl: Spekctl) -> None:
    refused = spekctl("drive", "show", "vertex2", "--dash", "D1A1S1H1")
    assert (refused.code, refused.out) == (2, "")
    assert "a flash drive has neither platters nor arms" in refused.sentence


def test_a_deep_fall_is_accepted_by_force(spekctl: Spekctl) -> None:
    words = ("drive", "show", "barracuda-es", "--set", "seek_points=[[1, 9.0], [2, 3.0]]")
    assert "falls of up to 40%" in spekctl(*words).sentence
    forced = spekctl(*words, "--force")
    assert forced.code == 0
    assert forced.sentence == "barracuda-es: the seek curve falls by 67% at 2 cylinders"


def test_models_complete_and_then_files() -> None:
    context, parameter = click.Context(click.Command("x")), click.Argument(["name"])
    assert [item.value for item in complete_model(context, parameter, "")] == file.names()
    assert [item.value for item in complete_model(context, parameter, "mach")] == ["mach2"]
    (path,) = complete_model(context, parameter, "./m")
    assert (path.value, path.type) == ("./m", "file")

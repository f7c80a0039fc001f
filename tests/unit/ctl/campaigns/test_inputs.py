# SPDX-License-Identifier: GPL-2.0
"""Files of numbers that energy figures are computed from; refused in one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest
from lib.ctl.command_line import Spekctl
from lib.ctl.energy_command import LEVELS

from spekctl.errors import ExitCode

WRONG_FILES = {
    "negative power": (
        LEVELS.replace("225.530", "-1"),
        "l.toml: the power of the idle level is -1 W; it must be more than 0",
    ),
    "idle above load": (
        LEVELS.replace("225.530", "240"),
        "l.toml: idle power, 240 W, is above that of the moderate level, 232.48 W",
    ),
    "no I/Os": (
        LEVELS.replace("9999.42", "0"),
        "l.toml: the moderate level has 0 I/Os per second, not more than 0",
    ),
    "missing level": (
        LEVELS[: LEVELS.index("[idle]")],
        "l.toml: the section [idle] is missing",
    ),
    "missing levels": ("", "l.toml: the sections [heavy], [moderate], [idle] are missing"),
    "missing number": (
        LEVELS.replace("watts = 236.965", ""),
        "l.toml: [heavy]: the key 'watts' is missing",
    ),
    "no number": (
        LEVELS.replace("236.965", '"a lot"'),
        "l.toml: [heavy]: watts is not a number",
    ),
    "400 digits": (
        LEVELS.replace("236.965", "9" * 400),
        "l.toml: [heavy]: watts is 1.00e+400; it must be 0 or between 1e-100 and 1e100",
    ),
    "not finite": (LEVELS.replace("236.965", "inf"), "[heavy]: watts is not a finite number"),
    "unknown key": (
        LEVELS.replace("[idle]", "[idle]\nwats = 3"),
        "l.toml: [idle]: unknown key 'wats'; did you mean 'watts'?",
    ),
    "no section": ("heavy = 3\n", "l.toml: heavy is not a section"),
    "negative price": ("price = -1\n" + LEVELS, "l.toml: the price is -1; it must be 0 or more"),
    "no TOML": ("[heavy", "l.toml is not valid TOML"),
    "exchanged": (
        LEVELS.replace("15999.51", "999"),
        "the heavy level has fewer I/Os per second (999) than the moderate one (9999.42)",
    ),
}


@pytest.mark.parametrize("case", WRONG_FILES)
def test_a_wrong_file_gets_one_sentence(case: str, spekctl: Spekctl) -> None:
    text, sentence = WRONG_FILES[case]
    Path("l.toml").write_text(text)
    outcome = spekctl("energy", "spc1e", "--from", "l.toml")
    assert outcome.code == ExitCode.USAGE and outcome.out == ""
    assert sentence in outcome.sentence

# SPDX-License-Identifier: GPL-2.0
"""spekctl energy: its tests, each a command of its own."""

from __future__ import annotations

import pytest
from lib.ctl.command_line import Spekctl

from spekctl.commands import energy
from spekctl.errors import ExitCode

TESTS = ("spc1e", "spc2e", "emerald", "dcse", "tiered", "capacity", "check", "compare")


def test_every_test_is_listed_with_what_it_does(spekctl: Spekctl) -> None:
    outcome = spekctl("energy", "--help")
    assert outcome.code == ExitCode.OK
    assert set(energy.command.commands) == set(TESTS)
    lines = [line.split(maxsplit=1) for line in outcome.out.splitlines()]
    assert {words[0] for words in lines if words and words[0] in TESTS and len(words) == 2} == {
        *TESTS
    }


@pytest.mark.parametrize(
    ("words", "sentence"),
    [(("spc1x",), "there is no command 'spc1x'"), (("--price", "3"), "--price")],
)
def test_a_test_that_is_none_is_refused(
    spekctl: Spekctl, words: tuple[str, ...], sentence: str
) -> None:
    outcome = spekctl("energy", *words)
    assert (outcome.code, outcome.out) == (ExitCode.USAGE, "")
    assert sentence in outcome.sentence.lower()

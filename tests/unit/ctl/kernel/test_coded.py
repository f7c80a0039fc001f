# SPDX-License-Identifier: GPL-2.0
"""Words of the contracts and their numbers."""

from __future__ import annotations

import json
from enum import IntEnum

import pytest

from spekctl.errors import NoKernelSideError
from spekctl.kernel.coded import Coded
from spekctl.kernel.gen import spek, spek_records


@pytest.mark.parametrize("name", ["RunState", "Phase", "Reason", "Direction", "Metric", "Backend"])
def test_words_have_the_numbers_of_the_contract(name: str) -> None:
    words: type[Coded] = getattr(spek_records, name)
    numbers: type[IntEnum] = getattr(spek, name)
    assert {word.name: word.code for word in words} == {
        number.name: number.value for number in numbers
    }
    for word in words:
        assert words.of(word.code) is word
        assert word.value == word.name.lower().replace("_", "-")


def test_a_number_of_a_newer_module_is_refused_in_a_sentence() -> None:
    with pytest.raises(NoKernelSideError, match="newer than this spekctl: it sent Phase 7"):
        spek_records.Phase.of(7)


class Colour(Coded):
    RED = "red"
    DARK_BLUE = "dark-blue"


def test_a_member_is_its_word_to_people_and_files() -> None:
    assert f"{Colour.DARK_BLUE}" == "dark-blue"
    assert json.dumps([Colour.RED]) == '["red"]'
    assert [colour.code for colour in Colour] == [0, 1]


@pytest.mark.parametrize("code", [2, 2**32 - 1])
def test_no_number_beyond_the_last_has_a_word(code: int) -> None:
    with pytest.raises(NoKernelSideError, match=f"it sent Colour {code}"):
        Colour.of(code)

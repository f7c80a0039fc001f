# SPDX-License-Identifier: GPL-2.0
"""Numbers of words, and the attributes that a request leaves out."""

from __future__ import annotations

from typing import Literal

import pytest

from spekctl.contract.wire import code, filled, given

Colour = Literal["red", "green"]


def test_a_word_has_its_place_as_its_number() -> None:
    assert [code(Colour, word) for word in ("red", "green")] == [0, 1]
    with pytest.raises(ValueError, match="not in tuple"):
        code(Colour, "blue")


def test_values_that_mean_the_same_as_none_are_not_sent() -> None:
    assert given(("cpu", 0, ()), ("weight", 1, (1,)), ("name", "", ("",)), ("depth", 4, (0,))) == {
        "cpu": 0,
        "depth": 4,
    }


def test_entries_beyond_the_room_of_their_array_are_refused() -> None:
    assert filled(b"1234", 4) == b"1234"
    with pytest.raises(ValueError, match="5 bytes do not fit into 4"):
        filled(b"12345", 4)

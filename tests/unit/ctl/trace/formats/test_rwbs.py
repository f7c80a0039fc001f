# SPDX-License-Identifier: GPL-2.0
"""Operations and their marks in the letters of blktrace."""

from __future__ import annotations

import numpy as np
import pytest

from spekctl.trace.columns import IGNORED, Flag, Misfit, Op, Words
from spekctl.trace.formats.rwbs import operation, operations


@pytest.mark.parametrize(
    ("word", "op", "flags"),
    [
        ("R", Op.READ, 0),
        ("RSM", Op.READ, 0),
        ("W", Op.WRITE, 0),
        ("WFS", Op.WRITE, Flag.FUA),
        ("FWS", Op.WRITE, Flag.PREFLUSH),
        ("FWFSM", Op.WRITE, Flag.FUA | Flag.PREFLUSH),
        ("F", Op.FLUSH, 0),
        ("FF", Op.FLUSH, 0),
        ("FN", Op.FLUSH, 0),
        ("D", Op.DISCARD, 0),
        ("DS", Op.DISCARD, 0),
        ("DE", Op.SECURE_ERASE, 0),
        ("WZS", Op.WRITE_ZEROES, 0),
        ("ZAS", Op.ZONE_APPEND, 0),
        ("ZR", Op.ZONE_RESET, 0),
        ("ZF", Op.ZONE_FINISH, 0),
        ("ZO", Op.ZONE_OPEN, 0),
        ("ZC", Op.ZONE_CLOSE, 0),
        ("ZRA", IGNORED, 0),
        ("N", IGNORED, 0),
    ],
)
def test_operations(word: str, op: int, flags: int) -> None:
    assert operation(word) == (op, flags)


@pytest.mark.parametrize("word", ["", "X", "w", "WX", "R4", "Z", "FNX", "FR4", "FWX", "None"])
def test_other_words_are_no_operations(word: str) -> None:
    with pytest.raises(Misfit):
        operation(word)


def test_a_column_has_the_operations_of_its_words() -> None:
    words = Words(np.array([2, 0, 2, 1]), ["FWFS", "N", "RA"])
    op, flags = operations(words)
    assert op.tolist() == [Op.READ, Op.WRITE, Op.READ, IGNORED]
    assert flags.tolist() == [0, Flag.FUA | Flag.PREFLUSH, 0, 0]
    assert op.dtype == flags.dtype == np.uint8


def test_a_word_that_no_record_has_is_not_judged() -> None:
    """A dictionary may list words of lines that were left out."""
    words = Words(np.array([1, 1]), ["nonsense", "D"])
    assert operations(words)[0].tolist() == [Op.DISCARD, Op.DISCARD]
    with pytest.raises(Misfit, match="unknown operation 'nonsense'"):
        operations(Words(np.array([0]), ["nonsense"]))

# SPDX-License-Identifier: GPL-2.0
"""No text of a CSV file is a formula, and no number changes."""

from __future__ import annotations

import pytest

from spekctl import cells


@pytest.mark.parametrize(
    "text",
    [
        *("=1+1", "+a", "-a", "@SUM(A1)", "-1+2", "+1;2", "--1", "-", "=", "\t=1", " =1", "\r\n@a"),
        *("\tplain", "\uff1d1+1", "\uff0b1", "\uff0d1", "\uff20a", "\ufeff=1", "-\u0661", "-0x10"),
    ],
)
def test_a_formula_becomes_text(text: str) -> None:
    assert cells.cell(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "a=b", "sda", "-1", "+1", "-1.5", "-1.5e-9", "1e+06", "'=1"])
def test_other_texts_and_numbers_stay(text: str) -> None:
    assert cells.cell(text) == text


def test_text_without_quotes_has_no_structure() -> None:
    assert cells.unquoted('a,b"c\r\nd') == "a_b_c__d"
    assert cells.unquoted("=a,b") == "'=a_b"


def test_numbers_of_a_row_stay() -> None:
    values = [-1, -0.25, None, 2**64, True]
    assert cells.row([*values, "=1"]) == [*values, "'=1"]

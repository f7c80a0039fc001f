# SPDX-License-Identifier: GPL-2.0
"""Text for one line of any format."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from spekctl.gate.formats.plain import one_line

ANY = st.text(st.characters())  # with surrogates, as names of files have them


@given(ANY)
def test_any_text_becomes_one_printable_line(text: str) -> None:
    line = one_line(text)
    assert line.isprintable() and len(line) == len(text)
    assert len(line.splitlines()) == bool(line)
    assert line.encode().decode() == line
    assert one_line(line) == line


@given(st.text(st.characters(categories=["L", "N", "P", "S"])))
def test_printable_text_stays(text: str) -> None:
    assert one_line(text) == text


def test_breaks_are_spaces_and_the_rest_question_marks() -> None:
    assert one_line("a\tb\nc\rd\x07e\u2028f\u202eg") == "a b c?d?e?f?g"

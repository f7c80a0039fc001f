# SPDX-License-Identifier: GPL-2.0
"""Text of others in a page: visible, in its order, and never a part of the page."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spekctl.report.words import clean, data_text, few

ANY = st.text(st.characters(exclude_categories=()), max_size=30)


@given(ANY)
def test_what_is_cleaned_has_nothing_invisible(text: str) -> None:
    cleaned = clean(text)
    for char in set(cleaned) - set("\n\t"):
        assert unicodedata.category(char) not in {"Cc", "Cf", "Cs", "Zl", "Zp"}
    cleaned.encode("utf-8")
    assert clean(cleaned) == cleaned


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126)))
def test_plain_text_stays(text: str) -> None:
    assert clean(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("disk\x00\x1b[31m", "disk\\u0000\\u001b[31m"),
        ("a\u202egpj.exe", "a\\u202egpj.exe"),
        ("half \ud800 a pair", "half \\ud800 a pair"),
        ("5 µs, 日本\ttab\n", "5 µs, 日本\ttab\n"),
    ],
)
def test_escapes_name_the_character(text: str, shown: str) -> None:
    assert clean(text) == shown


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, width=32), ANY),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(ANY, inner)),
    max_leaves=8,
)


@given(st.one_of(JSON, st.sampled_from(["</script>", "<!-- <script", "&lt;", ["]]>"]])))
def test_data_comes_back_and_ends_no_element(value: object) -> None:
    try:
        text = data_text(value)
    except ValueError:
        assert "inf" in repr(value)
        return
    assert not set("<>&") & set(text)
    assert json.loads(text) == value


@pytest.mark.parametrize("value", [float("nan"), [float("inf")]])
def test_what_scripts_cannot_read_is_no_data(value: object) -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        data_text(value)


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ([], ""),
        (["a"], "a"),
        (["a", "b", "c"], "a, b, c"),
        (["a", "b", "c", "d"], "a and 3 more"),
        (["a"] * 64, "a and 63 more"),
    ],
)
def test_a_heading_has_few_names(names: list[str], text: str) -> None:
    assert few(names) == text

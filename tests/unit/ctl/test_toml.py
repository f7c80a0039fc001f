# SPDX-License-Identifier: GPL-2.0
"""TOML of users: each mistake is one sentence."""

from __future__ import annotations

from decimal import Decimal

import pytest

from spekctl import toml
from spekctl.errors import UsageError


def test_numbers_are_those_that_the_caller_wants() -> None:
    assert toml.parse("a = 0.1") == {"a": 0.1}
    assert toml.parse("a = 0.1", parse_float=Decimal) == {"a": Decimal("0.1")}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a = ", "not valid TOML: invalid value"),
        ("a = 1\na = 2", "not valid TOML: cannot overwrite a value"),
        ("a = " + "[" * 5000, "not valid TOML: it is nested too deeply"),
        ("a = " + "1" * 5000, "not valid TOML: exceeds the limit"),
    ],
)
def test_mistakes_are_told(text: str, why: str) -> None:
    with pytest.raises(UsageError) as caught:
        toml.parse(text)
    assert caught.value.message.startswith(why)

# SPDX-License-Identifier: GPL-2.0
"""TOML of users: each mistake is one sentence."""

from __future__ import annotations

import tomllib
from decimal import Decimal
from typing import Any

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


LONG = ".".join("a" * 16)


@pytest.mark.parametrize(
    "text",
    [
        f"{LONG}.a = 1",
        f"[{LONG}.a]",
        f"[[ {LONG} . a ]]",
        f"x = {{ y = 1, {LONG}.a = 1 }}",
        " . ".join(['"b.c"', "'d'"] * 9) + " = 1",
        'x = """a\\"""""\n' + f"{LONG}.a = 1",
        "x = '''#'''\n" + f"{LONG}.a = 1",
        "x = '\"'\n" + f"{LONG}.a = 1",
    ],
)
def test_a_key_of_too_many_parts_is_refused_before_it_is_parsed(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def loads(*_: Any, **__: Any) -> Any:
        raise AssertionError("it was parsed")

    monkeypatch.setattr(tomllib, "loads", loads)
    with pytest.raises(UsageError, match=r"has 1[78] parts between its dots; allowed are 16$"):
        toml.parse(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (f"x = 1\n{LONG} = 1", 1),
        (f"x = '{LONG}.a'", f"{LONG}.a"),
        (f'x = "\\"{LONG}.a"', f'"{LONG}.a'),
        (f'x = """\n{LONG}.a = 1\n"""', f"{LONG}.a = 1\n"),
        (f'x = """{LONG}.a""""', f'{LONG}.a"'),
        (f"x = '''\n{LONG}.a = 1'''", f"{LONG}.a = 1"),
        (f"x = 1 # {LONG}.a", 1),
        (f'x = 1 # """\n# {LONG}.a', 1),
        ("x = 1.5e3", 1500.0),
    ],
)
def test_dots_elsewhere_are_not_parts_of_a_key(text: str, value: Any) -> None:
    assert toml.parse(text)["x"] == value


@pytest.mark.parametrize("part", ['\\"', '"', "'", "a.", "a .", "a ", '"""', "\\", "#", "'''a"])
def test_looking_for_long_keys_takes_each_character_once(part: str) -> None:
    # It would take hours if its time grew with the square of the length.
    toml._check_keys('x = "' + part * (1_000_000 // len(part)))

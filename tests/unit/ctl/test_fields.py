# SPDX-License-Identifier: GPL-2.0
"""Parsed TOML against structs: what is refused, and that msgspec takes the rest."""

from __future__ import annotations

import tomllib
from typing import Annotated, Literal

import msgspec
import pytest
from msgspec import Meta

from spekctl import fields
from spekctl.errors import UsageError


class Part(msgspec.Struct):
    """An entry of a list, and a table."""

    name: str
    share: int | str = 1
    speed: float | None = None


class Whole(msgspec.Struct):
    """All kinds of fields."""

    title: Annotated[str, Meta(min_length=1)]
    part: list[Part] = []
    main: Part | None = None
    by_name: dict[str, Part] = {}
    kind: Literal["fast", "slow"] = "fast"
    on: bool = False
    count: Annotated[int, Meta(ge=1, le=9)] = 1
    angle: Annotated[float, Meta(ge=0, lt=1)] = 0.0
    width: Annotated[float, Meta(gt=0, le=2)] = 1.0
    depth: Annotated[int, Meta(ge=3)] = 3
    pair: Annotated[list[float], Meta(min_length=2, max_length=2)] | None = None
    some: Annotated[list[int], Meta(min_length=1)] | None = None
    few: Annotated[list[int], Meta(max_length=2)] = []


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("titel = 'x'", "unknown key 'titel'; did you mean 'title'?"),
        ("zzz = 1", "unknown key 'zzz'; the keys are title, part, main"),
        ("count = 2", "the key 'title' is missing"),
        ("title = ''", "title: empty; any other text is allowed"),
        ("title = 3", "title: expected a string (in quotes), got 3"),
        ("title = 2026-11-26", "title: expected a string (in quotes), got a date or time"),
        ("title = 10:30:00", "title: expected a string (in quotes), got a date or time"),
        ("title = ['x']", "title: expected a string (in quotes), got a list"),
        ("kind = 'fsat'", "kind: unknown value 'fsat'; did you mean 'fast'?"),
        ("kind = 'zzz'", "kind: unknown value 'zzz'; it is one of fast, slow"),
        ("kind = 1", "kind: expected a string (in quotes), got 1"),
        ("on = 'yes'", 'on: expected true or false, got the string "yes"'),
        ("on = 1", "on: expected true or false, got 1"),
        ("count = true", "count: expected a whole number, got true"),
        ("count = 1.5", "count: expected a whole number, got 1.5"),
        (
            "count = '5k'",
            'count: expected a whole number, got the string "5k"; write it without quotes and'
            " without a unit, for example count = 7",
        ),
        ("count = 'five'", 'count: expected a whole number, got the string "five"'),
        ("count = 0", "count: 0 is out of range; allowed are 1 to 9"),
        ("count = 10", "count: 10 is out of range; allowed are 1 to 9"),
        ("angle = 1", "angle: 1 is out of range; allowed are 0 to below 1"),
        ("angle = nan", "angle: nan is out of range; allowed are 0 to below 1"),
        ("width = 0", "width: 0 is out of range; allowed are more than 0, up to 2"),
        (f"[main]\nname = 'a'\nspeed = 1{'0' * 400}", "main.speed: the number is too large"),
        ("depth = 2", "depth: 2 is out of range; allowed are 3 or more"),
        ("pair = [1]", "pair: 1 entries; allowed are 2"),
        ("pair = [1, 'a']", 'pair.2: expected a number, got the string "a"'),
        ("some = []", "some: 0 entries; allowed are 1 or more"),
        ("few = [1, 2, 3]", "few: 3 entries; allowed are 0 to 2"),
        ("part = 3", "part: expected a list, got 3"),
        ("[part]\nname = 'a'", "part: expected a list, got a table; write [[part]]"),
        ("main = 3", "main: expected a table, got 3"),
        ("[main]\nname = 'a'\nsped = 2", "main: unknown key 'sped'; did you mean 'speed'?"),
        ("[main]\nname = 'a'\nspeed = 'b'", 'main.speed: expected a number, got the string "b"'),
        ("[main]\nspeed = 2", "main: the key 'name' is missing"),
        ("[[part]]\nname = 'a'\nshare = 1.5", "part 'a', share: expected a whole number or a str"),
        ("[[part]]\nname = 'a'\n[[part]]\nshare = 1", "part 2: the key 'name' is missing"),
        ("[[part]]\nname = 7", "part 1, name: expected a string (in quotes), got 7"),
        ("[by_name.x]\nname = 'a'\nzzz = 1", "by_name.x: unknown key 'zzz'; the keys are name"),
    ],
)
def test_what_a_struct_does_not_have_is_one_sentence(text: str, sentence: str) -> None:
    with pytest.raises(UsageError) as refused:
        fields.check(tomllib.loads(f"{text}\n"), Whole, {"count": 7})

    assert refused.value.message.startswith(sentence)


@pytest.mark.parametrize(
    "text",
    [
        "title = 'x'",
        "title = 'x'\nangle = 0\nwidth = 2\npair = [1, 2.5]",
        "title = 'x'\ncount = 9\ndepth = 99999999999\non = true\nkind = 'slow'",
        "title = 'x'\n[main]\nname = 'a'\nspeed = 3\nshare = '7%'",
        "title = 'x'\n[[part]]\nname = 'a'\nshare = 3\n[by_name.b]\nname = 'b'",
    ],
)
def test_what_passes_is_what_msgspec_takes(text: str) -> None:
    data = tomllib.loads(text)

    fields.check(data, Whole)

    assert msgspec.convert(data, Whole).title == "x"


def test_a_missing_section_is_called_one() -> None:
    class Sections(msgspec.Struct):
        head: Part
        rows: list[Part]
        title: str

    head = {"name": "a"}
    for data, sentence in (
        ({"rows": [], "title": ""}, "the section 'head' is missing"),
        ({"head": head, "title": ""}, "the section 'rows' is missing"),
        ({"head": head, "rows": []}, "the key 'title' is missing"),
    ):
        with pytest.raises(UsageError, match=sentence):
            fields.check(data, Sections)


def test_a_long_value_is_cut() -> None:
    with pytest.raises(UsageError) as refused:
        fields.check({"title": "x", "on": "y" * 1000}, Whole)

    assert refused.value.message == f'on: expected true or false, got the string "{"y" * 36}..."'


def test_one_field_is_checked_alone() -> None:
    fields.check_field(5, Whole, "count")
    with pytest.raises(UsageError, match="count: 10 is out of range; allowed are 1 to 9"):
        fields.check_field(10, Whole, "count")


def test_annotations_of_a_struct_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are hundreds for a workload; reading them takes most of the time of a load."""
    asked: list[object] = []

    def type_info(model: object) -> msgspec.inspect.Type:
        asked.append(model)
        return real(model)

    class Short(msgspec.Struct):
        title: str

    real = msgspec.inspect.type_info
    monkeypatch.setattr(msgspec.inspect, "type_info", type_info)
    for title in "ab":
        fields.check({"title": title}, Short)
        fields.check_field(title, Short, "title")

    assert asked == [Short]

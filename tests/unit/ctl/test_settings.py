# SPDX-License-Identifier: GPL-2.0
"""FIELD=VALUE of the command line, in a file of any kind."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from spekctl import settings
from spekctl.errors import UsageError


class Leaf(msgspec.Struct):
    size: int = 0
    ratio: float | None = None
    words: list[str] = []
    on: bool = False


class Named(msgspec.Struct):
    name: str
    leaf: Leaf = msgspec.field(default_factory=Leaf)


class Whole(msgspec.Struct):
    title: str = ""
    leaf: Leaf = msgspec.field(default_factory=Leaf)
    part: list[Named] = []
    profile: dict[str, Leaf] = {}


TARGET = settings.Target(Whole, "leaf.size=3", {"part": "all"})


def after(*given: str, **data: Any) -> dict[str, Any]:
    settings.apply(data, TARGET, given)
    return data


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("title=a b", {"title": "a b"}),
        ("title='3'", {"title": "3"}),
        ("leaf.size=3", {"leaf": {"size": 3}}),
        ("leaf.size=3k", {"leaf": {"size": "3k"}}),
        (" leaf.ratio = 0.5 ", {"leaf": {"ratio": 0.5}}),
        ("leaf.words=['a', 'b']", {"leaf": {"words": ["a", "b"]}}),
        ("leaf.on=true", {"leaf": {"on": True}}),
        ("part.all.leaf.size=3", {"part": [{"name": "all", "leaf": {"size": 3}}]}),
        ("part.*.leaf.size=3", {"part": [{"name": "all", "leaf": {"size": 3}}]}),
        ("profile.a-b.size=3", {"profile": {"a-b": {"size": 3}}}),
    ],
)
def test_a_field_gets_a_value_of_its_type(setting: str, expected: dict[str, Any]) -> None:
    assert after(setting) == expected


def test_the_last_one_counts_and_what_is_not_named_stays() -> None:
    parts = [{"name": "a.b"}, {"name": "a", "leaf": {"size": 1}}]
    fields = after("part.a.leaf.size=2", "part.a.b.leaf.size=3", "leaf.size=", "leaf.on=true",
                  "leaf.on=false", part=parts, leaf={"size": 9})  # fmt: skip
    assert fields["part"] == [
        {"name": "a.b", "leaf": {"size": 3}},
        {"name": "a", "leaf": {"size": 2}},
    ]
    assert fields["leaf"] == {"on": False}


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ("size", "--set size: write FIELD=VALUE, for example leaf.size=3"),
        ("=3", "--set =3: write FIELD=VALUE, for example leaf.size=3"),
        ("titel=x", "--set titel=x: there is no field 'titel'; did you mean 'title'?"),
        ("leaf.sise=x", "there is no field 'leaf.sise'; did you mean 'size'?"),
        ("leaf=3", "'leaf' is a section; say which field of it: size, ratio, words, on"),
        ("title.x=3", "'title' has no fields"),
        ("part=3", "name the part: part.NAME.FIELD; known are all; * means all"),
        ("part.all=3", "'part.all' is a section; say which field of it"),
        ("part.al.leaf.size=3", "there is no part 'al'; did you mean 'all'?"),
        ("profile=3", "'profile' has sections; write profile.NAME.FIELD"),
        ("profile.a=3", "'profile' has sections; write profile.NAME.FIELD"),
        ("profile.a.b=3", "there is no field 'profile.a.b'"),
    ],
)
def test_what_cannot_be_meant_is_refused(setting: str, sentence: str) -> None:
    with pytest.raises(UsageError) as refused:
        after(setting)
    assert sentence in refused.value.message


@pytest.mark.parametrize("setting", ["leaf.size=3", "profile.a.size=3"])
def test_a_file_that_has_something_else_there_is_not_changed(setting: str) -> None:
    with pytest.raises(UsageError, match="of the file is not a section"):
        after(setting, leaf=3, profile=3)

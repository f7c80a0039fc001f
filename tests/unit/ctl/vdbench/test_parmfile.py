# SPDX-License-Identifier: GPL-2.0
"""Definitions of a parameter file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spekctl.errors import UsageError
from spekctl.vdbench import parmfile
from spekctl.vdbench.parmfile import Definition


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("vdbench") / "some.parm"


def read(path: Path, text: str) -> list[Definition]:
    path.write_text(text)
    return parmfile.read(path)


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("sd=a,lun=/dev/x", {"lun": ["/dev/x"]}),
        ("sd=a,LUN=/dev/X,,threads=4,", {"lun": ["/dev/X"], "threads": ["4"]}),
        ("sd=a,range=(1,2),size=1g", {"range": ["1", "2"], "size": ["1g"]}),
        ("sd=a,lun='/dev/x',x=(\"a\",'b')", {"lun": ["/dev/x"], "x": ["a", "b"]}),
        ("sd=a,x=", {"x": [""]}),
        ("sd=a,x=1=2", {"x": ["1=2"]}),
        ("sd=a,x=1,x=2", {"x": ["2"]}),
        ("sd=a,x=1 a remark, y=2", {"x": ["1"]}),
        ("sd=a,x=1,\ny=2", {"x": ["1"], "y": ["2"]}),
        ("sd=a,x=1\n   y=2", {"x": ["1"], "y": ["2"]}),
        ("sd=a,x=1,   remark\n* y=3\n\n   y=2 # z", {"x": ["1"], "y": ["2"]}),
        ("sd=a,x=(1,\n  2)", {"x": ["1", "2"]}),
    ],
)
def test_a_definition_and_its_parameters(
    path: Path, text: str, given: dict[str, list[str]]
) -> None:
    assert read(path, text + "\n") == [Definition("sd", "a", given)]


@pytest.mark.parametrize("mark", ["*", "#", "/"])
def test_comments_are_whole_lines(path: Path, mark: str) -> None:
    text = f"{mark} sd=x\n{mark}sd=y\n  {mark} sd=z\nsd=a\n"
    assert read(path, text) == [Definition("sd", "a", {})]


def test_a_line_ends_where_the_next_does_not_go_on(path: Path) -> None:
    found = read(path, "sd=a,x=1\nwd=b,\n  y=2\nrd=c\n")
    assert [(one.kind, one.name, one.given) for one in found] == [
        ("sd", "a", {"x": ["1"]}),
        ("wd", "b", {"y": ["2"]}),
        ("rd", "c", {}),
    ]


def test_defaults_are_those_of_the_definitions_after_them(path: Path) -> None:
    text = "sd=a\nsd=default,x=1,y=2\nsd=b,y=3\nwd=c\nsd=default,x=4\nsd=d\n"
    assert [one.given for one in read(path, text)] == [
        {},
        {"x": ["1"], "y": ["3"]},
        {},
        {"x": ["4"]},
    ]


def test_parameters_of_the_whole_file_have_no_kind(path: Path) -> None:
    found = read(path, "validate=yes\nsd=a\n")
    assert (found[0].kind, found[0].name, found[0].given) == ("", "validate", {"validate": ["yes"]})


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (",\n", "some.parm:1: '' is not a parameter"),
        ("", "some.parm: there is no definition"),
        ("sd=sd1,lun\n", "some.parm:1: 'lun' is not a parameter; write NAME=VALUE"),
        ("sd=sd1,range=(1,2\n", "some.parm:1: 'range=(1,2' has a parenthesis that is not closed"),
        (
            "validate=yes\n",
            "some.parm: there is no definition: no line begins with sd=",
        ),
        ("sd=default,x=1\n", "some.parm: there is no definition"),
        ("sd=a\n=3\n", "some.parm:2: '=3' is not a parameter; write NAME=VALUE"),
        ("\nsd=a,\n  x\n", "some.parm:2: 'x' is not a parameter; write NAME=VALUE"),
        ("sd=(a,b),lun=x\n", "some.parm:1: sd: a definition has one name"),
        ("sd=a,x=1)\n", "some.parm:1: 'x=1)' has a parenthesis that is not"),
    ],
)
def test_a_line_that_is_none_is_named(path: Path, text: str, sentence: str) -> None:
    with pytest.raises(UsageError, match=re.escape(sentence)):
        read(path, text)


@given(text=st.text("sdrwx=,()*#/ \n\"'1é", max_size=40))
def test_any_text_has_definitions_or_a_sentence(path: Path, text: str) -> None:
    try:
        found = read(path, text)
    except UsageError as error:
        assert "some.parm" in error.message
    else:
        assert any(one.kind in parmfile.KINDS for one in found)
        assert all(value for one in found for value in one.given.values())

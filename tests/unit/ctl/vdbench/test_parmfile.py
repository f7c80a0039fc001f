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
    """The definitions after that of the whole file."""
    path.write_text(text)
    whole, *definitions = parmfile.read(path)
    assert (whole.kind, whole.name) == ("", "")
    return definitions


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


def test_definitions_are_in_order_and_the_rest_are_parameters(path: Path) -> None:
    text = "hd=h\nsd=a,x=1\ny=2\nsd=b\nwd=c,sd=a,\n  y=2\nsd=b\nrd=d,wd=c\nsd=a\n"
    assert [
        (definition.kind, definition.name, definition.given) for definition in read(path, text)
    ] == [
        ("hd", "h", {}),
        ("sd", "a", {"x": ["1"], "y": ["2"]}),
        ("sd", "b", {}),
        ("wd", "c", {"y": ["2"], "sd": ["b"]}),
        ("rd", "d", {"wd": ["c"], "sd": ["a"]}),
    ]


def test_defaults_add_up_and_are_those_of_the_definitions_after_them(path: Path) -> None:
    text = "sd=a\nsd=default,x=1,y=2\nsd=b,y=3\nsd=default,x=4\nsd=d\n"
    assert [(definition.name, definition.given) for definition in read(path, text)] == [
        ("a", {}),
        ("b", {"x": ["1"], "y": ["3"]}),
        ("d", {"x": ["4"], "y": ["2"]}),
        ("default", {"y": ["2"], "x": ["4"]}),
    ]


def test_parameters_of_the_whole_file_have_no_kind(path: Path) -> None:
    path.write_text("validate=yes\ncompratio=2\nsd=a\n")
    whole = parmfile.read(path)[0]
    assert (whole.kind, whole.given) == ("", {"validate": ["yes"], "compratio": ["2"]})


def test_a_line_that_begins_with_eof_ends_the_file(path: Path) -> None:
    assert read(path, "sd=a\n  eof and more\nsd=b\nnonsense\n") == [Definition("sd", "a", {})]


def test_an_included_file_is_read_in_place(path: Path) -> None:
    (path.parent / "disks").write_text("* of the lab\nsd=b,lun=/dev/x\neof\nsd=c\n")
    assert [definition.name for definition in read(path, "sd=a\ninclude=disks\nwd=w\n")] == [
        "a",
        "b",
        "w",
    ]
    (path.parent / "disks").write_text("include=more\n")
    with pytest.raises(UsageError, match="includes no further"):
        read(path, "include=disks\n")
    with pytest.raises(UsageError, match=r"some\.parm:1: there is no file"):
        read(path, "include=none\n")


@pytest.mark.parametrize(
    ("values", "expanded"),
    [
        ("(1-64,d)", ["1", "2", "4", "8", "16", "32", "64"]),
        ("(1-50,d)", ["1", "2", "4", "8", "16", "32"]),
        ("(64k-16k,d)", ["65536", "32768", "16384"]),
        ("(100-500,100)", ["100", "200", "300", "400", "500"]),
        ("(1-10,4)", ["1", "5", "9"]),
        ("(1,2,4-8,2,99)", ["1", "2", "4", "6", "8", "99"]),
        ("(0.5-2,0.5)", ["0.5", "1", "1.5", "2"]),
        ("(sd1-sd3,log)", ["sd1", "sd2", "sd3", "log"]),
        ("(sd08-sd10)", ["sd08", "sd9", "sd10"]),
        ('("a-b",c)', ["a-b", "c"]),
        ("1-64", ["1-64"]),
    ],
)
def test_ranges_are_written_out(path: Path, values: str, expanded: list[str]) -> None:
    assert read(path, f"sd=a,x={values}\n")[0].given == {"x": expanded}


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ("(1-64)", "x: '1-64' is a range without a step"),
        ("(1-64,0)", "x: the range '1-64,0' does not end"),
        ("(0-64,d)", "x: the range '0-64,d' does not end"),
        ("(1-64,x)", "x: 'x' is not a number"),
        ("(1-9999999,1)", "x: '1-9999999' has more than 10000 values"),
        ("(a1-b3)", "x: 'a1-b3' is not a range of names"),
        ("(a3-a1)", "x: 'a3-a1' is not a range of 2 to 10000 names"),
        ("(a-b)", "x: 'a-b' is not a range of names"),
    ],
)
def test_a_range_that_is_none_is_named(path: Path, values: str, sentence: str) -> None:
    with pytest.raises(UsageError, match=re.escape(sentence)):
        read(path, f"sd=a,x={values}\n")


def test_quotes_protect_blanks_commas_and_dashes(path: Path) -> None:
    definitions = read(path, 'sd=a,x="one, two=3",y=("b-1",c)\n')
    assert definitions[0].given == {"x": ["one, two=3"], "y": ["b-1", "c"]}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (",\n", "some.parm: there is no definition"),
        ("sd=a\nsd=a\n", "some.parm:2: there are two definitions sd=a"),
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
        definitions = read(path, text)
    except UsageError as error:
        assert "some.parm" in error.message
    else:
        assert all(definition.kind in parmfile.KINDS for definition in definitions)
        assert all(value for definition in definitions for value in definition.given.values())

# SPDX-License-Identifier: GPL-2.0
"""fio's notation of numbers, as fio itself reads it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lib.ctl.fio_jobs import fio

from spekctl.errors import UsageError
from spekctl.fio import values
from spekctl.units import LONGEST_NUMBER, U64_MAX


def test_arithmetic_has_the_order_of_fios_grammar() -> None:
    for text, value in (
        ("((1+2)*4k)", 12 << 10),
        ("(1+2)*4k", 12 << 10),
        ("(2+3*4)", 14),
        ("(2*3^2)", 18),
        ("(2^3^2)", 512),
        ("(7+10%4)", 9),
        ("(2*9%4)", 2),
        ("(10-4-3)", 3),
        ("(7/2)", 3),
        ("(1.5*2)k", 3072),
        ("(-2+0x10)", 14),
        ("(2*(1+1))mib", 4_000_000),
    ):
        assert values.size(text) == value, text
    assert values.duration_ns("(2*30)", "s") == 60 * 10**9
    assert values.duration_ns("(1m+30s)", "us") == 90 * 10**9
    assert values.duration_ns("(2*30)", "us") == 60_000
    assert values.whole("(3*4)") == 12


SIZES = ["4k", "4K", "4ki", "4kb", "4KiB", "0x200", "512", "1M", "1mib", "2g"]


@pytest.mark.parametrize("base", [1000, 1024])
@pytest.mark.parametrize("text", SIZES)
def test_sizes_are_those_of_fio(text: str, base: int) -> None:
    """The size of one write that goes nowhere."""
    if text == "2g":
        assert values.size(text, base) == 2 * base**3
        return
    words = [f"--kb_base={base}", "--ioengine=null", "--size=8m", "--rw=write", "--number_ios=1"]
    done = fio("--name=a", *words, f"--bs={text}", "--output-format=json")
    (told,) = json.loads(done.stdout)["jobs"]
    assert told["write"]["total_ios"] == 1
    assert values.size(text, base) == told["write"]["io_bytes"]


def test_sizes_that_are_none() -> None:
    for text in ("", "-4k", "4.5k", "k", "99999999999p", "1" * 200):
        with pytest.raises(UsageError):
            values.size(text)


NOTATIONS = [
    values.whole,
    values.positive,
    values.size,
    values.percent,
    values.flag,
    lambda text: values.duration_ns(text, "s"),
]


@given(st.sampled_from(NOTATIONS), st.text("0123456789x.kmgtpib%s+-*/^() ", max_size=12))
def test_any_text_is_a_number_or_refused(parse: Callable[[str], int], text: str) -> None:
    try:
        number = parse(text)
    except UsageError as error:
        assert error.message
    else:
        assert 0 <= number <= U64_MAX


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(1, 10**6))
def test_arithmetic_is_that_of_numbers(left: int, middle: int, right: int) -> None:
    assert values.whole(f"({left}+{middle}*{right})") == left + middle * right
    assert values.whole(f"(({left}+{middle})/{right})") == (left + middle) // right
    assert values.whole(f"({left}%{right})") == left % right


@pytest.mark.parametrize(
    ("parse", "text", "sentence"),
    [
        (values.whole, "", "'' is not a whole number"),
        (values.whole, "4k", "'4k' is not a whole number"),
        (values.whole, str(U64_MAX + 1), "is not a whole number"),
        (values.whole, "(1-2)", "'(1-2)' is not a whole number: it is -1"),
        (values.whole, f"({U64_MAX}+1)", f"it is {U64_MAX + 1}"),
        (values.whole, "()", "write numbers, + - * / % ^ and parentheses"),
        (values.whole, "(1)2", "write numbers"),
        (values.whole, "(1 2)", "a parenthesis is not closed"),
        (values.whole, "(1;2)", "write numbers"),
        (values.whole, "(1%0)", "it divides by 0"),
        (values.whole, "(2^65)", "an exponent is a whole number from 0 to 64"),
        (values.whole, "(2^0.5)", "an exponent is a whole number from 0 to 64"),
        (values.whole, f"({'1' * LONGEST_NUMBER})", "is not a whole number"),
        (values.positive, "0", "'0' is not a whole number from 1"),
        (values.positive, "(1-1)", "'(1-1)' is not a whole number from 1"),
        (values.size, "16384p", "'16384p' is more than 16 EiB"),
        (values.size, "(4s)", "'(4s)' is not a size: the units are k, m, g, t and p"),
        (values.percent, "101", "'101' is more than 100 per cent"),
        (values.percent, "5%%", "'5%' is not a whole number"),
        (values.flag, "yes", "'yes' is not 0 or 1"),
        (values.flag, "", "'' is not 0 or 1"),
    ],
)
def test_what_is_no_number_gets_its_sentence(
    parse: Callable[[str], int], text: str, sentence: str
) -> None:
    with pytest.raises(UsageError, match=re.escape(sentence)):
        parse(text)


def test_limits_are_those_of_64_bits() -> None:
    assert values.whole(str(U64_MAX)) == values.whole(f"({U64_MAX})") == U64_MAX
    assert values.size("16383p") == 16383 << 50
    assert values.duration_ns("213503d", "s") == 213503 * 86400 * 10**9
    with pytest.raises(UsageError, match="'213504d' is too long"):
        values.duration_ns("213504d", "s")


@pytest.mark.parametrize(
    ("text", "default", "ns"),
    [
        ("5", "s", 5 * 10**9),
        ("5", "us", 5000),
        ("5ms", "s", 5 * 10**6),
        ("5 ", "s", 5 * 10**9),
        ("2H", "us", 7200 * 10**9),
        ("3usec", "s", 3000),
        ("1D", "s", 86400 * 10**9),
    ],
)
def test_a_time_has_the_unit_of_its_option(text: str, default: str, ns: int) -> None:
    assert values.duration_ns(text, default) == ns


@pytest.mark.parametrize("text", ["5 s", "ns", "5ns", "1.5s", "-1", "5sec"])
def test_a_time_that_is_none(text: str) -> None:
    with pytest.raises(UsageError, match="is not a time"):
        values.duration_ns(text, "s")


def test_per_cents_and_flags() -> None:
    assert [values.percent(text) for text in ("0", "100%", " 37% ", "(10*3)")] == [0, 100, 37, 30]
    assert [values.flag(text) for text in (None, "1", "0")] == [True, True, False]


@pytest.mark.parametrize(
    ("text", "by_way"),
    [
        ("4k", ["4k", "4k", "4k"]),
        ("4k,8k", ["4k", "8k", "8k"]),
        ("4k, 8k ,16k", ["4k", "8k", "16k"]),
        (",8k", ["", "8k", "8k"]),
        ("4k,", ["4k", "", ""]),
        (",,16k", ["", "", "16k"]),
    ],
)
def test_a_value_of_each_direction(text: str, by_way: list[str]) -> None:
    assert values.by_direction(text) == by_way


def test_a_decimal_number_is_exact() -> None:
    assert [values.decimal(text) for text in ("99.9", "5", ".5", "1.")] == [
        *(Fraction(999, 10), Fraction(5), Fraction(1, 2), Fraction(1)),
    ]
    for wrong in ("", ".", "-1", "1e3", "nan", "1" * (LONGEST_NUMBER + 1)):
        with pytest.raises(UsageError, match="is not a number"):
            values.decimal(wrong)

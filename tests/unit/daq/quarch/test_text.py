# SPDX-License-Identifier: GPL-2.0
"""What QIS writes: headers and rows, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from lib.daq.build import failure, library
from unit.daq.quarch.server import LINES, header

ABSENT = -(1 << 63)


def parsed(text: str) -> tuple[Any, str]:
    """(header, sentence); the sentence is empty if it is right."""
    ffi, lib = library()
    stream, error = ffi.new("struct quarch_header *"), ffi.new("struct daq_error *")
    return stream, failure(error) if lib.quarch_header_parse(stream, text.encode(), error) else ""


def row(stream: Any, text: str) -> tuple[int, list[int]] | None:
    """(time, values), or None if it is damaged."""
    ffi, lib = library()
    at, value = ffi.new("uint64_t *"), ffi.new("int64_t[64]")
    if lib.quarch_row_parse(stream, text.encode(), len(text), at, value):
        return None
    return int(at[0]), [int(value[i]) for i in range(stream.nr)]


def test_a_header_has_lines_units_and_ranges() -> None:
    stream, sentence = parsed(header())
    assert not sentence
    assert (stream.nr, stream.nr_measured, stream.tick_ns) == (7, 6, 1000)
    columns = [stream.column[i] for i in range(stream.nr)]
    names = [library()[0].string(column.name).decode() for column in columns]
    assert names == ["", "5V/voltage", "5V/current", "12V/voltage", "12V/current", "5V", "12V"]
    assert [column.scale for column in columns] == [0, 1000, 1, 1000, 1, 1000, 1000]
    assert columns[1].end == 16_384_000


def test_rows_come_with_the_status_and_without() -> None:
    stream, _ = parsed(header())
    values = [947_000, 59, 948_000, -26, 55_000, 25_000]
    assert row(stream, "4096 947 59 948 -26 55 25") == (4096, [ABSENT, *values])
    assert row(stream, "4096 0 947 59 948 -26 55 25") == (4096, [ABSENT, *values])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "4096",
        "4096 947 59 948 -26 55",
        "4096 0 947 59 948 -26 55 25 1",
        "-1 947 59 948 -26 55 25",
        "1000000000000001 947 59 948 -26 55 25",
        "9223372036854775807 947 59 948 -26 55 25",
        "4096 947 59 948 -26 55 x",
        "4096 947 59 948 -26 55 2.5",
        "4096 947 59 948 -26 55 9999999999999",
    ],
)
def test_a_damaged_row_is_refused(text: str) -> None:
    assert row(parsed(header())[0], text) is None


def test_nanoseconds_are_told_by_the_main_period_alone() -> None:
    text = header(period="250ns").replace("<devicePeriod>250ns</devicePeriod>", "")
    assert parsed(text)[0].tick_ns == 1


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("Version: 5\r\nFormat: 15\r\nAverage: 14", "no stream header of version V3"),
        (header().replace("V3", "V4"), "no stream header of version V3"),
        (header().replace("<channels>", "<groups></groups><channels>"), "several sampling rates"),
        (header().replace("Period>", "Time>"), "no period or no channels"),
        (header().replace("channels>", "lines>"), "no period or no channels"),
        (header(LINES[:1]), "no channel with a unit"),
        (header((("5V", "voltage", "furlong", 1),)), "channel 1 in the stream header"),
        (header((LINES[1], LINES[1])), "channel 2 in the stream header"),
        (header([(f"L{i}", "voltage", "mV", 1) for i in range(65)]), "channel 64 in the stream"),
    ],
)
def test_a_header_that_is_not_known_is_refused(text: str, sentence: str) -> None:
    assert sentence in parsed(text)[1]

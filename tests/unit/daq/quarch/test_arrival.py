# SPDX-License-Identifier: GPL-2.0
"""When the rows of a reply of QIS have arrived: the source with replies that the test has made."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from lib.daq.build import DAQ, INCLUDES, SANITIZE
from unit.daq.quarch.server import header

NUMBERS = "0 5000 400000 12000 250000 2000000 3000000"
SPACING_US = 200
SECOND = 10**9
PARSED = 4096  # rows that the source parses at once
Arrivals = Callable[..., list[str]]


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("quarch") / "driver"
    sources = [
        Path(__file__).with_name("source_driver.c"),
        *(DAQ / f"{name}.c" for name in ("quarch/source", "quarch/text", "error", "number")),
    ]
    options = [*SANITIZE, "-fsanitize=address", "-D_GNU_SOURCE", *INCLUDES, "-Wall", "-Wextra"]
    subprocess.run(["gcc", *options, "-Werror", "-o", program, *sources, "-lm"], check=True)
    return program


@pytest.fixture
def arrivals(driver: Path, tmp_path: Path) -> Arrivals:
    """Blocks of the source for some replies, the first of which has the two rows before row 0."""

    def give(*replies: str) -> list[str]:
        texts = [header(), rows([-2, -1]), *replies]
        files = [tmp_path / str(number) for number in range(len(texts))]
        for file, text in zip(files, texts, strict=True):
            file.write_text(text)
        done = subprocess.run([driver, *files], capture_output=True, text=True, check=True)
        assert done.stderr == ""
        return done.stdout.splitlines()

    return give


def row(number: int) -> str:
    return f"{(number + 2) * SPACING_US} {NUMBERS}"


def rows(numbers: Iterable[int], *more: str) -> str:
    return "\r\n".join([*map(row, numbers), *more, "eof"])


def arrived(reply: int, rows_after: int) -> int:
    """A row with others after it in its reply; the driver gives a reply each second."""
    return (reply + 2) * SECOND - rows_after * SPACING_US * 1000


def test_each_part_of_a_long_reply_arrives_before_those_after_it(arrivals: Arrivals) -> None:
    assert arrivals(rows(range(9000)), rows(range(9000, 9100))) == [
        f"rows 0 {PARSED} {arrived(0, 9000 - PARSED)}",
        f"rows {PARSED} {PARSED} {arrived(0, 9000 - 2 * PARSED)}",
        f"rows {2 * PARSED} {9000 - 2 * PARSED} {arrived(0, 0)}",
        f"rows 9000 100 {arrived(1, 0)}",
        "no reply",
    ]


def test_rows_before_a_gap_arrive_as_much_earlier(arrivals: Arrivals) -> None:
    numbers = [*range(100), *range(150, 6000)]
    first = PARSED - 100
    assert arrivals(rows(numbers)) == [
        f"rows 0 100 {arrived(0, 5900)}",
        "gap 50",
        f"rows 150 {first} {arrived(0, 6000 - 150 - first)}",
        f"rows {150 + first} {6000 - 150 - first} {arrived(0, 0)}",
        "no reply",
    ]


@pytest.mark.parametrize("damage", ["1 2 x", f"{5000 * SPACING_US + 7} {NUMBERS}"])
def test_a_damaged_last_row_is_not_what_the_others_refer_to(
    arrivals: Arrivals, damage: str
) -> None:
    """It is no row, or is out of step."""
    first = arrivals(rows(range(4200), damage))[0]
    assert first == f"rows 0 {PARSED} {arrived(0, 4200 - PARSED)}"


def test_a_reply_whose_rest_has_no_row(arrivals: Arrivals) -> None:
    blocks = arrivals(rows(range(PARSED)), rows([]), rows([PARSED]))
    assert blocks == [
        f"rows 0 {PARSED} {arrived(0, 0)}",
        f"rows {PARSED} 1 {arrived(2, 0)}",
        "no reply",
    ]

# SPDX-License-Identifier: GPL-2.0
"""Lists of requests: read in batches, refused by their lines, and written."""

from __future__ import annotations

from pathlib import Path

import pytest
from lib.ctl.command_line import Spekctl

from spekctl.drive import file, requests
from spekctl.drive.core import RESULT, Rule, Simulation
from spekctl.drive.model import MOST_ARMS
from spekctl.errors import UsageError

LINES = [f"{at * 10**7},{at * 8000},8,{'RW'[at % 2]}\n" for at in range(20)]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("0,8,8\n", "in.csv, line 1: '0,8,8' is not arrival_ns,lba,sectors,op with op R, W or D"),
        ("0,8,8,X\n", "in.csv, line 1: '0,8,8,X' is not arrival_ns"),
        ("arrival_ns,lba,sectors,op\n5,8,8,R\n4,8,8,R\n", "line 3: arrives at 4 ns, before the"),
        ("\n0,8,8,R\n1,9999999999,8,W\n", "line 3: the request is beyond the drive's capacity"),
        ("0,8,0,R\n", "line 1: the request has no sectors, or more than 65536"),
        ("-1,8,8,R\n", "line 1: a number of '-1,8,8,R' is out of range"),
        ("", "the list of requests is empty"),
        ("é", "cannot read in.csv: it is not text"),
    ],
)
def test_wrong_files_are_refused_with_their_line(
    spekctl: Spekctl, text: str, sentence: str
) -> None:
    Path("in.csv").write_text(text)
    done = spekctl("drive", "simulate", "barracuda-es", "--requests", "in.csv")
    assert (done.code, done.out) == (2, "")
    assert sentence in done.sentence


def served(lines: list[str], size: int = requests.BATCH, keep: bool = True) -> bytes:
    drive = Simulation(file.load("barracuda-es"), Rule())
    return b"".join(requests.serve(drive, lines, "in.csv", keep, size))


@pytest.mark.parametrize("size", [1, 7, 20, 1000])
def test_batches_change_nothing(size: int) -> None:
    assert served(LINES, size) == served(LINES)
    assert len(served(LINES)) == 20 * RESULT.size


def test_a_line_is_named_by_its_number_in_the_file_in_any_batch() -> None:
    lines = ["arrival_ns, lba, sectors, op\n", "\n", *LINES, "\n", "999999999,0,0,R\n"]
    for size in (1, 4, 1000):
        with pytest.raises(UsageError, match=r"in\.csv, line 24: the request has no sectors"):
            served(lines, size)
    lines[-1] = "0,0,8,R\n"
    with pytest.raises(UsageError, match=r"in\.csv, line 24: arrives at 0 ns, before the one"):
        served(lines, 4)


@pytest.mark.parametrize(
    "line", ["0,8,8", "0,8,8,R,", "0,8,8,", "0x0,8,8,R", "0,8.0,8,R", "arrival_ns,lba,sectors,op"]
)
def test_what_is_no_request_is_refused(line: str) -> None:
    with pytest.raises(UsageError, match=r"in\.csv, line 2: '.*' is not arrival_ns,lba,sectors"):
        served([LINES[0], line])


@pytest.mark.parametrize(
    "line", ["-1,8,8,R", f"{2**63},8,8,R", f"0,{2**64},8,R", f"0,8,{2**32},R", "0,8,-8,R"]
)
def test_numbers_have_their_ranges(line: str) -> None:
    with pytest.raises(UsageError, match=r"in\.csv, line 1: a number of '.*' is out of range"):
        served([line])


def test_results_that_are_not_kept_are_counted() -> None:
    assert served(LINES, keep=False) == b""


def test_results_are_lines_with_the_columns() -> None:
    lines = requests.csv_lines(bytearray(served(LINES))).splitlines()
    rows = [dict(zip(requests.RESULT_COLUMNS, line.split(","), strict=True)) for line in lines]
    assert [int(row["request"]) for row in rows] == list(range(20))
    for row, given in zip(rows, LINES, strict=True):
        assert given.strip() == ",".join(row[name] for name in requests.COLUMNS)
        parts = ("start_ns", "overhead_ns", "seek_ns", "rotation_ns", "transfer_ns")
        assert sum(int(row[column]) for column in parts) == int(row["end_ns"])


def test_what_no_arm_served_has_another_word() -> None:
    hit = RESULT.pack(0, 5, 6, 7, 8, 0, 0, 0, 1, 8, 2, MOST_ARMS, 0)
    assert requests.csv_lines(bytearray(hit)) == "0,5,6,8,D,cache,7,0,0,0,1,8\n"
    assert ",flash," in requests.csv_lines(bytearray(hit), "flash")

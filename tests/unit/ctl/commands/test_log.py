# SPDX-License-Identifier: GPL-2.0
"""spekctl log: exact figures, every row, and one sentence for each error."""

from __future__ import annotations

import csv
import errno
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from lib.ctl.command_line import Spekctl
from lib.ctl.log_files import records, written

from spekctl.errors import ExitCode
from spekctl.log import file


def test_csv_has_every_row_in_words(spekctl: Spekctl, tmp_path: Path) -> None:
    rows = records(3000)
    rows["phase"][:1000] = 0
    rows["phase"][-10:] = 2
    rows["error"][5] = errno.EIO
    outcome = spekctl("log", str(written(tmp_path / "log", rows)), "--csv")
    assert (outcome.code, outcome.err) == (ExitCode.OK, "")
    lines = outcome.out.splitlines()
    assert lines[0] == ",".join((*file.COLUMNS, "fua"))
    expected = [
        ",".join(
            map(
                str,
                (
                    *(row[name] for name in ("at_ns", "issue_ns", "done_ns", "addr", "bytes")),
                    row["replica"],
                    ("first", "second")[row["stream"]],
                    row["worker"],
                    "ab"[row["asu"]],
                    ("read", "write")[row["write"]],
                    ("ramp", "measure", "drain")[row["phase"]],
                    row["error"],
                    0,
                ),
            )
        )
        for row in rows
    ]
    assert lines[1:] == expected


def test_no_name_in_csv_is_a_formula(spekctl: Spekctl, tmp_path: Path) -> None:
    path = written(tmp_path / "log", records(10), streams=["=1+1", "-x"])
    lines = spekctl("log", str(path), "--csv").out.splitlines()[1:]
    place = file.COLUMNS.index("stream")
    assert {line.split(",")[place] for line in lines} <= {"'=1+1", "'-x"}
    assert lines


def test_names_of_an_edited_log_stay_in_their_column(spekctl: Spekctl, tmp_path: Path) -> None:
    path = written(tmp_path / "log", records(9), streams=["a,b", 'c"d\n'])
    outcome = spekctl("log", str(path), "--csv")
    assert (outcome.code, outcome.err) == (ExitCode.OK, "")
    head, *lines = csv.reader(outcome.out.splitlines())
    assert {line[head.index("stream")] for line in lines} == {"a_b", "c_d_"}
    assert len(lines) == 9 and {len(line) for line in lines} == {len(head)}


def test_rows_can_be_chosen(spekctl: Spekctl, tmp_path: Path) -> None:
    rows = records(3000)
    rows["phase"][:1000] = 0
    path = str(written(tmp_path / "log", rows))
    mine = rows[(rows["stream"] == 1) & (rows["phase"] == 1)]

    def arrivals(*options: str) -> list[int]:
        lines = spekctl("log", path, "--csv", *options).out.splitlines()[1:]
        return [int(line.split(",")[0]) for line in lines]

    assert arrivals("--first", "7") == rows["at_ns"][:7].tolist()
    assert arrivals("--stream", "second", "--phase", "measure") == mine["at_ns"].tolist()
    first = arrivals("--stream", "second", "--phase", "measure", "--first", "9")
    assert first == mine["at_ns"][:9].tolist()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--stream", "secnd"), "no stream 'secnd'; did you mean 'second'?"),
        (("--stream", "zzz"), "no stream 'zzz'; it has first, second"),
        (("--first", "0"), "--first must be at least 1, not 0"),
        (("--phase", "drain"), "'drain' is not one of"),
    ],
)
def test_wrong_choices_get_one_sentence(
    options: tuple[str, ...], sentence: str, spekctl: Spekctl, tmp_path: Path
) -> None:
    outcome = spekctl("log", str(written(tmp_path / "log", records(10))), *options)
    assert outcome.code == ExitCode.USAGE
    assert sentence in outcome.sentence
    assert outcome.out == ""


def test_a_reader_that_leaves_is_no_reason_to_complain(tmp_path: Path) -> None:
    path = written(tmp_path / "log", records(200_000))
    program = f"{sys.executable} -m spekctl log {path} --csv | head -n 2"
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True)
    assert done.stderr == ""
    assert len(done.stdout.splitlines()) == 2


def test_the_summary_is_printed_whole(spekctl: Spekctl, tmp_path: Path) -> None:
    rows = records(20_000)
    rows["phase"][:5000] = 0
    rows["error"][7000] = errno.EIO
    path = written(tmp_path / "log", rows, lost=12, complete=False, reason="stopped")
    outcome = spekctl("log", str(path))
    assert (outcome.code, outcome.err) == (ExitCode.OK, "")
    assert "…" not in outcome.out
    assert f"{path}: 20,000 records of mine on /dev/x (1 GiB), /dev/y (1 GiB), 12 lost; not" in (
        outcome.out
    )
    assert "below: 15,000 I/Os of the measure phase" in outcome.out
    lines = [line.split() for line in outcome.out.splitlines()]
    (loads,) = [line for line in lines if line[:2] == ["all", "both"] and "." in line[3]][:1]
    assert loads[2] == "14,999"
    assert [line[:2] for line in lines if line[:1] in (["first"], ["second"], ["all"])] == 3 * [
        ["first", "read"],
        ["first", "write"],
        ["second", "read"],
        ["second", "write"],
        ["all", "read"],
        ["all", "write"],
        ["all", "both"],
    ]
    assert "errors by cause: EIO 1" in outcome.out
    assert "asu a: touched" in outcome.out


def test_a_summary_of_nothing_says_so(spekctl: Spekctl, tmp_path: Path) -> None:
    rows = records(10)
    rows["phase"] = 0
    outcome = spekctl("log", str(written(tmp_path / "log", rows)))
    assert outcome.code == ExitCode.OK
    assert "no I/O of the measure phase matches" in outcome.out
    assert (
        "below: 10 I/Os of all phases"
        in spekctl("log", str(tmp_path / "log"), "--phase", "all").out
    )


def test_csv_says_what_streams_do_that_do_not_transfer(spekctl: Spekctl, tmp_path: Path) -> None:
    rows = records(200)
    rows["write"] |= rows["stream"] == 1
    path = written(tmp_path / "log", rows, operations=["transfer", "discard"])
    lines = spekctl("log", path, "--csv").out.splitlines()
    place = lines[0].split(",").index("op")
    column = [line.split(",")[place] for line in lines[1:]]
    words = np.array(["read", "write", "discard"])
    assert column == words[np.where(rows["write"], rows["stream"] + 1, 0)].tolist()


def test_csv_says_which_writes_are_forced(spekctl: Spekctl, tmp_path: Path) -> None:
    rows = records(200)
    path = written(tmp_path / "log", rows, fua=[False, True])
    lines = spekctl("log", path, "--csv").out.splitlines()
    place = lines[0].split(",").index("fua")
    column = [int(line.split(",")[place]) for line in lines[1:]]
    assert column == (rows["write"] & (rows["stream"] == 1)).tolist()
    assert 0 < sum(column) < rows["write"].sum()


@pytest.mark.parametrize("column", ["stream", "asu"])
def test_numbers_without_a_name_are_damage(spekctl: Spekctl, tmp_path: Path, column: str) -> None:
    rows = records(100)
    rows[column][50] = 2
    path = str(written(tmp_path / "log.parquet", rows))
    for words in (["log", path], ["log", path, "--csv"], ["plot", "addresses", path]):
        outcome = spekctl(*words)
        assert outcome.code == ExitCode.USAGE, words
        assert f"is damaged: it has I/Os of {column} 2, and names 2" in outcome.sentence

# SPDX-License-Identifier: GPL-2.0
"""spekctl log: exact figures, every row, and one sentence for each error."""

from __future__ import annotations

import errno
import math
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lib.ctl.command_line import Spekctl
from lib.ctl.log_files import TYPE, header, records, written
from lib.fakes.kernel import START_NS

from spekctl.errors import ExitCode
from spekctl.log import file, stats
from spekctl.log.file import LogWriter, open_log


def test_csv_has_every_row_in_words(spekctl: Spekctl, tmp_path: Path) -> None:
    rows = records(3000)
    rows["phase"][:1000] = 0
    rows["phase"][-10:] = 2
    rows["error"][5] = errno.EIO
    outcome = spekctl("log", str(written(tmp_path / "log", rows)), "--csv")
    assert (outcome.code, outcome.err) == (ExitCode.OK, "")
    lines = outcome.out.splitlines()
    assert lines[0] == ",".join(file.COLUMNS)
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
                ),
            )
        )
        for row in rows
    ]
    assert lines[1:] == expected


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
    some = arrivals("--stream", "second", "--phase", "measure", "--first", "9")
    assert some == mine["at_ns"][:9].tolist()


def test_a_limit_ends_inside_a_later_piece(tmp_path: Path) -> None:
    path = tmp_path / "log"
    writer = LogWriter(path)
    for seed in range(3):
        writer.add(records(1 << 19, seed=seed))
    writer.finish(header())
    selection = stats.Selection(limit=(1 << 20) + 5)
    sizes = [len(rows["stream"]) for rows in selection.rows(open_log(path), ["op"])]
    assert (sum(sizes), sizes[-1]) == ((1 << 20) + 5, 5)


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


def test_the_summary_is_exact(tmp_path: Path) -> None:
    rows = records(20_000)
    rows["phase"][:5000] = 0
    rows["error"][7000] = errno.EIO
    log = open_log(written(tmp_path / "log", rows))
    summary = stats.summarize(log, stats.Selection(measure_only=True))
    measured = rows[rows["phase"] == 1]
    assert summary.records == len(measured) == 15_000
    assert summary.errors == {errno.EIO: 1}
    for stream in (0, 1, None):
        for op in (0, 1, None):
            if (stream, op) not in summary.cells:
                continue
            mine = measured[
                (np.ones(len(measured), bool) if stream is None else measured["stream"] == stream)
                & (np.ones(len(measured), bool) if op is None else measured["write"] == op)
            ]
            check_cell(summary.cells[stream, op], mine)
    assert set(summary.cells) == {
        (0, 0),
        (0, 1),
        (1, 0),
        (1, 1),
        (None, 0),
        (None, 1),
        (None, None),
    }
    fine = measured[measured["error"] == 0]
    span = int(measured["done_ns"].max() - measured["at_ns"].min())
    assert summary.span_ns == span
    busy = int((fine["done_ns"] - fine["issue_ns"]).sum())
    assert summary.outstanding == pytest.approx(busy / span)


def check_cell(cell: stats.Cell, rows: Any) -> None:
    """Against arithmetic on plain integers."""
    fine = [row for row in rows if not row["error"]]
    assert (cell.ios, cell.errors) == (len(fine), len(rows) - len(fine))
    assert cell.bytes == sum(int(row["bytes"]) for row in fine)
    for found, start in ((cell.response, "at_ns"), (cell.service, "issue_ns")):
        values = sorted(int(row["done_ns"]) - int(row[start]) for row in fine)
        assert found is not None
        assert found.mean_ns == pytest.approx(sum(values) / len(values), rel=1e-12)
        assert found.max_ns == values[-1]
        for share, value in ((0.5, found.p50_ns), (0.99, found.p99_ns), (0.999, found.p999_ns)):
            assert value == values[math.ceil(len(values) * share - 1e-9) - 1]
    arrivals = sorted(int(row["at_ns"]) for row in rows)
    gaps = [after - before for before, after in pairwise(arrivals)]
    assert cell.gaps is not None
    assert cell.gaps.mean_ns == pytest.approx(sum(gaps) / len(gaps))
    assert cell.gaps.cv == pytest.approx(np.std(gaps) / np.mean(gaps))


def test_poisson_arrivals_have_a_variation_of_one(tmp_path: Path) -> None:
    log = open_log(written(tmp_path / "log", records(100_000)))
    gaps = stats.summarize(log, stats.Selection()).cells[None, None].gaps
    assert gaps is not None
    assert gaps.mean_ns == pytest.approx(10_000, rel=0.02)
    assert gaps.cv == pytest.approx(1, abs=0.02)


@given(st.lists(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 9)), max_size=8), max_size=6))
def test_a_footprint_is_a_set_of_blocks(batches: list[list[tuple[int, int]]]) -> None:
    found, expected = stats.Footprint(), set()
    for batch in batches:
        first = np.array([at for at, _ in batch], np.uint64)
        end = np.array([at + length for at, length in batch], np.uint64)
        found.add(first, end)
        expected |= {block for at, length in batch for block in range(at, at + length)}
        assert found.blocks == len(expected)


def test_a_footprint_that_is_settled_now_and_then_is_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stats.Footprint, "_COMPACT", 10)
    rng = np.random.default_rng(1)
    found, expected = stats.Footprint(), set()
    for _ in range(50):
        first = rng.integers(0, 500, 7).astype(np.uint64)
        found.add(first, first + np.uint64(3))
        expected |= {int(one) + i for one in first for i in range(3)}
    assert len(found._parts) < 50
    assert found.blocks == len(expected)


def test_places_tell_sequential_and_rewritten_from_random(tmp_path: Path) -> None:
    rows = np.zeros(3000, TYPE)
    rows["at_ns"] = START_NS + 1000 * np.arange(3000, dtype="u8")
    rows["issue_ns"] = rows["at_ns"]
    # Completed in another order than they arrived.
    rows["done_ns"] = rows["at_ns"] + 5000 + np.tile([9000, 0, 3000], 1000).astype("u8")
    rows["bytes"] = 8192
    rows["phase"] = 1
    rows["addr"][:1000] = 8192 * np.arange(1000)  # one after the other
    rows["stream"][1000:] = 1
    rows["asu"][1000:] = 1
    rows["write"][1000:] = 1
    rows["addr"][1000:] = np.tile(16384 * np.arange(500), 4)  # with holes, four times over
    log = open_log(written(tmp_path / "log", rows[np.argsort(rows["done_ns"], kind="stable")]))
    summary = stats.summarize(log, stats.Selection())
    runs, holes = summary.cells[0, 0], summary.cells[1, 1]
    assert (runs.sequential, runs.distinct, runs.rewritten) == (999, 2000, 0.0)
    assert (holes.sequential, holes.distinct, holes.rewritten) == (0, 1000, 0.75)
    assert summary.asu_blocks == {0: 2000, 1: 1000}


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

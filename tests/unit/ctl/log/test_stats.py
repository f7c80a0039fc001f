# SPDX-License-Identifier: GPL-2.0
"""Summaries of per-I/O logs against arithmetic on plain integers."""

from __future__ import annotations

import errno
import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lib.ctl.log_files import TYPE, header, records, written
from lib.fakes.kernel import START_NS

from spekctl.errors import UsageError
from spekctl.log import stats
from spekctl.log.file import LogWriter, open_log


def test_a_limit_ends_inside_a_later_piece(tmp_path: Path) -> None:
    path = tmp_path / "log"
    writer = LogWriter(path)
    for seed in range(3):
        writer.add(records(1 << 19, seed=seed))
    writer.finish(header())
    selection = stats.Selection(limit=(1 << 20) + 5)
    sizes = [len(rows["stream"]) for rows in selection.rows(open_log(path), ["op"])]
    assert (sum(sizes), sizes[-1]) == ((1 << 20) + 5, 5)


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
    for figures, start in ((cell.response, "at_ns"), (cell.service, "issue_ns")):
        values = sorted(int(row["done_ns"]) - int(row[start]) for row in fine)
        assert figures is not None
        assert figures.mean_ns == pytest.approx(sum(values) / len(values), rel=1e-12)
        assert figures.max_ns == values[-1]
        for share, value in (
            (0.5, figures.p50_ns),
            (0.99, figures.p99_ns),
            (0.999, figures.p999_ns),
        ):
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


@given(st.lists(st.integers(0, 2**63), min_size=1, max_size=2000))
def test_percentiles_are_nearest_ranks(values: list[int]) -> None:
    figures = stats._times(np.array(values, np.uint64))
    assert figures is not None
    ordered = sorted(values)
    for ppm, value in (
        (500_000, figures.p50_ns),
        (990_000, figures.p99_ns),
        (999_000, figures.p999_ns),
    ):
        assert value == ordered[-(-len(values) * ppm // 10**6) - 1]
    assert figures.max_ns == ordered[-1]
    assert figures.mean_ns == pytest.approx(sum(values) / len(values))


@given(st.lists(st.integers(0, 2**40), max_size=40), st.sampled_from([3, 1 << 20]))
def test_gaps_do_not_depend_on_pieces(arrivals: list[int], piece: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stats, "_PIECE", piece)
        figures = stats._gaps(np.array(arrivals, np.uint64))
    if len(arrivals) < 3:
        assert figures is None
        return
    gaps = np.diff(sorted(arrivals)).astype(float)
    assert figures is not None
    assert figures.mean_ns == pytest.approx(gaps.mean())
    assert figures.cv == pytest.approx(gaps.std() / gaps.mean() if gaps.any() else 0.0)


@pytest.mark.parametrize(
    ("stream", "limit", "sentence"),
    [
        ("secnd", None, "the log has no stream 'secnd'; did you mean 'second'?"),
        ("zzz", None, "the log has no stream 'zzz'; it has first, second"),
        (None, 0, "--first must be at least 1, not 0"),
        (None, -3, "--first must be at least 1, not -3"),
    ],
)
def test_a_wrong_selection_is_refused(stream: str | None, limit: int | None, sentence: str) -> None:
    with pytest.raises(UsageError) as refusal:
        stats.Selection.of(header(), stream, "all", limit)
    assert refusal.value.message == sentence


def test_a_log_of_failures_has_no_times(tmp_path: Path) -> None:
    rows = records(100)
    rows["error"] = errno.EIO
    summary = stats.summarize(open_log(written(tmp_path / "log", rows)), stats.Selection())
    total = summary.cells[None, None]
    assert (total.ios, total.errors, total.response, total.service) == (0, 100, None, None)
    assert total.gaps is not None
    assert (summary.outstanding, total.rewritten) == (0.0, 0.0)


def test_nothing_selected_has_no_cells(tmp_path: Path) -> None:
    rows = records(10)
    rows["phase"] = 0
    log = open_log(written(tmp_path / "log", rows))
    summary = stats.summarize(log, stats.Selection(measure_only=True))
    assert (summary.records, summary.cells, summary.span_ns) == (0, {}, 0)

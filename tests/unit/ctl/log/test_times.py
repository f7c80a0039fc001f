# SPDX-License-Identifier: GPL-2.0
"""Times of a log: each between its two events, and none of I/Os that failed."""

from __future__ import annotations

from pathlib import Path

import pytest
from lib.ctl.plot_files import DRAIN_NS, records, write_log

from spekctl.documents import histogram
from spekctl.errors import UsageError
from spekctl.kernel.records import Histogram
from spekctl.log import times
from spekctl.log.file import open_log


def merged(path: Path, metric: str) -> Histogram:
    parts = times.of_log(open_log(path), metric)
    whole = histogram.merge([*parts["read"], *parts["write"]])
    assert whole is not None
    return whole


def test_each_metric_is_between_its_own_two_events(tmp_path: Path) -> None:
    rows = records(2000)
    log = write_log(tmp_path / "a.parquet", rows)
    measured = rows[rows["phase"] == 1]
    for metric, (first, then) in {
        "response": ("at_ns", "done_ns"),
        "service": ("issue_ns", "done_ns"),
        "slip": ("at_ns", "issue_ns"),
    }.items():
        hist = merged(log, metric)
        assert histogram.count_of(hist) == len(measured)
        assert hist.sum_ns == int((measured[then] - measured[first]).sum())


def test_failed_ios_have_no_response_time(tmp_path: Path) -> None:
    rows = records(1000)
    rows["error"][: len(rows) // 2] = 5
    hist = merged(write_log(tmp_path / "a.parquet", rows), "response")
    expected = ((rows["phase"] == 1) & (rows["error"] == 0)).sum()
    assert histogram.count_of(hist) == expected


def test_a_log_without_a_time_is_refused(tmp_path: Path) -> None:
    rows = records(100, at_ns=DRAIN_NS, done_ns=DRAIN_NS + 9)
    with pytest.raises(UsageError, match=r"late\.parquet has no response times of a measure phase"):
        times.of_log(open_log(write_log(tmp_path / "late.parquet", rows)), "response")

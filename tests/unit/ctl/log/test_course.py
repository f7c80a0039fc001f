# SPDX-License-Identifier: GPL-2.0
"""The course of a log: intervals that keep to phases, with counts as of a loop over records."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from lib.ctl.plot_files import records, write_log
from lib.fakes.kernel import SECOND, START_NS

from spekctl.log import course
from spekctl.log.file import open_log


def test_the_course_of_a_log_counts_what_a_loop_over_its_records_counts(tmp_path: Path) -> None:
    rows = records(5000)
    rows["error"][::50] = 5
    over_time = course.of_log(open_log(write_log(tmp_path / "a.parquet", rows)), SECOND // 2)
    edges = np.append(over_time.start_s, over_time.end_s[-1])
    assert edges == pytest.approx([*np.arange(0, 12.1, 0.5), 12.25])
    done, at, issue = (rows[name].astype(np.int64) for name in ("done_ns", "at_ns", "issue_ns"))
    for slot, (start, end) in enumerate(itertools.pairwise(START_NS + np.round(edges * 1e9))):
        inside = (done >= start) & (done < end)
        if slot == len(edges) - 2:
            inside |= done >= end
        else:
            assert over_time.outstanding[slot] == ((issue < end) & (done >= end)).sum()
            assert over_time.backlog[slot] == ((at < end) & (issue >= end)).sum()
        for op, name in enumerate(("read", "write")):
            mine = inside & (rows["write"] == op) & (rows["error"] == 0)
            direction = over_time.directions[name]
            assert direction.ios[slot] == mine.sum()
            assert direction.bytes[slot] == rows["bytes"][mine].sum()
            if mine.sum():
                times = np.sort((done - at)[mine])
                assert direction.mean_ns[slot] == pytest.approx(times.mean())
                exact = times[int(np.ceil(len(times) * 0.99)) - 1]
                assert direction.p99_ns[slot] == pytest.approx(exact, rel=1 / 128)
            else:
                assert np.isnan(direction.mean_ns[slot])
    assert sum(over_time.directions["read"].ios) + sum(over_time.directions["write"].ios) == 4900


@pytest.mark.parametrize("step", [SECOND // 3, SECOND, 7 * SECOND, 60 * SECOND, 0])
def test_intervals_of_a_log_keep_to_phases_and_are_no_slivers(tmp_path: Path, step: int) -> None:
    over_time = course.of_log(open_log(write_log(tmp_path / "a.parquet", records(3000))), step)
    assert (over_time.start_s[1:] == over_time.end_s[:-1]).all()
    assert (over_time.start_s[0], over_time.end_s[-1]) == (0, 12.25)
    assert {2, 12} <= set(over_time.start_s.tolist())
    lengths = (over_time.end_s - over_time.start_s)[:-1]  # the drain is as short as it was
    assert lengths.min() >= min(2, (step or 0.2e9) / 2e9)
    assert [phase.name for phase in over_time.phases] == ["ramp", "measure", "drain"]
    if not step:
        assert 60 <= len(over_time.start_s) <= 130


@pytest.mark.parametrize("response_ns", [100_400, 1 << 40, 3 << 43])
def test_a_percentile_is_at_most_the_longest_time_and_at_least_that_of_its_bucket(
    tmp_path: Path, response_ns: int
) -> None:
    # 100,400 ns is in the lower half of its bucket; from 2^40 ns on there is one bucket for all.
    rows = records(200)
    rows["issue_ns"] = rows["at_ns"] = START_NS + 3 * SECOND
    rows["done_ns"] = rows["at_ns"] + response_ns
    end_ns = START_NS + 3 * SECOND + response_ns + 1
    path = write_log(tmp_path / "a.parquet", rows, drain_ns=end_ns, ended_ns=end_ns)
    over_time = course.of_log(open_log(path))
    for direction in over_time.directions.values():
        (slot,) = np.flatnonzero(direction.ios)
        assert direction.p99_ns[slot] <= direction.mean_ns[slot] == response_ns
        assert direction.p99_ns[slot] == pytest.approx(response_ns, rel=1 / 128)

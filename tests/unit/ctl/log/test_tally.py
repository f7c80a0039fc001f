# SPDX-License-Identifier: GPL-2.0
"""Tallies of logs: exact, and the sum of several is that of one log with all of their rows."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lib.ctl.log_files import header, records, written
from lib.fakes.kernel import SECOND, START_NS

from spekctl.documents import histogram
from spekctl.errors import UsageError
from spekctl.log import tally
from spekctl.log.file import open_log
from spekctl.log.stats import Selection
from spekctl.log.tally import Tally

MS = 10**6
REAL_NS = header().start_real_ns
ALL = Selection()
TIMES = ("at_ns", "issue_ns", "done_ns")


def counted(path: Path, rows: Any, interval_ns: int = 10 * MS, **changes: Any) -> Tally:
    return tally.of_log(open_log(written(path, rows, **changes)), ALL, interval_ns)


def test_a_tally_counts_every_row(tmp_path: Path) -> None:
    rows = records(5_000)
    rows["error"][[7, 8, 9]] = [errno.EIO, errno.EIO, errno.ENOSPC]
    of_all = counted(tmp_path / "log", rows, lost=3, complete=False)
    assert (of_all.records, of_all.lost, of_all.incomplete) == (5_000, 3, 1)
    assert of_all.first_ns == REAL_NS + int(rows["at_ns"].min()) - START_NS
    assert of_all.last_ns == REAL_NS + int(rows["done_ns"].max()) - START_NS
    assert [(cell.stream, cell.op) for cell in of_all.cells] == [
        ("first", "read"),
        ("first", "write"),
        ("second", "read"),
        ("second", "write"),
    ]
    fine = rows[rows["error"] == 0]
    total = of_all.total()
    assert (total.ios, total.errors) == (4_997, 3)
    assert total.causes == {errno.EIO: 2, errno.ENOSPC: 1}
    assert total.bytes == int(fine["bytes"].sum())
    for times, start in ((total.response, "at_ns"), (total.service, "issue_ns")):
        values = sorted((fine["done_ns"] - fine[start]).tolist())
        assert times is not None and histogram.count_of(times) == len(values)
        assert (times.sum_ns, times.min_ns, times.max_ns) == (sum(values), values[0], values[-1])
        assert histogram.percentile(times, 990_000) == pytest.approx(
            values[-(-len(values) * 99 // 100) - 1], rel=1 / 128
        )
    write = fine[fine["write"] == 1]
    assert of_all.total("write").ios == len(write)
    done = REAL_NS + fine["done_ns"].astype(np.int64) - START_NS
    for interval in of_all.intervals:
        inside = fine[
            (done // (10 * MS) == interval.number) & (fine["write"] == (interval.op == "write"))
        ]
        times_ns = (inside["done_ns"] - inside["at_ns"]).tolist()
        assert (interval.ios, interval.bytes) == (len(inside), int(inside["bytes"].sum()))
        assert interval.response_sum_ns == sum(times_ns)
        assert interval.response_max_ns == max(times_ns, default=0)
    assert sum(interval.ios + interval.errors for interval in of_all.intervals) == 5_000


def test_sums_of_times_may_pass_64_bits(tmp_path: Path) -> None:
    rows = records(500)
    rows["error"] = 0
    rows["at_ns"] = START_NS
    rows["done_ns"] = START_NS + 2**59 + np.arange(500)
    rows["issue_ns"] = START_NS
    of_all = counted(tmp_path / "log", rows)
    expected = sum((rows["done_ns"] - rows["at_ns"]).tolist())
    response = of_all.total().response
    assert response is not None and response.sum_ns == expected > 2**67
    assert sum(interval.response_sum_ns for interval in of_all.intervals) == expected


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_tallies_of_hosts_add_up_to_that_of_the_joined_log(data: st.DataObject) -> None:
    """However rows are spread over hosts, whatever their clocks have counted from, and in whatever
    order and groups the tallies are merged."""
    import tempfile

    hosts = data.draw(st.integers(1, 5))
    count = data.draw(st.integers(1, 400))
    rows = records(count, seed=data.draw(st.integers(0, 1000)))
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    rows["error"] = np.where(rng.random(count) < 0.05, errno.EIO, 0)
    rows["phase"] = rng.integers(0, 3, count)
    owner = rng.integers(0, hosts, count)
    interval_ns = data.draw(st.sampled_from([1, 3 * MS, SECOND]))
    selection = Selection(measure_only=data.draw(st.booleans()))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        joined = tally.of_log(
            open_log(written(folder / "all", rows, lost=7 * hosts)), selection, interval_ns
        )
        parts = []
        for host in range(hosts):
            own = rows[owner == host].copy()
            boot_ns = int(rng.integers(1, 10**15))
            for member in TIMES:
                own[member] += np.uint64(boot_ns)
            changes: dict[str, Any] = {"started_ns": START_NS + boot_ns, "lost": 7}
            if host % 2:
                # The same streams by other numbers.
                own["stream"] = 1 - own["stream"]
                changes["streams"] = ["second", "first"]
            path = written(folder / str(host), own, **changes)
            part = tally.of_log(open_log(path), selection, interval_ns)
            # As it travels.
            parts.append(msgspec.json.decode(msgspec.json.encode(part), type=Tally))
        parts = [parts[place] for place in data.draw(st.permutations(range(hosts)))]
        cut = data.draw(st.integers(1, hosts))
        groups = [group for group in (parts[:cut], parts[cut:]) if group]
        assert tally.merge([tally.merge(group) for group in groups]) == joined


def test_pieces_of_a_long_log_add_up(tmp_path: Path) -> None:
    rows = records(1 << 20)
    more = records(5, seed=2)
    # The times of the second piece are those of the first.
    whole = counted(tmp_path / "log", np.concatenate([rows, more]), 100 * MS)
    parts = [counted(tmp_path / "a", rows, 100 * MS), counted(tmp_path / "b", more, 100 * MS)]
    assert len(whole.intervals) > 100
    assert tally.merge(parts) == whole and whole.records == (1 << 20) + 5


def test_a_log_without_rows_adds_nothing_but_what_it_lost(tmp_path: Path) -> None:
    nothing = counted(tmp_path / "a", records(0), lost=2)
    assert (nothing.records, nothing.lost, nothing.span_ns, nothing.cells) == (0, 2, 0, [])
    rows = counted(tmp_path / "b", records(3))
    assert tally.merge([rows, nothing]) == msgspec.structs.replace(rows, lost=2)
    assert nothing.total().response is None


def test_too_many_intervals_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tally, "MOST_INTERVALS", 3)
    path = tmp_path / "log"
    with pytest.raises(UsageError) as refusal:
        counted(path, records(1000), MS)
    assert refusal.value.message == (f"{path} has more than 3 intervals of 1ms; choose longer ones")


def test_intervals_that_nobody_wants_are_not_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tally, "MOST_INTERVALS", 3)
    rows = records(1000)
    without = counted(tmp_path / "a", rows, 0)
    monkeypatch.undo()
    whole = counted(tmp_path / "b", rows, MS)
    assert len(whole.intervals) > 3
    assert without == msgspec.structs.replace(whole, interval_ns=0, intervals=[])
    assert tally.merge([without, without]).records == 2000


def test_a_count_asks_for_each_batch_whether_it_is_wanted(tmp_path: Path) -> None:
    log = open_log(written(tmp_path / "log", records((1 << 20) + 5)))
    asked = []
    # Nothing matches: it is asked all the same.
    nothing = Selection(stream=7)
    assert tally.of_log(log, nothing, 0, lambda: asked.append(1)).records == 0
    assert len(asked) == 2

    def end() -> None:
        raise UsageError("enough")

    with pytest.raises(UsageError, match="enough"):
        tally.of_log(log, ALL, SECOND, end)


def test_different_intervals_do_not_add_up(tmp_path: Path) -> None:
    rows = records(3)
    parts = [counted(tmp_path / "a", rows, MS), counted(tmp_path / "b", rows, SECOND)]
    with pytest.raises(ValueError, match="the same intervals"):
        tally.merge(parts)

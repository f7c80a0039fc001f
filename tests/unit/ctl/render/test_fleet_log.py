# SPDX-License-Identifier: GPL-2.0
"""Logs of several hosts beside each other, and by time."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lib.ctl.log_files import header, records, written
from lib.fakes.kernel import SECOND, START_NS

from spekctl.log import tally
from spekctl.log.file import open_log
from spekctl.log.stats import Selection
from spekctl.log.tally import Interval, Tally
from spekctl.render import fleet_log

MS = 10**6


def counted(path: Path, rows: Any, **changes: Any) -> Tally:
    return tally.of_log(open_log(written(path, rows, **changes)), Selection(), SECOND)


def slow(count: int, by: int) -> Any:
    """I/Os that take so many times as long."""
    rows = records(count)
    rows["done_ns"] = rows["at_ns"] + (rows["done_ns"] - rows["at_ns"]) * np.uint64(by)
    return rows


def test_hosts_differ_in_what_they_have_done(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hosts = {
        "quick": counted(tmp_path / "a", records(900)),
        "slow": counted(
            tmp_path / "b",
            slow(100, 10),
            start_real_ns=header().start_real_ns + 5 * MS,
            lost=4,
            complete=False,
        ),
    }
    whole = tally.merge(hosts.values())
    fleet_log.show("mine", "all", whole, hosts)
    out = capsys.readouterr().out
    assert "2 logs of mine: 1,000 I/Os of all phases, first arrival to last completion" in out
    assert "4 I/Os have no row" in out and "1 of the logs are not complete" in out
    lines = [line.split() for line in out.splitlines()]
    names = [words[0] for words in lines if words and words[0] in ("all", "quick", "slow")]
    assert names == ["all", "quick", "slow"] * 2
    (load, times) = [words for words in lines if words[:1] == ["slow"]]
    assert load[1:3] == ["100", "10.00%"] and load[-4:-2] == ["5.00", "ms"]
    ratios = [
        fleet_log._ratio(host.total().response, whole.total().response) for host in hosts.values()
    ]
    assert float(ratios[0]) < 1 < float(ratios[1]) and ratios[1] in times
    assert [words[:2] for words in lines if words[:1] == ["second"]] == [
        ["second", "read"],
        ["second", "write"],
    ]


def test_intervals_of_hosts_are_on_one_clock(tmp_path: Path) -> None:
    rows = records(3)
    rows["at_ns"] = START_NS + np.array([0, 10, 20], "u8") * np.uint64(MS)
    rows["issue_ns"] = rows["at_ns"]
    rows["done_ns"] = rows["at_ns"] + np.array([1, 3, 5], "u8") * np.uint64(MS)
    rows["bytes"], rows["write"] = 4096, 0
    rows["error"] = [0, 0, errno.EIO]
    later_ns = header().start_real_ns + 2 * SECOND
    hosts = {
        "a": counted(tmp_path / "a", rows),
        "b": counted(tmp_path / "b", rows[:1], start_real_ns=later_ns),
    }
    assert list(fleet_log.csv_lines(tally.merge(hosts.values()), hosts)) == [
        "second,host,op,ios,bytes,errors,mean_response_ns,max_response_ns",
        "0,a,read,2,8192,1,2000000,3000000",
        "2,b,read,1,4096,0,1000000,1000000",
    ]


def test_an_interval_of_failed_ios_has_no_times() -> None:
    hosts = {"a": Tally(*(SECOND, 2, 0, 0, 0, 1, []), [Interval(7, "read", 0, 0, 2, 0, 0)])}
    (_, line) = fleet_log.csv_lines(tally.merge(hosts.values()), hosts)
    assert line == "0,a,read,0,0,2,,"


def test_seconds_of_a_long_log_have_all_digits() -> None:
    hosts = {
        "a": Tally(
            *(1000, 2, 0, 0, 0, 1, []),
            [Interval(at, "read", 1, 1, 0, 1, 1) for at in (7, 7 + 123_456_789_012, 10_000_007)],
        )
    }
    seconds = [
        line.split(",")[0] for line in fleet_log.csv_lines(tally.merge(hosts.values()), hosts)
    ]
    assert seconds == ["second", "0", "10", "123456.789012"]


def test_logs_without_rows_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hosts = {"a": counted(tmp_path / "a", records(0))}
    fleet_log.show("mine", "measure", tally.merge(hosts.values()), hosts)
    assert capsys.readouterr().out == "1 log of mine: no I/O of the measure phase matches\n"

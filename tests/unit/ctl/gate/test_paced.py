# SPDX-License-Identifier: GPL-2.0
"""A figure that the load fixes is no verdict on a device; each arrival law has one that is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lib.ctl.command_line import Spekctl
from lib.ctl.fleets import Spec, facts_of, result_of
from lib.ctl.verdicts import IOPS_900, A, changed, measured, put, sides
from msgspec.structs import replace

from spekctl.documents.result import Result
from spekctl.errors import ExitCode
from spekctl.fleet.merge import merge, of_host
from spekctl.gate import paced

RATE = {"law": "constant", "depth": 0, "rate_milli": 1_000_000}
LIMIT = {"law": "closed", "depth": 4, "rate_milli": 1_000_000}
THINK = {"law": "closed", "depth": 4, "think_ns": 4_000_000}
PAUSE = {"law": "closed", "depth": 4, "pause_ns": 4_000_000, "pause_every": 4}


def under(load: dict[str, Any], iops: float = 1000.0, number: int = 1) -> Result:
    base = measured(number, iops)
    (arrival,) = base.config.arrivals
    return changed(base, config={"arrivals": [replace(arrival, **load)]})


@pytest.mark.parametrize(
    ("load", "iops", "reason"),
    [
        ({}, 1000.0, ""),
        (RATE, 1000.0, "the offered rate of 1,000 IOPS"),
        (RATE, 985.0, "the offered rate of 1,000 IOPS"),
        (RATE, 900.0, ""),
        (LIMIT, 1000.0, "the limit of 1,000 IOPS"),
        (LIMIT, 900.0, ""),
        (THINK, 1000.0, "the think time"),
        (PAUSE, 1000.0, "the pauses"),
    ],
)
def test_rates_are_set_by_a_pace_that_was_kept(
    load: dict[str, Any], iops: float, reason: str
) -> None:
    result = under(load, iops)
    for metric in ("iops", "read.bandwidth", "time_per_io"):
        assert paced.set_by_load(metric, result).startswith(reason.removesuffix(" IOPS"))
        assert bool(paced.set_by_load(metric, result)) == bool(reason)
    for metric in ("response.mean", "read.response.p99.9", "cpu_per_io", "iops_per_w"):
        assert paced.set_by_load(metric, result) == ""
    assert paced.is_paced(result) == bool(load)


@pytest.mark.parametrize(
    ("load", "reason"),
    [
        ({}, "the closed loop"),
        (LIMIT, "the closed loop"),
        (THINK, "the closed loop"),
        (PAUSE, "the closed loop"),
        (RATE, ""),
        ({"law": "poisson", "depth": 0, "rate_milli": 1000}, ""),
        ({"law": "trace", "depth": 0}, ""),
    ],
)
def test_a_backlog_is_one_of_open_loops(load: dict[str, Any], reason: str) -> None:
    assert paced.set_by_load("backlog", under(load)) == reason


def test_a_limit_of_the_backlog_of_a_closed_loop_says_nothing(
    spekctl: Spekctl, tmp_path: Path
) -> None:
    put(tmp_path / "r.json", under({}))
    (tmp_path / "limits.toml").write_text("[[limit]]\nmetric = 'backlog'\nmax = 5\n")
    outcome = spekctl("gate", "limits.toml", "r.json")
    assert "set by the closed loop" in " ".join(outcome.out.split())


@pytest.mark.parametrize("load", [RATE, LIMIT, THINK], ids=["rate", "limit", "think"])
def test_a_rate_that_both_sides_kept_is_not_the_same(
    spekctl: Spekctl, tmp_path: Path, load: dict[str, Any]
) -> None:
    """Response times twice as long, at the same IOPS."""

    def paced_by(result: Result) -> Result:
        (arrival,) = result.config.arrivals
        return changed(result, config={"arrivals": [replace(arrival, **load)]})

    def slower(result: Result) -> Result:
        times = result.totals.all.times
        assert times.response is not None
        response = replace(times.response, mean_ns=2 * times.response.mean_ns)
        whole = replace(result.totals.all, times=replace(times, response=response))
        return changed(paced_by(result), totals={"all": whole})

    words = sides(tmp_path, A, A, slower)
    for name in words:
        if name.startswith("a"):
            number = 2 * int(name[1])
            put(tmp_path / name, paced_by(measured(number, A[number // 2])))
    outcome = spekctl("compare", *words)
    assert outcome.code == ExitCode.LIMIT_MISSED
    assert "worse: response.mean +100.00 %" in outcome.out
    outcome = spekctl("compare", "--primary", "iops", *words)
    assert outcome.code == ExitCode.UNDECIDED
    assert "undecided: iops is set by" in outcome.out


def test_closed_loops_are_compared_by_their_rate(spekctl: Spekctl, tmp_path: Path) -> None:
    outcome = spekctl("compare", *sides(tmp_path, A, A))
    assert outcome.code == ExitCode.OK and "same: iops" in outcome.out


def test_a_limit_says_that_the_load_sets_its_figure(spekctl: Spekctl, tmp_path: Path) -> None:
    (tmp_path / "limits.toml").write_text(IOPS_900)
    put(tmp_path / "paced.json", under(RATE))
    outcome = spekctl("gate", "limits.toml", "paced.json", "--format", "ktap")
    assert outcome.code == ExitCode.OK
    assert "; it is set by the offered rate of 1,000" in outcome.out
    text = spekctl("gate", "limits.toml", "paced.json")
    assert "note: paced.json: iops is 1,000 IOPS, at least 900 IOPS allowed; it is set" in text.out


def test_the_rates_of_all_hosts_pace_a_fleet() -> None:
    def fleet(rate_milli: int) -> Result:
        hosts = []
        for name in ("alpha", "beta"):
            spec = Spec(name, [([1000] * 100, [])] * 4)
            own = result_of(spec)
            (arrival,) = own.config.arrivals
            load = replace(arrival, law="constant", depth=0, rate_milli=rate_milli)
            own = changed(own, config={"arrivals": [load]})
            hosts.append(of_host(own, facts_of(spec)))
        return merge(hosts)

    assert paced.is_paced(fleet(100_000))
    assert paced.set_by_load("iops", fleet(100_000)).startswith("the offered rate")
    assert paced.set_by_load("iops", fleet(150_000)) == ""


def beside_a_closed_loop(rate_milli: int) -> Result:
    """The reads of a result at a rate, beside writes in a closed loop."""
    base = measured(1)
    (arrival,), (stream,) = base.config.arrivals, base.config.streams
    rated = replace(arrival, law="constant", depth=0, rate_milli=rate_milli)
    reads = replace(stream, read_ppm=1_000_000)
    writes = replace(stream, name="writes", read_ppm=0, arrival=1)
    config = {"arrivals": [rated, arrival], "streams": [reads, writes]}
    return changed(base, config=config)


def test_reads_at_a_rate_are_set_by_it_beside_writes_in_a_closed_loop() -> None:
    result = beside_a_closed_loop(1)
    ios = sum(cell.ios for cell in result.cells if cell.phase == "measure")
    milli = ios * 1000 // 3
    for metric in ("read.iops", "read.bandwidth"):
        assert paced.set_by_load(metric, beside_a_closed_loop(milli)).startswith("the offered rate")
        # The device did not keep the rate, so that the figure is its own.
        assert paced.set_by_load(metric, beside_a_closed_loop(milli * 2)) == ""
    for metric in ("iops", "write.iops", "write.bandwidth", "read.response.mean"):
        assert paced.set_by_load(metric, beside_a_closed_loop(milli)) == ""

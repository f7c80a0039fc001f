# SPDX-License-Identifier: GPL-2.0
"""Results warn by themselves, and only where there is something to warn of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from lib.ctl.command_line import Spekctl
from lib.fakes.kernel import FakeKernel
from msgspec.structs import replace

from spekctl.documents.result import Result
from spekctl.documents.result_parts import ProberResult
from spekctl.documents.times import PERCENTILES, Distribution, Times
from spekctl.run.remarks import judge

US = 1000
MS = 1000 * US


def distribution(p50: int, p99: int) -> Distribution:
    percentiles = {**dict.fromkeys(PERCENTILES, p99), "p50": p50}
    return Distribution(1000, p50 * 1000, float(p50), p50, p99, percentiles)


@pytest.fixture
def result(spekctl: Spekctl, kernel: FakeKernel) -> Result:
    line = "run random-read-4k --rate 20000 -d /dev/fake0 --time 3s --json --progress none"
    return msgspec.json.decode(spekctl(*line.split()).out, type=Result)


def with_times(
    result: Result, response: tuple[int, int], service: tuple[int, int], slip: tuple[int, int]
) -> Result:
    times = Times(distribution(*response), distribution(*service), distribution(*slip))
    total = replace(result.totals.all, times=times, iops=20_000.0)
    return replace(result, totals=replace(result.totals, all=total))


def test_a_result_without_trouble_says_nothing(result: Result) -> None:
    assert judge(result) == []
    assert judge(with_times(result, (90 * US, MS), (88 * US, MS), (2 * US, 9 * US))) == []


def test_the_generator_as_the_bottleneck_is_named(result: Result) -> None:
    """What 20,000 I/Os per second on null_blk look like in an emulated guest."""
    times = ((2240 * US, 5 * MS), (1600, 9 * US), (2238 * US, 5 * MS))
    (text,) = judge(with_times(result, *times))
    assert text.startswith("the generator was the bottleneck: half of the I/Os were issued 2.24 ms")
    assert "while the device took 1.60 us" in text


def test_a_device_that_is_too_slow_is_not_taken_for_the_generator(result: Result) -> None:
    times = ((900 * MS, 990 * MS), (50 * MS, 60 * MS), (850 * MS, 930 * MS))
    (text,) = judge(with_times(result, *times))
    assert text.startswith("arrivals waited for a free slot")
    assert "because the --max-outstanding 1,024 were in use" in text


def test_a_share_of_slip_that_matters_is_said(result: Result) -> None:
    times = ((90 * US, 200 * US), (80 * US, 150 * US), (9 * US, 50 * US))
    (text,) = judge(with_times(result, *times))
    assert text.startswith("slip p99, 50.0 us, is 25% of response p99, 200 us")


def test_bursts_slip_by_their_nature(spekctl: Spekctl, kernel: FakeKernel) -> None:
    line = "run burst -d /dev/fake0 --time 3s --json --progress none --write"
    bursts = msgspec.json.decode(spekctl(*line.split()).out, type=Result)
    assert judge(with_times(bursts, (9 * MS, 20 * MS), (US, 2 * US), (9 * MS, 20 * MS))) == []


@pytest.mark.parametrize(("interval_ns", "count"), [(10**9, 0), (3 * 10**9, 0), (4 * 10**9, 1)])
def test_a_prober_that_samples_too_seldom_is_said(
    interval_ns: int, count: int, result: Result
) -> None:
    values: dict[str, Any] = dict.fromkeys(ProberResult.__struct_fields__, 0)
    values |= {"module_version": "", "interval_ns": interval_ns, "measure": {}, "tables": []}
    values |= {"measure_cpus": {}, "start_ns": [], "end_ns": []}
    texts = judge(replace(result, prober=ProberResult(**values)))
    assert [text.startswith("--prober-interval 4s is longer") for text in texts] == [True] * count


def test_they_are_in_the_result_and_beside_the_table(
    spekctl: Spekctl, kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    from spekctl.run import remarks

    monkeypatch.setattr(remarks, "JUDGEMENTS", (lambda result: iter(["mind the gap"]),))
    line = "run random-read-4k --depth 4 -d /dev/fake0 --time 3s --progress none"
    out = spekctl(*line.split()).out
    assert "  mind the gap" in out
    assert "closed loop: each I/O arrives when a previous one completes" in out
    open_loop = line.replace("--depth 4", "--rate 9")
    assert "closed loop:" not in spekctl(*open_loop.split()).out


def test_a_closed_loop_beside_other_arrivals_is_named(
    spekctl: Spekctl, kernel: FakeKernel, tmp_path: Path
) -> None:
    (tmp_path / "mixed.toml").write_text(
        """
[workload]
name = "w"
summary = "both"
[[arrival]]
name = "open"
law = "poisson"
rate = 9
[[arrival]]
name = "loop"
law = "closed"
depth = 2
[[stream]]
name = "clients"
size = "4k"
arrival = "open"
[[stream]]
name = "scrub"
size = "4k"
arrival = "loop"
"""
    )
    line = "run ./mixed.toml -d /dev/fake0 --time 3s --progress none"
    assert "closed loop of scrub: each I/O arrives" in spekctl(*line.split()).out

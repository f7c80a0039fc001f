# SPDX-License-Identifier: GPL-2.0
"""The workloads of an SPC-2-like test."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lib.ctl.command_line import Spekctl
from lib.ctl.spc2_command import WRITE, streams_kernel
from lib.fakes.queue_kernel import QueueKernel

from spekctl.campaigns.spc2 import plan
from spekctl.campaigns.spc2.loads import GROUPS, groups_of, load_of
from spekctl.campaigns.spc2.plan import TESTS, VOD

kernel = pytest.fixture(streams_kernel)


def test_runs_are_what_their_tests_are_called(spekctl: Spekctl, kernel: QueueKernel) -> None:
    spekctl(*WRITE, "--folder", "t", "--vod-streams", "40", "--seed", "7")
    runs = {
        (config.name, sum(s.replicas for s in config.streams)): config
        for config in kernel.runs_seen
    }
    writes = runs["spc2-lfp-write-1024k", 4]
    assert {stream.read_ppm for stream in writes.streams} == {0} and writes.write
    assert {stream.pattern for stream in writes.streams} == {"runs"}
    assert [arrival.depth for arrival in writes.arrivals] == [1] * 4
    mixed = runs["spc2-lfp-mixed-256k", 4]
    assert [stream.read_ppm for stream in mixed.streams] == [1_000_000, 0] * 2
    query = runs["spc2-ldq-64k-4", 2]
    assert [arrival.depth for arrival in query.arrivals] == [4, 4] and query.max_outstanding == 8
    video = runs["spc2-vod", 40]
    assert video.offered_rate == 120 and {arrival.law for arrival in video.arrivals} == {"constant"}
    assert not query.write
    # No two runs begin at the same places.
    seeds = [config.seed for config in kernel.runs_seen]
    assert seeds == list(range(7, 7 + len(seeds)))


@given(st.integers(1, 5000))
def test_groups_share_the_streams_evenly(streams: int) -> None:
    groups = groups_of(streams)
    assert sum(groups) == streams and len(groups) == min(streams, GROUPS)
    assert max(groups) - min(groups) <= 1


def test_each_stream_has_its_own_depth_or_pace() -> None:
    step = plan.step_of(TESTS[6], 8, 0, 1)
    workload = load_of(step)
    assert [arrival.depth for arrival in workload.arrival] == [4] * 8
    assert {stream.size for stream in workload.stream} == {1 << 20}
    paced = load_of(plan.step_of(VOD, 40, 0, 1))
    assert [arrival.rate for arrival in paced.arrival] == [9] * 8 + [6] * 8
    assert sum(arrival.rate or 0 for arrival in paced.arrival) == 120


@pytest.mark.parametrize(("streams", "reads"), [(1, ["50%"]), (5, ["100%", "0%"] * 2 + ["50%"])])
def test_half_of_the_streams_of_a_mixed_test_read(streams: int, reads: list[str]) -> None:
    mixed = next(test for test in TESTS if test.read_percent == 50)
    workload = load_of(plan.step_of(mixed, streams, 0, 1))
    assert [stream.read for stream in workload.stream] == reads
    of_fleet = load_of(plan.step_of(mixed, streams * 10, 0, 1), clients=10)
    assert [stream.read for stream in of_fleet.stream] == reads

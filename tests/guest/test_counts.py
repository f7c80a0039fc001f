# SPDX-License-Identifier: GPL-2.0
"""Arrival processes with ends of their own, on a device: each makes its I/Os, and no more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import pytest
from lib.guest.disks import null_disk
from lib.guest.drive import Controller, Outcome, one_stream
from lib.guest.netlink_raw import Refusal

from spekctl.kernel.records import Phase
from spekctl.workload.config import ResolvedArrival, RunConfig

pytestmark = pytest.mark.any_kernel

MS, SECOND = 1_000_000, 1_000_000_000
LOOP = ResolvedArrival("loop", "closed", depth=8)


@pytest.fixture(scope="module")
def disk(spek_module: Path) -> Iterator[str]:
    with null_disk(irqmode=2, completion_nsec=MS, hw_queue_depth=256) as node:
        yield node


def several(node: str, arrivals: Sequence[ResolvedArrival], **options: int) -> RunConfig:
    """A stream for each process."""
    config = one_stream(node, max_outstanding=64, workers=options.pop("workers", 1))
    (stream,) = config.streams
    return msgspec.structs.replace(
        config,
        arrivals=list(arrivals),
        streams=[
            msgspec.structs.replace(stream, name=f"s{place}", arrival=place)
            for place in range(len(arrivals))
        ],
        **{"time_ns": 0, "count": 0, **options},
    )


def counted(count: int, arrival: ResolvedArrival = LOOP) -> ResolvedArrival:
    return msgspec.structs.replace(arrival, count=count)


def measured(outcome: Outcome, stream: int) -> int:
    return sum(
        cell.ios for cell in outcome.cells if cell.stream == stream and cell.phase is Phase.MEASURE
    )


POISSON = ResolvedArrival("open", "poisson", rate_milli=2_000_000)
PAUSES = msgspec.structs.replace(LOOP, pause_ns=MS, pause_every=5)


@pytest.mark.parametrize("workers", [1, 2])
def test_each_ends_after_its_own_and_the_run_after_the_last(
    controller: Controller, disk: str, workers: int
) -> None:
    processes = [counted(13), counted(400), counted(101, POISSON), counted(57, PAUSES)]
    outcome = controller.complete(several(disk, processes, workers=workers))
    assert [measured(outcome, place) for place in range(4)] == [13, 400, 101, 57]
    ends = [end.at_ns for end in outcome.info.arrival_ends]
    assert outcome.info.measure_ns < ends[0] < ends[1]
    assert max(ends) == outcome.info.drain_ns
    assert outcome.in_flight() == 0 and outcome.info.backlog == 0


@pytest.mark.parametrize("ramp", [{"ramp_ns": 20 * MS}, {"ramp_count": 77}])
@pytest.mark.parametrize("workers", [1, 2])
def test_a_ramp_up_counts_nothing(
    controller: Controller, disk: str, workers: int, ramp: dict[str, int]
) -> None:
    config = several(disk, [counted(30), counted(200)], workers=workers, **ramp)
    outcome = controller.complete(config)
    assert [measured(outcome, place) for place in (0, 1)] == [30, 200]
    assert outcome.ios(phase=Phase.RAMP) > 0


def test_those_without_an_end_run_for_the_time(controller: Controller, disk: str) -> None:
    config = several(disk, [counted(40), LOOP], time_ns=SECOND)
    outcome = controller.complete(config)
    assert measured(outcome, 0) == 40
    assert measured(outcome, 1) > 80
    info = outcome.info
    first, second = (end.at_ns for end in info.arrival_ends)
    assert info.measure_ns < first < info.drain_ns == info.measure_ns + SECOND
    assert second == 0


def test_a_time_ends_a_count_that_is_too_long(controller: Controller, disk: str) -> None:
    config = several(disk, [counted(40), counted(10**9)], time_ns=SECOND // 2)
    outcome = controller.complete(config)
    assert measured(outcome, 0) == 40
    first, second = (end.at_ns for end in outcome.info.arrival_ends)
    assert first > 0 and second == 0
    assert outcome.info.drain_ns == outcome.info.measure_ns + SECOND // 2


def test_a_run_without_any_end_or_with_two_counts_is_refused(
    controller: Controller, disk: str
) -> None:
    for processes, count, said in (
        ([counted(5), LOOP], 0, "A run needs an end"),
        ([counted(5), LOOP], 5, "A run with a count has no arrival processes with counts"),
    ):
        with pytest.raises(Refusal, match=f"Invalid argument: '{said}"):
            controller.run_new(several(disk, processes, count=count))

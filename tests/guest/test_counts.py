# SPDX-License-Identifier: GPL-2.0
"""Arrival processes with ends of their own, on a device: each makes its I/Os, and no more."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import numpy as np
import pytest
from lib.guest.disks import null_disk
from lib.guest.drive import Controller, Outcome, capacity, device_number, one_stream
from lib.guest.netlink import finished, new, remove, stream
from lib.guest.netlink_raw import Refusal, Socket
from lib.guest.trace import disk_stat, request_log

from spekctl.kernel.gen.spek import Law, Pattern
from spekctl.kernel.records import Direction, Phase
from spekctl.log import buffer
from spekctl.log import file as log_file
from spekctl.workload import file, resolve
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


@pytest.mark.parametrize("ramp", [{"ramp_ns": SECOND // 2}, {"ramp_count": 77}])
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


@pytest.mark.parametrize("pattern", [Pattern.SEQUENTIAL, Pattern.BACKWARD, Pattern.ONCE])
@pytest.mark.parametrize("of_process", [False, True])
def test_workers_pass_parts_that_are_not_equal(
    nl: Socket, disk: str, pattern: Pattern, of_process: bool
) -> None:
    """Five blocks and a depth of 3 for two workers: of three passes they have six and nine I/Os."""
    if (os.cpu_count() or 1) < 2:
        pytest.skip("the guest has a single CPU")
    loop = {"law": int(Law.CLOSED), "depth": 3}
    run = new(
        nl,
        disk,
        worker=[{"cpu": 0}, {"cpu": 1}],
        time_ns=None,
        count=None if of_process else 15,
        arrival=[{**loop, "count": 15} if of_process else loop],
        stream=[stream(pattern=int(pattern), range_bytes=5 * 4096)],
        log_records=4096,
    )
    finished(nl, run)
    addresses = []
    for worker in range(2):
        path = Path(buffer.debugfs(), f"spek/{run}/worker{worker}")
        with path.open("rb", buffering=0) as file:
            records = np.frombuffer(file.read(1 << 20), log_file.record_type())
        addresses.append(sorted(int(addr) // 4096 for addr in records["addr"]))
    remove(nl, run)
    assert [len(each) for each in addresses] == [6, 9]
    assert sorted(addresses[0] + addresses[1]) == sorted([*range(5)] * 3)


@pytest.mark.parametrize("pattern", ["sequential", "backward", "once"])
def test_three_workers_write_every_block_as_often_as_was_asked(
    controller: Controller, spek_module: Path, tmp_path: Path, pattern: str
) -> None:
    """Three divide neither the 256 blocks of the disk nor the depth of 4: the requests that the
    block layer issued, and the disk's own count, say how often each block was written."""
    path = tmp_path / "passes.toml"
    path.write_text(
        '[workload]\nname = "passes"\nsummary = "all blocks"\n[[asu]]\nname = "a"\n'
        '[[arrival]]\nname = "l"\ndepth = 4\n'
        f'[[stream]]\nname = "s"\nread = "0%"\nsize = "4KiB"\npattern = "{pattern}"\n'
    )
    with null_disk(size_mb=1, memory_backed=1) as node, request_log(node) as log:
        number = device_number(node)
        target = resolve.Target(node, number.major, number.minor, capacity(node), 512)
        options = resolve.Options(write=True, available_cpus=(0, 1, 2), workers=3, passes=2)
        config = resolve.resolve(file.load(str(path)), options, [target])
        # Two of them share a CPU: the guest may have no more.
        cpus = [worker % (os.cpu_count() or 1) for worker in range(3)]
        before = disk_stat(node)[Direction.WRITE]
        log.forget()
        outcome = controller.complete(msgspec.structs.replace(config, cpus=cpus))
        writes = [request for request in log.read() if request.direction is Direction.WRITE]
        added = disk_stat(node)[Direction.WRITE].since(before)
    assert outcome.ios() == 512 == added.ios + added.merges and added.sectors == 512 * 8
    # The block layer may merge neighbours.
    written = Counter(
        sector
        for request in writes
        for sector in range(request.sector, request.sector + request.sectors)
    )
    assert written == dict.fromkeys(range(2048), 2)

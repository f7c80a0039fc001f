# SPDX-License-Identifier: GPL-2.0
"""How operations are handed over: in batches with tags fetched ahead, one by one, by an elevator,
and what the worker does while it waits for them."""

from __future__ import annotations

import mmap
import os
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
from lib.guest.agree import run_and_compare
from lib.guest.disks import null_disk
from lib.guest.drive import Controller, Outcome, assert_completed, one_stream, queue_of, sysfs
from lib.guest.trace import RequestCounts, disk_times, events, fields_of

from spekctl.documents.histogram import percentile
from spekctl.kernel.records import Metric
from spekctl.run.disk_times import bounds_ns as disk_bounds_ns

KIB = 1 << 10
BACKENDS = ("bio", "mq")
MS = 1_000_000
TIMER_LIST = Path("/proc/timer_list")
TICK_MS = 4  # the kernel's, in which the disk counts busy time


@pytest.fixture
def slow_disk() -> Iterator[str]:
    """Completes by a timer, after 1 ms, so that a worker has time to fall asleep."""
    with null_disk(irqmode=2, completion_nsec=MS) as node:
        yield node


@pytest.fixture
def quick_disk() -> Iterator[str]:
    with null_disk(hw_queue_depth=64) as node:
        yield node


# ---- tags fetched ahead ----


@pytest.mark.parametrize("scheduler", ["none", "mq-deadline"])
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("read_ppm", [0, 500_000, 1_000_000])
def test_batches_agree_with_the_device(
    controller: Controller,
    counts: RequestCounts,
    quick_disk: str,
    backend: str,
    scheduler: str,
    read_ppm: int,
) -> None:
    """More outstanding than the device has tags, in batches that never fit."""
    (queue_of(quick_disk) / "scheduler").write_text(scheduler)
    config = one_stream(
        quick_disk,
        sizes=[(4 * KIB, 3), (64 * KIB, 1)],
        read_ppm=read_ppm,
        backend=backend,
        depth=100,
        batch=48,
        count=2000,
    )
    run_and_compare(controller, counts, config, quick_disk)


def ticks_ms(node: str) -> int:
    """Time that the disk's reads have taken, by its own statistics."""
    return int((sysfs(node) / "stat").read_text().split()[3])


def test_a_tag_that_waited_is_not_time_of_the_disk(controller: Controller, slow_disk: str) -> None:
    """The disk's own statistics must not count the time before an I/O was issued."""
    (queue_of(slow_disk) / "scheduler").write_text("none")
    count, more_ms = 400, []
    for _ in range(10):
        before = ticks_ms(slow_disk)
        config = one_stream(slow_disk, backend="mq", depth=64, batch=64, count=count)
        service_ms = controller.complete(config).times(Metric.SERVICE).sum_ns / MS
        disk_ms = ticks_ms(slow_disk) - before
        assert disk_ms >= count
        more_ms.append(disk_ms - service_ms)
    # The block layer reads the clock for its statistics after the bio has ended, that is after
    # spek: some hundred nanoseconds in an emulated guest, and much more for one whose CPU is taken
    # away in between; so the least of some runs counts. A tag of a batch waits for half of the
    # batch to be submitted, in every run: some hundred microseconds.
    assert min(more_ms) <= count * 0.01


# ---- the disk's own times ----


@pytest.fixture(params=["quick", "inline", "slow"])
def timed_disk(request: pytest.FixtureRequest) -> Iterator[tuple[str, str]]:
    """By softirq, within the submission, or after 5 ms: how a disk completes."""
    options = {
        "quick": {"irqmode": 1},
        "inline": {"irqmode": 0},
        "slow": {"irqmode": 2, "completion_nsec": 5 * MS},
    }[request.param]
    with null_disk(poll_queues=1, submit_queues=1, **options) as node:
        (queue_of(node) / "scheduler").write_text("none")
        yield request.param, node


def jiffies() -> int:
    """The kernel's ticks. They stand still while the host holds the CPU that counts them."""
    return max(map(int, re.findall(r"^jiffies: (\d+)$", TIMER_LIST.read_text(), re.MULTILINE)))


def read_a_block(node: str) -> None:
    fd = os.open(node, os.O_RDONLY | os.O_DIRECT)
    try:
        os.preadv(fd, [mmap.mmap(-1, mmap.PAGESIZE)], 0)
    finally:
        os.close(fd)


@pytest.mark.parametrize("polled", [False, True])
@pytest.mark.parametrize("backend", BACKENDS)
def test_the_times_of_the_disk_are_ours(
    controller: Controller, timed_disk: tuple[str, str], backend: str, polled: bool
) -> None:
    """Within what disk_times derives; a batch of 4 of 64 leaves a tenth of the time to be unsure of
    where the disk is slow. When all is done nothing is in flight, and it was busy long enough."""
    kind, node = timed_disk
    config = one_stream(
        node,
        read_ppm=500_000,
        backend=backend,
        polled=polled,
        depth=64,
        batch=4,
        workers=2,
        count=12_800 if kind == "slow" and not polled else 4_000,
    )
    with controller.ready(config) as run:
        # The first I/Os of two workers may count the time since the last one before as busy
        # (update_io_ticks() looks at what is in flight after it has set its stamp): keep it short.
        stamped = jiffies()
        read_a_block(node)
        before = disk_times(node)
        outcome = controller.finish(run)
    assert_completed(outcome)
    after = disk_times(node)
    ticks = jiffies() - stamped

    least, most = disk_bounds_ns(config, outcome.info, outcome.cells)
    ways = (after.read_ms - before.read_ms, after.write_ms - before.write_ms)
    assert least <= sum(ways) * MS <= most, (ways, least, most)
    assert min(ways) >= 0
    assert after.in_flight == 0
    busy_ms = after.busy_ms - before.busy_ms
    assert 0 <= busy_ms <= ticks * TICK_MS
    if kind == "slow" and not polled:
        # At most as many as the loop's depth are in flight at a time.
        assert busy_ms >= least / 64 / MS - 2 * TICK_MS
        service_ns = outcome.times(Metric.SERVICE).sum_ns
        assert least > 0.7 * service_ns, "the bounds say nothing"


# ---- waiting ----


def test_waits_for_requests_are_counted(controller: Controller) -> None:
    """Four requests are with the disk and a fifth I/O waits for one. When all four complete at
    once, one I/O in four has to wait. Back end bio waits within the block layer."""
    tags, count = 4, 800
    with null_disk(irqmode=2, completion_nsec=4 * MS, hw_queue_depth=tags, submit_queues=1) as node:
        (queue_of(node) / "scheduler").write_text("none")
        for backend in BACKENDS:
            config = one_stream(node, backend=backend, depth=16, count=count)
            outcome = controller.complete(config)
            least = (count - tags) // tags if backend == "mq" else 0
            assert least <= outcome.target.tag_waits <= (count - tags if least else 0)


@pytest.mark.parametrize("backend", BACKENDS)
def test_service_begins_before_the_wait_for_a_request(controller: Controller, backend: str) -> None:
    """A disk with one request: the next I/O is issued at once, and waits for as long as the first
    one takes. The others of the loop are not issued before that: their wait is slip."""
    takes_ns = 20 * MS
    with null_disk(irqmode=2, completion_nsec=takes_ns, hw_queue_depth=1, submit_queues=1) as node:
        (queue_of(node) / "scheduler").write_text("none")
        outcome = controller.complete(one_stream(node, backend=backend, depth=4, count=20))
        # Twice what the disk takes, less what the thread was late to issue the I/O.
        for metric in (Metric.SERVICE, Metric.SLIP):
            assert percentile(outcome.times(metric), 500_000) > 1.5 * takes_ns


@pytest.mark.parametrize("backend", BACKENDS)
def test_workers_share_the_requests_of_a_disk(controller: Controller, backend: str) -> None:
    """One request for two workers: neither keeps it for itself, not even for a while. Of some runs
    one will do: a virtual CPU that waits for a processor takes no request."""
    with null_disk(irqmode=2, completion_nsec=4 * MS, hw_queue_depth=1, submit_queues=1) as node:
        (queue_of(node) / "scheduler").write_text("none")
        for _ in range(5):
            config = one_stream(node, backend=backend, depth=8, workers=2, time_ns=800 * MS)
            with events("spek") as seen:
                outcome = controller.complete(msgspec.structs.replace(config, spin_ns=10 * MS))
                order = [row["worker"] for row in fields_of(seen.text(), "spek_io_complete")]
            assert len(order) == outcome.ios()
            least = min(order.count(worker) for worker in ("0", "1"))
            turns = sum(earlier != later for earlier, later in pairwise(order))
            # Not by turns of a hundred each, either.
            if least >= len(order) / 4 and turns > len(order) / 10:
                return
    pytest.fail(f"of {len(order)} requests one worker had {least}, in {turns} turns")


def switches_per_io(outcome: Outcome) -> float:
    """Context switches of the worker."""
    (worker,) = outcome.info.workers
    return worker.voluntary / outcome.ios()


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_worker_sleeps_or_spins_as_it_was_told(
    controller: Controller, slow_disk: str, backend: str
) -> None:
    def run(spin_ns: int) -> Outcome:
        config = one_stream(slow_disk, backend=backend, depth=1, count=500, spin_ns=spin_ns)
        return controller.complete(config)

    assert switches_per_io(run(0)) > 0.5
    # The longest there is: a guest whose CPU is taken away for a while must not sleep for it.
    assert switches_per_io(run(10 * MS)) < 0.5


def test_spinning_ends(controller: Controller) -> None:
    """A worker that was told to spin for less than the disk takes sleeps after that."""
    with null_disk(irqmode=2, completion_nsec=20 * MS) as node:
        config = one_stream(node, backend="mq", depth=1, count=20, spin_ns=1 * MS)
        assert switches_per_io(controller.complete(config)) > 0.5

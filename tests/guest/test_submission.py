# SPDX-License-Identifier: GPL-2.0
"""How operations are handed over: in batches with tags fetched ahead, one by one, past an elevator,
and what the worker does while it waits for them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from lib.guest.agree import run_and_compare
from lib.guest.disks import null_disk
from lib.guest.drive import Controller, Outcome, one_stream, queue_of, sysfs
from lib.guest.trace import RequestCounts

from spekctl.kernel.records import Metric

KIB = 1 << 10
BACKENDS = ("bio", "mq")
MS = 1_000_000


@pytest.fixture
def slow_disk() -> Iterator[str]:
    """Completes by a timer, after 1 ms: whoever wants to sleep before that gets to it."""
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


# ---- waiting ----


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

# SPDX-License-Identifier: GPL-2.0
"""Targets that have no room: what waits for them, what does not, and what ends the wait."""

from __future__ import annotations

import contextlib
import mmap
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import msgspec
import numpy as np
import pytest
from lib.guest.agree import run_and_compare
from lib.guest.core import arrivals_before
from lib.guest.disks import limited_disks, make_null, null_disk, remove_null, udev_at_rest
from lib.guest.drive import (
    Controller,
    Outcome,
    assert_completed,
    capacity,
    device_number,
    one_stream,
    queue_of,
)
from lib.guest.trace import RequestCounts, disk_stat
from lib.harness.kernels import repeated
from lib.waiting import eventually

from spekctl.documents.histogram import merge, percentile
from spekctl.kernel.records import Direction, Histogram, Metric, Phase, Reason, RunState
from spekctl.log import buffer
from spekctl.log import file as log_file
from spekctl.workload.config import (
    Extent,
    ResolvedArrival,
    ResolvedAsu,
    ResolvedSize,
    RunConfig,
)

KIB, MIB = 1 << 10, 1 << 20
MS, SECOND = 1_000_000, 10**9
BACKENDS = ("bio", "mq")
SLOW, FAST = 0, 1  # targets, and the streams on them
TURNS = repeated(2, 6)  # of a run alone and beside another, for the least slip
SWITCHES = repeated(12, 40)  # of an elevator under a worker that waits


@pytest.fixture
def slow_disk() -> Iterator[str]:
    """A single request, which takes 100 ms."""
    options = {"irqmode": 2, "completion_nsec": 100 * MS}
    with null_disk(hw_queue_depth=1, submit_queues=1, **options) as node:
        (queue_of(node) / "scheduler").write_text("none")
        yield node


@pytest.fixture(scope="module")
def fast_disk(spek_module: Path) -> Iterator[str]:
    """Completes a request while it is being submitted."""
    with null_disk(irqmode=0) as node:
        yield node


def constant(name: str, rate: int) -> ResolvedArrival:
    return ResolvedArrival(name, "constant", rate_milli=rate * 1000)


def two_disks(slow: str, fast: str, slow_rate: int, backend: str, time_ns: int) -> RunConfig:
    """A stream of @slow_rate on one disk, and one of 1,000 I/Os per second on the other."""
    arrivals = {slow: constant("slow", slow_rate), fast: constant("fast", 1000)}
    return one_stream_each(arrivals, backend, time_ns, max_outstanding=8)


def one_stream_each(
    arrivals: Mapping[str, ResolvedArrival], backend: str, time_ns: int, max_outstanding: int
) -> RunConfig:
    """A stream on each disk, with an arrival process of its own."""
    disks = list(arrivals)
    base = one_stream(disks[0], arrival=constant("any", 1), backend=backend, time_ns=time_ns)
    streams = [
        msgspec.structs.replace(
            base.streams[0],
            name=f"on-{index}",
            asu=index,
            arrival=index,
            range_bytes=capacity(disk),
        )
        for index, disk in enumerate(disks)
    ]
    return msgspec.structs.replace(
        base,
        max_outstanding=max_outstanding,
        targets=[device_number(disk) for disk in disks],
        asus=[
            ResolvedAsu(f"asu-{index}", capacity(disk), [Extent(index, 0)])
            for index, disk in enumerate(disks)
        ],
        arrivals=list(arrivals.values()),
        streams=streams,
    )


def slip_ns(outcome: Outcome, stream: int, ppm: int = 990_000) -> float:
    """A percentile of the slip of a stream."""
    return percentile(times(outcome, stream, Metric.SLIP), ppm)


def times(outcome: Outcome, stream: int, metric: Metric) -> Histogram:
    cells = [
        cell for cell in outcome.cells if cell.stream == stream and cell.phase is Phase.MEASURE
    ]
    merged = merge(cell.histograms[metric] for cell in cells if metric in cell.histograms)
    assert merged is not None
    return merged


def ios_of(outcome: Outcome, stream: int) -> int:
    return sum(cell.ios for cell in outcome.cells if cell.stream == stream)


# ---- what waits, and what does not ----


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_disk_without_room_does_not_hold_up_another(
    controller: Controller,
    slow_disk: str,
    fast_disk: str,
    backend: str,
    record_property: Callable[[str, object], None],
) -> None:
    """The slow disk gets five times what it can do, and soon more I/Os wait for it than may be
    outstanding. If the fast one waited with them, a fifth of its I/Os would be issued.

    Its slip is said and not judged, because this guest does not have its CPUs to itself: of
    several runs the least.
    """
    alone = one_stream(
        fast_disk, arrival=constant("fast", 1000), backend=backend, time_ns=SECOND,
        max_outstanding=8,
    )  # fmt: skip
    beside = two_disks(slow_disk, fast_disk, 50, backend, SECOND)
    least, most = [float("inf"), float("inf")], [0, 0]
    for turn in range(1, 7):
        for index, (config, stream) in enumerate(((alone, 0), (beside, FAST))):
            outcome = controller.complete(config)
            least[index] = min(least[index], slip_ns(outcome, stream))
            most[index] = max(most[index], ios_of(outcome, stream))
        if least[1] <= 1.1 * least[0] or (turn >= TURNS and most[1] > 0.5 * most[0]):
            break
    record_property(
        "count",
        f"{backend}: p99 of the slip of a disk beside one without room "
        f"{least[1] / least[0]:.2f} of that of the disk alone",
    )
    assert most[1] > 0.5 * most[0]


@pytest.mark.debug_kernel_at_length
@pytest.mark.parametrize("backend", BACKENDS)
def test_every_disk_gets_its_ios_in_order_and_in_time(
    controller: Controller, slow_disk: str, fast_disk: str, backend: str
) -> None:
    """Of the slow disk more wait than there are slots. What is issued is the sequence of the seed,
    for each disk in its order; what arrived and was not issued is the backlog."""
    config = two_disks(slow_disk, fast_disk, 200, backend, SECOND)
    config = msgspec.structs.replace(config, log_records=4096, interval_ns=250 * MS)
    with controller.ready(config) as run:
        expected = controller.operations(run, 0, 1300)
        outcome = controller.finish(run)
        rows = controller.intervals(run, 0)
        log = read_log(run)
    assert_completed(outcome)
    log = log[np.argsort(log["issue_ns"], kind="stable")]
    began_ns = outcome.info.started_ns
    for stream in (SLOW, FAST):
        mine = log[log["stream"] == stream]
        meant = [(op.at_ns, op.addr) for op in expected if op.stream == stream]
        issued = [(int(row["at_ns"]) - began_ns, int(row["addr"])) for row in mine]
        assert issued == meant[: len(mine)]
    info = outcome.info
    arrived = arrivals_before(config, info.started_ns, info.drain_ns)
    assert outcome.ios() + info.backlog == arrived
    # The slow disk does ten in a second.
    assert ios_of(outcome, SLOW) < 20
    assert info.backlog > 150
    measured = [row for row in rows if row.phase is Phase.MEASURE]
    assert measured
    for row in measured:
        due = Counter(op.stream for op in expected if op.at_ns < row.end_ns - began_ns)
        # However late the worker was, and whatever it then issued of the fast disk's.
        assert due[SLOW] - ios_of(outcome, SLOW) - config.max_outstanding <= row.backlog
        assert row.backlog <= due.total() - int((log["issue_ns"] < row.end_ns).sum())
    assert {row.outstanding for row in rows} <= set(range(9))


def read_log(run: int) -> np.ndarray:
    records = b""
    with Path(buffer.debugfs(), f"spek/{run}/worker0").open("rb", buffering=0) as file:
        while piece := file.read(1 << 20):
            records += piece
    return np.frombuffer(records, log_file.record_type())


@pytest.mark.debug_kernel
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_striped_operation_waits_for_the_disk_that_refuses_it(
    controller: Controller, counts: RequestCounts, fast_disk: str, backend: str
) -> None:
    """Each has parts on both disks, and one takes two at a time: nothing is lost or doubled."""
    options = {"irqmode": 2, "completion_nsec": 2 * MS, "hw_queue_depth": 2, "submit_queues": 1}
    with null_disk(**options) as slow:
        (queue_of(slow) / "scheduler").write_text("none")
        config = one_stream(
            fast_disk,
            slow,
            sizes=[(4 * KIB, 1), (64 * KIB, 2)],
            align_bytes=4 * KIB,
            stripe_bytes=16 * KIB,
            read_ppm=500_000,
            backend=backend,
            depth=24,
            batch=16,
            count=600,
        )
        run_and_compare(controller, counts, config, fast_disk, slow)


Span = tuple[int, int]


def issued_within(spans: list[Span], log: np.ndarray, stream: int) -> int:
    """Spans in whose middle half, which is far from what began and ended them, I/Os of a stream
    were issued, however many."""
    issues = np.sort(log["issue_ns"][log["stream"] == stream])
    within = 0
    for begin, end in spans:
        quarter = (end - begin) // 4
        first, last = np.searchsorted(issues, (begin + quarter, end - quarter))
        within += int(last > first)
    return within


@contextlib.contextmanager
def frozen_again_and_again(node: str) -> Iterator[list[Span]]:
    """Changes of the elevator freeze the queue until its requests are back; gives when each of
    them began and ended."""
    stop = threading.Event()
    spans: list[Span] = []

    def freeze() -> None:
        while not stop.is_set():
            for name in ("mq-deadline", "none"):
                begin_ns = time.monotonic_ns()
                (queue_of(node) / "scheduler").write_text(name)
                spans.append((begin_ns, time.monotonic_ns()))

    thread = threading.Thread(target=freeze)
    thread.start()
    try:
        yield spans
    finally:
        stop.set()
        thread.join()


@pytest.mark.debug_kernel
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_frozen_queue_does_not_hold_up_another_disk(
    controller: Controller, fast_disk: str, backend: str
) -> None:
    """A freeze waits for requests of 500 ms. Each one in time finds the queue open again.

    A worker that waited with the queue would issue nothing while it is frozen. How late it is
    besides is up to the host.
    """
    with null_disk(irqmode=2, completion_nsec=500 * MS, submit_queues=1) as slow:
        config = two_disks(slow, fast_disk, 20, backend, 4 * SECOND)
        config = msgspec.structs.replace(config, max_outstanding=64, log_records=8192)
        with controller.ready(config) as run:
            with frozen_again_and_again(slow) as freezes:
                outcome = controller.finish(run)
            log = read_log(run)
    assert_completed(outcome)
    run_ns = outcome.info.started_ns, outcome.info.drain_ns
    long = [
        (begin, end)
        for begin, end in freezes
        if run_ns[0] < begin and end < run_ns[1] and end - begin > 250 * MS
    ]
    assert len(long) >= 3
    # Of all but those for which the guest itself stood still.
    assert issued_within(long, log, FAST) > len(long) / 2
    # The test can tell: those of the frozen disk do wait.
    service_ns = percentile(times(outcome, SLOW, Metric.SERVICE), 990_000)
    assert slip_ns(outcome, SLOW) + service_ns > 600 * MS
    assert ios_of(outcome, SLOW) > 4


@pytest.mark.debug_kernel_at_length
def test_a_busy_zone_does_not_hold_up_another_disk(controller: Controller, fast_disk: str) -> None:
    """A zone takes one write of 100 ms at a time, and 50 arrive in a second.

    A worker that waited for the zone would issue nothing during a write.
    """
    zone = 4 * MIB
    options = {"zoned": 1, "zone_size": 4, "irqmode": 2, "completion_nsec": 100 * MS}
    with null_disk(64, 4096, **options) as slow:
        config = two_disks(slow, fast_disk, 50, "bio", 2 * SECOND)
        writes = msgspec.structs.replace(
            config.streams[SLOW], pattern="write-pointer", read_ppm=0, range_bytes=64 * MIB
        )
        zones = ResolvedAsu("zones", 64 * MIB, [Extent(SLOW, 0)], zone_bytes=zone, open_zones=1)
        config = msgspec.structs.replace(
            config,
            write=True,
            asus=[zones, config.asus[FAST]],
            streams=[writes, config.streams[FAST]],
            log_records=4096,
        )
        with controller.ready(config) as run:
            outcome = controller.finish(run)
            log = read_log(run)
    assert_completed(outcome)
    begun = log[(log["stream"] == SLOW) & (log["issue_ns"] < outcome.info.drain_ns)]
    writing = list(zip(begun["issue_ns"].tolist(), begun["done_ns"].tolist(), strict=True))
    assert issued_within(writing[:-1], log, FAST) > len(writing) / 2
    # A write at a time, and one most of the time.
    assert all(done <= issue for (_, done), (issue, _) in pairwise(writing))
    span_ns = writing[-1][1] - writing[0][0]
    assert sum(done - issue for issue, done in writing) > span_ns / 4
    assert outcome.ios() + outcome.info.backlog == 2 * (50 + 1000)


# ---- what ends the wait ----


@contextlib.contextmanager
def readers(node: str, number: int) -> Iterator[list[float]]:
    """Threads that have a request each, or wait for one, all the time; gives the times at which
    they have read a block."""
    stop = threading.Event()
    ends: list[float] = []

    def read() -> None:
        fd = os.open(node, os.O_RDONLY | os.O_DIRECT)
        try:
            while not stop.is_set():
                os.preadv(fd, [mmap.mmap(-1, mmap.PAGESIZE)], 0)
                ends.append(time.monotonic())
        finally:
            os.close(fd)

    threads = [threading.Thread(target=read) for _ in range(number)]
    for thread in threads:
        thread.start()
    try:
        yield ends
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_a_worker_sleeps_until_others_free_a_request(
    controller: Controller, slow_disk: str
) -> None:
    """It is woken for it: looking for one every 100 us were a thousand times for each I/O. Of those
    that wait in turn it gets every second request."""
    config = one_stream(
        slow_disk, arrival=constant("rare", 4), backend="mq", max_outstanding=4, count=24
    )
    config = msgspec.structs.replace(config, log_records=64)
    with readers(slow_disk, 1) as ends_s, controller.ready(config) as run:
        outcome = controller.finish(run)
        log = read_log(run)
    (worker,) = outcome.info.workers
    assert outcome.target.tag_waits >= 8
    assert worker.voluntary < 20 * outcome.ios(), worker
    ends_ns = np.sort(np.array(ends_s) * SECOND)
    spans = log["issue_ns"], log["done_ns"]
    served = np.subtract(*(np.searchsorted(ends_ns, span) for span in reversed(spans)))
    assert len(served) == outcome.ios()
    assert served.mean() < 2.5, served


SCSI_DELAY = Path("/sys/bus/pseudo/drivers/scsi_debug/delay")
HELD_S, TICKS = 15, 250  # those of a second, in Debian's kernels
HOLD = Path("/sys/module/spek_limits/parameters/hold")  # a bit for each disk


@dataclass(frozen=True)
class HungDisk:
    """@until_then: until its end the disk keeps what it is given."""

    node: str
    until_then: contextlib.AbstractContextManager[object]


@pytest.fixture
def hung_disk(backend: str, scsi_debug: Callable[..., str]) -> Iterator[HungDisk]:
    """Its single request does not complete: for 15 s on a SCSI disk, else until released."""
    with contextlib.ExitStack() as stack:
        if backend == "scsi":
            disk = HungDisk(scsi_debug(max_queue=1), contextlib.nullcontext())
            SCSI_DELAY.write_text(str(HELD_S * TICKS))
        else:
            (node,) = stack.enter_context(limited_disks(requests=1))
            HOLD.write_text("1")
            let_go = contextlib.ExitStack()
            let_go.callback(HOLD.write_text, "0")
            disk = HungDisk(node, let_go)
        (queue_of(disk.node) / "scheduler").write_text("none")
        yield disk


@pytest.mark.debug_kernel
@pytest.mark.parametrize(("backend", "targets"), [("mq", 1), ("mq", 2), ("scsi", 1), ("bio", 2)])
def test_a_run_can_be_stopped_while_others_have_all_requests(
    controller: Controller, hung_disk: HungDisk, fast_disk: str, backend: str, targets: int
) -> None:
    """Whoever has the only request keeps it; the run ends long before it is back."""
    node = hung_disk.node
    if targets == 2:
        config = two_disks(node, fast_disk, 1000, backend, 3600 * SECOND)
    else:
        config = one_stream(node, backend=backend, depth=4, time_ns=3600 * SECOND)
    with controller.ready(config) as run, readers(node, 1) as ends, hung_disk.until_then:
        eventually(lambda: requests_in_flight(node) == 1, "the reader has no request")
        controller.run_start(run)
        eventually(lambda: controller.run_get(run).targets[0].tag_waits > 0, "nothing waits")
        controller.run_stop(run)
        info = controller.wait_done(run)
        assert not ends, "the run ended when a request was free again"
    assert (info.state, info.reason) == (RunState.DONE, Reason.STOPPED)


@pytest.mark.debug_kernel
@pytest.mark.parametrize("backend", ["mq"])
def test_each_arrival_that_waits_is_outstanding_or_backlog(
    controller: Controller, hung_disk: HungDisk, backend: str
) -> None:
    """The first one has a slot and waits for the only request, until the run is stopped and gives
    it up; the others wait for their turn."""
    node = hung_disk.node
    config = one_stream(
        node,
        arrival=constant("open", 100),
        backend=backend,
        max_outstanding=4,
        time_ns=3600 * SECOND,
        interval_ns=100 * MS,
    )
    with controller.ready(config) as run, readers(node, 1), hung_disk.until_then:
        eventually(lambda: requests_in_flight(node) == 1, "the reader has no request")
        controller.run_start(run)
        eventually(lambda: len(controller.intervals(run, 0)) > 4, "no intervals are closed")
        controller.run_stop(run)
        info = controller.wait_done(run)
        rows = [row for row in controller.intervals(run, 0) if row.phase is Phase.MEASURE]
    for row in rows:
        arrived = arrivals_before(config, info.started_ns, row.end_ns)
        assert (row.outstanding, row.backlog) == (
            (0, arrived) if row is rows[-1] else (1, arrived - 1)
        )
    assert info.backlog == arrivals_before(config, info.started_ns, info.drain_ns) > 0


def requests_in_flight(node: str) -> int:
    return sum(map(int, (queue_of(node).parent / "inflight").read_text().split()))


@pytest.mark.debug_kernel
@pytest.mark.parametrize(("backend", "targets"), [("mq", 1), ("bio", 2)])
def test_an_elevator_can_be_switched_while_a_worker_waits(
    controller: Controller, fast_disk: str, backend: str, targets: int
) -> None:
    """Others have all requests, so the worker waits for a tag of the elevator, or of the driver.
    Each switch frees the tags of the elevator before: none may be freed under the worker, and none
    may wait for it."""
    options = {"irqmode": 2, "completion_nsec": 5 * MS, "hw_queue_depth": 1, "submit_queues": 1}
    with null_disk(**options) as slow:
        if targets == 2:
            config = two_disks(slow, fast_disk, 200, backend, 3600 * SECOND)
        else:
            config = one_stream(slow, backend=backend, depth=4, time_ns=3600 * SECOND)
        with controller.ready(config) as run, readers(slow, 8):
            controller.run_start(run)
            for switch in range(SWITCHES):
                name = ("mq-deadline", "none")[switch % 2]
                (queue_of(slow) / "scheduler").write_text(name)
                if name != "none":
                    # So that the elevator has too few tags, too.
                    (queue_of(slow) / "nr_requests").write_text("4")
            controller.run_stop(run)
            info = controller.wait_done(run)
    assert (info.state, info.reason) == (RunState.DONE, Reason.STOPPED)
    assert info.targets[0].tag_waits > 0


@pytest.mark.debug_kernel
def test_a_queue_can_be_frozen_while_the_worker_sleeps_for_another(
    controller: Controller,
) -> None:
    """Back end bio sleeps for a zoned disk, which takes one long I/O at a time. Meanwhile it holds
    nothing of the disk whose requests others have: the elevators of that are switched."""
    options = {"irqmode": 2, "hw_queue_depth": 1, "submit_queues": 1}
    zoned = {**options, "completion_nsec": 3 * SECOND, "zoned": 1, "zone_size": 4}
    with (
        null_disk(64, 4096, **zoned) as sleepy,
        null_disk(completion_nsec=5 * MS, **options) as busy,
    ):
        config = two_disks(busy, sleepy, 200, "bio", 3600 * SECOND)
        ended = []
        with controller.ready(config) as run, readers(busy, 8):
            controller.run_start(run)
            eventually(lambda: disk_stat(sleepy)[Direction.READ].ios, "nothing completes")
            for switch in range(8):
                before = disk_stat(sleepy)[Direction.READ].ios
                (queue_of(busy) / "scheduler").write_text(("mq-deadline", "none")[switch % 2])
                ended.append(disk_stat(sleepy)[Direction.READ].ios - before)
            controller.run_stop(run)
            controller.wait_done(run)
    # A switch that waits for what the worker holds ends when an I/O of the other disk does.
    assert 0 in ended, ended


@contextlib.contextmanager
def switched_elevator(node: str, at_last: Callable[[], None]) -> Iterator[threading.Thread]:
    """A thread that switches the elevator, once the queue is being frozen for it; @at_last ends
    whatever the freeze could wait for."""

    def switch() -> None:
        (queue_of(node) / "scheduler").write_text("mq-deadline")

    thread = threading.Thread(target=switch)
    thread.start()
    stack = Path(f"/proc/self/task/{thread.native_id}/stack")
    try:
        eventually(lambda: "blk_mq_freeze_queue" in stack.read_text(), "no freeze begins")
        yield thread
    finally:
        at_last()
        thread.join()


def pauses_while_frozen(controller: Controller) -> int:
    """How often the worker has slept while a queue is frozen for whose request it waits, beside a
    busy disk with the same tags.

    Readers have the share of the first disk: four tags, whether two disks have I/Os or all three.
    The busy one has two, which no other disk may take, and only the worker reads it. The third one
    keeps an I/O of the worker, so that some are always in flight.
    """
    waited_for, busy, keeping = 1, 2, 4
    depths = {"waited-for": 1, "busy": 2, "keeping": 1}
    with limited_disks(3, requests=8, shared=1) as disks:
        for node in disks:
            (queue_of(node) / "scheduler").write_text("none")
        arrivals = [ResolvedArrival(name, "closed", depth=depth) for name, depth in depths.items()]
        config = one_stream_each(
            dict(zip(disks, arrivals, strict=True)), "mq", 3600 * SECOND, max_outstanding=4
        )

        def sleeps() -> int:
            (worker,) = controller.run_get(run).workers
            return worker.voluntary

        def ios() -> int:
            return disk_stat(disks[1])[Direction.READ].ios

        def at_last() -> None:
            controller.run_stop(run)
            HOLD.write_text("0")

        with controller.ready(config) as run, contextlib.ExitStack() as held:
            HOLD.write_text(str(waited_for | busy | keeping))
            # A disk with an I/O has a share of the tags.
            for node, number in zip(disks, (4, 0, 1), strict=True):
                held.enter_context(readers(node, number))
            held.callback(HOLD.write_text, "0")
            eventually(lambda: [*map(requests_in_flight, disks)] == [4, 0, 1], "readers wait")
            controller.run_start(run)
            eventually(lambda: [*map(requests_in_flight, disks)] == [4, 2, 2], "the worker waits")
            before = sleeps()
            # It sleeps twice for 100 us at most, and then for a request: it holds the queue.
            eventually(lambda: sleeps() > before + 3, "the worker does not watch the queue")
            HOLD.write_text(str(waited_for | keeping))
            eventually(lambda: ios() > 1000, "the busy disk is not busy")
            assert requests_in_flight(disks[0]) == 4, "the worker does not wait any more"
            with switched_elevator(disks[0], at_last) as switch:
                assert requests_in_flight(disks[0]) == 4, "the worker does not wait any more"
                assert switch.is_alive()
                before, slept = ios(), sleeps()
                HOLD.write_text(str(keeping))
                while switch.is_alive():
                    assert ios() - before < 100_000, "the freeze waits for the worker"
                pauses = sleeps() - slept
                after = ios()
                eventually(lambda: ios() > after + 1000, "the busy disk came to rest")
            info = controller.wait_done(run)
    assert (info.state, info.reason) == (RunState.DONE, Reason.STOPPED)
    assert info.targets[0].tag_waits > 0
    return pauses


@pytest.mark.debug_kernel
def test_a_queue_can_be_frozen_while_another_with_its_tags_is_busy(
    controller: Controller,
) -> None:
    """Each I/O of the busy disk may have freed a request of the first one: the worker tries at
    once, and begins no other wait for it. A freeze of the first disk ends after its readers' I/Os,
    however busy the other disk stays.

    If the worker pauses, it looks for a freeze for that, so only a turn without a pause can tell.
    """
    assert not all(pauses_while_frozen(controller) for _ in range(8)), "no turn without a pause"


@pytest.mark.debug_kernel
@pytest.mark.parametrize(("backend", "requests"), [("bio", 1), ("mq", 1), ("mq", 40)])
def test_a_queue_can_be_frozen_while_the_worker_sleeps_in_a_driver(
    controller: Controller, backend: str, requests: int
) -> None:
    """Readers have all requests of a disk, and the driver of the other one sleeps with what it is
    given. Meanwhile the worker holds nothing of the disk that it waits for.

    @requests: of each I/O of the sleepy disk; for the 33rd the worker flushes its plug
    """
    waited_for, sleepy = 1, 2
    tags = max(4, requests)
    with limited_disks(2, requests=tags, sectors=8, sleepers=sleepy) as disks:
        for node in disks:
            (queue_of(node) / "scheduler").write_text("none")
        arrivals = [ResolvedArrival(name, "closed", depth=1) for name in ("waited-for", "sleepy")]
        config = one_stream_each(
            dict(zip(disks, arrivals, strict=True)), backend, 3600 * SECOND, max_outstanding=2
        )
        config.streams[1] = msgspec.structs.replace(
            config.streams[1], sizes=[ResolvedSize(requests * 4 * KIB, 1)]
        )
        with controller.ready(config) as run, contextlib.ExitStack() as held:
            HOLD.write_text(str(waited_for))
            held.enter_context(readers(disks[0], tags))
            held.callback(HOLD.write_text, "0")
            eventually(lambda: requests_in_flight(disks[0]) == tags, "the readers wait")
            controller.run_start(run)
            eventually(lambda: controller.run_get(run).targets[0].tag_waits > 0, "nothing waits")
            (worker,) = controller.run_get(run).workers
            HOLD.write_text(str(waited_for | sleepy))
            stack = Path(f"/proc/{worker.pid}/stack")
            eventually(lambda: "spek_limits" in stack.read_text(), "the driver does not sleep")
            with switched_elevator(disks[0], held.close) as switch:
                HOLD.write_text(str(sleepy))
                eventually(lambda: not switch.is_alive(), "the freeze waits for the worker")
                assert "spek_limits" in stack.read_text()
            controller.run_stop(run)
            info = controller.wait_done(run)
    assert (info.state, info.reason) == (RunState.DONE, Reason.STOPPED)


@pytest.mark.debug_kernel
def test_removal_ends_a_run_that_waits_for_a_request(
    controller: Controller, spek_module: Path, fast_disk: str
) -> None:
    """All requests of the disk are with it, and it goes away."""
    options = {"irqmode": 2, "completion_nsec": 1 * SECOND}
    with udev_at_rest():
        slow, item = make_null(hw_queue_depth=1, submit_queues=1, **options)
        config = two_disks(slow, fast_disk, 100, "mq", 3600 * SECOND)
        with controller.ready(config) as run:
            controller.run_start(run)
            eventually(lambda: controller.run_get(run).targets[0].tag_waits > 0, "nothing waits")
            (item / "power").write_text("0")
            info = controller.wait_done(run)
        remove_null(item)
    assert info.reason is Reason.DEVICE_GONE

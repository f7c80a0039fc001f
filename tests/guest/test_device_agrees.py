# SPDX-License-Identifier: GPL-2.0
"""The device agrees: what spek counts is what the kernel counts for the device, exactly.

See lib.guest.agree for what is compared. Each case keeps to a few hundred I/Os; what it takes is
mostly the two netlink dumps and the emulated CPU, not the device. Here are corners and disks of a
kind; test_device_matrix.py has all sizes, depths and workloads on all drivers.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from lib.guest.agree import assert_streams_agree, run_and_compare, target_sums, watch
from lib.guest.disks import (
    disk_of_kind,
    null_disk,
    nvme_with_poll_queues,
    partition,
    resize_partition,
    scsi_disk,
)
from lib.guest.drive import Controller, assert_completed, capacity, one_stream, shipped, sysfs
from lib.guest.netlink_raw import Refusal
from lib.guest.trace import RequestCounts, disk_stat, request_log

from spekctl.kernel.records import Direction

KIB, MIB = 1 << 10, 1 << 20
KINDS = ("null_blk", "scsi_debug", "nvme", "virtio")
BACKENDS = ("bio", "mq")


# ---- corners ----


@pytest.mark.parametrize("backend", BACKENDS)
def test_deepest_queue_of_the_largest_blocks(
    controller: Controller, counts: RequestCounts, backend: str
) -> None:
    with null_disk(hw_queue_depth=256) as node:
        config = one_stream(
            node,
            sizes=[(MIB, 1)],
            read_ppm=500_000,
            depth=256,
            backend=backend,
            count=512,
            align_bytes=512,
        )

        run_and_compare(controller, counts, config, node)


@pytest.mark.parametrize("backend", ["auto", *BACKENDS])
def test_scsi_counts_once_what_it_had_no_room_for(
    controller: Controller, counts: RequestCounts, backend: str
) -> None:
    """SCSI refuses requests beyond the device's own queue depth: the block layer keeps those and
    sends them later, so that none is counted twice."""
    with scsi_disk(ndelay=2_000_000) as node:
        (sysfs(node) / "device/queue_depth").write_text("4")
        config = one_stream(
            node, read_ppm=500_000, depth=32, workers=2, backend=backend, count=400, align_bytes=512
        )

        target = run_and_compare(controller, counts, config, node).outcome.target

    assert target.backend == ("mq" if backend == "auto" else backend)
    assert target.refused == 0


# ---- partitions ----


@pytest.fixture(params=["virtio", "scsi_debug"])
def partitioned(request: pytest.FixtureRequest) -> Iterator[tuple[str, str, int]]:
    """A disk, its second partition, and where that starts, in sectors."""
    with (
        disk_of_kind(request.param, 512) as node,
        partition(node, 1, 64, 2000),
        partition(node, 2, 2064, 4096) as part,
    ):
        yield node, part, 2064


@pytest.mark.parametrize("backend", BACKENDS)
def test_partition_gets_what_is_meant_for_it(
    controller: Controller,
    counts: RequestCounts,
    partitioned: tuple[str, str, int],
    backend: str,
) -> None:
    disk, node, start = partitioned
    config = one_stream(
        node,
        sizes=[(512, 1), (8 * KIB, 1)],
        read_ppm=500_000,
        depth=1,
        backend=backend,
        count=200,
        align_bytes=512,
    )

    with request_log(disk) as log:
        comparison = watch(controller, counts, config, node, disk=disk)
        traced = log.read()

    assert capacity(node) == 4096 * 512
    assert_streams_agree(comparison)
    (seen,), (target,) = comparison.seen, comparison.outcome.info.targets
    assert seen.stat == target_sums(target)
    assert [(request.sector - start) * 512 for request in traced] == [
        operation.addr for operation in comparison.operations[0]
    ]


@pytest.mark.parametrize("backend", ["mq", "scsi"])
@pytest.mark.parametrize("partitioned", ["scsi_debug"], indirect=True)
def test_what_fails_above_the_driver_was_not_sent(
    controller: Controller, partitioned: tuple[str, str, int], backend: str
) -> None:
    """The partition shrinks to a half before the start: what lies beyond its new end fails."""
    disk, node, start = partitioned
    config = one_stream(node, read_ppm=500_000, depth=4, backend=backend, count=400)
    with controller.ready(config) as run:
        resize_partition(disk, 2, start, 2048)
        before = disk_stat(node)
        outcome = controller.finish(run)
        after = disk_stat(node)
    target = outcome.target
    errors = sum(cell.errors for cell in outcome.cells)
    assert outcome.ios() + errors == 400 and 100 < errors < 300
    assert outcome.requests() == target.reads + target.writes == outcome.ios()
    if backend == "mq":
        seen = {way: after[way].since(before[way]) for way in Direction}
        assert seen == target_sums(target)


# ---- polled completion ----


@pytest.fixture(params=["null_blk", "nvme"])
def polled_disk(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param == "null_blk":
        with null_disk(submit_queues=2, poll_queues=1) as node:
            yield node
    else:
        with nvme_with_poll_queues(1) as node:
            yield node


def test_polled_completions_are_counted_alike(
    controller: Controller, counts: RequestCounts, polled_disk: str
) -> None:
    for backend in BACKENDS:
        for depth, workers in ((1, 1), (32, 2)):
            config = one_stream(
                polled_disk,
                sizes=[(4 * KIB, 3), (64 * KIB, 1)],
                read_ppm=500_000,
                depth=depth,
                workers=workers,
                backend=backend,
                polled=True,
                count=300,
            )

            comparison = run_and_compare(controller, counts, config, polled_disk)

            assert comparison.outcome.target.polled == 1
            assert comparison.outcome.target.backend == backend


@pytest.mark.parametrize("kind", KINDS)
def test_polling_is_refused_without_poll_queues(controller: Controller, kind: str) -> None:
    # null_blk has one unless told otherwise.
    plain = null_disk(poll_queues=0) if kind == "null_blk" else disk_of_kind(kind, 512)
    with plain as node:
        for backend in ("auto", *BACKENDS):
            config = one_stream(node, backend=backend, polled=True, count=1)

            with pytest.raises(Refusal, match="has no poll queues") as refusal:
                controller.run_new(config)

            assert refusal.value.attr.startswith("target[0]")


# ---- the shares of SPC-1 ----


def test_spc1_has_the_shares_of_spc1(controller: Controller, counts: RequestCounts) -> None:
    """What arrives at the device has the mix of spc.md 1.6.

    Its numbers are exact expectations, so what is allowed is sampling error: four standard
    deviations at this number of I/Os, which the number is large enough to make small (0.8 points
    for the largest share). tests/stats has the narrow bands, on the generator alone.
    """
    count = 60_000
    with null_disk(irqmode=0) as node:
        config = shipped("spc1", node, bsu=400, count=count, workers=2)
        with controller.ready(config) as run:
            before = counts.read(node)
            outcome = controller.finish(run)
            after = counts.read(node)
    assert_completed(outcome)
    requests = after["block_rq_issue"] - before["block_rq_issue"]

    def assert_share(seen: int, percent: float, of: int = count) -> None:
        expected = of * percent / 100
        assert abs(seen - expected) < 4 * (expected * (1 - percent / 100)) ** 0.5, (seen, expected)

    # Sizes of 1, 2, 4, 8 and 16 blocks of 4 KiB, in per cent of all I/Os.
    for way, shares in (
        (Direction.READ, (33.14, 2.52, 2.10, 0.84, 0.84)),
        (Direction.WRITE, (43.70, 6.744, 5.62, 2.248, 2.248)),
    ):
        for blocks, percent in zip((1, 2, 4, 8, 16), shares, strict=True):
            assert_share(requests[way, blocks * 8], percent)
    assert sum(requests.values()) == count
    assert_share(outcome.ios(Direction.READ), 39.44)
    # Streams: share of all I/Os, reads among them.
    streams = ((3.5, 50), (28.1, 50), (7, 100), (21, 50), (1.8, 30), (7, 30), (3.5, 100), (28.1, 0))
    for number, (percent, reads) in enumerate(streams):
        mine = {
            way: sum(c.ios for c in outcome.cells if c.stream == number and c.direction is way)
            for way in Direction
        }
        total = sum(mine.values())
        assert_share(total, percent)
        if reads in (0, 100):
            assert mine[Direction.READ] == total * reads // 100
        else:
            assert_share(mine[Direction.READ], reads, of=total)

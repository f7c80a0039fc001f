# SPDX-License-Identifier: GPL-2.0
"""The device agrees, for all sizes, depths and workloads that are shipped, on all drivers.

A file of its own, for the disk that its tests share is there until its last one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from lib.guest.agree import run_and_compare
from lib.guest.disks import disk_of_kind
from lib.guest.drive import Controller, one_stream, queue_of, shipped
from lib.guest.trace import RequestCounts

from spekctl.errors import UsageError
from spekctl.kernel.records import Direction
from spekctl.workload import file as workload_file
from spekctl.workload import meaning
from spekctl.workload.model import WorkloadFile

KIB, MIB = 1 << 10, 1 << 20
KINDS = ("null_blk", "scsi_debug", "nvme", "virtio")
BACKENDS = ("bio", "mq")


@dataclass(frozen=True)
class Disk:
    """The disk that a group of tests shares."""

    kind: str
    bs: int
    node: str


@pytest.fixture(
    scope="module",
    params=[(kind, bs) for kind in KINDS for bs in (512, 4096)],
    ids=[f"{kind}-{bs}" for kind in KINDS for bs in (512, 4096)],
)
def disk(request: pytest.FixtureRequest) -> Iterator[Disk]:
    kind, bs = request.param
    with disk_of_kind(kind, bs) as node:
        yield Disk(kind, bs, node)


# ---- the matrix ----


@pytest.mark.sampled
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("depth", [1, 2, 32, 256])
@pytest.mark.parametrize("backend", BACKENDS)
def test_every_size_at_every_depth(
    controller: Controller,
    counts: RequestCounts,
    disk: Disk,
    backend: str,
    depth: int,
    workers: int,
) -> None:
    """All sizes from a logical block to 1 MiB in one run, half of it writes.

    256 I/Os of 1 MiB would take a quarter of the guest's memory for every case, so the deepest
    queue stops at 64 KiB; test_deepest_queue_of_the_largest_blocks has that corner.
    """
    sizes = [(disk.bs, 6), (16 * KIB, 4), (64 * KIB, 3)]
    if disk.bs == 512:
        sizes += [(KIB, 2), (3 * KIB + 512, 2), (4 * KIB, 4)]
    if depth < 256:
        sizes += [(256 * KIB, 2), (1 * MIB - disk.bs, 1), (1 * MIB, 1)]
    config = one_stream(
        disk.node,
        sizes=sizes,
        read_ppm=500_000,
        depth=max(depth, workers),
        workers=workers,
        backend=backend,
        count=max(200, 2 * depth),
        align_bytes=disk.bs,
    )

    comparison = run_and_compare(controller, counts, config, disk.node)

    assert comparison.outcome.target.backend == backend
    assert all(comparison.wanted[0][way, disk.bs // 512] for way in Direction)


@pytest.mark.parametrize("backend", BACKENDS)
def test_requests_stay_below_a_smaller_limit(
    controller: Controller, counts: RequestCounts, disk: Disk, backend: str
) -> None:
    """The queue's limit, lowered before the run: no larger request is sent, none is merged."""
    limit = queue_of(disk.node) / "max_sectors_kb"
    usual = limit.read_text()
    limit.write_text("36")
    try:
        config = one_stream(
            disk.node,
            sizes=[(32 * KIB, 1), (36 * KIB, 1), (40 * KIB, 1), (256 * KIB, 1)],
            read_ppm=500_000,
            depth=8,
            backend=backend,
            count=200,
            align_bytes=disk.bs,
        )
        comparison = run_and_compare(controller, counts, config, disk.node)
    finally:
        limit.write_text(usual)

    (wanted,) = comparison.wanted
    assert max(sectors for _, sectors in wanted) <= 36 * 2
    # 256 KiB take at least eight requests: something was cut, so the limit was put to the test.
    assert comparison.outcome.requests() > 2 * comparison.outcome.ios()


# ---- the workloads that are shipped ----


def smallest_block(file: WorkloadFile) -> int:
    """Bytes."""
    return min(size for stream in file.stream for size, _share in meaning.size_weights(stream))


@pytest.mark.sampled
# Drivers differ in limits, and all of those are above. Here it is workloads that differ.
@pytest.mark.any_kernel
@pytest.mark.parametrize("name", workload_file.shipped_names())
@pytest.mark.parametrize(
    "disk",
    [("null_blk", 512), ("scsi_debug", 512), ("nvme", 4096)],
    ids=["null_blk-512", "scsi_debug-512", "nvme-4096"],
    indirect=True,
)
def test_shipped_workload(
    controller: Controller, counts: RequestCounts, disk: Disk, name: str
) -> None:
    file = workload_file.load(name)
    options: dict[str, int] = {}
    if file.workload.scale == "bsu":
        options["bsu"] = 40
    if smallest_block(file) < disk.bs:
        with pytest.raises(UsageError, match=f"not a multiple of the logical block of {disk.node}"):
            shipped(name, disk.node, count=512, workers=2, **options)
        return
    config = shipped(name, disk.node, count=512, ramp_count=0, workers=2, **options)

    comparison = run_and_compare(controller, counts, config, disk.node)

    flat = [operation for operations in comparison.operations for operation in operations]
    assert len(flat) == 512
    assert {operation.stream for operation in flat} == set(range(len(config.streams)))

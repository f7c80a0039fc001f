# SPDX-License-Identifier: GPL-2.0
"""Same seed, same sequence: in the kernel, in userspace, and at the device."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from lib.guest.core import generators
from lib.guest.disks import null_disk
from lib.guest.drive import Controller, assert_completed, device_number, queue_of, shipped
from lib.guest.trace import Traced, request_log

from spekctl.kernel.records import OpRecord
from spekctl.workload import file
from spekctl.workload.config import (
    Extent,
    ResolvedArrival,
    ResolvedAsu,
    ResolvedSize,
    ResolvedStream,
    RunConfig,
)

pytestmark = pytest.mark.any_kernel

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
MANY = 100_000
BACKENDS = ("bio", "mq")
CURVE = [(0, 0), (10**9, 9_876_543), (10**9, 1_000_000), (3 * 10**9, 12_345)]
ZONES: dict[str, Any] = {
    "stride_bytes": 96 * KIB,
    "zone_size_bytes": 300 * KIB,
    "zone_range_bytes": 200 * KIB,
    "weight": 1,
}
# More blocks than an order is drawn of.
LARGE_ZONES = {"stride_bytes": 9 * MIB, "zone_size_bytes": 6 * MIB, "weight": 1}
PARTS = [(1, 2**38), (2, 2**37), (90, 2**39), (6, 0), (1, 2**37)]


@pytest.fixture(scope="module")
def disk(spek_module: Path) -> Iterator[str]:
    # max_sectors: every operation is one request.
    with null_disk(hw_queue_depth=256, max_sectors=1024) as node:
        # An elevator may sort what bio sends.
        (queue_of(node) / "scheduler").write_text("none")
        yield node


def everything(node: str) -> RunConfig:
    """Every pattern, every law, long size mixes, replicas and two asus in one run."""
    sizes = [ResolvedSize(512 * n, 1 + n % 7) for n in range(1, 65)]
    block = [ResolvedSize(4 * KIB, 1)]

    def stream(name: str, pattern: str, arrival: int, **fields: Any) -> ResolvedStream:
        common: dict[str, Any] = {
            "asu": 0,
            "weight": 3,
            "replicas": 1,
            "read_ppm": 400_000,
            "range_start": 0,
            "range_bytes": 256 * MIB,
            "align_bytes": 4 * KIB,
            "sizes": block,
        }
        given = {**common, "name": name, "pattern": pattern, "arrival": arrival, **fields}
        return ResolvedStream(**given)

    return RunConfig(
        name="everything",
        seed=0xFEEDFACECAFEBEEF,
        write=True,
        backend="auto",
        polled=False,
        data="zero",
        max_outstanding=64,
        spin_ns=0,
        interval_ns=0,
        ramp_ns=0,
        ramp_count=0,
        time_ns=0,
        count=1,
        max_errors=0,
        cpus=[0],
        targets=[device_number(node)],
        asus=[
            ResolvedAsu("low", 512 * MIB, [Extent(0, 0)]),
            ResolvedAsu("high", 448 * MIB, [Extent(0, 512 * MIB)]),
        ],
        arrivals=[
            # A loop without a pause would keep all others from their turn: see op-get.
            ResolvedArrival("loop", "closed", depth=7, think_ns=300_000),
            ResolvedArrival("random", "poisson", rate_milli=12_345_678),
            ResolvedArrival("steady", "constant", rate_milli=7_000_001),
            ResolvedArrival("bursts", "burst", burst_length=11, burst_interval_ns=1_234_567),
            ResolvedArrival("curve", "poisson", points=CURVE, repeats=1),
            ResolvedArrival("climb", "constant", points=CURVE),
            ResolvedArrival(
                "pauses",
                "poisson",
                rate_milli=30_000_000,
                on_ns=2_000_000,
                off_ns=3_000_000,
                tail_milli=1500,
            ),
            ResolvedArrival(
                "stops", "constant", rate_milli=9_000_000, on_ns=2_000_000, off_ns=5_000_000
            ),
            ResolvedArrival("limited", "closed", depth=5, rate_milli=2_345_678, burst_length=3),
        ],
        streams=[
            stream("uniform", "uniform", 0, sizes=sizes, align_bytes=512),
            stream("partly", "uniform", 1, seq_ppm=300_000, sizes=sizes, align_bytes=512),
            stream("forward", "sequential", 2, asu=1, range_start=MIB, replicas=3),
            stream("strides", "strided", 3, asu=1, stride_bytes=96 * KIB, replicas=2, weight=1),
            stream("jitter", "strided", 3, stride_bytes=96 * KIB, jitter_bytes=200 * KIB, weight=1),
            stream("zones", "strided", 3, stride_bytes=MIB, zone_size_bytes=72 * KIB, weight=1),
            stream("in zones", "strided", 0, zone_order="random", **ZONES),
            stream("zones once", "strided", 1, zone_order="once", **ZONES),
            stream("large zones once", "strided", 0, zone_order="once", **LARGE_ZONES),
            stream("back", "backward", 2, asu=1, replicas=3, weight=1),
            stream("table", "table", 1, range_bytes=100 * 4 * KIB, parts=PARTS, weight=1),
            stream("spread", "table", 0, range_bytes=100 * 4 * KIB, parts=PARTS, spread=1),
            stream("once", "once", 1, asu=1, range_bytes=500 * 4 * KIB, weight=1),
            stream("classic", "walk", 1, replicas=5, range_start=256 * MIB, range_bytes=128 * MIB),
            stream("fixed", "walk", 2, replicas=4, range_bytes=64 * MIB, walk_style="fixed"),
            stream(
                "runs",
                "runs",
                3,
                replicas=6,
                sizes=[ResolvedSize(4 * KIB << n, 8 >> n) for n in range(4)],
                run_bytes=8 * MIB,
                restart_bytes=128 * MIB,
                run_align_bytes=64 * KIB,
            ),
            *(stream(f"at {number}", "uniform", number) for number in range(4, 9)),
        ],
        batch=0,
    )


def config_of(name: str, node: str, workers: int) -> RunConfig:
    if name == "everything":
        return msgspec.structs.replace(everything(node), cpus=list(range(workers)))
    options = {"bsu": 7} if file.load(name).workload.scale == "bsu" else {}
    return shipped(name, node, workers=workers, seed=20261121, **options)


@pytest.mark.sampled
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("name", [*file.shipped_names(), "everything"])
def test_kernel_and_userspace_generate_the_same(
    controller: Controller, disk: str, name: str, workers: int
) -> None:
    """All fields of the first 100,000 operations of every worker."""
    config = config_of(name, disk, workers)
    with controller.ready(config) as run:
        # A time of arrival is counted from the start: the sequence that is shown starts at 0.
        for worker, generator in enumerate(generators(config)):
            here = generator.ops(MANY)

            there = controller.op_bytes(run, worker, MANY)

            assert there == here.tobytes()
            assert len(here) in (MANY, 0)
            if worker == 0:
                assert len(here) == MANY


def test_another_seed_gives_another_sequence(controller: Controller, disk: str) -> None:
    sequences = set()
    for seed in range(4):
        config = msgspec.structs.replace(everything(disk), seed=seed)
        with controller.ready(config) as run:
            sequences.add(controller.op_bytes(run, 0, 1000))
    assert len(sequences) == 4


def as_operations(traced: list[Traced]) -> list[tuple[int, int, int]]:
    return [
        (request.sector * 512, request.sectors * 512, request.direction.code) for request in traced
    ]


def plainly(operations: list[OpRecord]) -> list[tuple[int, int, int]]:
    return [(operation.addr, operation.bytes, operation.write) for operation in operations]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", ["spek-mix", "oltp", "sequential-write-128k"])
def test_the_device_gets_this_sequence(
    controller: Controller, disk: str, name: str, backend: str
) -> None:
    """One by one, the requests of a worker arrive as op-get lists them: place, size, direction.

    bio goes without batches here: the block layer of 6.1 hands the requests under a plug to the
    driver last one first.
    """
    count = 2000
    config = shipped(name, disk, count=count, backend=backend, batch=1, seed=7)
    starts = [asu.extents[0].start for asu in config.asus]
    with controller.ready(config) as run, request_log(disk) as log:
        assert_completed(controller.finish(run))
        traced = log.read()
        operations = controller.operations(run, 0, count + config.ramp_count)

    moved = [
        (starts[operation.asu] + addr, length, write)
        for operation, (addr, length, write) in zip(operations, plainly(operations), strict=True)
    ]
    assert len(moved) == count + config.ramp_count
    assert as_operations(traced) == moved


@pytest.mark.parametrize("backend", BACKENDS)
def test_batches_and_workers_change_the_order_only(
    controller: Controller, disk: str, backend: str
) -> None:
    config = shipped("spek-mix", disk, count=1000, ramp_count=0, backend=backend, workers=2)
    with controller.ready(config) as run, request_log(disk) as log:
        assert_completed(controller.finish(run))
        traced = log.read()
        operations = [
            operation for worker in (0, 1) for operation in controller.operations(run, worker, 500)
        ]

    assert Counter(as_operations(traced)) == Counter(plainly(operations))

# SPDX-License-Identifier: GPL-2.0
"""Devices on devices, and several devices at once.

dm-linear, dm-stripe and md RAID-0 take bios. What is exact, and why:

* Sectors: always, above and below; splitting does not change them.
* Requests that the stacked device gets: as spek counts them, if none crosses a boundary of its
  map (a chunk, the end of a segment). The driver splits one that does, and each part is accounted
  as an I/O of its own; so the disk then counts the parts, which are known exactly, too.
* Requests that the disks underneath get: the parts. The bios carry REQ_NOMERGE down with them,
  so nothing puts them together again.
"""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
from lib.guest import device_mapper
from lib.guest.agree import Comparison, assert_streams_agree, run_and_compare, target_sums, watch
from lib.guest.disks import array_disk, emulated, mapped_disk, null_disk
from lib.guest.drive import (
    Controller,
    Edges,
    Requests,
    Sent,
    cut,
    one_stream,
    operations_of,
    queue_of,
)
from lib.guest.netlink_raw import Refusal
from lib.guest.trace import RequestCounts, sums

pytestmark = pytest.mark.debug_kernel_at_length

KIB, MIB = 1 << 10, 1 << 20
CHUNK = 64 * KIB
SEGMENT = 96 * MIB + 32 * KIB  # of dm-linear's first disk: not a multiple of what is sent
BACKENDS = ("bio", "mq")


# ---- stacked devices ----


@dataclass(frozen=True)
class Stack:
    """A device on two others.

    @edge: bytes between the places that no part of an I/O crosses
    @lower: which disk a byte is on
    """

    name: str
    node: str
    disks: tuple[str, str]
    edge: int
    lower: Callable[[int], int]

    def parts(self, sent: list[Sent]) -> list[Requests]:
        """What the disks underneath get for these requests."""
        counts: list[Requests] = [Counter(), Counter()]
        for request in sent:
            for at, length in cut(request.start, request.bytes, request.bytes, Edges(self.edge)):
                counts[self.lower(at)][request.direction, length // 512] += 1
        return counts


def mapped(stack: ExitStack, name: str, table: str) -> str:
    return stack.enter_context(mapped_disk(name, table))


def linear(stack: ExitStack, left: str, right: str) -> Stack:
    first, second = SEGMENT // 512, 64 * MIB // 512
    table = f"0 {first} linear {left} 2048\n{first} {second} linear {right} 4096\n"
    node = mapped(stack, "spek-linear", table)
    return Stack("linear", node, (left, right), SEGMENT, lambda at: int(at >= SEGMENT))


def striped(stack: ExitStack, left: str, right: str) -> Stack:
    sectors, chunk = 256 * MIB // 512, CHUNK // 512
    table = f"0 {sectors} striped 2 {chunk} {left} 0 {right} 0\n"
    node = mapped(stack, "spek-striped", table)
    return Stack("striped", node, (left, right), CHUNK, lambda at: at // CHUNK % 2)


def raid0(stack: ExitStack, left: str, right: str) -> Stack:
    node = stack.enter_context(array_disk(0, CHUNK, left, right))
    return Stack("raid0", node, (left, right), CHUNK, lambda at: at // CHUNK % 2)


@pytest.fixture(scope="module", params=[linear, striped, raid0], ids=lambda make: make.__name__)
def stacked(request: pytest.FixtureRequest, spek_module: Path) -> Iterator[Stack]:
    with ExitStack() as stack:
        left = stack.enter_context(null_disk(size_mb=256))
        right = stack.enter_context(null_disk(size_mb=256))
        # md takes spek's no-merge flag off what it passes on: two halves of a write could meet.
        for node in (left, right):
            (queue_of(node) / "nomerges").write_text("2")
        yield request.param(stack, left, right)


def assert_below_agrees(stacked: Stack, comparison: Comparison) -> None:
    for disk, wanted, seen in zip(
        stacked.disks, stacked.parts(comparison.sent), comparison.below, strict=True
    ):
        assert seen.stat == sums(wanted), disk
        assert seen.issued == wanted, disk
        assert seen.completed == wanted, disk


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("depth", [1, 64])
def test_aligned_requests_are_counted_exactly(
    controller: Controller, counts: RequestCounts, stacked: Stack, depth: int, workers: int
) -> None:
    """No request crosses a chunk or segment, so every count is the same everywhere."""
    config = one_stream(
        stacked.node,
        sizes=[(4 * KIB, 3), (32 * KIB, 1)],
        read_ppm=500_000,
        depth=max(depth, workers),
        workers=workers,
        count=300,
        align_bytes=32 * KIB,
    )

    comparison = watch(controller, counts, config, stacked.node, below=stacked.disks)

    assert_streams_agree(comparison)
    (target,), (seen,) = comparison.outcome.info.targets, comparison.seen
    assert (target.backend, target.backend_reason) == (
        "bio",
        "The device is bio-based, not request-based (blk-mq).",
    )
    assert target_sums(target) == sums(comparison.wanted[0])
    assert seen.stat == target_sums(target)
    assert_below_agrees(stacked, comparison)
    below = [disk.stat for disk in comparison.below]
    for way, above in seen.stat.items():
        assert sum(disk[way].ios for disk in below) == above.ios
        assert sum(disk[way].sectors for disk in below) == above.sectors


def test_requests_across_chunks_are_counted_in_parts(
    controller: Controller, counts: RequestCounts, stacked: Stack
) -> None:
    """Unaligned and large: some requests cross a boundary, and the driver splits them."""
    config = one_stream(
        stacked.node,
        sizes=[(48 * KIB, 1), (256 * KIB + 512, 1)],
        read_ppm=500_000,
        depth=16,
        count=400,
        align_bytes=512,
    )

    comparison = watch(controller, counts, config, stacked.node, below=stacked.disks)

    assert_streams_agree(comparison)
    (target,), (seen,) = comparison.outcome.info.targets, comparison.seen
    assert target_sums(target) == sums(comparison.wanted[0])
    parts = stacked.parts(comparison.sent)
    assert_below_agrees(stacked, comparison)
    assert seen.stat == sums(parts[0] + parts[1])
    if stacked.name != "linear":
        # Some kernels tell the chunks of dm-striped, so that nothing is left for the driver to do.
        told = int((queue_of(stacked.node) / "chunk_sectors").read_text()) > 0
        below = sum(sum(requests.values()) for requests in parts)
        assert below > config.count
        assert below == len(comparison.sent) if told else below > len(comparison.sent)


def test_linear_crossing_its_boundary(
    controller: Controller, counts: RequestCounts, stacked: Stack
) -> None:
    """Sequential I/O walks over every boundary there is, that of dm-linear's segments included."""
    config = one_stream(
        stacked.node,
        sizes=[(MIB, 1)],
        pattern="sequential",
        depth=4,
        count=150,
        align_bytes=MIB,
    )

    comparison = watch(controller, counts, config, stacked.node, below=stacked.disks)

    assert_streams_agree(comparison)
    assert max(request.start for request in comparison.sent) > SEGMENT
    parts = stacked.parts(comparison.sent)
    assert_below_agrees(stacked, comparison)
    assert comparison.seen[0].stat == sums(parts[0] + parts[1])


def test_mq_is_refused_on_a_device_that_takes_bios(controller: Controller, stacked: Stack) -> None:
    with pytest.raises(Refusal, match="is bio-based, not request-based"):
        controller.run_new(one_stream(stacked.node, backend="mq", count=1))


def test_a_member_is_not_free(controller: Controller, stacked: Stack) -> None:
    for disk in stacked.disks:
        with pytest.raises(Refusal, match="is in use"):
            controller.run_new(one_stream(disk, count=1))


# ---- several targets ----


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("backend", BACKENDS)
def test_striped_targets_each_count_exactly(
    controller: Controller, counts: RequestCounts, backend: str, workers: int
) -> None:
    """Four devices of three kinds in one run: an I/O is cut where it goes from one to the next."""
    with null_disk(size_mb=512) as large, null_disk(size_mb=300) as small:
        nodes = (large, emulated("nvme", 512), small, emulated("virtio", 512))
        config = one_stream(
            *nodes,
            sizes=[(512, 2), (16 * KIB, 2), (200 * KIB, 1), (MIB, 1)],
            read_ppm=500_000,
            depth=24,
            workers=workers,
            backend=backend,
            count=400,
            align_bytes=512,
            stripe_bytes=CHUNK,
        )

        comparison = run_and_compare(controller, counts, config, *nodes)

    assert comparison.outcome.requests() > comparison.outcome.ios()
    assert all(sum(wanted.values()) > 100 for wanted in comparison.wanted)


# ---- bad blocks ----


@pytest.mark.debug_kernel_only("debug")  # the distribution has no dm-dust
def test_exactly_the_reads_of_bad_blocks_fail(controller: Controller) -> None:
    """dm-dust: what is read of a bad block is an error, until a write has cured the block."""
    block, bad = 4 * KIB, set(range(1, 256, 20))
    subprocess.run(["modprobe", "dm-dust"], check=True)
    with ExitStack() as stack:
        disk = stack.enter_context(null_disk(size_mb=1))
        node = mapped(stack, "spek-dust", f"0 {MIB // 512} dust {disk} 0 {block}\n")
        for number in bad:
            device_mapper.message("spek-dust", f"addbadblock {number}")
        device_mapper.message("spek-dust", "enable")
        config = one_stream(node, read_ppm=700_000, count=2000)
        with controller.ready(config) as number:
            (operations,) = operations_of(controller, number, config)
            outcome = controller.finish(number)

    errors, first = 0, None
    for operation in operations:  # one at a time, so in this order
        at = operation.addr // block
        if operation.write:
            bad.discard(at)
        elif at in bad:
            errors += 1
            first = first if first is not None else operation.addr
    assert errors > 10 and len(bad) < 13
    assert outcome.info.errors == errors
    assert outcome.ios() == len(operations) - errors == 2000 - errors
    assert f"read of {block} bytes at byte {first} of" in outcome.info.first_error

# SPDX-License-Identifier: GPL-2.0
"""Limits that no available disk has: what a request may be is what it is, and as large as that.

spek_limits (tests/disks) answers a request that is more than the disk takes with an error and a
warning. That none is smaller than it need be, is in the comparison with what lib.guest.drive
makes of the limits.
"""

from __future__ import annotations

import pytest
from lib.guest.agree import run_and_compare
from lib.guest.disks import limited_disks
from lib.guest.drive import Controller, one_stream
from lib.guest.trace import RequestCounts

from spekctl.workload.config import RunConfig

KIB = 1 << 10
BACKENDS = ("bio", "mq")
SIZES = [(512, 4), (4 * KIB, 4), (20 * KIB, 2), (64 * KIB, 2), (200 * KIB, 1)]
COUNT = 60
BUFFER_CHUNK = 64 * KIB  # kmod/load/slot.c: what buffers are made of

# The limits, and the largest request that always fits.
LIMITS: dict[str, tuple[dict[str, int], int]] = {
    "one segment": ({"segments": 1}, BUFFER_CHUNK),
    "one page": ({"segments": 1, "segment_bytes": 4096}, 4096),
    "one odd segment": ({"segments": 1, "segment_bytes": 12288}, 8192),
    "two segments": ({"segments": 2, "segment_bytes": 8192}, 8192),
    "bounds": ({"segments": 4, "boundary_bytes": 16384}, 3 * 16384),
    "chunks": ({"chunk_sectors": 24, "sectors": 1024}, 200 * KIB),
    "odd sectors": ({"sectors": 255}, 255 * 512),
    "physical blocks": ({"sectors": 64, "physical_bytes": 4096}, 32 * KIB),
    "odd sectors of physical blocks": ({"sectors": 63, "physical_bytes": 4096}, 28 * KIB),
    "a physical block too large": ({"sectors": 24, "physical_bytes": 16384}, 24 * 512),
    "chunks of physical blocks": (
        {"sectors": 64, "physical_bytes": 4096, "chunk_sectors": 20},
        32 * KIB,
    ),
    "all": ({"segments": 1, "segment_bytes": 8192, "chunk_sectors": 40, "sectors": 63}, 8192),
}


def config_for(*nodes: str, backend: str) -> RunConfig:
    """Alone or striped, in units smaller than a segment: pieces begin anywhere in a buffer."""
    return one_stream(
        *nodes,
        sizes=SIZES,
        align_bytes=512,
        stripe_bytes=2 * KIB if len(nodes) > 1 else 0,
        read_ppm=500_000,
        depth=8,
        backend=backend,
        count=COUNT,
    )


@pytest.mark.parametrize("case", LIMITS)
def test_requests_keep_to_the_limits(
    controller: Controller, counts: RequestCounts, case: str
) -> None:
    limits, largest = LIMITS[case]
    with limited_disks(2, **limits) as nodes:
        for on in (nodes[:1], nodes):
            for backend in BACKENDS:
                config = config_for(*on, backend=backend)
                comparison = run_and_compare(controller, counts, config, *on)
                for target in comparison.outcome.info.targets:
                    assert min(target.max_io, 200 * KIB) == largest, target


def test_one_segment_keeps_to_its_bounds(controller: Controller) -> None:
    """Bounds are not in sysfs, so nothing but the disk can tell: it refuses what crosses one."""
    with limited_disks(2, segments=1, boundary_bytes=16384) as nodes:
        for on in (nodes[:1], nodes):
            for backend in BACKENDS:
                outcome = controller.complete(config_for(*on, backend=backend))
                assert outcome.ios() == COUNT
                assert {target.max_io for target in outcome.info.targets} == {16384}

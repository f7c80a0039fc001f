# SPDX-License-Identifier: GPL-2.0
"""Limits that change while a run is under way: nothing fails, and every request is counted.

A limit is changed through sysfs, as tuned and udev rules do. Before, mq and scsi sent requests
that were too large by then, each of which failed with a line in the kernel's log, and the block
layer cut the bios of back end bio, which were counted as one.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest
from lib.guest.agree import assert_stat_agrees, target_sums
from lib.guest.disks import null_disk, scsi_disk
from lib.guest.drive import Controller, Outcome, one_stream, queue_of
from lib.guest.trace import disk_stat
from lib.harness.inside import Messages
from lib.waiting import eventually

from spekctl.kernel.records import Direction, Phase, Reason
from spekctl.workload.config import RunConfig

KIB, MS = 1 << 10, 1_000_000
SIZES = [(4 * KIB, 2), (64 * KIB, 2), (200 * KIB, 1)]
# In KiB, in this order, from the largest on: smaller, smaller than any part before, larger. More
# than 127 the disks don't take on every kernel.
LIMITS = (64, 8, 4, 32, 120)
STEP_IOS = 50  # more than are in flight; twice as many under each limit
DISKS = {
    "null_blk-bio": "bio",
    "null_blk-mq": "mq",
    "scsi_debug-bio": "bio",
    "scsi_debug-scsi": "scsi",
}


@contextlib.contextmanager
def disk_for(case: str) -> Iterator[str]:
    disk = (
        null_disk(irqmode=2, completion_nsec=MS)
        if case.startswith("null_blk")
        else scsi_disk(ndelay=MS)
    )
    with disk as node:
        yield node


def config_for(node: str, backend: str, depth: int, batch: int) -> RunConfig:
    return one_stream(
        node,
        sizes=SIZES,
        align_bytes=4 * KIB,
        read_ppm=700_000,
        depth=depth,
        batch=batch,
        backend=backend,
        time_ns=3600 * 10**9,
        # Counts are those of ended intervals.
        interval_ns=10 * MS,
    )


def run_while_limits_change(
    controller: Controller, config: RunConfig, node: str
) -> tuple[Outcome, dict[int, float]]:
    """Outcome, and under each limit the mean number of requests of an I/O."""
    limit = queue_of(node) / "max_sectors_kb"
    requests_of: dict[int, float] = {}

    def counts() -> tuple[int, int]:
        cells = controller.stats(run)
        return sum(cell.ios for cell in cells), sum(cell.requests for cell in cells)

    def after(ios: int, what: str) -> tuple[int, int]:
        eventually(lambda: counts()[0] >= ios, f"nothing completes {what}")
        return counts()

    with controller.ready(config) as run:
        controller.run_start(run)
        ios, _ = after(STEP_IOS, "before a limit")
        for kib in LIMITS:
            limit.write_text(str(kib))
            # What completes first may have been issued under the limit before.
            first_ios, first_requests = after(ios + STEP_IOS, f"at {kib} KiB")
            ios, requests = after(first_ios + STEP_IOS, f"at {kib} KiB")
            requests_of[kib] = (requests - first_requests) / (ios - first_ios)
        controller.run_stop(run)
        info = controller.wait_done(run)
        return Outcome(info, controller.stats(run)), requests_of


def complaints(messages: Messages) -> list[str]:
    """Since their mark: of those of earlier tests the kernel forgets one for each new message. One
    that was lost may have been a complaint."""
    signs = ("over max", "I/O error", "messages were lost")
    return [line for line in messages.read() if any(sign in line for sign in signs)]


@pytest.mark.parametrize("depth, batch", [(1, 1), (32, 16)])
@pytest.mark.parametrize("case", DISKS)
def test_shrinking_limits_fail_nothing_and_miscount_nothing(
    controller: Controller, case: str, depth: int, batch: int
) -> None:
    with disk_for(case) as node, contextlib.closing(Messages()) as messages:
        before = disk_stat(node)
        messages.mark(f"limits of {case}")
        config = config_for(node, DISKS[case], depth, batch)
        outcome, requests_of = run_while_limits_change(controller, config, node)
        after = disk_stat(node)
        complained = complaints(messages)

    assert (outcome.info.reason, outcome.info.errors) == (Reason.STOPPED, 0)
    assert complained == []
    target = outcome.target
    assert outcome.requests() == target.reads + target.writes
    assert outcome.ios(phase=Phase.MEASURE) > 2 * len(LIMITS) * STEP_IOS
    # Far more parts than slots were made for: 50 instead of one or two.
    assert min(requests_of[8], requests_of[4]) > 2 > requests_of[120]
    if target.backend == "scsi":
        # The disk's statistics don't count SCSI commands.
        return
    seen = {way: after[way].since(before[way]) for way in Direction}
    assert_stat_agrees(target, seen, target_sums(target))

# SPDX-License-Identifier: GPL-2.0
"""Run something by count and hold what spek says against what the kernel counted: exactly.

Four accounts of the same run have to be equal, for each direction and, where sizes are known,
for each size:

* the operations that the seed gives (op-get), cut into requests by the targets' limits,
* what the run reports for its targets and its streams,
* the difference of /sys/block/*/stat,
* the tracepoints block_rq_issue and block_rq_complete.

The statistics may be read as soon as the run is DONE: before it says so it waits for a grace
period, and so for every interrupt in which a request was still being accounted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from lib.guest.drive import (
    SECTOR,
    Controller,
    Outcome,
    Requests,
    Sent,
    assert_completed,
    edges_of,
    operations_of,
    requests_for,
    tally,
)
from lib.guest.trace import DiskStat, RequestCounts, disk_stat, sectors_limit, sums

from spekctl.kernel.records import Direction, OpRecord, TargetInfo
from spekctl.workload.config import RunConfig


@dataclass(frozen=True)
class Seen:
    """What the kernel counted for one device while a run went on."""

    stat: dict[Direction, DiskStat]
    issued: Requests
    completed: Requests


@dataclass(frozen=True)
class Comparison:
    """A run with everything that was counted meanwhile.

    @sent: requests, as they follow from @operations
    @wanted: the same, counted for each target
    @seen: for each target; @below: for each disk underneath that was named
    """

    outcome: Outcome
    operations: list[list[OpRecord]]
    sent: list[Sent]
    wanted: list[Requests]
    seen: list[Seen]
    below: list[Seen]


def watch(
    controller: Controller,
    counts: RequestCounts,
    config: RunConfig,
    *nodes: str,
    disk: str = "",
    below: Sequence[str] = (),
) -> Comparison:
    """Run @config on @nodes, its targets in order.

    @disk: what a partition is on; @below: disks to watch as well
    """

    def look() -> list[tuple[dict[Direction, DiskStat], dict[str, Requests]]]:
        return [(disk_stat(node), counts.read(disk or node)) for node in (*nodes, *below)]

    with controller.ready(config) as run:
        before = look()
        outcome = controller.finish(run)
        after = look()
        operations = operations_of(controller, run, config)
    assert_completed(outcome)
    edges = [edges_of(node) for node in nodes]
    sent: list[Sent] = []
    for operation in chain.from_iterable(operations):
        sent += requests_for(operation, config, outcome.info.targets, edges)
    seen = [
        Seen(
            {way: stat_after[way].since(stat[way]) for way in Direction},
            events_after["block_rq_issue"] - events["block_rq_issue"],
            events_after["block_rq_complete"] - events["block_rq_complete"],
        )
        for (stat, events), (stat_after, events_after) in zip(before, after, strict=True)
    ]
    return Comparison(
        outcome,
        operations,
        sent,
        tally(sent, len(nodes)),
        seen[: len(nodes)],
        seen[len(nodes) :],
    )


def assert_streams_agree(comparison: Comparison) -> None:
    """The run's own counters are those of its operations, none lost and none invented."""
    outcome = comparison.outcome
    flat = list(chain.from_iterable(comparison.operations))
    for way in Direction:
        mine = [operation for operation in flat if operation.write == way.code]
        assert outcome.ios(way) == len(mine)
        assert outcome.bytes(way) == sum(operation.bytes for operation in mine)
    sent = sum(target.reads + target.writes for target in outcome.info.targets)
    assert outcome.requests() == sent


def target_sums(target: TargetInfo) -> dict[Direction, DiskStat]:
    """A target's own count, in the form of the disk's statistics."""
    return {
        Direction.READ: DiskStat(target.reads, 0, target.read_bytes // SECTOR),
        Direction.WRITE: DiskStat(target.writes, 0, target.write_bytes // SECTOR),
    }


def assert_stat_agrees(
    target: TargetInfo, stat: dict[Direction, DiskStat], wanted: dict[Direction, DiskStat]
) -> None:
    """The disk's statistics are what was sent.

    Only SCSI refuses requests when it is made to take them past its limit; its statistics count
    each refused one, in its direction, with no sectors.
    """
    if target.refused == 0 or not target.name.startswith("sd"):
        assert target.refused == 0
        assert stat == wanted, target.name
        return
    extra = {way: stat[way].ios - wanted[way].ios for way in Direction}
    assert min(extra.values()) >= 0 and sum(extra.values()) == target.refused, target.name
    for way in Direction:
        assert (stat[way].merges, stat[way].sectors) == (0, wanted[way].sectors), target.name


def assert_agrees(comparison: Comparison, *nodes: str) -> None:
    """Everything is equal, for disks that take requests."""
    assert_streams_agree(comparison)
    for number, target in enumerate(comparison.outcome.info.targets):
        wanted, seen = comparison.wanted[number], comparison.seen[number]
        assert target_sums(target) == sums(wanted), target.name
        assert_stat_agrees(target, seen.stat, sums(wanted))
        # What a host adapter refuses has been issued, and will be again.
        assert target.refused or seen.issued == wanted, target.name
        assert seen.completed == wanted, target.name
        largest = max(sectors for _, sectors in seen.issued)
        assert largest <= sectors_limit(nodes[number]), target.name


def run_and_compare(
    controller: Controller, counts: RequestCounts, config: RunConfig, *nodes: str
) -> Comparison:
    """watch() and assert_agrees()."""
    comparison = watch(controller, counts, config, *nodes)
    assert_agrees(comparison, *nodes)
    return comparison

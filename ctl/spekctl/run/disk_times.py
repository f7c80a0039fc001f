# SPDX-License-Identifier: GPL-2.0-or-later
"""Check a disk's own times against spek's, within bounds that hold under any load of the machine.

Let S be the service times of all I/Os added up, and D what the disks have added to their read and
write times. For one I/O that went out as one request the two differ where it starts and where
it ends:

* It is issued, and then given to the block layer under a plug, which sends a batch at once. The
  block layer dates a request to its allocation or to the first request of its plug. Both lie
  between the beginning of the plug and its end, so that the I/Os of a plug differ by at most its
  duration each: by batch x duration together. The plugs of a worker don't overlap, so over a run
  that is at most batch x elapsed for each worker. An I/O that waits for a tag before it is dated
  makes its worker wait: once more elapsed for each worker.
* Both times of its end are read while it is completed, some hundred instructions apart. A worker
  spends more than that on each I/O, so this is less than elapsed for each worker, too.

So |D - S| <= (batch + 2) x workers x elapsed. At any moment at most max-outstanding I/Os are
with the disks: D <= max-outstanding x elapsed plus the error above. Service times are kept for
the measure phase only; before and after it, the I/Os outstanding are at most max-outstanding.
"""

from __future__ import annotations

from collections.abc import Sequence

from spekctl.documents.device import DiskCounters
from spekctl.kernel.records import Metric, Phase, RunInfo, StatsCell
from spekctl.workload.config import RunConfig

MS_NS = 1_000_000
DEFAULT_BATCH, PLUG_MAX = 16, 32  # the module's, and what it has under one plug at most
WRAP_MS = 1 << 32  # the kernel prints these times as 32 bits


def since(before: int | None, after: int | None) -> int | None:
    """Milliseconds added during the run; None if not known."""
    return None if before is None or after is None else (after - before) % WRAP_MS


def sum_ns(disks: Sequence[DiskCounters | None]) -> int | None:
    """The sum over all disks; None if one of them does not count."""
    total = 0
    for disk in disks:
        if disk is None or disk.read_ms is None or disk.write_ms is None:
            return None
        total += (disk.read_ms + disk.write_ms) * MS_NS
    return total


def bounds_ns(config: RunConfig, info: RunInfo, cells: Sequence[StatsCell]) -> tuple[int, int]:
    """Lower and upper bound of what the disks can have counted."""
    elapsed = info.ended_ns - info.started_ns
    measured = max(0, (info.drain_ns or info.ended_ns) - info.measure_ns) if info.measure_ns else 0
    service = sum(
        cell.histograms[Metric.SERVICE].sum_ns
        for cell in cells
        if cell.phase is Phase.MEASURE and Metric.SERVICE in cell.histograms
    )
    # Each of two times for each target is rounded down.
    batch = min(config.batch or DEFAULT_BATCH, PLUG_MAX)
    error = (batch + 2) * len(config.cpus) * elapsed + 4 * len(info.targets) * MS_NS
    outside = config.max_outstanding * (elapsed - measured)
    most = min(service + outside, config.max_outstanding * elapsed) + error
    if sum(cell.requests for cell in cells) > sum(cell.ios for cell in cells):
        # Parts of one I/O are with the disks at the same time.
        most = sum(cell.requests for cell in cells) * elapsed + error
    return max(0, service - error), most


def agree(
    config: RunConfig,
    info: RunInfo,
    cells: Sequence[StatsCell],
    disks: Sequence[DiskCounters | None],
) -> bool | None:
    """Whether the times of the disks lie within the bounds; None if unknown.

    Flushes and discards have service times, and the disk counts their times elsewhere or not. Of
    zones it counts resets as well that no stream asked for.
    """
    if any(
        stream.operation in ("flush", "discard") or stream.pattern == "write-pointer"
        for stream in config.streams
    ):
        return None
    counted = sum_ns(disks)
    if counted is None or any(cell.errors for cell in cells):
        return None
    least, most = bounds_ns(config, info, cells)
    return least <= counted <= most


def counters(before: DiskCounters, after: DiskCounters) -> DiskCounters:
    """Counts of a disk between two readings."""
    return DiskCounters(
        after.reads - before.reads,
        after.read_sectors - before.read_sectors,
        after.writes - before.writes,
        after.write_sectors - before.write_sectors,
        since(before.read_ms, after.read_ms),
        since(before.write_ms, after.write_ms),
        None
        if before.discard_sectors is None or after.discard_sectors is None
        else after.discard_sectors - before.discard_sectors,
    )

# SPDX-License-Identifier: GPL-2.0-or-later
# generated from prober/uapi/spek_prober.yaml, run `make gen`
"""Netlink family spek_prober: enums as words, answers as records."""

from collections.abc import Iterable
from dataclasses import dataclass
from struct import iter_unpack, pack
from typing import NamedTuple

from spekctl.kernel.coded import Coded

# Some records have a field called bytes.
Binary = bytes


class FeedState(Coded):
    """State of a feed."""

    OPEN = "open"
    CLOSED = "closed"
    BROKEN = "broken"


class ProbeState(Coded):
    """State of the probe."""

    IDLE = "idle"
    RUNNING = "running"
    STOPPING = "stopping"
    DONE = "done"


class Reason(Coded):
    """Why a probe ended."""

    NONE = "none"
    STOPPED = "stopped"
    OWNER_GONE = "owner-gone"
    UNLOAD = "unload"


class PowerSample(NamedTuple):
    """One sample of a rail, in the machine's byte order."""

    at_ns: int
    power_uw: int
    rail: int
    flags: int

    @staticmethod
    def pack(records: "Iterable[PowerSample]") -> Binary:
        """The value of an attribute."""
        return b"".join(pack("=QqII", *row) for row in records)


class PowerInterval(NamedTuple):
    """An interval to integrate over, in the machine's byte order; it must not be empty."""

    from_ns: int
    to_ns: int

    @staticmethod
    def pack(records: "Iterable[PowerInterval]") -> Binary:
        """The value of an attribute."""
        return b"".join(pack("=QQ", *row) for row in records)


class PowerEnergy(NamedTuple):
    """What one rail used in one interval, in the machine's byte order. known-ns, gap-ns, lost-ns
    and pending-ns add up to the interval. The energies of adjacent intervals add up to that
    of both together.
    """

    energy_uj: int
    remainder_fj: int
    known_ns: int
    gap_ns: int
    lost_ns: int
    pending_ns: int
    samples: int
    min_uw: int
    max_uw: int

    @staticmethod
    def unpack(data: Binary) -> "list[PowerEnergy]":
        """The records of an attribute."""
        return [PowerEnergy(*row) for row in iter_unpack("=qQQQQQQqq", data)]


@dataclass(frozen=True, slots=True)
class CpuCounters:
    """Columns of table cpu, in order. Times are ns and mean what /proc/stat means by them. The
    kernel charges a whole tick to what the tick interrupts, except where it accounts at every
    switch (a CPU in full dynticks mode): a row is stale by up to one tick, and in rows
    shorter than a tick a time is 0 or a whole tick. idle-ns and iowait-ns are exact, unless
    the kernel runs its tick always (nohz=off). How busy a CPU was in a short row is therefore
    best told by its idle time. step-ns of each column says which it is on this machine.
    """

    user_ns: int | None
    nice_ns: int | None
    system_ns: int | None
    idle_ns: int | None
    iowait_ns: int | None
    irq_ns: int | None
    softirq_ns: int | None
    steal_ns: int | None
    guest_ns: int | None
    guest_nice_ns: int | None
    interrupts: int | None
    device_interrupts: int | None
    softirqs: int | None
    softirq_hi: int | None
    softirq_timer: int | None
    softirq_net_tx: int | None
    softirq_net_rx: int | None
    softirq_block: int | None
    softirq_irq_poll: int | None
    softirq_tasklet: int | None
    softirq_sched: int | None
    softirq_hrtimer: int | None
    softirq_rcu: int | None


@dataclass(frozen=True, slots=True)
class SwitchCounters:
    """Columns of table switches, in order."""

    switches: int | None


@dataclass(frozen=True, slots=True)
class TaskCounters:
    """Columns of table task, in order. They keep their last values when the task has ended. Of a
    task that is on a CPU, times are as of its last switch or tick, which is up to one tick
    ago, as step-ns of the column says.
    """

    runtime_ns: int | None
    user_ns: int | None
    system_ns: int | None
    voluntary: int | None
    involuntary: int | None
    ended: int | None


@dataclass(frozen=True, slots=True)
class MemoryCounters:
    """Columns of table memory, in order. Those up to swap-free-bytes are levels, the others
    counters, which keep their values while a CPU is brought online or taken offline.
    """

    total_bytes: int | None
    free_bytes: int | None
    available_bytes: int | None
    shared_bytes: int | None
    buffers_bytes: int | None
    cached_bytes: int | None
    dirty_bytes: int | None
    writeback_bytes: int | None
    slab_bytes: int | None
    swap_free_bytes: int | None
    paged_in_bytes: int | None
    paged_out_bytes: int | None
    swapped_in_bytes: int | None
    swapped_out_bytes: int | None


@dataclass(frozen=True, slots=True)
class NetCounters:
    """Columns of table net, in order. Where a driver has cleared a counter since the last row,
    the counter has no value in this row and continues from its last one.
    """

    rx_packets: int | None
    tx_packets: int | None
    rx_bytes: int | None
    tx_bytes: int | None
    rx_errors: int | None
    tx_errors: int | None
    rx_dropped: int | None
    tx_dropped: int | None


@dataclass(frozen=True, slots=True)
class DiskCounters:
    """Columns of table disk, in order; they stand still where the queue's iostats are off. Times
    of reads and writes are summed over I/Os that have completed. busy-time-ns advances in
    steps of the tick; while an I/O hangs as well, except on kernels before 6.10 (6.1.93),
    where requests don't count as in flight.
    """

    reads: int | None
    read_bytes: int | None
    read_time_ns: int | None
    writes: int | None
    write_bytes: int | None
    write_time_ns: int | None
    discards: int | None
    discard_bytes: int | None
    flushes: int | None
    busy_time_ns: int | None


@dataclass(frozen=True, slots=True)
class PowerCounters:
    """Columns of table power, in order, up to the start of the row."""

    energy_nj: int | None
    known_ns: int | None
    gap_ns: int | None


@dataclass(frozen=True, slots=True)
class TaskInfo:
    """Attributes of the set task in an answer."""

    pid: int = 0


@dataclass(frozen=True, slots=True)
class ColumnInfo:
    """Attributes of the set column in an answer."""

    name: str = ""
    level: int = 0
    step_ns: int = 0


@dataclass(frozen=True, slots=True)
class TableInfo:
    """Attributes of the set table in an answer."""

    id: int = 0
    name: str = ""
    columns: tuple[ColumnInfo, ...] = ()
    entities: Binary = b""
    entity_names: tuple[str, ...] = ()
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class ProbeInfo:
    """Attributes of the set probe in an answer."""

    id: int = 0
    state: ProbeState = ProbeState.IDLE
    reason: Reason = Reason.NONE
    interval_ns: int = 0
    ring_rows: int = 0
    row_bytes: int = 0
    detached: int = 0
    tasks: tuple[TaskInfo, ...] = ()
    owner_pid: int = 0
    owner_name: str = ""
    thread_pid: int = 0
    started_ns: int = 0
    start_raw_ns: int = 0
    start_real_ns: int = 0
    ended_ns: int = 0
    end_raw_ns: int = 0
    end_real_ns: int = 0
    now_ns: int = 0
    rows: int = 0
    oldest: int = 0
    missed: int = 0
    late_sum_ns: int = 0
    late_max_ns: int = 0
    cost_sum_ns: int = 0
    cost_max_ns: int = 0
    tables: tuple[TableInfo, ...] = ()
    module_version: str = ""


@dataclass(frozen=True, slots=True)
class BlockInfo:
    """Attributes of the set block in an answer."""

    table: int = 0
    entities: Binary = b""
    cells: Binary = b""


@dataclass(frozen=True, slots=True)
class SampleInfo:
    """Attributes of the set sample in an answer."""

    probe: int = 0
    seq: int = 0
    dropped: int = 0
    tick: int = 0
    due_ns: int = 0
    start_ns: int = 0
    end_ns: int = 0
    final: int = 0
    more: int = 0
    blocks: tuple[BlockInfo, ...] = ()


@dataclass(frozen=True, slots=True)
class RailInfo:
    """Attributes of the set rail in an answer."""

    number: int = 0
    name: str = ""
    lsb_nw: int = 0
    samples: int = 0
    late: int = 0
    overwritten: int = 0
    gaps: int = 0
    gap_ns: int = 0
    known_ns: int = 0
    energy_uj: int = 0
    first_ns: int = 0
    oldest_ns: int = 0
    last_ns: int = 0
    power_uw: int = 0


@dataclass(frozen=True, slots=True)
class FeedInfo:
    """Attributes of the set feed in an answer."""

    id: int = 0
    name: str = ""
    source: str = ""
    state: FeedState = FeedState.OPEN
    owner_pid: int = 0
    owner_name: str = ""
    history: int = 0
    max_step_ns: int = 0
    uncertainty_ns: int = 0
    drift_ppb: int = 0
    residual_ns: int = 0
    overflows: int = 0
    lost: int = 0
    opened_ns: int = 0
    ended_ns: int = 0
    now_ns: int = 0
    watermark_ns: int = 0
    batches: int = 0
    refused: int = 0
    left_behind: int = 0
    rails: tuple[RailInfo, ...] = ()


@dataclass(frozen=True, slots=True)
class EnergyInfo:
    """Attributes of the set energy in an answer."""

    feed: int = 0
    feed_name: str = ""
    rail: int = 0
    rail_name: str = ""
    state: FeedState = FeedState.OPEN
    uncertainty_ns: int = 0
    lsb_nw: int = 0
    first: int = 0
    results: Binary = b""

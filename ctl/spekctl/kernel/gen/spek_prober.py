# SPDX-License-Identifier: GPL-2.0-or-later
# generated from prober/uapi/spek_prober.yaml, run `make gen`
# mypy: disable-error-code="import-untyped, import-not-found, misc"
"""Netlink family spek_prober: constants, enums and message classes for pyroute2."""

from enum import IntEnum
from typing import Any, ClassVar

from pyroute2.netlink import NLA_F_NESTED, genlmsg, nla

from spekctl.kernel.gen import spek_prober_records as records

FAMILY = "spek_prober"
VERSION = 1
GROUP_PROBES = "probes"
TOTAL = 4294967295
MIN_INTERVAL_NS = 1000000
MAX_INTERVAL_NS = 3600000000000
DEFAULT_RING_ROWS = 4096
MIN_RING_ROWS = 2
MAX_RING_ROWS = 1048576
MAX_RING_BYTES = 268435456
MAX_TASKS = 1024
MAX_FEEDS = 16
MAX_RAILS = 64
MAX_NAME = 31
MAX_BATCH = 2048
MAX_BATCH_BYTES = 49152
MAX_INTERVALS = 2048
MAX_INTERVALS_BYTES = 32768
MAX_POWER_UW = 1000000000000
MAX_AHEAD_NS = 1000000000
DEFAULT_STEP_NS = 10000000000
MAX_STEP_LIMIT_NS = 3600000000000
DEFAULT_HISTORY = 65536
MIN_HISTORY = 64
MAX_HISTORY = 4194304
MAX_HISTORY_BYTES = 268435456
MAX_LAG_NS = 2000000000
POWER_GAP = 1


class Cmd(IntEnum):
    """Commands."""

    PROBE_START = 1
    PROBE_STOP = 2
    PROBE_DEL = 3
    PROBE_GET = 4
    SAMPLE_GET = 5
    PROBE_NTF = 6
    FEED_OPEN = 7
    FEED_PUSH = 8
    FEED_MARK = 9
    FEED_CLOSE = 10
    FEED_GET = 11
    ENERGY_GET = 12


class FeedState(IntEnum):
    """State of a feed."""

    OPEN = 0
    CLOSED = 1
    BROKEN = 2


class ProbeState(IntEnum):
    """State of the probe."""

    IDLE = 0
    RUNNING = 1
    STOPPING = 2
    DONE = 3


class Reason(IntEnum):
    """Why a probe ended."""

    NONE = 0
    STOPPED = 1
    OWNER_GONE = 2
    UNLOAD = 3


class Table(IntEnum):
    """Tables of a row."""

    CPU = 0
    SWITCHES = 1
    TASK = 2
    MEMORY = 3
    NET = 4
    DISK = 5
    POWER = 6


class CpuColumn(IntEnum):
    """Columns of table cpu, in order. Times are ns and mean what /proc/stat means by them. The
    kernel charges a whole tick to what the tick interrupts, except where it accounts at every
    switch (a CPU in full dynticks mode): a row is stale by up to one tick, and in rows
    shorter than a tick a time is 0 or a whole tick. idle-ns and iowait-ns are exact, unless
    the kernel runs its tick always (nohz=off). How busy a CPU was in a short row is therefore
    best told by its idle time. step-ns of each column says which it is on this machine.
    """

    USER_NS = 0
    NICE_NS = 1
    SYSTEM_NS = 2
    IDLE_NS = 3
    IOWAIT_NS = 4
    IRQ_NS = 5
    SOFTIRQ_NS = 6
    STEAL_NS = 7
    GUEST_NS = 8
    GUEST_NICE_NS = 9
    INTERRUPTS = 10
    DEVICE_INTERRUPTS = 11
    SOFTIRQS = 12
    SOFTIRQ_HI = 13
    SOFTIRQ_TIMER = 14
    SOFTIRQ_NET_TX = 15
    SOFTIRQ_NET_RX = 16
    SOFTIRQ_BLOCK = 17
    SOFTIRQ_IRQ_POLL = 18
    SOFTIRQ_TASKLET = 19
    SOFTIRQ_SCHED = 20
    SOFTIRQ_HRTIMER = 21
    SOFTIRQ_RCU = 22


class SwitchColumn(IntEnum):
    """Columns of table switches, in order."""

    SWITCHES = 0


class TaskColumn(IntEnum):
    """Columns of table task, in order. They keep their last values when the task has ended. Of a
    task that is on a CPU, times are as of its last switch or tick, which is up to one tick
    ago, as step-ns of the column says.
    """

    RUNTIME_NS = 0
    USER_NS = 1
    SYSTEM_NS = 2
    VOLUNTARY = 3
    INVOLUNTARY = 4
    ENDED = 5


class MemoryColumn(IntEnum):
    """Columns of table memory, in order. Those up to swap-free-bytes are levels, the others
    counters, which keep their values while a CPU is brought online or taken offline.
    """

    TOTAL_BYTES = 0
    FREE_BYTES = 1
    AVAILABLE_BYTES = 2
    SHARED_BYTES = 3
    BUFFERS_BYTES = 4
    CACHED_BYTES = 5
    DIRTY_BYTES = 6
    WRITEBACK_BYTES = 7
    SLAB_BYTES = 8
    SWAP_FREE_BYTES = 9
    PAGED_IN_BYTES = 10
    PAGED_OUT_BYTES = 11
    SWAPPED_IN_BYTES = 12
    SWAPPED_OUT_BYTES = 13


class NetColumn(IntEnum):
    """Columns of table net, in order. Where a driver has cleared a counter since the last row,
    the counter has no value in this row and continues from its last one.
    """

    RX_PACKETS = 0
    TX_PACKETS = 1
    RX_BYTES = 2
    TX_BYTES = 3
    RX_ERRORS = 4
    TX_ERRORS = 5
    RX_DROPPED = 6
    TX_DROPPED = 7


class DiskColumn(IntEnum):
    """Columns of table disk, in order; they stand still where the queue's iostats are off. Times
    of reads and writes are summed over I/Os that have completed. busy-time-ns advances in
    steps of the tick; while an I/O hangs as well, except on kernels before 6.10 (6.1.93),
    where requests don't count as in flight.
    """

    READS = 0
    READ_BYTES = 1
    READ_TIME_NS = 2
    WRITES = 3
    WRITE_BYTES = 4
    WRITE_TIME_NS = 5
    DISCARDS = 6
    DISCARD_BYTES = 7
    FLUSHES = 8
    BUSY_TIME_NS = 9


class PowerColumn(IntEnum):
    """Columns of table power, in order, up to the start of the row."""

    ENERGY_NJ = 0
    KNOWN_NS = 1
    GAP_NS = 2


class TaskNla(nla):
    """Attributes of the set task, as a nest."""

    prefix = "SPEK_PROBER_A_TASK_"
    nla_map = ((1, "SPEK_PROBER_A_TASK_PID", "uint32", 0),)
    keys: ClassVar[dict[str, str]] = {
        "pid": "SPEK_PROBER_A_TASK_PID",
    }
    multi: ClassVar[dict[str, str]] = {}
    enums: ClassVar[dict[str, Any]] = {}


class ColumnNla(nla):
    """Attributes of the set column, as a nest."""

    prefix = "SPEK_PROBER_A_COLUMN_"
    nla_map = (
        (1, "SPEK_PROBER_A_COLUMN_NAME", "asciiz", 0),
        (2, "SPEK_PROBER_A_COLUMN_LEVEL", "uint32", 0),
        (3, "SPEK_PROBER_A_COLUMN_STEP_NS", "uint32", 0),
    )
    keys: ClassVar[dict[str, str]] = {
        "name": "SPEK_PROBER_A_COLUMN_NAME",
        "level": "SPEK_PROBER_A_COLUMN_LEVEL",
        "step_ns": "SPEK_PROBER_A_COLUMN_STEP_NS",
    }
    multi: ClassVar[dict[str, str]] = {}
    enums: ClassVar[dict[str, Any]] = {}


class TableNla(nla):
    """Attributes of the set table, as a nest."""

    nest_column = ColumnNla
    prefix = "SPEK_PROBER_A_TABLE_"
    nla_map = (
        (1, "SPEK_PROBER_A_TABLE_ID", "uint32", 0),
        (2, "SPEK_PROBER_A_TABLE_NAME", "asciiz", 0),
        (3, "SPEK_PROBER_A_TABLE_COLUMN", "nest_column", NLA_F_NESTED),
        (4, "SPEK_PROBER_A_TABLE_ENTITIES", "cdata", 0),
        (5, "SPEK_PROBER_A_TABLE_ENTITY_NAME", "asciiz", 0),
        (6, "SPEK_PROBER_A_TABLE_LEFT_OUT", "uint32", 0),
    )
    keys: ClassVar[dict[str, str]] = {
        "id": "SPEK_PROBER_A_TABLE_ID",
        "name": "SPEK_PROBER_A_TABLE_NAME",
        "column": "SPEK_PROBER_A_TABLE_COLUMN",
        "entities": "SPEK_PROBER_A_TABLE_ENTITIES",
        "entity_name": "SPEK_PROBER_A_TABLE_ENTITY_NAME",
        "left_out": "SPEK_PROBER_A_TABLE_LEFT_OUT",
    }
    multi: ClassVar[dict[str, str]] = {
        "column": "columns",
        "entity_name": "entity_names",
    }
    enums: ClassVar[dict[str, Any]] = {}


class BlockNla(nla):
    """Attributes of the set block, as a nest."""

    prefix = "SPEK_PROBER_A_BLOCK_"
    nla_map = (
        (1, "SPEK_PROBER_A_BLOCK_TABLE", "uint32", 0),
        (2, "SPEK_PROBER_A_BLOCK_ENTITIES", "cdata", 0),
        (3, "SPEK_PROBER_A_BLOCK_CELLS", "cdata", 0),
    )
    keys: ClassVar[dict[str, str]] = {
        "table": "SPEK_PROBER_A_BLOCK_TABLE",
        "entities": "SPEK_PROBER_A_BLOCK_ENTITIES",
        "cells": "SPEK_PROBER_A_BLOCK_CELLS",
    }
    multi: ClassVar[dict[str, str]] = {}
    enums: ClassVar[dict[str, Any]] = {}


class RailNla(nla):
    """Attributes of the set rail, as a nest."""

    prefix = "SPEK_PROBER_A_RAIL_"
    nla_map = (
        (1, "SPEK_PROBER_A_RAIL_PAD", "none", 0),
        (2, "SPEK_PROBER_A_RAIL_NUMBER", "uint32", 0),
        (3, "SPEK_PROBER_A_RAIL_NAME", "asciiz", 0),
        (4, "SPEK_PROBER_A_RAIL_LSB_NW", "uint64", 0),
        (5, "SPEK_PROBER_A_RAIL_SAMPLES", "uint64", 0),
        (6, "SPEK_PROBER_A_RAIL_LATE", "uint64", 0),
        (7, "SPEK_PROBER_A_RAIL_OVERWRITTEN", "uint64", 0),
        (8, "SPEK_PROBER_A_RAIL_GAPS", "uint64", 0),
        (9, "SPEK_PROBER_A_RAIL_GAP_NS", "uint64", 0),
        (10, "SPEK_PROBER_A_RAIL_KNOWN_NS", "uint64", 0),
        (11, "SPEK_PROBER_A_RAIL_ENERGY_UJ", "int64", 0),
        (12, "SPEK_PROBER_A_RAIL_FIRST_NS", "uint64", 0),
        (13, "SPEK_PROBER_A_RAIL_OLDEST_NS", "uint64", 0),
        (14, "SPEK_PROBER_A_RAIL_LAST_NS", "uint64", 0),
        (15, "SPEK_PROBER_A_RAIL_POWER_UW", "int64", 0),
    )
    keys: ClassVar[dict[str, str]] = {
        "number": "SPEK_PROBER_A_RAIL_NUMBER",
        "name": "SPEK_PROBER_A_RAIL_NAME",
        "lsb_nw": "SPEK_PROBER_A_RAIL_LSB_NW",
        "samples": "SPEK_PROBER_A_RAIL_SAMPLES",
        "late": "SPEK_PROBER_A_RAIL_LATE",
        "overwritten": "SPEK_PROBER_A_RAIL_OVERWRITTEN",
        "gaps": "SPEK_PROBER_A_RAIL_GAPS",
        "gap_ns": "SPEK_PROBER_A_RAIL_GAP_NS",
        "known_ns": "SPEK_PROBER_A_RAIL_KNOWN_NS",
        "energy_uj": "SPEK_PROBER_A_RAIL_ENERGY_UJ",
        "first_ns": "SPEK_PROBER_A_RAIL_FIRST_NS",
        "oldest_ns": "SPEK_PROBER_A_RAIL_OLDEST_NS",
        "last_ns": "SPEK_PROBER_A_RAIL_LAST_NS",
        "power_uw": "SPEK_PROBER_A_RAIL_POWER_UW",
    }
    multi: ClassVar[dict[str, str]] = {}
    enums: ClassVar[dict[str, Any]] = {}


class ProbeMsg(genlmsg):
    """Attributes of the set probe, as a message."""

    nest_table = TableNla
    nest_task = TaskNla
    prefix = "SPEK_PROBER_A_PROBE_"
    nla_map = (
        (1, "SPEK_PROBER_A_PROBE_PAD", "none", 0),
        (2, "SPEK_PROBER_A_PROBE_ID", "uint32", 0),
        (3, "SPEK_PROBER_A_PROBE_STATE", "uint32", 0),
        (4, "SPEK_PROBER_A_PROBE_REASON", "uint32", 0),
        (5, "SPEK_PROBER_A_PROBE_INTERVAL_NS", "uint64", 0),
        (6, "SPEK_PROBER_A_PROBE_RING_ROWS", "uint32", 0),
        (7, "SPEK_PROBER_A_PROBE_ROW_BYTES", "uint32", 0),
        (8, "SPEK_PROBER_A_PROBE_DETACHED", "uint32", 0),
        (9, "SPEK_PROBER_A_PROBE_TASK", "nest_task", NLA_F_NESTED),
        (10, "SPEK_PROBER_A_PROBE_OWNER_PID", "uint32", 0),
        (11, "SPEK_PROBER_A_PROBE_OWNER_NAME", "asciiz", 0),
        (12, "SPEK_PROBER_A_PROBE_THREAD_PID", "uint32", 0),
        (13, "SPEK_PROBER_A_PROBE_STARTED_NS", "uint64", 0),
        (14, "SPEK_PROBER_A_PROBE_START_RAW_NS", "uint64", 0),
        (15, "SPEK_PROBER_A_PROBE_START_REAL_NS", "uint64", 0),
        (16, "SPEK_PROBER_A_PROBE_ENDED_NS", "uint64", 0),
        (17, "SPEK_PROBER_A_PROBE_END_RAW_NS", "uint64", 0),
        (18, "SPEK_PROBER_A_PROBE_END_REAL_NS", "uint64", 0),
        (19, "SPEK_PROBER_A_PROBE_NOW_NS", "uint64", 0),
        (20, "SPEK_PROBER_A_PROBE_ROWS", "uint64", 0),
        (21, "SPEK_PROBER_A_PROBE_OLDEST", "uint64", 0),
        (22, "SPEK_PROBER_A_PROBE_MISSED", "uint64", 0),
        (23, "SPEK_PROBER_A_PROBE_LATE_SUM_NS", "uint64", 0),
        (24, "SPEK_PROBER_A_PROBE_LATE_MAX_NS", "uint64", 0),
        (25, "SPEK_PROBER_A_PROBE_COST_SUM_NS", "uint64", 0),
        (26, "SPEK_PROBER_A_PROBE_COST_MAX_NS", "uint64", 0),
        (27, "SPEK_PROBER_A_PROBE_TABLE", "nest_table", NLA_F_NESTED),
        (28, "SPEK_PROBER_A_PROBE_MODULE_VERSION", "asciiz", 0),
    )
    keys: ClassVar[dict[str, str]] = {
        "id": "SPEK_PROBER_A_PROBE_ID",
        "state": "SPEK_PROBER_A_PROBE_STATE",
        "reason": "SPEK_PROBER_A_PROBE_REASON",
        "interval_ns": "SPEK_PROBER_A_PROBE_INTERVAL_NS",
        "ring_rows": "SPEK_PROBER_A_PROBE_RING_ROWS",
        "row_bytes": "SPEK_PROBER_A_PROBE_ROW_BYTES",
        "detached": "SPEK_PROBER_A_PROBE_DETACHED",
        "task": "SPEK_PROBER_A_PROBE_TASK",
        "owner_pid": "SPEK_PROBER_A_PROBE_OWNER_PID",
        "owner_name": "SPEK_PROBER_A_PROBE_OWNER_NAME",
        "thread_pid": "SPEK_PROBER_A_PROBE_THREAD_PID",
        "started_ns": "SPEK_PROBER_A_PROBE_STARTED_NS",
        "start_raw_ns": "SPEK_PROBER_A_PROBE_START_RAW_NS",
        "start_real_ns": "SPEK_PROBER_A_PROBE_START_REAL_NS",
        "ended_ns": "SPEK_PROBER_A_PROBE_ENDED_NS",
        "end_raw_ns": "SPEK_PROBER_A_PROBE_END_RAW_NS",
        "end_real_ns": "SPEK_PROBER_A_PROBE_END_REAL_NS",
        "now_ns": "SPEK_PROBER_A_PROBE_NOW_NS",
        "rows": "SPEK_PROBER_A_PROBE_ROWS",
        "oldest": "SPEK_PROBER_A_PROBE_OLDEST",
        "missed": "SPEK_PROBER_A_PROBE_MISSED",
        "late_sum_ns": "SPEK_PROBER_A_PROBE_LATE_SUM_NS",
        "late_max_ns": "SPEK_PROBER_A_PROBE_LATE_MAX_NS",
        "cost_sum_ns": "SPEK_PROBER_A_PROBE_COST_SUM_NS",
        "cost_max_ns": "SPEK_PROBER_A_PROBE_COST_MAX_NS",
        "table": "SPEK_PROBER_A_PROBE_TABLE",
        "module_version": "SPEK_PROBER_A_PROBE_MODULE_VERSION",
    }
    multi: ClassVar[dict[str, str]] = {
        "task": "tasks",
        "table": "tables",
    }
    enums: ClassVar[dict[str, Any]] = {
        "state": records.ProbeState,
        "reason": records.Reason,
    }


class SampleMsg(genlmsg):
    """Attributes of the set sample, as a message."""

    nest_block = BlockNla
    prefix = "SPEK_PROBER_A_SAMPLE_"
    nla_map = (
        (1, "SPEK_PROBER_A_SAMPLE_PAD", "none", 0),
        (2, "SPEK_PROBER_A_SAMPLE_PROBE", "uint32", 0),
        (3, "SPEK_PROBER_A_SAMPLE_SINCE", "uint64", 0),
        (4, "SPEK_PROBER_A_SAMPLE_HOLD", "uint32", 0),
        (5, "SPEK_PROBER_A_SAMPLE_SEQ", "uint64", 0),
        (6, "SPEK_PROBER_A_SAMPLE_DROPPED", "uint64", 0),
        (7, "SPEK_PROBER_A_SAMPLE_TICK", "uint64", 0),
        (8, "SPEK_PROBER_A_SAMPLE_DUE_NS", "uint64", 0),
        (9, "SPEK_PROBER_A_SAMPLE_START_NS", "uint64", 0),
        (10, "SPEK_PROBER_A_SAMPLE_END_NS", "uint64", 0),
        (11, "SPEK_PROBER_A_SAMPLE_FINAL", "uint32", 0),
        (12, "SPEK_PROBER_A_SAMPLE_MORE", "uint32", 0),
        (13, "SPEK_PROBER_A_SAMPLE_BLOCK", "nest_block", NLA_F_NESTED),
    )
    keys: ClassVar[dict[str, str]] = {
        "probe": "SPEK_PROBER_A_SAMPLE_PROBE",
        "since": "SPEK_PROBER_A_SAMPLE_SINCE",
        "hold": "SPEK_PROBER_A_SAMPLE_HOLD",
        "seq": "SPEK_PROBER_A_SAMPLE_SEQ",
        "dropped": "SPEK_PROBER_A_SAMPLE_DROPPED",
        "tick": "SPEK_PROBER_A_SAMPLE_TICK",
        "due_ns": "SPEK_PROBER_A_SAMPLE_DUE_NS",
        "start_ns": "SPEK_PROBER_A_SAMPLE_START_NS",
        "end_ns": "SPEK_PROBER_A_SAMPLE_END_NS",
        "final": "SPEK_PROBER_A_SAMPLE_FINAL",
        "more": "SPEK_PROBER_A_SAMPLE_MORE",
        "block": "SPEK_PROBER_A_SAMPLE_BLOCK",
    }
    multi: ClassVar[dict[str, str]] = {
        "block": "blocks",
    }
    enums: ClassVar[dict[str, Any]] = {}


class FeedMsg(genlmsg):
    """Attributes of the set feed, as a message."""

    nest_rail = RailNla
    prefix = "SPEK_PROBER_A_FEED_"
    nla_map = (
        (1, "SPEK_PROBER_A_FEED_PAD", "none", 0),
        (2, "SPEK_PROBER_A_FEED_ID", "uint32", 0),
        (3, "SPEK_PROBER_A_FEED_NAME", "asciiz", 0),
        (4, "SPEK_PROBER_A_FEED_SOURCE", "asciiz", 0),
        (5, "SPEK_PROBER_A_FEED_STATE", "uint32", 0),
        (6, "SPEK_PROBER_A_FEED_OWNER_PID", "uint32", 0),
        (7, "SPEK_PROBER_A_FEED_OWNER_NAME", "asciiz", 0),
        (8, "SPEK_PROBER_A_FEED_HISTORY", "uint32", 0),
        (9, "SPEK_PROBER_A_FEED_MAX_STEP_NS", "uint64", 0),
        (10, "SPEK_PROBER_A_FEED_UNCERTAINTY_NS", "uint64", 0),
        (11, "SPEK_PROBER_A_FEED_DRIFT_PPB", "int64", 0),
        (12, "SPEK_PROBER_A_FEED_RESIDUAL_NS", "uint64", 0),
        (13, "SPEK_PROBER_A_FEED_OVERFLOWS", "uint64", 0),
        (14, "SPEK_PROBER_A_FEED_LOST", "uint64", 0),
        (15, "SPEK_PROBER_A_FEED_UNTIL_NS", "uint64", 0),
        (16, "SPEK_PROBER_A_FEED_OPENED_NS", "uint64", 0),
        (17, "SPEK_PROBER_A_FEED_ENDED_NS", "uint64", 0),
        (18, "SPEK_PROBER_A_FEED_NOW_NS", "uint64", 0),
        (19, "SPEK_PROBER_A_FEED_WATERMARK_NS", "uint64", 0),
        (20, "SPEK_PROBER_A_FEED_BATCHES", "uint64", 0),
        (21, "SPEK_PROBER_A_FEED_REFUSED", "uint64", 0),
        (22, "SPEK_PROBER_A_FEED_LEFT_BEHIND", "uint64", 0),
        (23, "SPEK_PROBER_A_FEED_RAIL", "nest_rail", NLA_F_NESTED),
        (24, "SPEK_PROBER_A_FEED_SAMPLES", "cdata", 0),
        (25, "SPEK_PROBER_A_FEED_ACCEPTED", "uint64", 0),
        (26, "SPEK_PROBER_A_FEED_LATE", "uint64", 0),
    )
    keys: ClassVar[dict[str, str]] = {
        "id": "SPEK_PROBER_A_FEED_ID",
        "name": "SPEK_PROBER_A_FEED_NAME",
        "source": "SPEK_PROBER_A_FEED_SOURCE",
        "state": "SPEK_PROBER_A_FEED_STATE",
        "owner_pid": "SPEK_PROBER_A_FEED_OWNER_PID",
        "owner_name": "SPEK_PROBER_A_FEED_OWNER_NAME",
        "history": "SPEK_PROBER_A_FEED_HISTORY",
        "max_step_ns": "SPEK_PROBER_A_FEED_MAX_STEP_NS",
        "uncertainty_ns": "SPEK_PROBER_A_FEED_UNCERTAINTY_NS",
        "drift_ppb": "SPEK_PROBER_A_FEED_DRIFT_PPB",
        "residual_ns": "SPEK_PROBER_A_FEED_RESIDUAL_NS",
        "overflows": "SPEK_PROBER_A_FEED_OVERFLOWS",
        "lost": "SPEK_PROBER_A_FEED_LOST",
        "until_ns": "SPEK_PROBER_A_FEED_UNTIL_NS",
        "opened_ns": "SPEK_PROBER_A_FEED_OPENED_NS",
        "ended_ns": "SPEK_PROBER_A_FEED_ENDED_NS",
        "now_ns": "SPEK_PROBER_A_FEED_NOW_NS",
        "watermark_ns": "SPEK_PROBER_A_FEED_WATERMARK_NS",
        "batches": "SPEK_PROBER_A_FEED_BATCHES",
        "refused": "SPEK_PROBER_A_FEED_REFUSED",
        "left_behind": "SPEK_PROBER_A_FEED_LEFT_BEHIND",
        "rail": "SPEK_PROBER_A_FEED_RAIL",
        "samples": "SPEK_PROBER_A_FEED_SAMPLES",
        "accepted": "SPEK_PROBER_A_FEED_ACCEPTED",
        "late": "SPEK_PROBER_A_FEED_LATE",
    }
    multi: ClassVar[dict[str, str]] = {
        "rail": "rails",
    }
    enums: ClassVar[dict[str, Any]] = {
        "state": records.FeedState,
    }


class EnergyMsg(genlmsg):
    """Attributes of the set energy, as a message."""

    prefix = "SPEK_PROBER_A_ENERGY_"
    nla_map = (
        (1, "SPEK_PROBER_A_ENERGY_PAD", "none", 0),
        (2, "SPEK_PROBER_A_ENERGY_FEED", "uint32", 0),
        (3, "SPEK_PROBER_A_ENERGY_INTERVALS", "cdata", 0),
        (4, "SPEK_PROBER_A_ENERGY_FEED_NAME", "asciiz", 0),
        (5, "SPEK_PROBER_A_ENERGY_RAIL", "uint32", 0),
        (6, "SPEK_PROBER_A_ENERGY_RAIL_NAME", "asciiz", 0),
        (7, "SPEK_PROBER_A_ENERGY_STATE", "uint32", 0),
        (8, "SPEK_PROBER_A_ENERGY_UNCERTAINTY_NS", "uint64", 0),
        (9, "SPEK_PROBER_A_ENERGY_LSB_NW", "uint64", 0),
        (10, "SPEK_PROBER_A_ENERGY_FIRST", "uint32", 0),
        (11, "SPEK_PROBER_A_ENERGY_RESULTS", "cdata", 0),
    )
    keys: ClassVar[dict[str, str]] = {
        "feed": "SPEK_PROBER_A_ENERGY_FEED",
        "intervals": "SPEK_PROBER_A_ENERGY_INTERVALS",
        "feed_name": "SPEK_PROBER_A_ENERGY_FEED_NAME",
        "rail": "SPEK_PROBER_A_ENERGY_RAIL",
        "rail_name": "SPEK_PROBER_A_ENERGY_RAIL_NAME",
        "state": "SPEK_PROBER_A_ENERGY_STATE",
        "uncertainty_ns": "SPEK_PROBER_A_ENERGY_UNCERTAINTY_NS",
        "lsb_nw": "SPEK_PROBER_A_ENERGY_LSB_NW",
        "first": "SPEK_PROBER_A_ENERGY_FIRST",
        "results": "SPEK_PROBER_A_ENERGY_RESULTS",
    }
    multi: ClassVar[dict[str, str]] = {}
    enums: ClassVar[dict[str, Any]] = {
        "state": records.FeedState,
    }


MESSAGES: dict[int, Any] = {
    Cmd.PROBE_START: ProbeMsg,
    Cmd.PROBE_STOP: ProbeMsg,
    Cmd.PROBE_DEL: ProbeMsg,
    Cmd.PROBE_GET: ProbeMsg,
    Cmd.SAMPLE_GET: SampleMsg,
    Cmd.PROBE_NTF: ProbeMsg,
    Cmd.FEED_OPEN: FeedMsg,
    Cmd.FEED_PUSH: FeedMsg,
    Cmd.FEED_MARK: FeedMsg,
    Cmd.FEED_CLOSE: FeedMsg,
    Cmd.FEED_GET: FeedMsg,
    Cmd.ENERGY_GET: EnergyMsg,
}
